package reconciler

import (
	"context"
	"time"

	"github.com/waybill-dev/waybill/reconciler/status"
)

// Words reads what the status branches say of objects, in a namespace or, if that is empty, in
// all. What is older than lasting is left out.
func (r *Reconciler) Words(ctx context.Context, namespace string, lasting time.Duration) (status.Words, error) {
	heads, err := StatusHeads(ctx, r.Target)
	if err != nil {
		return nil, err
	}
	words := status.Words{}
	for cluster, h := range heads {
		if r.Now().Sub(h.When) > lasting {
			continue
		}
		w, err := wordOf(h, status.Prefix+cluster, Asked{Namespace: namespace, Closely: true})
		if err != nil {
			return nil, err
		}
		words[cluster] = w
	}
	return words, nil
}
