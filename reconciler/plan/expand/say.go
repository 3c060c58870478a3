package expand

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/words"
)

// saying is what jobs had to say, by release and job.
type saying map[string]*said

// said is what a job had to say, for all the clusters that it was done for.
type said struct {
	release  *object.Object
	diags    []diag.Diagnostic
	clusters []string // one of those that are alike
	bound    bool     // the release stands in their own directories
	lacks    []lock.Ref
	verified *flux.Verification // what the release asks of who signed its chart, where that lacks; nil for nothing
}

// About are diagnostics by the release that they are about.
type About map[object.Ref][]diag.Diagnostic

// note notes that diagnostics are about a release, and returns them.
func (a About) note(release object.Ref, ds ...diag.Diagnostic) []diag.Diagnostic {
	if len(ds) > 0 {
		a[release] = append(a[release], ds...)
	}
	return ds
}

// Why returns the message of the first error that is about a release, in the order of diag.Sort; empty if none is.
func (a About) Why(release object.Ref) string {
	for _, d := range diag.Sort(slices.Clone(a[release])) {
		if d.Severity == diag.Error {
			return d.Message
		}
	}
	return ""
}

// Lack is a chart of a repository for want of which a release was not rendered.
type Lack struct {
	Chart lock.Ref
	Pos   diag.Pos // of the release
	By    string   // the release, and for which clusters
	// Verification is what the release, or what it takes the chart by, asks of who signed it; nil for nothing.
	Verification *flux.Verification
}

// add notes what a job had to say.
func (m saying) add(at string, release *object.Object, s *scope, r *engine.Rendered, in *flux.Repository) {
	if len(r.Diags)+len(r.Lacks) == 0 {
		return
	}
	if m[at] == nil {
		m[at] = &said{release: release, diags: r.Diags, lacks: r.Lacks, bound: s.bound}
		if len(r.Lacks) > 0 {
			m[at].verified = flux.ReadVerification(release, s.lookup, in)
		}
	}
	if t, cluster := m[at], s.name(); cluster != "" && !slices.Contains(t.clusters, cluster) {
		t.clusters = append(t.clusters, cluster)
	}
}

// diagnostics returns all that jobs had to say. What has no place of its own stands where
// the release does, and is about that.
func (m saying) diagnostics(about About) []diag.Diagnostic {
	var all []diag.Diagnostic
	for _, at := range slices.Sorted(maps.Keys(m)) {
		t := m[at]
		for _, d := range t.diags {
			if d.Pos.File == "" {
				d.Pos, d.Message, d.Examples = t.release.Origin(), t.by()+": "+d.Message, t.examples()
				about.note(t.release.Ref(), d)
			}
			all = append(all, d)
		}
	}
	return all
}

// lacks returns the charts for want of which jobs were not done.
func (m saying) lacks() []Lack {
	var all []Lack
	for _, at := range slices.Sorted(maps.Keys(m)) {
		for _, ref := range m[at].lacks {
			all = append(all, Lack{ref, m[at].release.Origin(), m[at].by(), m[at].verified})
		}
	}
	return all
}

// by is the release that a job was of, and for which clusters.
func (s *said) by() string {
	what := s.release.Ref().String()
	if s.bound {
		return what + " for " + words.List(s.clusters)
	}
	return what + s.examples()
}

// examples names clusters that stand for all that are alike; it is empty where the release was rendered for none of them, and where
// each is named.
func (s *said) examples() string {
	if s.bound || len(s.clusters) == 0 {
		return ""
	}
	return " for clusters like " + words.List(s.clusters)
}

// exemplify names a cluster that stands for all in which a diagnostic is so.
func exemplify(d *diag.Diagnostic, cluster string) {
	d.Examples = " (clusters like " + cluster + ")"
	d.Message += d.Examples
}
