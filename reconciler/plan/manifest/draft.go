package manifest

import (
	"runtime"
	"sync"

	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// draft is a manifest that was begun. What is left to do touches nothing that others do, so that it
// is done beside others.
type draft struct {
	of     *template.Template
	made   *made
	finish func() (map[string]any, *diag.Diagnostic) // the content, or why there is none
}

// drafts are finished and encoded together, on all processors. The zero value is ready.
type drafts struct {
	list []draft
	// firsts are the manifests that were encoded first of each template.
	firsts   map[*template.Template]*files.Blob
	encoders []object.Encoder // one a processor
}

// The most drafts that are kept, and the fewest that are worth a processor.
const (
	mostDrafts = 1024
	fewDrafts  = 32
)

func (ds *drafts) add(d draft) {
	if ds.list = append(ds.list, d); len(ds.list) == mostDrafts {
		ds.encode()
	}
}

// encode encodes the drafts that there are.
func (ds *drafts) encode() {
	if ds.encoders == nil {
		ds.encoders, ds.firsts = make([]object.Encoder, runtime.GOMAXPROCS(0)), map[*template.Template]*files.Blob{}
	}
	var others []draft
	for _, d := range ds.list {
		if ds.firsts[d.of] == nil {
			ds.one(&d, 0)
			if d.made.bad == nil {
				ds.firsts[d.of] = d.made.blob
			}
			continue
		}
		others = append(others, d)
	}
	n := max(1, min(len(ds.encoders), len(others)/fewDrafts))
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			for _, d := range others[len(others)*i/n : len(others)*(i+1)/n] {
				ds.one(&d, i)
			}
		})
	}
	group.Wait()
	clear(ds.list)
	ds.list = ds.list[:0]
}

// one finishes and encodes a draft. What it has in common with the first manifest of its template is
// kept once.
func (ds *drafts) one(d *draft, encoder int) {
	content, bad := d.finish()
	if bad != nil {
		d.made.bad = bad
		return
	}
	d.made.blob = files.Like(ds.firsts[d.of], ds.encoders[encoder].Encode(content))
}
