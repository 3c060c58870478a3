package compare

import (
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/built"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// inputs tell which files of a Kustomize root differ in two plans.
type inputs struct {
	base, head map[string][]built.File // by the file of the root's kustomization
	own        map[string]bool         // files in which an object is written
	known      map[string][]string     // by the file of the root's kustomization, the files that differ
}

func newInputs(base, head *plan.Plan) inputs {
	in := inputs{base: base.Source.Built, head: head.Source.Built, own: map[string]bool{}, known: map[string][]string{}}
	if len(in.head) == 0 {
		return in
	}
	for _, o := range head.Source.Objects {
		in.own[o.Origin().File] = true
	}
	return in
}

// edited says what changed of an object: the file that it is written in or, if that is as it was, the shared files that it is built
// with, such as a patch of a component.
func (in *inputs) edited(o *object.Object) (all []preview.Cause) {
	own := []preview.Cause{{Message: preview.Edited, Pos: o.Origin()}}
	for _, file := range in.differ(o.Pos().File) {
		switch {
		case file == o.Origin().File:
			return own
		case !in.own[file] && len(all) < maxFields:
			all = append(all, preview.Cause{Message: preview.Edited, Pos: diag.Pos{File: file}})
		}
	}
	if len(all) == 0 {
		return own
	}
	return all
}

// differ are the files of a root that are there in the head, and were not, or were others, in the base.
func (in *inputs) differ(root string) []string {
	if len(in.base[root]) == 0 || len(in.head[root]) == 0 {
		return nil
	}
	if files, is := in.known[root]; is {
		return files
	}
	before := map[string]string{}
	for _, f := range in.base[root] {
		before[f.Path] = f.Digest
	}
	var files []string
	for _, f := range in.head[root] {
		if was, is := before[f.Path]; !is || f.Digest != "" && was != f.Digest {
			files = append(files, f.Path)
		}
	}
	in.known[root] = files
	return files
}
