package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/policies/unit"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/older"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Staging is what is known of what goes out in stages, beside the state.
type Staging struct {
	// Versions are older source commits that units may show still, evaluated for the clusters of today, by commit.
	// What is not there cannot be read.
	Versions map[string]*older.Version
	// Seen is what clusters report, by name; nil of one that nobody reports of.
	Seen map[string]*staged.Seen
	// Commands are those that may be given, oldest first.
	Commands []Command
	// Ignored are commands that do not count.
	Ignored []Ignored
	// Renderer is the version of what renders.
	Renderer string
}

// directory stands for the commit of a source that is a directory as it stands.
const directory = "directory"

// Command is what somebody commands of a unit; Unit may be "*" for every unit.
type Command struct {
	rollouts.Command

	Unit string
}

// Ignored is a command about a unit that does not count; Unit is empty where that is not known.
type Ignored struct{ Unit, What string }

// goesOut lays out what goes out in stages; the zero value if nothing does. In a folder it is as it is at the end.
func (t *table) goesOut(written manifest.Input) staged.Result {
	return t.laidOut(written, t.in.AtTheEnd)
}

// laidOut lays out what goes out in stages, as it is now or when all of it is out.
func (t *table) laidOut(written manifest.Input, atTheEnd bool) staged.Result {
	list := t.stagedUnits()
	diags := uncounted(&t.in.Staging, list)
	if len(list) == 0 || t.in.Medium != Branch {
		return staged.Result{Rows: t.rows, Diags: diags}
	}
	at := t.olderVersions(list, written)
	r := staged.Settle(staged.Input{
		Units: list, Revision: cmp.Or(t.in.Source.Revision.Commit, directory), Published: t.in.State.Published.Commit, Now: t.in.Now,
		AtTheEnd: atTheEnd, Clusters: t.stagedClusters(), Decisions: t.decided.Decisions, Rows: t.rows, Blobs: t.blobs, Have: t.have,
		Replicas: func(b *files.Blob) (int32, bool) { c := t.replicas.of(b); return c.n, c.known },
		Older: func(commit string, u rollouts.Unit) (staged.Version, bool) {
			is, ok := at(commit)
			if !ok {
				return staged.Version{}, false
			}
			return versionOf(commit, u, is), true
		},
		Write: func(commit string, decisions []schedule.Decision) manifest.Result {
			in := written
			if v := t.in.Staging.Versions[commit]; v != nil && commit != t.in.Source.Revision.Commit {
				in.Policies, in.Config = v.Expanded.Policies, v.Config
			}
			in.Decisions, in.Bound, in.Failures = decisions, nil, nil
			return manifest.WriteAlone(in)
		},
	})
	r.Diags = append(diags, r.Diags...)
	return r
}

// stagedUnits are the units that go out in stages, or did, and what is known of them.
func (t *table) stagedUnits() (list []staged.Unit) {
	x, config := t.in.Expanded, &t.in.Source.Config
	if !Stages(&t.in.State, &t.in.Source) {
		return nil
	}
	bound, _ := unit.Of(&x.Policies.Set, config.Rollout) // whoever reads the source says what is wrong
	windows, _ := unit.ReadWindows(config.Rollout.Windows)
	is := map[rollouts.Unit]*unit.Unit{}
	for i := range bound {
		is[unitOf(bound[i].Name)] = &bound[i]
	}
	before, recorded := recordOf(t.in.State.Rollouts), map[rollouts.Unit]*rollouts.Rollout(nil)
	if t.in.Replay != nil {
		recorded = recordOf(t.in.Replay.State.Rollouts)
	}
	of := namesOf(bound)
	found := units.Find(units.Input{
		Expanded: x, Decisions: t.decided.Decisions, Bindings: t.in.State.Bindings, Config: config, Of: of, Renderer: t.in.Staging.Renderer,
		Stays: staysWith(&t.in.State, before, of),
	})
	for _, u := range found {
		b, r := is[u.Unit], before[u.Unit]
		if r == nil && (b == nil || b.Strategy == nil && b.Stays == "") {
			continue
		}
		list = append(list, t.stagedUnit(u, b, r, recorded[u.Unit], windows))
	}
	return list
}

