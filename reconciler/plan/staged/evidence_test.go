package staged

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatClustersSayOfAUnit: health counts only for the files that are published.
func TestWhatClustersSayOfAUnit(t *testing.T) {
	web, conf, gone := object.Ref{Kind: "Deployment", Name: "web"}, object.Ref{Kind: "ConfigMap", Name: "web"}, object.Ref{Kind: "Secret", Name: "old"}
	blob := func(text string) *files.Blob { return files.NewBlob([]byte(text)) }
	published := map[object.Ref]*files.Blob{web: blob("web 2"), conf: blob("conf 1")}
	at := func(minute int) time.Time { return time.Date(2026, 3, 2, 10, minute, 0, 0, time.UTC) }
	applied := func(text string, h stage.Health, minute int) Object {
		return Object{Applied: blob(text).ID(), Tried: blob(text).ID(), Health: h, Since: at(minute), Message: "it says so"}
	}
	for _, tt := range []struct {
		name    string
		seen    *Seen
		want    stage.Health
		present bool
		since   int
	}{
		{"nobody reports", nil, stage.Unknown, false, 0},
		{"it is silent", &Seen{IsSilent: true, Objects: map[object.Ref]Object{web: applied("web 2", stage.Healthy, 1)}}, stage.Silent, true, 0},
		{"all is well", &Seen{Objects: map[object.Ref]Object{web: applied("web 2", stage.Healthy, 3), conf: applied("conf 1", stage.Healthy, 1)}}, stage.Healthy, true, 3},
		{"the health of what was before", &Seen{Objects: map[object.Ref]Object{web: applied("web 1", stage.Healthy, 3), conf: applied("conf 1", stage.Healthy, 1)}}, stage.Healthy, false, 1},
		{"an object is not reported", &Seen{Objects: map[object.Ref]Object{web: applied("web 2", stage.Healthy, 3)}}, stage.Healthy, false, 3},
		{"one comes up", &Seen{Objects: map[object.Ref]Object{web: applied("web 2", stage.Progressing, 2), conf: applied("conf 1", stage.Healthy, 4)}}, stage.Progressing, true, 2},
		{"one fails", &Seen{Objects: map[object.Ref]Object{web: applied("web 2", stage.Failed, 2), conf: applied("conf 1", stage.Progressing, 4)}}, stage.Failed, true, 2},
		{"both come up", &Seen{Objects: map[object.Ref]Object{web: applied("web 2", stage.Progressing, 2), conf: applied("conf 1", stage.Progressing, 4)}}, stage.Progressing, true, 4},
		{"both fail, the first one first", &Seen{Objects: map[object.Ref]Object{
			web: applied("web 2", stage.Failed, 5), conf: applied("conf 1", stage.Failed, 3), gone: applied("old", stage.Failed, 1),
		}}, stage.Failed, false, 3},
		{"both fail", &Seen{Objects: map[object.Ref]Object{web: applied("web 2", stage.Failed, 5), conf: applied("conf 1", stage.Failed, 4)}}, stage.Failed, true, 4},
		{"one is refused", &Seen{Objects: map[object.Ref]Object{
			web:  {Applied: blob("web 1").ID(), Tried: blob("web 2").ID(), Refused: "denied", Health: stage.Healthy, Since: at(6)},
			conf: applied("conf 1", stage.Healthy, 1),
		}}, stage.Failed, true, 6},
		{"one is refused, and another is not there yet", &Seen{Objects: map[object.Ref]Object{
			web: {Applied: blob("web 1").ID(), Tried: blob("web 2").ID(), Refused: "denied", Health: stage.Healthy, Since: at(6)},
		}}, stage.Failed, true, 6},
		{"an older one was refused", &Seen{Objects: map[object.Ref]Object{
			web:  {Applied: blob("web 0").ID(), Tried: blob("web 1").ID(), Refused: "denied", Health: stage.Healthy, Since: at(6)},
			conf: applied("conf 1", stage.Healthy, 1),
		}}, stage.Healthy, false, 1},
		{"what was removed is there still", &Seen{Objects: map[object.Ref]Object{
			web: applied("web 2", stage.Healthy, 3), conf: applied("conf 1", stage.Healthy, 1), gone: applied("old", stage.Healthy, 0),
		}}, stage.Healthy, false, 3},
	} {
		e := reported(tt.seen, []object.Ref{conf, gone, web}, subject{published: func(r object.Ref) *files.Blob { return published[r] }})
		since := time.Time{}
		if tt.since > 0 {
			since = at(tt.since)
		}
		if e.Health != tt.want || e.IsPresent != tt.present || !e.Since.Equal(since) {
			t.Errorf("%s: it is %s since %s, present: %t", tt.name, e.Health, e.Since, e.IsPresent)
		}
	}
}

