package plan

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/policies/kubefleet"
	mapped "github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/older"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/plan/virtual"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Staging is what is known of what goes out in stages, beside the state.
type Staging struct {
	// Versions are older source commits that units may show still, evaluated for the clusters of today, by commit.
	// What is nil or not there cannot be read.
	Versions map[string]*older.Version
	// Seen is what clusters report, by name; nil of one that nobody reports of.
	Seen map[string]*staged.Seen
	// Posted is what commit statuses say of clusters, by name; nil of one that nobody asked about. The map is nil if
	// nobody can ask.
	Posted map[string]*staged.Posted
	// Unrecorded is what clusters have on top of what the state knows, by name.
	Unrecorded map[string]*staged.Unrecorded
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

// stager lays out what goes out in stages, over the table of a plan.
type stager struct {
	table *table
	// assign has clusters in stages, and atHosts virtual clusters where their hosts are.
	assign, atHosts staged.Assigner
	// missing is Plan.Missing.
	missing []string
}

// goesOut lays out what goes out in stages; the zero value if nothing does. In a folder it is as it is at the end.
func (s *stager) goesOut(written manifest.Input) staged.Result {
	return s.laidOut(written, s.table.in.AtTheEnd)
}

// laidOut lays out what goes out in stages, as it is now or when all of it is out.
func (s *stager) laidOut(written manifest.Input, atTheEnd bool) staged.Result {
	list := s.stagedUnits()
	diags := uncounted(&s.table.in.Staging, list)
	if len(list) == 0 || s.table.in.Medium != Branch {
		return staged.Result{Rows: s.table.rows, Diags: diags}
	}
	at, clusters := s.olderVersions(list, written), s.stagedClusters()
	r := staged.Settle(staged.Input{
		Units: list, Revision: cmp.Or(s.table.in.Source.Revision.Commit, directory), Published: s.table.in.State.Published.Commit,
		Now: s.table.in.Now, AtTheEnd: atTheEnd, Clusters: clusters, Evidence: s.speakers(),
		Decisions: s.table.decided.Decisions, Rows: s.table.rows, Blobs: s.table.blobs, Have: s.table.have,
		Replicas: func(b *files.Blob) (int32, bool) { c := s.table.replicas.Of(b); return c.N, c.Known },
		Bounds:   new(autoscale.Manifests).Bounds,
		Older: func(commit string, u rollouts.Unit) (staged.Version, bool) {
			is, ok := at(commit)
			if !ok {
				return staged.Version{}, false
			}
			return versionOf(commit, u, is), true
		},
		Write: func(commit string, decisions []schedule.Decision) manifest.Result {
			in := written
			if v := s.table.in.Staging.Versions[commit]; v != nil && commit != s.table.in.Source.Revision.Commit {
				in.Policies, in.Config = v.Expanded.Policies, v.Config
			}
			in.Decisions, in.Bound, in.Failures = decisions, nil, nil
			is := manifest.WriteAlone(in)
			is.Rows, _ = virtual.Settle(virtual.Input{
				Policies: in.Policies, Decisions: decisions, Rows: is.Rows, Namespaces: in.Config.Namespaces,
			})
			return is
		},
	})
	r.Diags = slices.Concat(diags, staged.Uncounted(clusters), r.Diags)
	return r
}

// assigned says in which stages of the strategy of a unit clusters are; see staged.Assigner. Where the unit has what virtual
// clusters share with their host, they are where that is.
func (s *stager) assigned(by *rollouts.Strategy, u *units.Unit) (stages []string, turns []int, refused string) {
	v := s.table.in.Expanded.Policies.Virtual
	if v != nil && slices.ContainsFunc(u.Refs, mapped.Shared) {
		return s.atHosts.Of(by, func() []kubefleet.Cluster { return s.labelled(v.Host) })
	}
	return s.assign.Of(by, func() []kubefleet.Cluster { return s.labelled(func(int) int { return mapped.Nowhere }) })
}

// labelled are the clusters as strategies see them: with the labels of their host where they have one.
func (s *stager) labelled(host func(cluster int) int) []kubefleet.Cluster {
	clusters := s.table.in.Expanded.Policies.Fleet.Clusters()
	all := make([]kubefleet.Cluster, len(clusters))
	for i, c := range clusters {
		all[i] = kubefleet.Cluster{Name: c.Name, Labels: c.Labels}
		if at := host(i); at != mapped.Nowhere {
			all[i].Labels = clusters[at].Labels
		}
	}
	return all
}

// stagedClusters are what is known of clusters.
func (s *stager) stagedClusters() []staged.Cluster {
	windows, _ := suspend.Parse(s.table.in.Source.Config.Apply.SyncWindows) // whoever reads the source says what is wrong
	clusters := s.table.in.Expanded.Policies.Fleet.Clusters()
	all := make([]staged.Cluster, len(clusters))
	for i, c := range clusters {
		_, held := s.table.in.State.Held[c.Name]
		seen := s.table.in.Staging.Seen[c.Name]
		all[i] = staged.Cluster{
			Name: c.Name, Held: held, Seen: seen, Posted: s.table.in.Staging.Posted[c.Name], Virtual: mapped.Of(c.Source),
			IsNew:     state.IsNew(&s.table.in.State, c.Name),
			IsLost:    s.table.in.Expanded.Policies.Lost(c.Name),
			Closed:    suspend.Of(c.Name, c.Source.Annotations, windows, s.table.in.Now).Why != "",
			Unwatched: s.table.in.State.Observed[c.Name] == nil, Unrecorded: s.table.in.Staging.Unrecorded[c.Name],
		}
	}
	return all
}

// speakers are the sources of evidence that the config names, but for commit statuses if nobody can ask for them, or
// nobody's count.
func (s *stager) speakers() []string {
	c := &s.table.in.Source.Config.Rollout
	return slices.DeleteFunc(slices.Clone(c.Evidence), func(e string) bool {
		return e == render.EvidenceCommitStatus && (s.table.in.Staging.Posted == nil || len(c.CommitStatus.Creators) == 0)
	})
}

// olderVersions returns what units would be at older commits today, each commit evaluated once.
func (s *stager) olderVersions(list []staged.Unit, written manifest.Input) func(commit string) (older.Units, bool) {
	evaluated, recorded := map[string]*older.Units{}, make(map[rollouts.Unit]*rollouts.Rollout, len(list))
	var all []rollouts.Unit
	for i := range list {
		is := list[i].Unit.Unit
		all, recorded[is] = append(all, is), list[i].Before
	}
	return func(commit string) (older.Units, bool) {
		v := s.version(commit)
		if v == nil {
			return older.Units{}, false
		}
		if evaluated[commit] == nil {
			is := older.Evaluate(older.Input{
				Version: v, Asked: s.table.in.schedule(v.Expanded.Policies, nil), Has: s.has, Write: written,
				Backends: s.table.wanted.Backends, Units: all,
				Recorded: recorded, Renderer: s.table.in.Staging.Renderer, Memo: &s.table.in.Memo.units,
			})
			evaluated[commit] = &is
		}
		return *evaluated[commit], true
	}
}

// version is an older version of the source; nil if it cannot be read. That one matters of which the input says nothing, as what was
// published last, or the end of a run for which a newer version waited, is noted.
func (s *stager) version(commit string) *older.Version {
	in := s.table.in
	v, known := in.Staging.Versions[commit]
	isAsked := commit != "" && commit != in.Source.Revision.Commit && !slices.Contains(s.missing, commit)
	if !known && isAsked && len(in.Staging.Versions)+len(s.missing) < mostVersions {
		s.missing = append(s.missing, commit)
	}
	return v
}

// has appends what clusters have of an object, with its replicas where they can be told.
func (s *stager) has(targets []schedule.Target, r object.Ref) []schedule.Target {
	have, last, replicas := s.table.have(r), (*files.Blob)(nil), int32(0)
	for i, c := range s.table.in.Expanded.Policies.Fleet.Clusters() {
		b := have.In(i)
		if b == nil {
			continue
		}
		if b != last { // most clusters have the same
			last, replicas = b, s.table.replicas.Of(b).N
		}
		targets = append(targets, schedule.Target{Name: c.Name, Replicas: replicas})
	}
	return targets
}

// versionOf is a unit of an older commit.
func versionOf(commit string, u rollouts.Unit, of older.Units) staged.Version {
	is, there := of.Found[u]
	v := staged.Version{
		Version: rollouts.Version{Commit: commit, Digest: is.Digest, Absent: !there}, Refs: is.Refs, Blobs: &of.Blobs, Source: of.Source,
		Rows: func(r object.Ref) (manifest.Row, bool) { row, ok := of.Rows[r]; return row, ok },
	}
	for _, r := range is.Refs { // in their order, as decisions are
		if d := schedule.Find(of.Decisions, r); d != nil {
			v.Decisions = append(v.Decisions, *d)
		}
	}
	return v
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
