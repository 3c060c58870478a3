// Package engines has the engines do jobs: it renders a Kustomize build or a Helm release, with what comes after
// a release. It reads nothing but the file system it is given, and is made to be run in a
// sandbox, because what it reads may be hostile.
//
// Nobody who decides needs it: it brings the libraries of Helm and of kustomize.
package engines

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/kustomize/build"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// Run does a job, which is JSON, and returns its output, which engine.Decode reads. It reads
// nothing but fsys: the files of the source and, below engine.ChartDir, of the charts. What is
// wrong with what it reads is part of the output; an error is ours.
func Run(job []byte, fsys fs.FS) ([]byte, error) {
	var j engine.Job
	if err := json.Unmarshal(job, &j); err != nil {
		return nil, fmt.Errorf("decoding a job: %w", err)
	}
	if j.Kustomize == nil && j.Helm == nil {
		return nil, errors.New("a job is neither of Kustomize nor of Helm")
	}
	out := do(j, fsys)
	out.keepNames(j, fsys)
	out.redact(j.Secrets)
	data, err := json.Marshal(out.Output)
	if err != nil {
		return nil, fmt.Errorf("encoding the output of a job: %w", err)
	}
	return data, nil
}

// output is what a job renders to, while it is done.
type output struct{ engine.Output }

func do(j engine.Job, fsys fs.FS) output {
	var out output
	switch {
	case j.Kustomize != nil:
		out.kustomize(j.Kustomize, fsys)
	case j.Helm != nil:
		out.helm(j.Helm, fsys)
	}
	return out
}

// redact takes secrets out of what is said.
func (o *output) redact(secrets []string) {
	hide := object.Redactor(secrets)
	for i := range o.Diags {
		o.Diags[i].Message, o.Diags[i].Hint = hide.Replace(o.Diags[i].Message), hide.Replace(o.Diags[i].Hint)
	}
}

func (o *output) fail(code diag.Code, message, hint string) {
	o.Diags = append(o.Diags, diag.Diagnostic{Code: code, Severity: diag.Error, Message: message, Hint: hint})
}

func (o *output) kustomize(k *engine.Kustomize, fsys fs.FS) {
	files := fsys // the charts of repositories are here, whatever the view is
	source := func(file string) string { return file }
	if k.View != nil {
		arranged, err := engine.View(fsys, k.View)
		if err != nil {
			o.fail(diag.BadRelease, err.Error(), "")
			return
		}
		fsys, source = sources.Arranged(fsys, arranged), func(file string) string { return cmp.Or(arranged[file], file) }
	}
	built, err := build.Kustomization(fsys, build.Options{Dir: k.Dir, Overlay: k.Overlay, Inflate: func(c kustomize.HelmChart) ([]byte, error) {
		return inflate(fsys, files, c)
	}})
	if e, ok := errors.AsType[*build.Error](err); ok {
		for _, d := range e.Diags {
			d.Pos.File = source(d.Pos.File)
			o.Diags = append(o.Diags, d)
		}
		return
	}
	if err != nil {
		o.fail(diag.Kustomize, err.Error(), "")
		return
	}
	o.Documents = append(o.Documents, engine.Document{Data: built.Stream})
	for _, p := range built.Places {
		p.Pos.File = source(p.Pos.File)
		o.Places = append(o.Places, p)
	}
}
