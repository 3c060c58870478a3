package members

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/get"
)

// ClusterAnnotation says of an object that is printed which cluster it was found in. No object
// in a cluster has it.
const ClusterAnnotation = "waybill.dev/cluster"

// Output is how answers are printed: as kubectl get prints.
type Output struct {
	Flags *get.PrintFlags
	Out   io.Writer
	Err   io.Writer // what is no answer is said here
}

// Whole reports a format that wants objects, and not tables.
func (o Output) Whole() bool {
	f := *o.Flags.OutputFormat
	return f != "" && f != "wide"
}

// Check returns an error for a format that does not exist.
func (o Output) Check() error {
	_, err := o.Flags.ToPrinter()
	return err
}

// Tally counts clusters: those that answered something, and those that did not answer all.
type Tally struct{ Answered, Refused int }

func (t *Tally) add(a Answer) {
	if len(a.Errs) == 0 || len(a.Found) > 0 {
		t.Answered++
	}
	if len(a.Errs) > 0 {
		t.Refused++
	}
}

// Print prints answers. What is in the way of one is a line on Err.
func (o Output) Print(answers []Answer) (t Tally, err error) {
	if o.Whole() {
		err = o.objects(answers)
	} else {
		err = o.tables(answers)
	}
	for _, a := range answers {
		t.add(a)
		o.complain(a)
	}
	return t, err
}

// Follow returns what prints answers one after the other, as a watch has them, and counts them.
func (o Output) Follow(t *Tally) (say func(Answer) error, err error) {
	printer, err := o.Flags.ToPrinter()
	if err != nil {
		return nil, err
	}
	w := printers.GetNewTabWriter(o.Out) // it remembers how wide columns are
	return func(a Answer) error {
		if a.First || len(a.Errs) > 0 {
			t.add(a)
		}
		o.complain(a)
		if o.Whole() {
			return o.each(printer, a)
		}
		for _, s := range sheets([]Answer{a}) {
			if err := printer.PrintObj(s.table, w); err != nil {
				return err
			}
		}
		return w.Flush()
	}, nil
}

// each prints the objects of an answer one by one.
func (o Output) each(printer printers.ResourcePrinter, a Answer) error {
	for _, f := range a.Found {
		err := meta.EachListItem(asList(f.Object), func(item runtime.Object) error {
			u, err := marked(item, a.Cluster)
			if err != nil {
				return err
			}
			return o.one(printer, u)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// asList returns a list of an object, unless it is one.
func asList(o runtime.Object) runtime.Object {
	if meta.IsListType(o) {
		return o
	}
	u, _ := o.(*unstructured.Unstructured)
	if u == nil {
		return &unstructured.UnstructuredList{}
	}
	return &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*u}}
}

// complain says what is in the way of an answer.
func (o Output) complain(a Answer) {
	for _, err := range a.Errs {
		fmt.Fprintf(o.Err, "%s: %s\n", a.Cluster, Message(err))
	}
}

func (o Output) tables(answers []Answer) error {
	all := sheets(answers)
	kinds, rows := map[schema.GroupKind]bool{}, 0
	for _, s := range all {
		kinds[s.kind] = true
		rows += len(s.table.Rows)
	}
	if rows == 0 {
		o.none(answers)
		return nil
	}
	first := true
	for _, s := range all {
		if len(s.table.Rows) == 0 {
			continue
		}
		var called schema.GroupKind // by nothing, where all are of one kind
		if len(kinds) > 1 {
			called = s.kind
		}
		printer, err := o.printer(called)
		if err != nil {
			return err
		}
		if !first && !*o.Flags.NoHeaders {
			fmt.Fprintln(o.Out)
		}
		first = false
		if err := printer.PrintObj(s.table, o.Out); err != nil {
			return err
		}
	}
	return nil
}

// none says that clusters answered, and have nothing.
func (o Output) none(answers []Answer) {
	for _, a := range answers {
		if len(a.Errs) == 0 && !a.One {
			fmt.Fprintln(o.Err, "No resources found")
			return
		}
	}
}

// printer returns what prints a table. A kind, if there is one, stands in front of each name.
func (o Output) printer(kind schema.GroupKind) (printers.ResourcePrinter, error) {
	flags := o.Flags.Copy()
	human := *flags.HumanReadableFlags
	flags.HumanReadableFlags = &human
	if !kind.Empty() {
		flags.SetKind(kind)
		if err := flags.EnsureWithKind(); err != nil {
			return nil, err
		}
	}
	return flags.ToPrinter()
}

// objects prints objects, as a list unless one was asked for, of one cluster.
func (o Output) objects(answers []Answer) error {
	printer, err := o.Flags.ToPrinter()
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "List"})
	answered, one := false, len(answers) == 1
	for _, a := range answers {
		answered, one = answered || len(a.Errs) == 0, one && a.One
		for _, f := range a.Found {
			u, err := marked(f.Object, a.Cluster)
			if err != nil {
				return err
			}
			list.Items = append(list.Items, *u)
		}
	}
	switch {
	case *o.Flags.OutputFormat == "name":
		for i := range list.Items {
			if err := o.one(printer, &list.Items[i]); err != nil {
				return err
			}
		}
		return nil
	case one && len(list.Items) == 1:
		return printer.PrintObj(&list.Items[0], o.Out)
	case !answered && len(list.Items) == 0:
		return nil // there is nothing to be said but why
	}
	return printer.PrintObj(list, o.Out)
}

// one prints an object. A name stands behind its cluster.
func (o Output) one(printer printers.ResourcePrinter, u *unstructured.Unstructured) error {
	if *o.Flags.OutputFormat == "name" {
		fmt.Fprint(o.Out, u.GetAnnotations()[ClusterAnnotation], " ")
	}
	return printer.PrintObj(u, o.Out)
}

// marked returns an object that says where it was found.
func marked(o runtime.Object, cluster string) (*unstructured.Unstructured, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%s answered with a %T, which is no object", cluster, o)
	}
	u = u.DeepCopy()
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[ClusterAnnotation] = cluster
	u.SetAnnotations(annotations)
	return u, nil
}
