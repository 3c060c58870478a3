package members

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
)

// errEnded says that a cluster tells no more changes.
var errEnded = errors.New("it ended the watch; ask again")

// Watch asks all clusters for one kind, and for every change of it from then on, until ctx ends
// or no cluster has more to say. Say is called with one answer at a time: of a list, of one
// changed object, or an error.
func (f Fleet) Watch(ctx context.Context, q Query, say func(Answer) error) error {
	f.Way.Request = 0 // a watch is one request
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan Answer)
	var group errgroup.Group
	for _, c := range f.Clusters {
		group.Go(func() error {
			send := func(a Answer) {
				a.Cluster = c.Name
				select {
				case answers <- a:
				case <-ctx.Done():
				}
			}
			if err := f.follow(ctx, c, q, send); err != nil && ctx.Err() == nil {
				send(Answer{Errs: flat(err)})
			}
			return nil
		})
	}
	var told errgroup.Group
	told.Go(func() error {
		var err error
		for a := range answers {
			if err != nil {
				continue
			}
			if err = say(a); err != nil {
				cancel()
			}
		}
		return err
	})
	_ = group.Wait()
	close(answers)
	return told.Wait()
}

// opened is a list, and the watch that goes on where it ended.
type opened struct {
	first   Answer
	mapping *meta.RESTMapping
	changes watch.Interface
	virtual *virtual.Mapping
	err     error
}

// follow tells what one cluster has and what changes there.
func (f Fleet) follow(ctx context.Context, c *karmada.Cluster, q Query, send func(Answer)) error {
	o, err := within(ctx, f.Deadline, func(begin context.Context) opened { return f.Way.watch(begin, c, q) })
	if err != nil {
		return err
	}
	if q.Absent && apierrors.IsNotFound(o.err) {
		send(Answer{First: true})
		return nil // and nothing will come of it
	}
	if o.err != nil {
		return o.err
	}
	defer o.changes.Stop()
	send(o.first)
	var columns []metav1.TableColumnDefinition
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-o.changes.ResultChan():
			switch {
			case !ok:
				return errEnded
			case e.Type == watch.Error:
				return apierrors.FromObject(e.Object)
			case e.Type == watch.Bookmark:
				continue
			}
			next, found := Answer{Namespace: o.first.Namespace}, Found{Mapping: o.mapping, Object: e.Object}
			if !q.Whole {
				t := decoded(e.Object)
				columns = completed(t, columns)
				found.Object = t
			}
			next.Found = q.own(o.virtual, found)
			send(next)
		}
	}
}

// completed gives a table of a watch its columns: a server names them only once. It returns
// those of the next one.
func completed(t *metav1.Table, columns []metav1.TableColumnDefinition) []metav1.TableColumnDefinition {
	if len(t.ColumnDefinitions) == 0 {
		t.ColumnDefinitions = columns
	}
	return t.ColumnDefinitions
}

// watch lists what one cluster has, and begins to watch it. Of a single object the watch itself
// says how it is.
func (w Way) watch(ctx context.Context, c *karmada.Cluster, q Query) (o opened) {
	m, err := w.Open(ctx, c)
	if err != nil {
		return opened{err: err}
	}
	b, namespace, err := m.builder(q)
	if err != nil {
		return opened{err: err}
	}
	o.first = Answer{First: true, Namespace: namespace}
	r := b.SingleResourceType().Do()
	infos, err := r.IntoSingleItemImplied(&o.first.One).Infos()
	if err != nil {
		return opened{err: err}
	}
	since := "0"
	for _, i := range infos {
		o.mapping = i.Mapping
		if !o.first.One {
			o.first.Found = append(o.first.Found, q.own(m.virtual, Found{Mapping: i.Mapping, Object: i.Object})...)
			since = i.ResourceVersion
		}
	}
	o.virtual = m.virtual
	o.changes, o.err = r.Watch(since)
	return o
}
