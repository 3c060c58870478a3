package members

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/cmd/get"

	"github.com/waybill-dev/waybill/test/apiserver"
)

func mapping(group, kind string, scope meta.RESTScope) *meta.RESTMapping {
	return &meta.RESTMapping{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, Scope: scope}
}

// served is what a server answers: columns, and rows of a namespace and cells.
func served(columns []string, rows ...[]string) runtime.Object {
	t := map[string]any{"kind": "Table", "apiVersion": "meta.k8s.io/v1"}
	var definitions, all []any
	for i, c := range columns {
		d := map[string]any{"name": c, "type": "string", "format": "", "description": fmt.Sprint("in the words of ", rows), "priority": int64(0)}
		if i == 0 {
			d["format"] = "name"
		}
		definitions = append(definitions, d)
	}
	for _, r := range rows {
		var cells []any
		for _, c := range r[1:] {
			cells = append(cells, c)
		}
		o := map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{"name": r[1], "namespace": r[0]}}
		all = append(all, map[string]any{"cells": cells, "object": o})
	}
	t["columnDefinitions"], t["rows"] = definitions, all
	return &unstructured.Unstructured{Object: t}
}

func plain(name string) runtime.Object {
	return &unstructured.Unstructured{Object: map[string]any{"kind": "Odd", "apiVersion": "odd.example.com/v1", "metadata": map[string]any{"name": name}}}
}

// printed are answers as they are printed.
func printed(t *testing.T, answers []Answer, set func(*get.PrintFlags)) (stdout, stderr string, tally Tally) {
	t.Helper()
	var out, errs bytes.Buffer
	flags := get.NewGetPrintFlags()
	set(flags)
	tally, err := Output{Flags: flags, Out: &out, Err: &errs}.Print(answers)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), tally
}

func TestPrint(t *testing.T) {
	pods, nodes := mapping("", "Pod", meta.RESTScopeNamespace), mapping("", "Node", meta.RESTScopeRoot)
	odd := mapping("odd.example.com", "Odd", meta.RESTScopeRoot)
	for _, c := range []struct {
		name        string
		answers     []Answer
		format      string
		out, errors string
		tally       Tally
	}{
		{
			name: "rows of several clusters are aligned, and chunks of one follow each other",
			answers: []Answer{
				{Cluster: "eu-1", Namespace: "shop", Found: []Found{{pods, served([]string{"Name", "Ready"}, []string{"shop", "web", "1/1"})}, {pods, served([]string{"Name", "Ready"}, []string{"shop", "web-2", "0/1"})}}},
				{Cluster: "us-1-with-a-name", Namespace: "shop", Found: []Found{{pods, served([]string{"Name", "Ready"}, []string{"shop", "web", "1/1"})}}},
			},
			out:   "CLUSTER            NAME    READY\neu-1               web     1/1\neu-1               web-2   0/1\nus-1-with-a-name   web     1/1\n",
			tally: Tally{Answered: 2},
		},
		{
			name: "of all namespaces each is named, and a kind has its name where there are several",
			answers: []Answer{
				{Cluster: "eu-1", Found: []Found{{pods, served([]string{"Name"}, []string{"shop", "web"})}, {nodes, served([]string{"Name"}, []string{"", "n"})}}},
				{Cluster: "us-1", Found: []Found{{pods, served([]string{"Name"}, []string{"shop", "web"})}}},
			},
			out:   "CLUSTER   NAMESPACE   NAME\neu-1      shop        pod/web\nus-1      shop        pod/web\n\nCLUSTER   NAME\neu-1      node/n\n",
			tally: Tally{Answered: 2},
		},
		{
			name: "other columns are another table",
			answers: []Answer{
				{Cluster: "eu-1", Namespace: "shop", Found: []Found{{pods, served([]string{"Name", "Ready"}, []string{"shop", "web", "1/1"})}}},
				{Cluster: "old", Namespace: "shop", Found: []Found{{pods, served([]string{"Name", "State"}, []string{"shop", "web", "good"})}}},
				{Cluster: "us-1", Namespace: "shop", Found: []Found{{pods, served([]string{"Name", "Ready"}, []string{"shop", "web", "1/1"})}}},
			},
			out:   "CLUSTER   NAME   READY\neu-1      web    1/1\nus-1      web    1/1\n\nCLUSTER   NAME   STATE\nold       web    good\n",
			tally: Tally{Answered: 3},
		},
		{
			name:    "a server that knows no tables",
			answers: []Answer{{Cluster: "eu-1", Found: []Found{{odd, plain("one")}, {odd, plain("two")}}}},
			out:     "CLUSTER   NAME   AGE\neu-1      one    <unknown>\neu-1      two    <unknown>\n",
			tally:   Tally{Answered: 1},
		},
		{
			name: "what is in the way is a line",
			answers: []Answer{
				{Cluster: "eu-1", Namespace: "shop", Errs: []error{errors.New("no way there")}},
				{Cluster: "us-1", Namespace: "shop", Found: []Found{{pods, served([]string{"Name"}, []string{"shop", "web"})}}, Errs: []error{errors.New("one refused"), errors.New("two refused")}},
			},
			out: "CLUSTER   NAME\nus-1      web\n", errors: "eu-1: no way there\nus-1: one refused\nus-1: two refused\n",
			tally: Tally{Answered: 1, Refused: 2},
		},
		{
			name:    "nothing",
			answers: []Answer{{Cluster: "eu-1", Namespace: "shop", Found: []Found{{pods, served([]string{"Name"})}}}, {Cluster: "us-1", Errs: []error{errors.New("no way there")}}},
			errors:  "No resources found\nus-1: no way there\n",
			tally:   Tally{Answered: 1, Refused: 1},
		},
		{
			name: "names", format: "name",
			answers: []Answer{{Cluster: "eu-1", Found: []Found{{odd, plain("one")}}}, {Cluster: "us-1", Found: []Found{{odd, plain("two")}}}},
			out:     "eu-1 odd.odd.example.com/one\nus-1 odd.odd.example.com/two\n",
			tally:   Tally{Answered: 2},
		},
		{
			name: "one object of one cluster", format: "yaml",
			answers: []Answer{{Cluster: "eu-1", One: true, Found: []Found{{odd, plain("one")}}}},
			out:     "apiVersion: odd.example.com/v1\nkind: Odd\nmetadata:\n  annotations:\n    waybill.dev/cluster: eu-1\n  name: one\n",
			tally:   Tally{Answered: 1},
		},
		{
			name: "one object of two clusters", format: "jsonpath={.kind} {.items[*].metadata.annotations}",
			answers: []Answer{{Cluster: "eu-1", One: true, Found: []Found{{odd, plain("one")}}}, {Cluster: "us-1", One: true, Errs: []error{errors.New("not found")}}},
			out:     `List {"waybill.dev/cluster":"eu-1"}`, errors: "us-1: not found\n",
			tally: Tally{Answered: 1, Refused: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, tally := printed(t, c.answers, func(f *get.PrintFlags) { *f.OutputFormat = c.format })
			if diff := cmp.Diff(c.out+"---\n"+c.errors, out+"---\n"+errs); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if tally != c.tally {
				t.Errorf("the tally is %+v, want %+v", tally, c.tally)
			}
		})
	}
}

