package staged_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// world is a fleet whose branches are what plans make of them. What a cluster has of an object is a word, as "b", "b*2" with
// replicas that are divided, or "b*1-5" with the bounds of an autoscaler.
type world struct {
	t       *testing.T
	now     time.Time
	members []*member
	units   []*part
	commits map[string][]spec
	source  string
	last    string // the commit that was published last
	// unreadable are commits that cannot be read.
	unreadable map[string]bool
	evidence   []string
	plans      int
	at         time.Time // of the last plan
	atTheEnd   bool
	result     staged.Result
	again      recheck.Recheck // for what was carried out
	turned     map[string]bool
	stages     []string // of the clusters
}

// member is a cluster: what it has, and what the record knows of that.
type member struct {
	staged.Cluster

	has, known map[object.Ref]string
	commits    []files.ID // that the record does not know, from the newest
}

// part is a unit.
type part struct {
	staged.Unit

	refs map[object.Ref]bool // that it ever had
}

// spec is an object of a commit.
type spec struct {
	unit, text string
	ref        object.Ref
	unclaimed  bool
	away       string // clusters from which it moves, as "c1+c2"
	in         []cell
}

// cell is what a cluster is to have of an object: a text with replicas or bounds after a star, or why it cannot be made.
type cell struct {
	cluster, size string
	block         reason.Reason
}

var blocks = map[string]reason.Reason{
	"fails": reason.Failed, "suspended": reason.Suspended, "notgone": reason.NotGone, "lost": reason.Lost, "stays": reason.HoldsData,
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		t: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), evidence: []string{"status"},
		commits: map[string][]spec{}, unreadable: map[string]bool{}, turned: map[string]bool{},
	}
}

func refOf(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "a", Name: name} }

func unitOf(name string) rollouts.Unit { return rollouts.Unit{Namespace: "a", Name: name} }

// commit reads a version, as "web: x=b@c1,c2:2,c3!fails api: y<c1=b@c2 none: z~=b@c1": of the unit web x, with two replicas in c2, and what
// cannot be made in c3, of api y, which moves away from c1, and z, which no policy claims.
func (w *world) commit(name string, words []string) {
	var all []spec
	unit := "web"
	for _, word := range words {
		if u, ok := strings.CutSuffix(word, ":"); ok {
			unit = u
			continue
		}
		left, in, _ := strings.Cut(word, "@")
		of, text, _ := strings.Cut(left, "=")
		of, away, _ := strings.Cut(of, "<")
		of, unclaimed := strings.CutSuffix(of, "~")
		s := spec{unit: unit, text: text, ref: refOf(of), unclaimed: unclaimed, away: away}
		for c := range strings.SplitSeq(in, ",") {
			c, why, _ := strings.Cut(c, "!")
			cluster, size, _ := strings.Cut(c, ":")
			s.in = append(s.in, cell{cluster, size, blocks[why]})
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b spec) int { return a.ref.Compare(b.ref) })
	w.commits[name] = all
}

func (w *world) index(cluster string) int {
	return slices.IndexFunc(w.members, func(m *member) bool { return m.Name == cluster })
}

func blobOf(text string) *files.Blob {
	if text == "" {
		return nil
	}
	return files.NewBlob([]byte(text))
}

func sized(text, size string) string {
	if size == "" {
		return text
	}
	return text + "*" + size
}

func boundsOf(text string) (scale.Bounds, bool) {
	_, size, _ := strings.Cut(text, "*")
	low, high, ok := strings.Cut(size, "-")
	least, err := strconv.Atoi(low)
	most, err2 := strconv.Atoi(high)
	return scale.Bounds{Min: int32(least), Max: int32(most)}, ok && err == nil && err2 == nil
}

func replicasOf(text string) (int32, bool) {
	_, size, ok := strings.Cut(text, "*")
	n, err := strconv.Atoi(size)
	return int32(n), ok && err == nil
}

// decision is what is decided of an object of a commit.
func (w *world) decision(s *spec) schedule.Decision {
	text := fmt.Appendf(nil, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: a}}", s.ref.Name)
	o := object.Decode("x.yaml", text).Objects[0]
	d := schedule.Decision{Template: template.New(o, &template.Memo{}), Outcome: schedule.Placed}
	spec := &karmada.PropagationSpec{}
	for _, c := range s.in {
		if w.index(c.cluster) < 0 {
			continue
		}
		n, isDivided := replicasOf("*" + c.size)
		if b, isBounded := boundsOf("*" + c.size); isBounded {
			if d.Shares == nil {
				d.Shares = map[string]hpa.Share{}
			}
			d.Shares[c.cluster] = hpa.Share{Bounds: b}
		}
		if isDivided {
			spec.Placement.ReplicaScheduling = &karmada.ReplicaScheduling{ReplicaSchedulingType: karmada.ReplicaSchedulingTypeDivided}
			d.Size.Replicas += n
		}
		d.Targets = append(d.Targets, schedule.Target{Name: c.cluster, Replicas: n})
	}
	d.Scheduled = d.Targets
	if !s.unclaimed {
		d.Policy = &policies.Propagation{Object: o, Spec: spec}
	}
	if s.away != "" {
		d.Moves = &failover.Moves{With: strings.Split(s.away, "+")}
	}
	return d
}

