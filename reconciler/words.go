package reconciler

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/status"
)

// Words reads what the status branches of the registered clusters say of objects, in a namespace
// or, if that is empty, in all, by the names that templates have. What is older than lasting is
// left out. Of what has no namespace, the host of a virtual cluster speaks for it.
func (r *Reconciler) Words(ctx context.Context, registered []policies.Cluster, namespace string, lasting time.Duration) (status.Words, error) {
	heads, err := r.Target.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for status branches: %w", err)
	}
	all := make([]*karmada.Cluster, len(registered))
	for i := range registered {
		all[i] = &registered[i].Spec
	}
	said, err := r.hearsay(ctx, heads, all)
	if err != nil {
		return nil, err
	}
	words := status.Words{}
	for _, c := range all {
		w, err := said.word(ctx, c, Asked{Namespace: namespace, Closely: true})
		if err != nil {
			return nil, err
		}
		if w.word != nil && r.Now().Sub(w.word.At) <= lasting {
			words[c.Name] = w.word
		}
	}
	for _, c := range all {
		if m := virtual.Of(c); m != nil && words[c.Name] != nil && words[m.Host] != nil {
			lend(words[c.Name], words[m.Host])
		}
	}
	return words, nil
}