// uncounted says which commands do not count, and which are about no unit that goes out in stages.
func uncounted(in *Staging, list []staged.Unit) (diags []diag.Diagnostic) {
	all := slices.Clone(in.Ignored)
	for _, c := range in.Commands {
		isOf := func(u staged.Unit) bool { return c.Unit == "*" || c.Unit == u.Unit.String() }
		if !slices.ContainsFunc(list, isOf) {
			all = append(all, Ignored{What: fmt.Sprintf("%s %s (%s) does not count: nothing of this name goes out in stages", c.Verb, c.Unit, c.Ref)})
		}
	}
	for _, is := range all {
		d := diag.Diagnostic{
			Code: diag.RolloutCommandRefused, Severity: diag.Warning, Message: is.What,
			Hint: "docs/rollouts.md says which commands count; waybill rollout status UNIT says what a run waits for",
		}
		if i := slices.IndexFunc(list, func(u staged.Unit) bool { return u.Unit.String() == is.Unit }); i >= 0 {
			d.Pos = list[i].Pos
		}
		diags = append(diags, d)
	}
	return diags
}

// stagedUnit is what is known of a unit.
func (t *table) stagedUnit(u units.Unit, b *unit.Unit, before, recorded *rollouts.Rollout, windows unit.Windows) staged.Unit {
	is := staged.Unit{Unit: u, Before: before, Recorded: recorded, Absent: len(u.Policies) == 0, Windows: map[string]stage.Window{}}
	if b != nil {
		is.Strategy, is.Refused = staged.Strategy(b.Strategy), b.Stays
	}
	if len(u.Policies) > 0 {
		is.Pos = u.Policies[0].Object.Origin()
	}
	if err := t.in.State.UnreadableRollouts[u.Unit]; err != nil {
		is.Unreadable, is.Refused = true, "what was recorded of it cannot be read: "+err.Error()
	}
	inForce := stage.InForce(is.Strategy, before)
	if inForce == nil {
		return is
	}
	var refused string
	if is.Stages, is.Orders, refused = staged.Assign(inForce, t.labelled()); refused != "" && is.Refused == "" {
		is.Refused = refused
	}
	for _, name := range append(stageNames(inForce), rollouts.Unmatched) {
		of := windows.Of(inForce.Name, name)
		if _, closed := of.Closed(t.in.Now); len(of) > 0 {
			is.Windows[name] = stage.Window{IsClosed: closed, Edge: of.Next(t.in.Now)}
		}
	}
	for _, c := range t.in.Staging.Commands {
		if c.Unit == u.Unit.String() || c.Unit == "*" {
			is.Commands = append(is.Commands, c.Command)
		}
	}
	return is
}

func stageNames(s *rollouts.Strategy) (names []string) {
	for i := range s.Stages {
		names = append(names, s.Stages[i].Name)
	}
	return names
}

// unitOf is a unit as it is recorded.
func unitOf(n unit.Name) rollouts.Unit {
	u, _ := rollouts.ParseUnit(n.String())
	return u
}

// namesOf names the unit of each policy.
func namesOf(bound []unit.Unit) map[object.Ref]rollouts.Unit {
	all := map[object.Ref]rollouts.Unit{}
	for i := range bound {
		for _, r := range bound[i].Policies {
			all[r] = unitOf(bound[i].Name)
		}
	}
	return all
}

func recordOf(list []rollouts.Rollout) map[rollouts.Unit]*rollouts.Rollout {
	all := map[rollouts.Unit]*rollouts.Rollout{}
	for i := range list {
		all[list[i].Unit] = &list[i]
	}
	return all
}

// staysWith says of objects that go out with a unit still that they stay with it, whatever claims them now.
func staysWith(s *state.State, before map[rollouts.Unit]*rollouts.Rollout, of map[object.Ref]rollouts.Unit) func(object.Ref) (rollouts.Unit, bool) {
	groups := map[rollouts.Unit]rollouts.Unit{}
	for policy, u := range of {
		groups[rollouts.Unit{Namespace: policy.Namespace, Name: policy.Name}] = u
	}
	stays := map[object.Ref]rollouts.Unit{}
	for u, was := range before {
		for _, r := range was.Stays {
			if was.Status.Phase != rollouts.Done {
				stays[r] = u
			}
		}
	}
	return func(r object.Ref) (rollouts.Unit, bool) {
		if u, ok := stays[r]; ok {
			return u, true
		}
		b := s.Bindings[r]
		if b == nil {
			return rollouts.Unit{}, false
		}
		namespace, name, ok := state.PolicyRef(b)
		own := rollouts.Unit{Namespace: namespace, Name: name}
		for _, u := range []rollouts.Unit{groups[own], own} {
			if was := before[u]; ok && was != nil && was.Status.Phase != rollouts.Done {
				return u, true
			}
		}
		return rollouts.Unit{}, false
	}
}

