package problems_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// clusters are eight that say something, and one of which nobody reports.
var clusters = []string{"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"}

// fleet is a fleet in memory.
type fleet struct {
	t      *testing.T
	repo   *twin.Repo
	source twin.Tree
	now    time.Time
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, repo: twin.New("fleet"), source: twin.Tree{}, now: time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)}
	var all strings.Builder
	for _, name := range append(slices.Clone(clusters), "quiet") {
		mode := map[bool]string{true: "Pull", false: "Push"}[name == "quiet"]
		fmt.Fprintf(&all, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s}\nspec: {syncMode: %s}\n---\n", name, mode)
	}
	f.put("clusters.yaml", all.String())
	f.put("policy.yaml", policy("all", "everything", "{}"))
	for _, name := range []string{"api", "web", "db"} {
		f.put(name+".yaml", deployment(name, "everything", "1"))
	}
	return f
}

// policy places what has a label in a namespace.
func policy(name, label, placement string) string {
	return "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name + ", namespace: shop}\nspec:\n" +
		"  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {in: " + label + "}}}]\n  placement: " + placement + "\n"
}

func deployment(name, label, version string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", namespace: shop, labels: {in: " + label + "}}\n" +
		"spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: \"web:" + version + "\"}]}}}\n"
}

func (f *fleet) put(name, text string) { f.source[name] = twin.File([]byte(text)) }

// publish commits the source, an hour later, and publishes it. It returns the source commit.
func (f *fleet) publish(message string) string {
	f.t.Helper()
	f.now = f.now.Add(time.Hour)
	f.repo.Now = f.now
	id := f.repo.Write("main", message, f.source.Folder())
	if _, err := f.reconciler().Publish(f.t.Context(), "main"); err != nil {
		f.t.Fatal(err)
	}
	return id.String()
}

func (f *fleet) reconciler() *reconciler.Reconciler {
	return &reconciler.Reconciler{
		Seen: reconciler.NewCache(), Source: f.repo, Target: f.repo, Cache: cache.Memory(), Now: func() time.Time { return f.now },
	}
}

func ref(name string) object.Ref {
	return object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
}

// say has a cluster say now that all is well, but for what an edit makes of it.
func (f *fleet) say(cluster, source string, edit func(*status.Cluster)) {
	f.t.Helper()
	h, _, err := f.repo.Branch(f.t.Context(), "waybill/cluster/"+cluster)
	if err != nil {
		f.t.Fatal(err)
	}
	c := status.Cluster{
		Summary: status.Summary{Name: cluster, Commit: h.Commit, Verdict: status.Verdict{Reason: status.Applied}, Since: f.now},
		Objects: map[object.Ref]*status.Object{},
	}
	for _, name := range []string{"api", "web", "db"} {
		c.Objects[ref(name)] = &status.Object{
			Applied: status.Application{Phase: status.PhaseApplied, Commit: h.Commit, Source: source, Since: f.now},
			Health:  status.Health{State: karmada.ResourceHealthy, Since: f.now},
		}
	}
	if edit != nil {
		edit(&c)
	}
	f.repo.Now = f.now
	f.repo.Write(status.Prefix+cluster, "status", status.Summarize(c))
}

// list is what is broken.
func (f *fleet) list() problems.List {
	f.t.Helper()
	return problems.Of(problems.Input{Facts: f.facts(), Objects: func(m *reports.Cluster) map[object.Ref]*status.Object {
		objects, err := m.Everything()
		if err != nil {
			f.t.Fatal(err)
		}
		return objects
	}})
}

func (f *fleet) facts() *facts.Facts {
	f.t.Helper()
	r := f.reconciler()
	s, err := r.Source.Snapshot(f.t.Context(), "main", "")
	if err != nil {
		f.t.Fatal(err)
	}
	all, err := r.Reports().Fleet(f.t.Context(), s, reports.Query{Lasting: reports.Lasting})
	if err != nil {
		f.t.Fatal(err)
	}
	return facts.Of(all, f.now)
}

// lines are the problems of a list, each in a line.
func lines(l *problems.List) []string {
	var all []string
	for i := range l.Problems {
		p := &l.Problems[i]
		where := strings.Join(p.Clusters, " ")
		if p.Of > 0 {
			where = fmt.Sprintf("%s of %d", where, p.Of)
		}
		all = append(all, fmt.Sprintf("%s %s %s [%s] since %s by %.8s", p.Kind, p.Name, p.Reason, where, p.Since.Format("15:04"), p.Commit))
	}
	return all
}

