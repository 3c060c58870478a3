// Package read reads from Git what is broken in a fleet.
package read

import (
	"context"
	"reflect"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/pause"
)

// Reader reads what is broken. What it read of history it does not read again.
type Reader struct {
	Reconciler *reconciler.Reconciler // knows where the repositories are
	Snapshot   sources.Snapshot       // its waybill.yaml says at which addresses clusters are published
	Lasting    time.Duration          // how old a report may be

	past *facts.Reader // remembers commits, and who wrote them
}

// List reads what is broken, and who wrote the commits that brought it.
func (r *Reader) List(ctx context.Context) (problems.List, error) {
	fleet, err := r.Reconciler.Reports().Fleet(ctx, r.Snapshot, reports.Query{Lasting: r.Lasting})
	if err != nil {
		return problems.List{}, err
	}
	var failed error
	is := facts.Of(fleet, r.Reconciler.Now())
	list := problems.Of(problems.Input{
		Facts: is,
		Objects: func(m *reports.Cluster) map[object.Ref]*status.Object {
			objects, err := m.Everything()
			if err != nil {
				failed = err
			}
			return objects
		},
	})
	if r.past == nil {
		r.past = &facts.Reader{Reconciler: r.Reconciler}
	}
	list = list.Caused(func(since time.Time) string {
		c, _ := r.past.PublishedOf(ctx, is, since)
		return c.Source
	})
	if r.Reconciler.Source != nil {
		list = list.Authored(func(commit string) *facts.Author { return r.past.Author(ctx, commit) })
	}
	return list, failed
}

// Watch shows what is broken, and again whenever that changes, until the context ends. What cannot be read is told, once as long as it
// stays the same, and tried again.
func (r *Reader) Watch(ctx context.Context, every time.Duration, show func(*problems.List) error, trouble func(error)) error {
	var before []problems.Problem
	said, isShown := "", false
	for {
		list, err := r.List(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if err.Error() != said {
				trouble(err)
			}
			said = err.Error()
		case !isShown || said != "" || !reflect.DeepEqual(before, list.Problems):
			if err := show(&list); err != nil {
				return err
			}
			before, said, isShown = list.Problems, "", true
		}
		if pause.For(ctx, every) != nil {
			return nil
		}
	}
}
