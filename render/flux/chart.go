package flux

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/lock"
)

// chartAt says where the chart of a chart template is: in a folder of this
// repository if it begins with "./" or its source is a GitRepository; otherwise in
// the HelmRepository that sourceRef names.
func (r *reader) chartAt(template any, owner *object.Object, field []any) (engine.Chart, bool) {
	chart, version := textAt(template, "chart"), textAt(template, "version")
	kind, name := textAt(template, "sourceRef", "kind"), textAt(template, "sourceRef", "name")
	namespace := cmp.Or(textAt(template, "sourceRef", "namespace"), owner.Ref().Namespace)
	if source := sourceAt(fieldAt(template, "sourceRef"), owner.Ref().Namespace); strings.HasPrefix(chart, "./") || isSource(source) {
		if !r.ownChart(chart, source, field) {
			return engine.Chart{}, false
		}
		clean := path.Clean(chart)
		if path.IsAbs(chart) || clean == ".." || strings.HasPrefix(clean, "../") {
			r.fail(field, fmt.Sprintf("its chart %q is not in this repository", chart), "name a folder from the root of the repository, as ./charts/shop")
			return engine.Chart{}, false
		}
		return engine.Chart{Path: clean}, true
	}
	if kind != "HelmRepository" {
		r.fail(field, fmt.Sprintf("its chart is in a %s, from which no chart is taken", kind), "use a HelmRepository, an OCIRepository, or a folder of this repository")
		return engine.Chart{}, false
	}
	repository := r.shelf.find(sourceGroup, kind, namespace, name)
	if repository == nil {
		r.fail(field, fmt.Sprintf("the HelmRepository %s/%s is not in the source", namespace, name), "put it into the source")
		return engine.Chart{}, false
	}
	ref := lock.Ref{Kind: lock.Helm, Repository: textAt(repository.Content(), "spec", "url"), Name: chart, Constraint: version}
	if strings.HasPrefix(ref.Repository, "oci://") || textAt(repository.Content(), "spec", "type") == "oci" {
		ref.Kind = lock.OCI
	}
	return r.locked(ref, field)
}

// ownChart reports whether a chart is in this repository. One that begins with "./" is where its
// source is not in the source.
func (r *reader) ownChart(chart string, source object.Ref, field []any) bool {
	if strings.HasPrefix(chart, "./") && r.shelf.find(source.Group, source.Kind, source.Namespace, source.Name) == nil {
		return true
	}
	return !isSource(source) || r.own(source, append(slices.Clip(field), "sourceRef"))
}

// chartOf says where the chart is that a chartRef names.
func (r *reader) chartOf(ref any, field []any) (engine.Chart, bool) {
	kind, name := textAt(ref, "kind"), textAt(ref, "name")
	namespace := cmp.Or(textAt(ref, "namespace"), r.release.Ref().Namespace)
	o := r.shelf.find(sourceGroup, kind, namespace, name)
	if o == nil {
		r.fail(field, fmt.Sprintf("the %s %s/%s is not in the source", kind, namespace, name), "put it into the source")
		return engine.Chart{}, false
	}
	if kind == "HelmChart" {
		return r.chartAt(fieldAt(o.Content(), "spec"), o, field)
	}
	url := strings.TrimRight(textAt(o.Content(), "spec", "url"), "/")
	slash := strings.LastIndex(url, "/")
	at := fieldAt(o.Content(), "spec", "ref")
	c := lock.Ref{Kind: lock.OCI, Repository: url[:max(slash, 0)], Name: url[slash+1:]}
	c.Constraint = cmp.Or(textAt(at, "digest"), textAt(at, "semver"), textAt(at, "tag"))
	return r.locked(c, field)
}

// locked looks a chart up in the lock file. What stands for one chart on each day needs no lock.
func (r *reader) locked(ref lock.Ref, field []any) (engine.Chart, bool) {
	if err := ref.Validate(); err != nil {
		r.fail(field, "its chart cannot be asked for: "+err.Error(), "")
		return engine.Chart{}, false
	}
	if e, ok := r.setting.Lock.Lookup(ref); ok {
		return engine.Chart{Ref: ref, Locked: &e}, true
	}
	if r.setting.Pinned && !ref.IsFixed() {
		r.report(diag.ChartNotLocked, diag.Error, field, fmt.Sprintf("%s is not in %s, so that what it is depends on the day", ref, lock.FileName), "waybill update, and commit "+lock.FileName)
		return engine.Chart{}, false
	}
	return engine.Chart{Ref: ref}, true
}
