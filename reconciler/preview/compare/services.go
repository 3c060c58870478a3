package compare

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// exchange is what changes of a Service, by the numbers of groups.
type exchange struct{ exported, imported difference }

type difference struct{ added, removed, changed []int }

// exchanges are what changes of Services, by them.
type exchanges map[object.Ref]*exchange

// note notes what the file of a group's clusters says of the services within a scope.
func (all exchanges) note(n int, ch files.Change, within *Scope) error {
	was, err := exchangedBy(ch.Path, ch.Old.Blob)
	if err != nil {
		return err
	}
	is, err := exchangedBy(ch.Path, ch.New.Blob)
	if err != nil {
		return err
	}
	for key := range union(was, is) {
		if !within.object(key.service) || reflect.DeepEqual(was[key], is[key]) {
			continue
		}
		e := all[key.service]
		if e == nil {
			e = &exchange{}
			all[key.service] = e
		}
		d := &e.exported
		if key.imports {
			d = &e.imported
		}
		switch {
		case was[key] == nil:
			d.added = append(d.added, n)
		case is[key] == nil:
			d.removed = append(d.removed, n)
		default:
			d.changed = append(d.changed, n)
		}
	}
	return nil
}

// half is a Service, and whether it is imported.
type half struct {
	service object.Ref
	imports bool
}

// exchangedBy is what a file says of each service; nil is that there is no file.
func exchangedBy(path string, b *files.Blob) (map[half][]any, error) {
	if b == nil {
		return nil, nil
	}
	data, err := bytesOf(path, b)
	if err != nil {
		return nil, err
	}
	f, err := services.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	all := map[half][]any{}
	add := func(namespace, name string, imports bool, what any) {
		key := half{object.Ref{Kind: "Service", Namespace: namespace, Name: name}, imports}
		all[key] = append(all[key], what)
	}
	for _, e := range f.Exports {
		add(e.Namespace, e.Service, false, e)
	}
	for _, i := range f.Imports {
		add(i.Namespace, i.Service, true, i)
	}
	return all, nil
}

func union(a, b map[half][]any) map[half]bool {
	all := map[half]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

// shown are they in the order of their names.
func (all exchanges) shown(l *lister) (listed []preview.Exchange) {
	names := func(d difference) preview.Clusters {
		return preview.Clusters{Added: l.names(d.added), Removed: l.names(d.removed), Changed: l.names(d.changed)}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(all), object.Ref.Compare) {
		e := all[ref]
		listed = append(listed, preview.Exchange{Service: ref, Exported: names(e.exported), Imported: names(e.imported)})
	}
	return listed
}