// row is what is wanted of an object, by the shares of a decision.
func (w *world) row(s *spec, d *schedule.Decision, blobs *manifest.Blobs) manifest.Row {
	row := manifest.Row{Ref: s.ref}
	for _, c := range s.in {
		i := w.index(c.cluster)
		if i < 0 {
			continue
		}
		size := c.size
		if b, ok := d.Shares[c.cluster]; ok {
			size = fmt.Sprintf("%d-%d", b.Min, b.Max)
		} else if d.Divided() {
			n := slices.IndexFunc(d.Targets, func(t schedule.Target) bool { return t.Name == c.cluster })
			size = strconv.Itoa(int(d.Targets[n].Replicas))
		}
		switch {
		case c.block == reason.Lost || c.block == reason.HoldsData: // it keeps what left it
			row.Block(i, c.block)
			continue
		case c.block != "":
			row.Block(i, c.block)
			row.Want(i, manifest.Unwritten)
			continue
		}
		row.Want(i, blobs.Add(blobOf(sized(s.text, size))))
	}
	return row
}

// written is what a commit wants: decisions, and rows of a unit, or of all.
func (w *world) written(commit string, isOf func(*spec) bool) (
	refs []object.Ref, decisions []schedule.Decision, rows []manifest.Row, blobs *manifest.Blobs,
) {
	blobs = &manifest.Blobs{}
	for i := range w.commits[commit] {
		s := &w.commits[commit][i]
		if !isOf(s) {
			continue
		}
		d := w.decision(s)
		refs, decisions, rows = append(refs, s.ref), append(decisions, d), append(rows, w.row(s, &d, blobs))
	}
	return refs, decisions, rows, blobs
}

func digest(all []spec, unit string) (is string, isThere bool) {
	for i := range all {
		if all[i].unit == unit {
			is, isThere = is+fmt.Sprint(all[i].ref.Name, all[i].text, all[i].in), true
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(is)))[:8], isThere
}

// older is a unit as an older commit has it.
func (w *world) older(commit string, u rollouts.Unit) (staged.Version, bool) {
	all, known := w.commits[commit]
	if !known || w.unreadable[commit] {
		return staged.Version{}, false
	}
	d, isThere := digest(all, u.Name)
	refs, decisions, rows, blobs := w.written(commit, func(s *spec) bool { return s.unit == u.Name })
	return staged.Version{
		Version: rollouts.Version{Commit: commit, Digest: d, Absent: !isThere}, Refs: refs, Decisions: decisions, Blobs: blobs,
		Rows: func(r object.Ref) (manifest.Row, bool) {
			i := slices.Index(refs, r)
			if i < 0 {
				return manifest.Row{}, false
			}
			return rows[i], true
		},
		Source: func(r object.Ref) (isThere, isClaimed bool) {
			i := slices.IndexFunc(all, func(s spec) bool { return s.ref == r })
			return i >= 0, i >= 0 && !all[i].unclaimed
		},
	}, true
}

// input is what there is to lay out now.
func (w *world) input() staged.Input {
	in := staged.Input{Revision: w.source, Published: w.last, Now: w.now, AtTheEnd: w.atTheEnd, Evidence: w.evidence}
	_, in.Decisions, in.Rows, in.Blobs = w.written(w.source, func(*spec) bool { return true })
	for _, u := range w.units {
		var is bool
		if u.Digest, is = digest(w.commits[w.source], u.Name); !is {
			u.Digest = ""
		}
		u.Absent, u.Policies = !is, nil
		if is {
			u.Policies = []*policies.Propagation{nil}
		}
		for i := range w.commits[w.source] {
			if s := &w.commits[w.source][i]; s.unit == u.Name {
				u.refs[s.ref] = true
			} else if !slices.Contains(u.Stays, s.ref) && !s.unclaimed {
				delete(u.refs, s.ref)
			}
		}
		u.Refs = slices.SortedFunc(maps.Keys(u.refs), object.Ref.Compare)
		in.Units = append(in.Units, u.Unit)
	}
	for _, m := range w.members {
		if m.Unrecorded = nil; len(m.commits) > 0 {
			m.Unrecorded = &staged.Unrecorded{Commits: m.commits, Known: folder(m)}
		}
		in.Clusters = append(in.Clusters, m.Cluster)
	}
	in.Have = func(r object.Ref) manifest.Published {
		list, of := make([]*files.Blob, len(w.members)), make([]int, len(w.members))
		for i, m := range w.members {
			list[i], of[i] = blobOf(m.has[r]), i
		}
		return manifest.NewPublished(list, of)
	}
	in.Replicas = func(b *files.Blob) (int32, bool) { return replicasOf(text(b)) }
	in.Bounds = func(b *files.Blob) (scale.Bounds, bool) { return boundsOf(text(b)) }
	in.Older = w.older
	in.Write = func(commit string, decisions []schedule.Decision) (r manifest.Result) {
		for i := range decisions {
			n := slices.IndexFunc(w.commits[commit], func(s spec) bool { return s.ref == decisions[i].Ref() })
			r.Rows = append(r.Rows, w.row(&w.commits[commit][n], &decisions[i], &r.Blobs))
		}
		return r
	}
	return in
}

