package services

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// published is a tree with the file of services.
func published(text string) *files.Folder {
	return tree.Overlay(files.NewFolder(nil), map[string]files.Entry{tree.ServicesFile: files.FileEntry(tree.ServicesFile, files.NewBlob([]byte(text)))})
}

// TestWhatWasExchangedCannotBeRead has a service with a mistake, of which all stays as it was published, and files in which that
// cannot be read: nothing of their clusters may change, for what they import would be lost.
func TestWhatWasExchangedCannotBeRead(t *testing.T) {
	api := object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}
	x := &Exchange{
		clusters: []string{"eu-1", "eu-2", "us-1", "us-2", "us-3"}, pulls: make([]bool, 5),
		services: []*service{{ref: api, native: &karmada.MultiClusterServiceSpec{}, wrong: true}},
	}
	const (
		line    = `{"namespace":"shop","service":"api","style":"native","from":["eu-1"]}`
		derived = `{"namespace":"shop","service":"api","style":"derived","derived":"derived-api","from":["eu-1"]}`
		other   = `{"namespace":"shop","service":"web","style":"native","from":["eu-1"]}`
	)
	before := []*files.Folder{published("[]"), published("["), published(`{"imports": [` + line + "," + derived + "," + other + `]}`), files.NewFolder(nil), nil}
	in := layout.Input{Flux: make([]tree.Flux, len(before))}
	for i, f := range before {
		in.Flux[i].Before.Built = f
	}
	given := make([]layout.Tree, len(before))
	for i := range given {
		given[i].Folder = files.NewFolder(nil)
	}
	trees, _ := x.Lay(&in, given)
	for i := range 2 {
		if err := trees[i].Err; err == nil || !strings.HasPrefix(err.Error(), "reading waybill.services as it was published: ") || trees[i].Folder != before[i] {
			t.Errorf("%s is to hold %v, %v", x.clusters[i], trees[i].Folder, err)
		}
		if given[i].Err != nil || given[i].Folder == before[i] {
			t.Errorf("the tree of %s that was given is another one", x.clusters[i])
		}
	}
	if is := fileOf(t, trees[2]); !strings.Contains(is, line) || strings.Contains(is, derived) || strings.Contains(is, other) {
		t.Errorf("us-1 imports %s", is)
	}
	for _, i := range []int{3, 4} {
		if is := fileOf(t, trees[i]); is != "" || trees[i].Folder != given[i].Folder {
			t.Errorf("%s imports %s", x.clusters[i], is)
		}
	}
	x.services = append(x.services, &service{ref: api, wrong: true}) // by an export, too
	if trees, _ = x.Lay(&in, given); !strings.Contains(fileOf(t, trees[2]), line) || !strings.Contains(fileOf(t, trees[2]), derived) {
		t.Errorf("with mistakes in both ways us-1 imports %s", fileOf(t, trees[2]))
	}
}

// fileOf is the file of services of a tree; empty for none.
func fileOf(t *testing.T, is layout.Tree) string {
	t.Helper()
	e, ok := is.Folder.Lookup(tree.ServicesFile)
	if !ok {
		return ""
	}
	data, err := e.Blob.Bytes()
	if err != nil || is.Err != nil {
		t.Fatal(err, is.Err)
	}
	return string(data)
}

// TestWhatBooksHave is what the files of clusters say that they export by books: of a cluster whose branch stays, or cannot be
// laid out, that which is published.
func TestWhatBooksHave(t *testing.T) {
	const (
		api  = `{"namespace":"shop","service":"api","book":true}`
		web  = `{"namespace":"shop","service":"web","book":true}`
		none = `{"namespace":"shop","service":"api"}`
	)
	x := &Exchange{
		clusters: []string{"eu-1", "us-1", "us-2", "us-3", "us-4", "us-5", "us-6", "us-7", "us-8"}, pulls: make([]bool, 9), endpoints: exchange.Apply,
		services: []*service{{ref: object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}, native: &karmada.MultiClusterServiceSpec{}, wrong: true}},
	}
	in := layout.Input{Flux: make([]tree.Flux, 9), Stays: map[int]reason.Reason{}}
	for _, i := range []int{1, 4, 6, 7, 8} {
		in.Stays[i] = reason.NotMapped
	}
	for i, text := range []string{
		api + "," + web, api + "," + web, none, api, "", web + "," + api + "," + api, none + "," + web, // of eu-1 web is gone
	} {
		in.Flux[i].Before.Built = published(`{"exports": [` + text + `]}`)
	}
	in.Flux[4].Before.Built, in.Flux[7].Before.Built = published("["), files.NewFolder(nil)
	trees := make([]layout.Tree, 9)
	for i := range trees {
		trees[i].Folder = files.NewFolder(nil)
	}
	trees[5].Err = errors.New("its branch cannot be read")
	want := []rules.Booked{
		{Clusters: []string{"eu-1", "us-3"}, Services: []string{"shop/api"}},
		{Clusters: []string{"us-1", "us-5"}, Services: []string{"shop/api", "shop/web"}},
		{Clusters: []string{"us-6"}, Services: []string{"shop/web"}},
	}
	all, laid := x.Lay(&in, trees)
	if d := cmp.Diff(want, laid.Booked()); d != "" {
		t.Error(d)
	}
	for i := range all { // what stays, or has an error, is what it was
		_, stays := in.Stays[i]
		if isLaid := all[i].Folder != trees[i].Folder; isLaid == (stays || i == 5) {
			t.Errorf("the tree of %s is laid out: %t", x.clusters[i], isLaid)
		}
	}
	x.endpoints = exchange.External
	if _, laid = x.Lay(&in, trees); laid.Booked() != nil || (*Laid)(nil).Booked() != nil {
		t.Errorf("where nobody writes books they have %v", laid.Booked())
	}
}
