package members

import (
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/get"
)

// sheet is a table of objects of one kind from several clusters.
type sheet struct {
	kind  schema.GroupKind
	table *metav1.Table
}

// sheets puts the tables of answers together: one for each kind, in the order in which kinds
// were answered first, with the clusters below each other. Clusters that have other columns for
// a kind, as other versions may, have a table of their own.
func sheets(answers []Answer) []sheet {
	var order []schema.GroupKind
	byKind := map[schema.GroupKind][]sheet{}
	for _, a := range answers {
		for _, f := range a.Found {
			k := f.Mapping.GroupVersionKind.GroupKind()
			if byKind[k] == nil {
				order = append(order, k)
			}
			front := []column{{"Cluster", func(metav1.TableRow) any { return a.Cluster }}}
			if a.Namespace == "" && f.Mapping.Scope.Name() == meta.RESTScopeNameNamespace {
				front = append(front, column{"Namespace", namespaceOf})
			}
			t := behind(front, decoded(f.Object))
			at := slices.IndexFunc(byKind[k], func(s sheet) bool { return slices.Equal(s.table.ColumnDefinitions, t.ColumnDefinitions) })
			if at < 0 {
				byKind[k] = append(byKind[k], sheet{k, t})
				continue
			}
			byKind[k][at].table.Rows = append(byKind[k][at].table.Rows, t.Rows...)
		}
	}
	var all []sheet
	for _, k := range order {
		all = append(all, byKind[k]...)
	}
	return all
}

// column is one that is put in front of those of a server.
type column struct {
	name string
	of   func(metav1.TableRow) any
}

func namespaceOf(r metav1.TableRow) any {
	if m, err := meta.Accessor(r.Object.Object); err == nil {
		return m.GetNamespace()
	}
	return nil
}

// decoded returns what a server answered as a table. One that knows no tables answers with
// objects, which have a name and an age.
func decoded(o runtime.Object) *metav1.Table {
	var t *metav1.Table
	take := printers.ResourcePrinterFunc(func(o runtime.Object, _ io.Writer) error {
		t, _ = o.(*metav1.Table)
		return nil
	})
	if err := (&get.TablePrinter{Delegate: take}).PrintObj(o, io.Discard); err == nil && t != nil {
		return t
	}
	t = &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "string"}}}
	rows, err := table.MetaToTableRow(o, func(_ runtime.Object, _ metav1.Object, name, age string) ([]any, error) {
		return []any{name, age}, nil
	})
	if err == nil { // else it is no object, and there is nothing to be said of it
		t.Rows = rows
	}
	return t
}

// behind returns a table with columns in front of its own. Columns are the same if they are
// called the same.
func behind(front []column, t *metav1.Table) *metav1.Table {
	out := &metav1.Table{}
	for _, c := range front {
		out.ColumnDefinitions = append(out.ColumnDefinitions, metav1.TableColumnDefinition{Name: c.name, Type: "string"})
	}
	for _, c := range t.ColumnDefinitions {
		c.Description = "" // versions word it otherwise
		out.ColumnDefinitions = append(out.ColumnDefinitions, c)
	}
	for _, r := range t.Rows {
		var cells []any
		for _, c := range front {
			cells = append(cells, c.of(r))
		}
		r.Cells = append(cells, r.Cells...)
		out.Rows = append(out.Rows, r)
	}
	return out
}