func text(b *files.Blob) string {
	if b == nil {
		return ""
	}
	data, err := b.Bytes()
	if err != nil {
		panic(err)
	}
	return string(data)
}

// folder is what the record knows of a cluster.
func folder(m *member) *files.Folder {
	t := twin.Tree{"README": twin.File([]byte("of a cluster"))}
	for r, is := range m.known {
		t[tree.Path(m.Virtual.Ref(r))] = twin.File([]byte(is))
	}
	return t.Folder()
}

// plan plans once, and has branches become what the rows say; of a plan at the end nothing is carried out.
func (w *world) plan(isRecorded bool) {
	in := w.input()
	w.result, w.at = staged.Settle(in), w.now
	if w.atTheEnd {
		return
	}
	w.isMadeAgain(in)
	w.plans++
	changes := map[string]func(object.Ref) bool{}
	for i, m := range w.members {
		before := maps.Clone(m.has)
		for n := range w.result.Rows {
			w.carryOut(&w.result.Rows[n], i, m, in.Blobs)
		}
		if !maps.Equal(before, m.has) {
			m.commits = append([]files.ID{w.pushed(m)}, m.commits...)
			is := maps.Clone(m.has)
			changes[m.Name] = func(r object.Ref) bool { return before[r] != is[r] }
		}
	}
	w.again = w.result.After(staged.Carried{Turned: w.turned, Changes: changes}, w.now)
	if !isRecorded {
		return
	}
	for _, m := range w.members {
		m.known, m.commits, m.IsNew = maps.Clone(m.has), nil, false
	}
	for _, u := range w.units {
		u.Before = nil
		for i := range w.result.Outputs {
			if out := &w.result.Outputs[i]; out.Unit == u.Unit.Unit.Unit {
				u.Before = out.After
			}
		}
	}
	w.last, w.turned = w.source, map[string]bool{}
}

// pushed names the commit of a cluster's branch by what is there.
func (w *world) pushed(m *member) files.ID {
	return files.NewBlob(fmt.Append(nil, m.Name, w.plans)).ID()
}

func (w *world) carryOut(row *manifest.Row, i int, m *member, blobs *manifest.Blobs) {
	want, isWanted := row.Wanted(i)
	blob, isStanding := row.Standing(i)
	switch {
	case m.Held:
	case row.Blocked(i) != "" && isStanding && blob == manifest.Nothing:
		delete(m.has, row.Ref)
	case row.Blocked(i) != "" && isStanding:
		m.has[row.Ref] = text(blobs.At(blob))
	case row.Blocked(i) != "" || isWanted && want.Blob < 0:
	case isWanted:
		m.has[row.Ref] = text(blobs.At(want.Blob))
	default:
		delete(m.has, row.Ref)
	}
}

// isMadeAgain demands that the plan is the same when it is made again from what it recorded.
func (w *world) isMadeAgain(in staged.Input) {
	w.t.Helper()
	again := w.input()
	for n := range again.Units {
		u := &again.Units[n]
		u.IsReplay, u.Commands = true, nil
		for i := range w.result.Outputs {
			if out := &w.result.Outputs[i]; out.Unit == u.Unit.Unit {
				u.Recorded = out.After
			}
		}
		if u.Recorded == nil {
			return // nothing tells the next plan of that
		}
	}
	r := staged.Settle(again)
	if got, want := w.wanted(&r, again.Blobs), w.wanted(&w.result, in.Blobs); got != want {
		w.t.Errorf("at %s a plan that is made again wants\n%s\nand the plan wanted\n%s", w.now.Format("15:04:05"), got, want)
	}
}

// say has a cluster report all that it has, in some health.
func (w *world) say(m *member, health stage.Health) {
	seen := &staged.Seen{Ref: fmt.Sprintf("%s@%d", m.Name, w.plans), Objects: map[object.Ref]staged.Object{}, Commit: w.head(m)}
	for r, is := range m.has {
		id := blobOf(is).ID()
		seen.Objects[r] = staged.Object{Applied: id, Tried: id, Health: health, Since: w.now, Message: "it says so"}
	}
	m.Seen = seen
}

func (w *world) head(m *member) files.ID {
	if len(m.commits) > 0 {
		return m.commits[0]
	}
	return files.NewBlob([]byte(m.Name)).ID()
}

func (w *world) command(verb, about string) {
	u := &w.units[0].Unit
	c := rollouts.Command{Verb: rollouts.Verb(verb), By: "anna", Via: "cli", Ref: fmt.Sprintf("orders/%d", w.plans), At: metav1.NewTime(w.now)}
	if u.Before != nil {
		c.Run = u.Before.Status.Run
	}
	if c.Stage = about; w.index(about) >= 0 {
		c.Stage, c.Cluster = "", about
	}
	u.Commands = append(u.Commands, c)
}