// labelled are the clusters as strategies see them.
func (t *table) labelled() []kubefleet.Cluster {
	clusters := t.in.Expanded.Policies.Fleet.Clusters()
	all := make([]kubefleet.Cluster, len(clusters))
	for i, c := range clusters {
		all[i] = kubefleet.Cluster{Name: c.Name, Labels: c.Labels}
	}
	return all
}

// stagedClusters are what is known of clusters.
func (t *table) stagedClusters() []staged.Cluster {
	windows, _ := suspend.Parse(t.in.Source.Config.Apply.SyncWindows) // whoever reads the source says what is wrong
	clusters := t.in.Expanded.Policies.Fleet.Clusters()
	all := make([]staged.Cluster, len(clusters))
	for i, c := range clusters {
		_, held := t.in.State.Held[c.Name]
		seen := t.in.Staging.Seen[c.Name]
		if t.in.Expanded.Policies.Lost(c.Name) {
			is := staged.Seen{IsSilent: true}
			if seen != nil {
				is.Ref = seen.Ref
			}
			seen = &is
		}
		all[i] = staged.Cluster{
			Name: c.Name, Held: held, Seen: seen,
			Closed:    suspend.Of(c.Name, c.Source.Annotations, windows, t.in.Now).Why != "",
			Unwatched: t.in.State.Observed[c.Name] == nil,
		}
	}
	return all
}

// olderVersions returns what units would be at older commits today, each commit evaluated once.
func (t *table) olderVersions(list []staged.Unit, written manifest.Input) func(commit string) (older.Units, bool) {
	known := map[string]*older.Units{}
	var all []rollouts.Unit
	for i := range list {
		all = append(all, list[i].Unit.Unit)
	}
	return func(commit string) (older.Units, bool) {
		v := t.in.Staging.Versions[commit]
		if v == nil {
			return older.Units{}, false
		}
		if known[commit] == nil {
			is := older.Evaluate(older.Input{
				Version: v, Asked: t.in.schedule(v.Expanded.Policies, nil), Has: t.has, Write: written, Units: all, Renderer: t.in.Staging.Renderer,
			})
			known[commit] = &is
		}
		return *known[commit], true
	}
}

// has is what clusters have of an object, with its replicas where they can be told.
func (t *table) has(r object.Ref) (targets []schedule.Target) {
	have := t.have(r)
	for i := range t.group {
		if b := have(i); b != nil {
			targets = append(targets, schedule.Target{Name: t.cluster(i), Replicas: t.replicas.of(b).n})
		}
	}
	return targets
}

// versionOf is a unit of an older commit.
func versionOf(commit string, u rollouts.Unit, of older.Units) staged.Version {
	is, there := of.Found[u]
	v := staged.Version{
		Version: rollouts.Version{Commit: commit, Digest: is.Digest, Absent: !there}, Refs: is.Refs, Blobs: &of.Blobs,
		Rows: func(r object.Ref) (manifest.Row, bool) { row, ok := of.Rows[r]; return row, ok },
	}
	for i := range of.Decisions {
		if slices.Contains(is.Refs, of.Decisions[i].Ref()) {
			v.Decisions = append(v.Decisions, of.Decisions[i])
		}
	}
	return v
}

// addNamespaces adds rows for the namespaces of what goes out in stages that nobody sends any longer: clusters that have
// something in them still keep them.
func (t *table) addNamespaces() {
	missing := map[object.Ref]bool{}
	for r := range t.units {
		ns := object.Ref{Kind: "Namespace", Name: r.Namespace}
		if _, ok := t.find(ns); r.Namespace != "" && !ok {
			missing[ns] = true
		}
	}
	if len(missing) > 0 {
		t.addRows(slices.Collect(maps.Keys(missing)))
	}
}

// recordsOf are the records of what was decided. Of what was recorded and cannot be read the files stay as they are.
func recordsOf(r *staged.Result, unreadable map[rollouts.Unit]error) (all []rollouts.Rollout) {
	for i := range r.Outputs {
		if is := r.Outputs[i].After; is != nil && unreadable[is.Unit] == nil {
			all = append(all, *is)
		}
	}
	return all
}
