// Package listing is what get prints of Git: lists of what a plan has and of what is recorded, as kubectl prints lists.
package listing

import (
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/cmd/get"

	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/sources/words"
)

// Query says what of a list is wanted.
type Query struct {
	Kind      string   // by any of its names
	Names     []string // none: all
	Namespace string   // empty: in all
	Labels    labels.Selector
	// Absent lets objects be absent that are asked for by name.
	Absent bool
}

// List is some objects of one kind.
type List struct {
	none    string // what is said if there is none
	columns []column
	items   []item
	one     bool // an object was asked for by its name
}

// NotFoundError says which objects there are none of.
type NotFoundError struct{ message string }

func (e *NotFoundError) Error() string { return e.message }

// List answers a query. With a NotFoundError the list has what there is.
func (l *Lists) List(q Query) (List, error) {
	k, err := kindCalled(q.Kind)
	if err != nil {
		return List{}, err
	}
	if k.global {
		q.Namespace = ""
	}
	all, err := k.items(l)
	if err != nil {
		return List{}, err
	}
	here := slices.DeleteFunc(all, func(i item) bool { return q.Namespace != "" && i.object.GetNamespace() != q.Namespace })
	out := List{none: "No " + k.names[0] + " found" + in(q.Namespace), columns: k.columns(l), one: len(q.Names) == 1}
	for _, i := range here {
		if q.matches(&i) {
			out.items = append(out.items, i)
		}
	}
	if q.Absent {
		return out, nil
	}
	return out, q.missing(k, here)
}

// matches reports whether an object is wanted.
func (q Query) matches(i *item) bool {
	u := i.object
	isNamed := len(q.Names) == 0 || slices.Contains(q.Names, u.GetName()) || i.alias != "" && slices.Contains(q.Names, i.alias)
	return isNamed && (q.Labels == nil || q.Labels.Matches(labels.Set(u.GetLabels())))
}

// missing is an error about the first name that no object has.
func (q Query) missing(k *kind, here []item) error {
	var known []string
	for _, i := range here {
		if known = append(known, i.object.GetName()); i.alias != "" {
			known = append(known, i.alias)
		}
	}
	for _, name := range q.Names {
		if slices.Contains(known, name) {
			continue
		}
		meant := words.Meant(name, known, fmt.Sprintf("`waybill get %s` lists those there are", k.names[0]))
		return &NotFoundError{fmt.Sprintf("there is no %s %q%s; %s", k.names[1], name, in(q.Namespace), meant)}
	}
	return nil
}

// in says of what is looked for where it was.
func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// Names are what the objects are called.
func (l List) Names() []string {
	var names []string
	for _, i := range l.items {
		names = append(names, i.object.GetName())
	}
	return names
}

// Changed leaves what is otherwise in an earlier list, or was not there.
func (l List) Changed(before List) List {
	was := map[string]string{}
	for _, i := range before.items {
		was[i.key()] = i.text()
	}
	var items []item
	for _, i := range l.items {
		if text, ok := was[i.key()]; !ok || text != i.text() {
			items = append(items, i)
		}
	}
	l.items = items
	return l
}

func (i item) key() string {
	return i.object.GetKind() + "/" + i.object.GetNamespace() + "/" + i.object.GetName()
}

func (i item) text() string {
	whole := []item{i}
	if err := wholly(whole); err != nil {
		return err.Error() // it is printed as it is
	}
	return fmt.Sprint(whole[0].object.Object, i.cells)
}

// Printer is how lists are printed: as kubectl get prints.
type Printer struct {
	Flags  *get.PrintFlags
	SortBy string    // the JSONPath of a field; empty: as the plan has them
	Err    io.Writer // what is no list is said here
}

// Print prints a list.
func (o Printer) Print(w io.Writer, l List) error {
	printer, err := o.Flags.ToPrinter()
	if err != nil {
		return err
	}
	if o.SortBy != "" {
		printer = &get.SortingPrinter{SortField: o.SortBy, Delegate: printer}
	}
	asTable := *o.Flags.OutputFormat == "" || *o.Flags.OutputFormat == string(report.Wide)
	if !asTable || o.SortBy != "" {
		if err := wholly(l.items); err != nil {
			return err
		}
	}
	switch {
	case asTable && len(l.items) == 0:
		fmt.Fprintln(o.Err, l.none)
		return nil
	case asTable:
		return printer.PrintObj(l.table(), w)
	case l.one && len(l.items) == 1:
		return printer.PrintObj(l.items[0].object, w)
	case l.one && len(l.items) == 0:
		return nil // it was said
	}
	return printer.PrintObj(l.list(), w)
}

// table is a list as API servers print it.
func (l List) table() *metav1.Table {
	t := &metav1.Table{}
	for _, c := range l.columns {
		d := metav1.TableColumnDefinition{Name: c.name, Type: "string"}
		if c.wide {
			d.Priority = 1
		}
		t.ColumnDefinitions = append(t.ColumnDefinitions, d)
	}
	for _, i := range l.items {
		t.Rows = append(t.Rows, metav1.TableRow{Cells: i.cells, Object: runtime.RawExtension{Object: i.object}})
	}
	return t
}

// list is a list as kubectl prints it for programs.
func (l List) list() *unstructured.UnstructuredList {
	out := &unstructured.UnstructuredList{}
	out.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "List"})
	for _, i := range l.items {
		out.Items = append(out.Items, *i.object)
	}
	return out
}