// TestWhatAForgeSaysOfAUnit: what is said of the commits that have the unit as it is now counts, as far back as was asked, and nothing of
// a forge that did not say it all: what is missing may be the failure.
func TestWhatAForgeSaysOfAUnit(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	holds := func(text string) *files.Folder {
		return twin.Tree{tree.Path(web): twin.File([]byte(text)), "other.yaml": twin.File([]byte(text))}.Folder()
	}
	first, second := Said{Health: stage.Healthy, Ref: "1"}, Said{Health: stage.Failed, Ref: "2"}
	for _, tt := range []struct {
		name   string
		posted Posted
		want   stage.Evidence
	}{
		{"nothing", Posted{Trees: []*files.Folder{holds("a")}}, stage.Evidence{}},
		{"the head alone has it", Posted{Trees: []*files.Folder{holds("a"), holds("b")}, Said: []Said{first, second}}, evidenceOf(first)},
		{"the one before has it too", Posted{Trees: []*files.Folder{holds("a"), holds("a"), holds("b")}, Said: []Said{first, second}}, evidenceOf(second)},
		{"more have it than were told apart", Posted{Trees: []*files.Folder{holds("a"), holds("a")}, Said: []Said{first}}, evidenceOf(first)},
		{"none of them counts", Posted{Trees: []*files.Folder{holds("a")}, Said: []Said{{Health: stage.Unknown}}}, stage.Evidence{}},
		{"not all was said", Posted{Trees: []*files.Folder{holds("a")}, Said: []Said{first}, Failed: "it is limited"}, stage.Evidence{}},
	} {
		if got := tt.posted.evidence([]string{tree.Path(web)}); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// What a forge says of a virtual cluster is of the files that this one has on its API server.
func TestWhatAForgeSaysOfAVirtualCluster(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	c := Cluster{Name: "eu", Virtual: &virtual.Mapping{Cluster: "eu", Host: "host", Suffix: "-eu"}}
	holds := func(text string) *files.Folder {
		return twin.Tree{tree.Path(c.Virtual.Ref(web)): twin.File([]byte(text)), tree.Path(web): twin.File([]byte("of another one"))}.Folder()
	}
	said := []Said{{Health: stage.Healthy, Ref: "of the head"}, {Health: stage.Failed, Ref: "of two"}, {Health: stage.Progressing, Ref: "of three"}}
	c.Posted = &Posted{Said: said}
	for want, trees := range map[string][]*files.Folder{
		"of the head": {holds("b"), holds("a"), holds("a")}, "of two": {holds("b"), holds("b"), nil}, "of three": {holds("b"), holds("b"), holds("b"), holds("b")},
	} {
		c.Posted.Trees = trees
		if got := c.evidence([]string{render.EvidenceCommitStatus}, []object.Ref{web}, subject{}).Ref; got != want {
			t.Errorf("what counts is %q, want %q", got, want)
		}
	}
}

// TestWhenTimeIsEvidence: of a cluster of which whoever is named before says nothing. While a forge was not asked, or did not answer,
// nobody knows that.
func TestWhenTimeIsEvidence(t *testing.T) {
	const byStatus, byForge, byTime = render.EvidenceStatus, render.EvidenceCommitStatus, render.EvidenceTimed
	all := []string{byStatus, byForge, byTime}
	said := func(h stage.Health) *Posted {
		return &Posted{Trees: []*files.Folder{nil}, Said: []Said{{Health: h}}}
	}
	for _, tt := range []struct {
		name    string
		sources []string
		cluster Cluster
		want    stage.Health
	}{
		{"nobody else is named", []string{byTime}, Cluster{}, stage.Healthy},
		{"nobody says anything", []string{byStatus, byTime}, Cluster{}, stage.Healthy},
		{"the forge was asked, and has nothing", all, Cluster{Posted: &Posted{}}, stage.Healthy},
		{"the forge was asked, and nothing of it counts", all, Cluster{Posted: said(stage.Unknown)}, stage.Healthy},
		{"the forge says that it fails", all, Cluster{Posted: said(stage.Failed)}, stage.Failed},
		{"the forge was not asked", all, Cluster{}, stage.Unasked},
		{"the forge did not answer", all, Cluster{Posted: &Posted{Failed: "it is limited"}}, stage.Unknown},
		{"the forge did not answer, and comes after it", []string{byTime, byForge}, Cluster{Posted: &Posted{Failed: "it is limited"}}, stage.Healthy},
		{"the cluster does not answer", all, Cluster{Seen: &Seen{IsSilent: true}, Posted: &Posted{}}, stage.Silent},
		{"the cluster is lost", all, Cluster{IsLost: true, Posted: &Posted{}}, stage.Silent},
	} {
		if got := tt.cluster.evidence(tt.sources, nil, subject{}).Health; got != tt.want {
			t.Errorf("%s: it is %q, want %q", tt.name, got, tt.want)
		}
	}
}

func evidenceOf(s Said) stage.Evidence {
	return stage.Evidence{Health: s.Health, IsPresent: true, Ref: s.Ref}
}

// It is looked again soon for evidence of which no branch tells: what a forge says, and time, but not of a cluster whose branch is held,
// where no time passes.
func TestWhenEvidenceMayBeAnotherOne(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	const byStatus, byForge, byTime = render.EvidenceStatus, render.EvidenceCommitStatus, render.EvidenceTimed
	for _, tt := range []struct {
		name    string
		sources []string
		cluster Cluster
		state   rollouts.State
		want    time.Duration // 0: not
	}{
		{"a forge is asked", []string{byStatus, byForge}, Cluster{}, rollouts.Released, AskEvery},
		{"the cluster reports", []string{byStatus, byForge, byTime}, Cluster{Seen: &Seen{}}, rollouts.Released, 0},
		{"time is enough", []string{byStatus, byTime}, Cluster{}, rollouts.Released, time.Second},
		{"time was enough", []string{byStatus, byTime}, Cluster{}, rollouts.Healthy, 0},
		{"time is enough, and the cluster is held", []string{byStatus, byTime}, Cluster{Held: true}, rollouts.Released, 0},
		{"nobody waits for it", []string{byTime}, Cluster{}, rollouts.Skipped, 0},
	} {
		tt.cluster.Name = "eu"
		in := indexed(Input{Now: noon, Evidence: tt.sources, Clusters: []Cluster{tt.cluster}})
		after := rollouts.Rollout{Status: rollouts.Status{Phase: rollouts.Updating, Stages: []rollouts.StageStatus{{Name: "prod", Phase: rollouts.Updating}}}}
		after.Clusters = map[string]rollouts.Cluster{
			"eu": {Stage: "prod", State: tt.state, Released: metav1.NewTime(noon)}, "gone": {Stage: "prod", State: rollouts.Released, Released: metav1.NewTime(noon)},
		}
		var want time.Time
		if tt.want > 0 {
			want = noon.Add(tt.want)
		}
		if got := in.again(&stage.Output{After: &after}).At; !got.Equal(want) {
			t.Errorf("%s: it looks again at %s, want %s", tt.name, got, want)
		}
	}
}
