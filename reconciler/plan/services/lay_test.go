package services

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// TestWhatWasExchangedCannotBeRead has a service with a mistake, of which all stays as it was published, and a file in which that
// cannot be read: nothing of the cluster may change, for what it imports would be lost.
func TestWhatWasExchangedCannotBeRead(t *testing.T) {
	x := &Exchange{
		clusters: []string{"eu-1", "us-1"}, pulls: []bool{false, false},
		services: []*service{{ref: object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}, native: &karmada.MultiClusterServiceSpec{}, wrong: true}},
	}
	published := func(text string) *files.Folder {
		return tree.Overlay(files.NewFolder(nil), map[string]files.Entry{tree.ServicesFile: files.FileEntry(tree.ServicesFile, files.NewBlob([]byte(text)))})
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