func unhealthy(reason string, since time.Time) status.Health {
	return status.Health{State: karmada.ResourceUnhealthy, Reason: reason, Message: "it says so", Since: since}
}

// Every fault that is planted is found: with its clusters, its commit and its time, and nothing else is.
func TestWhatIsPlantedIsFound(t *testing.T) {
	f := newFleet(t)
	good := f.publish("all is well")
	for _, c := range clusters {
		f.say(c, good, nil)
	}
	if l := f.list(); len(l.Problems) > 0 || !slices.Equal(l.Unreported, []string{"quiet"}) || l.Commit != good || !l.Since.Equal(f.now) {
		t.Fatalf("nothing is broken, and it is %v, %v unreported, since %s", lines(&l), l.Unreported, l.Since)
	}
	later := f.now.Add(time.Minute)
	f.say(clusters[1], good, func(s *status.Cluster) { s.Objects[ref("web")].Health.Since = later })
	if l := f.list(); !l.Since.Equal(later) {
		t.Errorf("an object became healthy at %s, and nothing is broken since %s", later, l.Since)
	}

	f.put("nowhere.yaml", policy("nowhere", "nowhere", "{clusterAffinity: {clusterNames: [moon]}}"))
	f.put("lost.yaml", deployment("lost", "nowhere", "1"))
	nowhere := f.publish("a place that is none")
	f.put("typo.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: typo, namespace: shop}\nspec: {placementt: {}}\n")
	typo := f.publish("a typo")
	f.put("typo.yaml", "# it moves\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: typo, namespace: shop}\nspec: {placementt: {}}\n")
	f.put("api.yaml", deployment("api", "everything", "2"))
	bad := f.publish("api: another image")
	ago := func(minutes int) time.Time { return f.now.Add(-time.Duration(minutes) * time.Minute) }
	for i, c := range clusters {
		f.say(c, bad, func(s *status.Cluster) {
			switch {
			case i < 3: // the image is not there
				s.Objects[ref("api")].Health = unhealthy("ImagePullBackOff", ago(42-i))
				if i == 2 { // which does not say since when
					s.Objects[ref("api")].Health.Since = time.Time{}
				}
			case i == 3: // for another reason
				s.Objects[ref("api")].Health = unhealthy("Failed", ago(5))
				s.Objects[ref("web")].Health = unhealthy(health.Suspended, ago(5)) // which somebody wants
				s.Objects[ref("db")].Health.State = karmada.ResourceUnknown        // which nobody knows
			case i == 4: // it is refused, and something is unhealthy since a commit before
				s.Verdict = status.Verdict{Reason: status.Failing, Message: "1 object"}
				s.Objects[ref("web")].Applied.Phase, s.Objects[ref("web")].Applied.Message = status.PhaseFailed, "denied"
				s.Objects[ref("web")].Applied.Since = ago(7)
				s.Objects[ref("api")].Health, s.Objects[ref("api")].Applied.Source = unhealthy("ImagePullBackOff", ago(90)), good
			case i == 5:
				s.Objects[ref("db")].Applied.Corrected = 3
			default: // two that do not answer
				s.Verdict, s.Since = status.Verdict{Reason: status.Unreachable, Message: "connection refused"}, ago(3+i)
			}
		})
	}
	l := f.list()
	want := []string{
		fmt.Sprintf("SourceError typo.yaml required-field [] since %s by %.8s", f.now.Add(-time.Hour).Format("15:04"), typo),
		fmt.Sprintf("SourceError typo.yaml unknown-field [] since %s by %.8s", f.now.Add(-time.Hour).Format("15:04"), typo),
		fmt.Sprintf("NotPlaced Deployment.apps/shop/lost NoClusterFit [] since %s by %.8s", f.now.Add(-2*time.Hour).Format("15:04"), nowhere),
		fmt.Sprintf("ClusterFailing %s %[1]s [c7 c8] since ", status.Unreachable) + ago(10).Format("15:04") + " by ",
		fmt.Sprintf("NotApplied Deployment.apps/shop/web Failed [c5 of 9] since %s by %.8s", ago(7).Format("15:04"), bad),
		fmt.Sprintf("Unhealthy Deployment.apps/shop/api ImagePullBackOff [c1 c2 c3 of 9] since %s by %.8s", ago(42).Format("15:04"), bad),
		fmt.Sprintf("Unhealthy Deployment.apps/shop/api Failed [c4 of 9] since %s by %.8s", ago(5).Format("15:04"), bad),
		fmt.Sprintf("Unhealthy Deployment.apps/shop/api ImagePullBackOff [c5 of 9] since %s by %.8s", ago(90).Format("15:04"), good),
		fmt.Sprintf("Drifting Deployment.apps/shop/db Drifting [c6 of 9] since %s by %.8s", f.now.Format("15:04"), bad),
	}
	if got := lines(&l); !slices.Equal(got, want) {
		t.Errorf("it is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if line := l.Problems[1].Line; line != 4 {
		t.Errorf("the error is in line %d; it came in line 4, and lines that move are no news", line)
	}
}

// Where nothing is wrong in a cluster but that something waits for its turn, that is listed.
func TestWhatOnlyWaitsIsListed(t *testing.T) {
	f := newFleet(t)
	good := f.publish("all is well")
	for _, c := range clusters {
		f.say(c, good, func(s *status.Cluster) {
			if c == "c3" {
				s.Objects[ref("db")].Applied.Phase, s.Objects[ref("db")].Applied.Message = status.PhasePending, "a hook failed"
			}
		})
	}
	l := f.list()
	want := []string{fmt.Sprintf("NotApplied Deployment.apps/shop/db Pending [c3 of 9] since %s by %.8s", f.now.Format("15:04"), good)}
	if got := lines(&l); !slices.Equal(got, want) {
		t.Errorf("it is %q, want %q", got, want)
	}
}

// A roll-out that has stopped is listed, with the clusters that failed, and since when the first of them did. One that goes on is not.
func TestRolloutsThatStopped(t *testing.T) {
	f := newFleet(t)
	f.publish("all is well")
	stopped := func(after time.Duration, s rollouts.State) rollouts.Cluster {
		return rollouts.Cluster{State: s, Since: metav1.NewTime(f.now.Add(after))}
	}
	is := facts.Rollouts{Units: []rollouts.Rollout{
		{Unit: rollouts.Unit{Namespace: "shop", Name: "api"}, Status: rollouts.Status{Phase: rollouts.Updating}, Clusters: map[string]rollouts.Cluster{"c1": stopped(0, rollouts.Failed)}},
		{
			Unit:   rollouts.Unit{Namespace: "shop", Name: "web"},
			Status: rollouts.Status{Phase: rollouts.Stopped, Reason: rollouts.TooManyFailed, Message: "canary: c2, c3 failed", Target: rollouts.Version{Commit: "c0ffee"}},
			Clusters: map[string]rollouts.Cluster{
				"c1": stopped(-time.Hour, rollouts.Healthy), "c2": stopped(2*time.Minute, rollouts.Failed), "c3": stopped(time.Minute, rollouts.Failed), "c4": stopped(3*time.Minute, rollouts.Failed),
			},
		},
	}}
	all := f.facts()
	all.Rollouts = func() facts.Rollouts { return is }
	l := problems.Of(problems.Input{Facts: all, Objects: func(*reports.Cluster) map[object.Ref]*status.Object { return nil }})
	var found []problems.Problem
	for i := range l.Problems {
		if l.Problems[i].Kind == problems.RolloutStopped {
			found = append(found, l.Problems[i])
		}
	}
	want := []problems.Problem{{
		Kind: problems.RolloutStopped, Name: "shop/web", Clusters: []string{"c2", "c3", "c4"}, Reason: string(rollouts.TooManyFailed), Message: "canary: c2, c3 failed",
		Since: f.now.Add(time.Minute), Commit: "c0ffee", Next: "waybill rollout status shop/web",
	}}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("stopped are\n%+v\nwant\n%+v", found, want)
	}
}