// TestFollow prints changes below each other: headers once, and what a server of a watch names
// only once stays known.
func TestFollow(t *testing.T) {
	pods := mapping("", "Pod", meta.RESTScopeNamespace)
	var out, errs bytes.Buffer
	var tally Tally
	say, err := Output{Flags: get.NewGetPrintFlags(), Out: &out, Err: &errs}.Follow(&tally)
	if err != nil {
		t.Fatal(err)
	}
	first := decoded(served([]string{"Name", "Ready"}, []string{"shop", "web-with-a-name", "1/1"}))
	columns := completed(first, nil)
	next := decoded(served(nil, []string{"shop", "web", "0/1"}))
	completed(next, columns)
	for _, a := range []Answer{
		{Cluster: "eu-1", Namespace: "shop", First: true, Found: []Found{{pods, first}}},
		{Cluster: "us-1", Namespace: "shop", First: true, Found: []Found{{pods, served([]string{"Name", "Ready"})}}},
		{Cluster: "eu-1", Namespace: "shop", Found: []Found{{pods, next}}},
		{Cluster: "us-1", Errs: []error{errEnded}},
	} {
		if err := say(a); err != nil {
			t.Fatal(err)
		}
	}
	want := "CLUSTER   NAME              READY\neu-1      web-with-a-name   1/1\neu-1      web               0/1\n---\nus-1: it ended the watch; ask again\n"
	if diff := cmp.Diff(want, out.String()+"---\n"+errs.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if (tally != Tally{Answered: 2, Refused: 1}) {
		t.Errorf("the tally is %+v", tally)
	}
}

// TestRowsOfAWatchHaveTheColumnsOfTheFirst: a server that answers with tables names the columns with the first change alone.
func TestRowsOfAWatchHaveTheColumnsOfTheFirst(t *testing.T) {
	a := newAsked(t)
	a.only("us")
	a.us.Remove("/api/v1/namespaces/shop/configmaps/us")
	a.Way.Namespace = "shop"
	var out, errs bytes.Buffer
	say, err := Output{Flags: get.NewGetPrintFlags(), Out: &out, Err: &errs}.Follow(&Tally{})
	if err != nil {
		t.Fatal(err)
	}
	table := func(name string, columns ...string) {
		u, _ := served(columns, []string{"shop", name, "1"}).(*unstructured.Unstructured)
		u.Object["metadata"] = apiserver.Object{}
		a.us.Put("/api/v1/namespaces/shop/configmaps/"+name, u.Object)
	}
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	enough, told := errors.New("enough"), 0
	err = a.Watch(ctx, Query{Args: []string{"configmaps"}}, func(answer Answer) error {
		if answer.First {
			table("a", "Name", "Data")
			table("b")
			table("c")
		}
		if err := say(answer); err != nil || len(answer.Errs) > 0 {
			return errors.Join(append(answer.Errs, err)...)
		}
		if told++; told > len("abc") {
			return enough
		}
		return nil
	})
	const want = "CLUSTER   NAME   DATA\nus        a      1\nus        b      1\nus        c      1\n"
	if out.String() != want || !errors.Is(err, enough) || errs.Len() > 0 {
		t.Errorf("it prints\n%s\nwant\n%s; %v, %s", out.String(), want, err, errs.String())
	}
}
