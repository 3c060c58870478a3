package manifest

import (
	"runtime"
	"sync"

	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// draft is a manifest whose content is known, and which is not encoded yet.
type draft struct {
	of      *template.Template
	content map[string]any
	made    *made
}

// drafts are encoded together, on all processors. The zero value is ready.
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
			ds.firsts[d.of] = d.made.blob
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

// one encodes a draft. What it has in common with the first manifest of its template is kept once.
func (ds *drafts) one(d *draft, encoder int) {
	d.made.blob = files.Like(ds.firsts[d.of], ds.encoders[encoder].Encode(d.content))
}
