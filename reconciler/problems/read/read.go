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

// Reader reads what is broken.
type Reader struct {
	Reconciler *reconciler.Reconciler // knows where the repositories are
	Snapshot   sources.Snapshot       // its waybill.yaml says at which addresses clusters are published
	Lasting    time.Duration          // how old a report may be
}

// List reads what is broken, and who wrote the commits that brought it.
func (r *Reader) List(ctx context.Context) (problems.List, error) {
	fleet, err := r.Reconciler.Reports().Fleet(ctx, r.Snapshot, reports.Query{Lasting: r.Lasting})
	if err != nil {
		return problems.List{}, err
	}
	var failed error
	list := problems.Of(problems.Input{
		Facts: facts.Of(fleet, r.Reconciler.Now()),
		Objects: func(m *reports.Cluster) map[object.Ref]*status.Object {
			objects, err := m.Everything()
			if err != nil {
				failed = err
			}
			return objects
		},
	})
	if from := r.Reconciler.Source; from != nil {
		list = list.Authored(func(commit string) *facts.Author { return facts.AuthorOf(ctx, from, commit) })
	}
	return list, failed
}

// Watch shows what is broken, and again whenever that changes, until the context ends.
func (r *Reader) Watch(ctx context.Context, every time.Duration, show func(*problems.List) error) error {
	var before []problems.Problem
	for isFirst := true; ; isFirst = false {
		list, err := r.List(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil && (isFirst || !reflect.DeepEqual(before, list.Problems)) {
			err = show(&list)
		}
		if err != nil {
			return err
		}
		before = list.Problems
		if pause.For(ctx, every) != nil {
			return nil
		}
	}
}
