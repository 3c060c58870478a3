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

// TestWhatWasExchangedCannotBeRead has a service with a mistake, of which all stays as it was published, and a file in which that
// cannot be read: nothing of the cluster may change, for what it imports would be lost.
func TestWhatWasExchangedCannotBeRead(t *testing.T) {
	x := &Exchange{
		clusters: []string{"eu-1", "us-1"}, pulls: []bool{false, false},
		services: []*service{{ref: object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}, native: &karmada.MultiClusterServiceSpec{}, wrong: true}},
	}
	const line = `{"namespace":"shop","service":"api","style":"native","from":["eu-1"]}`
	before := []*files.Folder{published("[]"), published(`{"imports": [` + line + `]}`)}
	in := layout.Input{Flux: make([]tree.Flux, len(before))}
	for i, f := range before {
		in.Flux[i].Before.Built = f
	}
	trees, _ := x.Lay(&in, []layout.Tree{{Folder: files.NewFolder(nil)}, {Folder: files.NewFolder(nil)}})
	if err := trees[0].Err; err == nil || !strings.HasPrefix(err.Error(), "reading waybill.services as it was published: ") || trees[0].Folder != before[0] {
		t.Errorf("eu-1 is to hold %v, %v", trees[0].Folder, err)
	}
	e, ok := trees[1].Folder.Lookup(tree.ServicesFile)
	if !ok || trees[1].Err != nil {
		t.Fatalf("us-1 is to hold %v, %v", trees[1].Folder, trees[1].Err)
	}
	if data, err := e.Blob.Bytes(); err != nil || !strings.Contains(string(data), line) {
		t.Errorf("us-1 imports %s, %v", data, err)
	}
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
		clusters: []string{"eu-1", "us-1", "us-2", "us-3", "us-4", "us-5"}, pulls: make([]bool, 6), endpoints: exchange.Apply,
		services: []*service{{ref: object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}, native: &karmada.MultiClusterServiceSpec{}, wrong: true}},
	}
	in := layout.Input{Flux: make([]tree.Flux, 6), Stays: map[int]reason.Reason{1: reason.NotMapped, 4: reason.NotMapped}}
	for i, text := range []string{`{"exports": [` + api + `]}`, `{"exports": [` + api + "," + web + `]}`, `{"exports": [` + none + `]}`, `{"exports": [` + api + `]}`, "[", `{"exports": [` + api + "," + web + `]}`} {
		in.Flux[i].Before.Built = published(text)
	}
	trees := make([]layout.Tree, 6)
	for i := range trees {
		trees[i].Folder = files.NewFolder(nil)
	}
	trees[5].Err = errors.New("its branch cannot be read")
	want := []rules.Booked{{Clusters: []string{"eu-1", "us-3"}, Services: []string{"shop/api"}}, {Clusters: []string{"us-1", "us-5"}, Services: []string{"shop/api", "shop/web"}}}
	_, laid := x.Lay(&in, trees)
	if d := cmp.Diff(want, laid.Booked()); d != "" {
		t.Error(d)
	}
	x.endpoints = exchange.External
	if _, laid = x.Lay(&in, trees); laid.Booked() != nil || (*Laid)(nil).Booked() != nil {
		t.Errorf("where nobody writes books they have %v", laid.Booked())
	}
}
