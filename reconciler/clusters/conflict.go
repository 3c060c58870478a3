package clusters

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/render/object"
)

// conflict is a field that somebody else owns.
type conflict struct{ manager, field string }

type conflictList []conflict

// String names at most three.
func (l conflictList) String() string {
	const most = 3
	var b strings.Builder
	for i, c := range l[:min(most, len(l))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s owns %s", c.manager, c.field)
	}
	if n := len(l) - most; n > 0 {
		fmt.Fprintf(&b, ", and %d more", n)
	}
	return b.String()
}

// conflicts reads with whom an Apply patch is in conflict. The name of the manager stands in
// quotes in the message.
func conflicts(err error) conflictList {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var l conflictList
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		c := conflict{manager: cause.Message, field: cause.Field}
		if at := strings.IndexByte(cause.Message, '"'); at >= 0 {
			if quoted, err := strconv.QuotedPrefix(cause.Message[at:]); err == nil {
				c.manager, _ = strconv.Unquote(quoted)
			}
		}
		l = append(l, c)
	}
	return l
}

// Explain implements apply.Cluster: it asks the server, without changing anything, which
// fields of an object that is there would be in conflict. It does so for the first ones.
func (c *Client) Explain(ctx context.Context, refused []apply.Action, owner string) {
	const most = 20
	n := 0
	for i := range refused {
		a := &refused[i]
		if !a.Foreign || n == most {
			continue
		}
		n++
		if l := c.wouldConflict(ctx, *a, owner); len(l) > 0 {
			a.Why = l.String() + "; " + a.Why
		}
	}
}

func (c *Client) wouldConflict(ctx context.Context, a apply.Action, owner string) conflictList {
	_, version := object.GroupVersion(a.Object.APIVersion)
	m, err := c.resource(a.Object.Kind(), version)
	if err != nil {
		return nil
	}
	body, err := patch(a, owner)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	force := false
	_, err = c.at(m, a.Ref).Patch(ctx, a.Ref.Name, types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: apply.Manager, Force: &force, DryRun: []string{metav1.DryRunAll}})
	return conflicts(err)
}
