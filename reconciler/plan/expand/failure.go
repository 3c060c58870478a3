package expand

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// Failure is a release that cannot be rendered.
type Failure struct {
	ID state.ReleaseID
	// Objects are what it rendered to when it was published last, and what it renders to
	// for other clusters now.
	Objects []object.Ref
	// Everywhere reports a release that is not rendered for a cluster; otherwise Clusters
	// are those for which it cannot be rendered.
	Everywhere bool
	Clusters   map[string]bool
	// Targets are the clusters that it goes to.
	Targets map[string]bool
	// Inputs and Before are what it is made from now and was made from before; see
	// state.Release.
	Inputs, Before string
}

// In reports whether the release cannot be rendered for a cluster.
func (f *Failure) In(cluster string) bool {
	return (f.ID.Cluster == "" || f.ID.Cluster == cluster) && (f.Everywhere || f.Clusters[cluster])
}

// Unrendered are the objects of which it is not known whether a release of the source still has them, because it cannot be rendered.
func (r *Result) Unrendered() map[object.Ref]bool {
	all := map[object.Ref]bool{}
	for i := range r.Failures {
		if f := &r.Failures[i]; f.ID.Cluster == "" {
			for _, ref := range f.Objects {
				all[ref] = true
			}
		}
	}
	return all
}

// hidesPolicy says that the release rendered a policy, which is not known now.
func (f *Failure) hidesPolicy() string {
	n := slices.IndexFunc(f.Objects, func(r object.Ref) bool { return render.IsPolicy(r) })
	if n < 0 {
		return ""
	}
	return fmt.Sprintf("it would change while %s cannot be rendered, which rendered %s", f.ID.Release, f.Objects[n])
}

// releases is what is known of each release.
type releases struct {
	of     map[state.ReleaseID]*release
	failed []state.ReleaseID // during the call under way
}

type release struct {
	objects map[object.Ref]bool // that it renders to; nil if it does not
	inputs  map[string]bool     // what it is made from, for any cluster
	failure *Failure            // nil: it does not fail
}

func (rs *releases) get(id state.ReleaseID) *release {
	if rs.of[id] == nil {
		rs.of[id] = &release{inputs: map[string]bool{}}
	}
	return rs.of[id]
}

// fail notes that a release cannot be rendered for a cluster, or for any if cluster is
// empty.
func (rs *releases) fail(id state.ReleaseID, cluster string) {
	rs.failed = append(rs.failed, id)
	f := rs.get(id).fails()
	if cluster == "" {
		f.Everywhere = true
		return
	}
	f.Clusters[cluster], f.Targets[cluster] = true, true
}

// failFor notes that a release which goes to targets cannot be rendered for a cluster.
func (rs *releases) failFor(id state.ReleaseID, cluster string, targets []karmada.TargetCluster) {
	f := rs.get(id).fails()
	f.Clusters[cluster] = true
	for _, c := range targets {
		f.Targets[c.Name] = true
	}
}

// during returns the releases that fail while something is done.
func (rs *releases) during(do func()) []state.ReleaseID {
	rs.failed = nil
	do()
	return rs.failed
}

func (r *release) fails() *Failure {
	if r.failure == nil {
		r.failure = &Failure{Clusters: map[string]bool{}, Targets: map[string]bool{}}
	}
	return r.failure
}

// renders notes objects of a release.
func (r *release) renders(refs map[object.Ref]bool) {
	if r.objects == nil {
		r.objects = map[object.Ref]bool{}
	}
	maps.Copy(r.objects, refs)
}

func (r *release) sorted() []object.Ref {
	return slices.SortedFunc(maps.Keys(r.objects), object.Ref.Compare)
}

// madeFrom identifies what a release is made from; empty where that is not known.
func (r *release) madeFrom() string {
	return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(r.inputs)), func(s string) bool { return s == "" }), " ")
}

// remembered lists what releases render to, for the state.
func (rs *releases) remembered() (all []state.Release) {
	for _, id := range rs.ids() {
		if r := rs.of[id]; r.objects != nil {
			all = append(all, state.Release{Cluster: id.Cluster, Release: id.Release, Objects: r.sorted(), Inputs: r.madeFrom()})
		}
	}
	return all
}

func (rs *releases) ids() []state.ReleaseID {
	return slices.SortedFunc(maps.Keys(rs.of), state.ReleaseID.Compare)
}

// failures returns the failures with what the releases rendered to before. A release that
// is gone with the one that rendered it failed with it. One that nothing is known of may
// have come from elsewhere, from a policy to a cluster's directory or back: what it was
// there failed, too. Where nothing is known of it at all, or where its files are not those
// that it was made from, the second result is true.
func (rs *releases) failures(before []state.Release) (all []Failure, unknown bool) {
	k := keeping{releases: rs, was: map[state.ReleaseID]state.Release{}, out: map[state.ReleaseID]Failure{}}
	places := map[object.Ref][]state.ReleaseID{}
	for _, r := range before {
		k.was[r.ID()] = r
		places[r.Release] = append(places[r.Release], r.ID())
	}
	for _, id := range rs.ids() {
		if rs.of[id].failure == nil {
			continue
		}
		f := *rs.of[id].failure
		f.Inputs, f.Before = rs.of[id].madeFrom(), k.was[id].Inputs
		unknown = unknown || f.Before != "" && f.Before != f.Inputs
		k.keep(id, f)
		if len(k.was[id].Objects) > 0 {
			continue
		}
		unknown = unknown || places[id.Release] == nil
		for _, other := range places[id.Release] {
			if o := rs.of[other]; o == nil || o.objects == nil && o.failure == nil {
				k.keep(other, Failure{Everywhere: true})
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(k.out), state.ReleaseID.Compare) {
		all = append(all, k.out[id])
	}
	return all, unknown
}

// keeping completes failures by what releases rendered to before.
type keeping struct {
	releases *releases
	was      map[state.ReleaseID]state.Release
	out      map[state.ReleaseID]Failure
}

// keep notes a failure, and with it that of the releases that it rendered.
func (k *keeping) keep(id state.ReleaseID, f Failure) {
	if _, done := k.out[id]; done {
		return
	}
	f.ID, f.Objects = id, k.was[id].Objects
	if r := k.releases.of[id]; r != nil && len(r.objects) > 0 {
		f.Objects = slices.Concat(f.Objects, r.sorted())
		slices.SortFunc(f.Objects, object.Ref.Compare)
		f.Objects = slices.Compact(f.Objects)
	}
	k.out[id] = f
	for _, r := range k.was[id].Objects {
		if inner := (state.ReleaseID{Cluster: id.Cluster, Release: r}); k.was[inner].Objects != nil {
			k.keep(inner, f)
		}
	}
}