// What a hold keeps is listed, with since when and what releases it; and clusters that fell silent.
func TestHoldsAndSilence(t *testing.T) {
	f := newFleet(t)
	good := f.publish("all is well")
	f.repo.Now = f.now
	for _, name := range []string{"api", "web", "db"} {
		f.source.Remove(name + ".yaml")
	}
	gone := f.publish("all goes")
	for _, c := range clusters[:7] {
		f.say(c, good, nil)
	}
	held := f.now
	f.now = f.now.Add(reports.Lasting + time.Hour)
	for _, c := range clusters[:6] {
		f.say(c, good, func(s *status.Cluster) {
			if c == "c2" {
				s.Verdict = status.Verdict{Reason: status.Unreachable, Message: "connection refused"}
			}
		})
	}
	l := f.list()
	if !slices.ContainsFunc(l.Problems, func(p problems.Problem) bool {
		return p.Kind == problems.ClusterFailing && slices.Equal(p.Clusters, []string{"c2"}) && p.Message == "connection refused"
	}) {
		t.Errorf("that a cluster is held hides that it is not reached: %v", lines(&l))
	}
	i := slices.IndexFunc(l.Problems, func(p problems.Problem) bool { return p.Kind == problems.Held })
	if i < 0 {
		t.Fatalf("no hold is listed: %v", lines(&l))
	}
	p := &l.Problems[i]
	if len(p.Clusters) != 9 || len(p.Loses) != 3 || !strings.HasPrefix(p.Next, "waybill publish --allow-prune=c1,c2,") || p.Commit != gone || !p.Since.Equal(held) {
		t.Errorf("the hold is %+v", p)
	}
	var silent []string
	for i := range l.Problems {
		if p := &l.Problems[i]; p.Kind == problems.Silent {
			silent = append(silent, p.Clusters...)
		}
	}
	if !slices.Equal(silent, []string{"c7", "c8"}) && !slices.Equal(silent, []string{"c8", "c7"}) {
		t.Errorf("silent are %v", silent)
	}
}

