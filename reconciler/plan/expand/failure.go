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

// hidesPolicy says that the release rendered a policy, which is not known now.
func (f *Failure) hidesPolicy() string {
	n := slices.IndexFunc(f.Objects, func(r object.Ref) bool { return render.IsPolicyGroup(r.Group) })
	if n < 0 {
		return ""
	}
	return fmt.Sprintf("it would change while %s cannot be rendered, which rendered %s", f.ID.Release, f.Objects[n])
}

// failures collects the releases that cannot be rendered.
type failures struct {
	of     map[state.ReleaseID]*Failure
	recent []state.ReleaseID // those that failed during the call under way
}

// fail notes that a release cannot be rendered for a cluster, or for any if cluster is
// empty.
func (fs *failures) fail(id state.ReleaseID, cluster string) {
	fs.recent = append(fs.recent, id)
	f := fs.get(id)
	if cluster == "" {
		f.Everywhere = true
		return
	}
	f.Clusters[cluster], f.Targets[cluster] = true, true
}

// failFor notes that a release which goes to targets cannot be rendered for a cluster.
func (fs *failures) failFor(id state.ReleaseID, cluster string, targets []karmada.TargetCluster) {
	f := fs.get(id)
	f.Clusters[cluster] = true
	for _, c := range targets {
		f.Targets[c.Name] = true
	}
}

func (fs *failures) get(id state.ReleaseID) *Failure {
	if fs.of[id] == nil {
		fs.of[id] = &Failure{ID: id, Clusters: map[string]bool{}, Targets: map[string]bool{}}
	}
	return fs.of[id]
}

// during returns the releases that fail while something is done.
func (fs *failures) during(do func()) []state.ReleaseID {
	fs.recent = nil
	do()
	return fs.recent
}

// withRemembered returns the failures with what the releases rendered to before. A release
// that is gone with the one that rendered it failed with it. One that nothing is known of
// may have come from elsewhere, from a policy to a cluster's directory or back: what it was
// there failed, too. Where nothing is known of it at all, or where its files are not those
// that it was made from, the second result is true.
func (fs *failures) withRemembered(releases []state.Release, now renders, from inputs) (kept []Failure, astray bool) {
	k := keeping{before: map[state.ReleaseID][]object.Ref{}, now: now, out: map[state.ReleaseID]Failure{}}
	was := map[state.ReleaseID]string{}
	places := map[object.Ref][]state.ReleaseID{}
	for _, r := range releases {
		id := r.ID()
		k.before[id], was[id] = r.Objects, r.Inputs
		places[id.Release] = append(places[id.Release], id)
	}
	for _, id := range slices.SortedFunc(maps.Keys(fs.of), state.ReleaseID.Compare) {
		f := *fs.of[id]
		f.Inputs, f.Before = from.of(id), was[id]
		astray = astray || f.Before != "" && f.Before != f.Inputs
		k.keep(id, f)
		if len(k.before[id]) > 0 {
			continue
		}
		astray = astray || places[id.Release] == nil
		for _, other := range places[id.Release] {
			if now[other] == nil && fs.of[other] == nil {
				k.keep(other, Failure{Everywhere: true})
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(k.out), state.ReleaseID.Compare) {
		kept = append(kept, k.out[id])
	}
	return kept, astray
}

// keeping completes failures by what releases render to.
type keeping struct {
	before map[state.ReleaseID][]object.Ref
	now    renders
	out    map[state.ReleaseID]Failure
}

// keep notes a failure, and with it that of the releases that it rendered.
func (k *keeping) keep(id state.ReleaseID, f Failure) {
	if _, done := k.out[id]; done {
		return
	}
	f.ID, f.Objects = id, k.before[id]
	if len(k.now[id]) > 0 {
		f.Objects = slices.Concat(f.Objects, slices.Collect(maps.Keys(k.now[id])))
		slices.SortFunc(f.Objects, object.Ref.Compare)
		f.Objects = slices.Compact(f.Objects)
	}
	k.out[id] = f
	for _, r := range k.before[id] {
		if inner := (state.ReleaseID{Cluster: id.Cluster, Release: r}); k.before[inner] != nil {
			k.keep(inner, f)
		}
	}
}

// add notes objects of a release.
func (r renders) add(id state.ReleaseID, refs map[object.Ref]bool) {
	if r[id] == nil {
		r[id] = map[object.Ref]bool{}
	}
	maps.Copy(r[id], refs)
}

// inputs are what each release is made from, for any cluster.
type inputs map[state.ReleaseID]map[string]bool

func (in inputs) add(id state.ReleaseID, from string) {
	if in[id] == nil {
		in[id] = map[string]bool{}
	}
	in[id][from] = true
}

// of identifies what a release is made from; empty where that is not known.
func (in inputs) of(id state.ReleaseID) string {
	return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(in[id])), func(s string) bool { return s == "" }), " ")
}

// remembered lists what releases render to, for the state.
func (r renders) remembered(from inputs) []state.Release {
	var out []state.Release
	for _, id := range slices.SortedFunc(maps.Keys(r), state.ReleaseID.Compare) {
		out = append(out, state.Release{
			Cluster: id.Cluster, Release: id.Release, Objects: slices.SortedFunc(maps.Keys(r[id]), object.Ref.Compare), Inputs: from.of(id),
		})
	}
	return out
}

// Cause says why an object that no template stands for is no longer there, by what
// releases rendered to before.
func (r *Result) Cause(before []state.Release, o object.Ref, cluster string) string {
	for _, was := range before {
		if _, ok := slices.BinarySearchFunc(was.Objects, o, object.Ref.Compare); !ok || was.Cluster != "" && was.Cluster != cluster {
			continue
		}
		if slices.ContainsFunc(r.Releases, func(now state.Release) bool { return now.Cluster == was.Cluster && now.Release == was.Release }) {
			return fmt.Sprintf("%s no longer renders it", was.Release)
		}
		return fmt.Sprintf("%s, which rendered it, is no longer in the source", was.Release)
	}
	return "it is no longer in the source"
}