// Clusters that would lose different objects are different holds, though they are held for the same.
func TestHoldsOfDifferentObjects(t *testing.T) {
	f := newFleet(t)
	f.put("policy.yaml", policy("left", "left", "{clusterAffinity: {clusterNames: [c1, c2]}}"))
	f.put("right.yaml", policy("right", "right", "{clusterAffinity: {clusterNames: [c3]}}"))
	for name, label := range map[string]string{"api": "left", "web": "left", "db": "right", "cache": "right"} {
		f.put(name+".yaml", deployment(name, label, "1"))
	}
	f.publish("all is well")
	for _, name := range []string{"api", "web", "db", "cache"} {
		f.source.Remove(name + ".yaml")
	}
	f.publish("all goes")
	l := f.list()
	var got []string
	for i := range l.Problems {
		if p := &l.Problems[i]; p.Kind == problems.Held {
			got = append(got, fmt.Sprintln(p.Name, p.Clusters, p.Loses, p.Next))
		}
	}
	want := []string{
		"held clusters [c1 c2] [Deployment.apps/shop/api Deployment.apps/shop/web] waybill publish --allow-prune=c1,c2\n",
		"c3 [c3] [Deployment.apps/shop/cache Deployment.apps/shop/db] waybill publish --allow-prune=c3\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the holds are\n%s", strings.Join(got, ""))
	}
	// a cluster's own says the same, for it alone
	is := f.facts()
	var alone strings.Builder
	for _, name := range []string{"c2", "c3", "c4"} {
		p, ok := problems.HoldOf(is, is.Cluster(name))
		fmt.Fprintln(&alone, ok, p.Kind, p.Name, p.Clusters, p.Loses, p.Next)
	}
	if want := "true Held c2 [c2] [Deployment.apps/shop/api Deployment.apps/shop/web] waybill publish --allow-prune=c2\n" +
		"true Held c3 [c3] [Deployment.apps/shop/cache Deployment.apps/shop/db] waybill publish --allow-prune=c3\nfalse Held held clusters [] [] \n"; alone.String() != want {
		t.Errorf("alone they are\n%s", alone.String())
	}
}

// Who wrote a commit is asked of each that brought something.
func TestAuthors(t *testing.T) {
	asked := 0
	l := problems.List{Problems: []problems.Problem{{Commit: files.ID{1}.String()}, {}, {Commit: files.ID{1}.String()}}}
	l = l.Authored(func(string) *facts.Author {
		asked++
		return &facts.Author{Name: "wendy", Message: "api: another image\n\nAnd why.\n"}
	})
	if asked != 1 || l.Problems[2].Author != "wendy" {
		t.Errorf("it was asked %d times, and is %+v", asked, l.Problems)
	}
	if l.Problems[0].Author != "wendy" || l.Problems[0].Subject != "api: another image" || l.Problems[1].Author != "" {
		t.Errorf("it is %+v", l.Problems)
	}
}
