package reports_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// source returns a version of the source, with a config.
func (f *fleet) source(spec string) sources.Snapshot {
	f.Helper()
	repo := twin.New("source")
	config := "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: " + spec + "\n"
	rev := repo.Write("main", "first", twin.Tree{"waybill.yaml": twin.File([]byte(config))}.Folder())
	s, err := repo.Snapshot(f.Context(), rev.String(), "")
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// heads are where branches stand, without asking a server.
func (f *fleet) heads() map[string]files.ID {
	f.Helper()
	all, err := f.repo.Heads(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return all
}

// inFolders has the state say that clusters share a branch.
func (f *fleet) inFolders() {
	f.Helper()
	head, _, err := f.repo.Branch(f.Context(), state.Branch)
	if err != nil {
		f.Fatal(err)
	}
	root := twin.Of(head.Tree)
	root["apply.json"] = twin.File([]byte(`{"branch": "waybill/clusters"}`))
	f.repo.Write(state.Branch, "state", root.Folder())
}

func (f *fleet) registered() ([]*karmada.Cluster, error) { return f.clusters, nil }

// Whichever question a server does not answer, it is an error, or the cluster says nothing: half of an answer is none.
func TestAServerThatDoesNotAnswerOnce(t *testing.T) {
	const nothing = ""
	snapshot := newFleet(t).source("{publish: {layout: folders}}")
	for _, tt := range []struct {
		name string
		ask  func(*fleet) (said string, err error)
	}{
		{"what goes out in stages", func(f *fleet) (string, error) {
			all, err := f.reader.Seen(f.Context(), f.heads(), f.registered)
			if err != nil || all["eu"] == nil {
				return nothing, err
			}
			return fmt.Sprint(all["eu"].Objects), nil
		}},
		{"what moves", func(f *fleet) (string, error) {
			s, ok, err := f.asked()
			if err != nil || !ok {
				return nothing, err
			}
			return fmt.Sprint(s), nil
		}},
		{"the commits that are applied", func(f *fleet) (string, error) {
			all, err := f.reader.Applied(f.Context(), f.heads(), f.clusters)
			if err != nil || all["eu"].Commit.IsZero() {
				return nothing, err
			}
			return all["eu"].Verdict.Reason, nil
		}},
		{"the objects", func(f *fleet) (string, error) {
			all, err := f.reader.Reports(f.Context(), []policies.Cluster{{Spec: *f.clusters[0]}}, "shop", time.Hour)
			if err != nil || all["eu"] == nil {
				return nothing, err
			}
			return fmt.Sprint(named(all["eu"].Objects)), nil
		}},
		{"the fleet", func(f *fleet) (string, error) {
			all, err := f.reader.Fleet(f.Context(), snapshot, reports.Query{Clusters: []string{"eu"}, Closely: true, Lasting: time.Hour})
			if err != nil {
				return nothing, err
			}
			if c := all.Clusters[0]; !strings.Contains(c.Message, twin.ErrDown.Error()) {
				return c.State + " " + c.Rendered, nil
			}
			return nothing, nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t, cluster("eu", nil))
			f.recorded("eu")
			f.inFolders()
			commit := f.repo.Write("waybill/clusters", "published\n\nSource-Commit: c1\n", twin.Tree{
				"eu/" + tree.MetadataFile: twin.File([]byte("of eu")), "eu/" + tree.Path(web): twin.File([]byte("new")),
			}.Folder())
			refused := healthy(commit)
			refused.Applied.Phase = status.PhaseFailed
			f.say("eu", status.Summary{Commit: commit, Verdict: status.Verdict{Reason: status.Applied}}, refused, 0, nil)
			const most = 100
			for n := 1; n < most; n++ {
				r := twin.FailingAt(n, f.repo)
				f.reader.Published.Branches, f.reader.Cache = published.At(r), &reports.Cache{}
				said, err := tt.ask(f)
				if !r.HasFailed() { // it was not asked that often
					if err != nil || said == nothing || n < 3 {
						t.Errorf("answered all of %d questions, it is said %q, %v", n-1, said, err)
					}
					return
				}
				if err == nil && said != nothing || err != nil && !errors.Is(err, twin.ErrDown) {
					t.Errorf("not answered question %d, it is said %q, %v", n, said, err)
				}
			}
			t.Errorf("it asks more than %d questions", most)
		})
	}
}

// Who stops while something is read gets no answer, be it by the word of a cluster alone or by that of an agent.
func TestWhoStopsGetsNoAnswer(t *testing.T) {
	f := newFleet(t, cluster("eu", nil))
	head := f.publish("eu", "new")
	f.say("eu", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 0, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := f.reader.Seen(ctx, f.heads(), f.registered); !errors.Is(err, context.Canceled) {
		t.Errorf("what is seen is %v, %v", all, err)
	}
	if all, err := f.reader.Applied(ctx, f.heads(), f.clusters); !errors.Is(err, context.Canceled) {
		t.Errorf("what was applied is %v, %v", all, err)
	}
	if all, err := f.reader.Reports(ctx, []policies.Cluster{{Spec: *f.clusters[0]}}, "", time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("what is said is %v, %v", all, err)
	}
}

// Clusters are asked for only where something moves, and somebody says something. That they cannot be read is an error.
func TestWhenClustersAreAskedFor(t *testing.T) {
	for _, tt := range []struct {
		name  string
		moves bool
		says  bool
		told  bool // agents write elsewhere
		asked bool
	}{
		{"something moves, and nobody says anything", true, false, false, false},
		{"something moves, and agents may say something elsewhere", true, false, true, true},
		{"something moves, and a cluster says something", true, true, false, true},
		{"nothing moves", false, true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t, cluster("eu", nil))
			if tt.says {
				f.say("eu", status.Summary{}, status.Object{}, 0, nil)
			}
			if tt.told {
				f.reader.Agents = twin.New("told")
			}
			binding := &karmada.ResourceBinding{Spec: karmada.ResourceBindingSpec{Clusters: []karmada.TargetCluster{{Name: "eu"}}}}
			if tt.moves {
				binding.Spec.GracefulEvictionTasks = []karmada.GracefulEvictionTask{{FromCluster: "us"}}
			}
			isAsked := false
			registered := func() ([]*karmada.Cluster, error) {
				isAsked = true
				return nil, twin.ErrDown
			}
			of := reports.Moves{Bindings: map[object.Ref]*karmada.ResourceBinding{web: binding}, Registered: registered}
			all, err := f.reader.Evidence(t.Context(), f.heads(), of)
			if isAsked != tt.asked || errors.Is(err, twin.ErrDown) != tt.asked {
				t.Errorf("clusters are asked for: %v, %v; want %v", isAsked, err, tt.asked)
			}
			if _, listed := all[web]; listed != (tt.moves && !tt.asked) { // what moves has to be healthy, whoever is silent
				t.Errorf("what is known is %v", all)
			}
			if !tt.moves {
				return
			}
			isAsked = false
			if seen, err := f.reader.Seen(t.Context(), f.heads(), registered); isAsked != tt.asked || errors.Is(err, twin.ErrDown) != tt.asked || len(seen) > 0 {
				t.Errorf("clusters are asked for in stages: %v, %v, %v; want %v", isAsked, seen, err, tt.asked)
			}
		})
	}
}

// A cluster that says nothing, or what cannot be read, is left out, and the others are heard.
func TestWhoSaysNothingIsLeftOut(t *testing.T) {
	f := newFleet(t, cluster("ap", nil), cluster("eu", nil), cluster("sa", nil), cluster("us", nil))
	head := f.publish("us", "new")
	f.repo.Write(status.Prefix+"eu", "by hand", twin.Tree{"README": twin.File(nil)}.Folder())
	f.say("sa", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 2*reports.Lasting, nil)
	f.say("us", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 0, nil)
	seen, err := f.reader.Seen(t.Context(), f.heads(), f.registered)
	if names := slices.Sorted(maps.Keys(seen)); err != nil || !slices.Equal(names, []string{"us"}) {
		t.Errorf("in stages these say something: %q, %v", names, err)
	}
	applied, err := f.reader.Applied(t.Context(), f.heads(), f.clusters)
	if names := slices.Sorted(maps.Keys(applied)); err != nil || !slices.Equal(names, []string{"sa", "us"}) { // a commit does not age
		t.Errorf("these applied something: %q, %v", names, err)
	}
}

// tooMuch is a repository of which a branch is more than is fetched at once.
type tooMuch struct {
	*twin.Repo

	branch string
}

func (r tooMuch) Fetch(_ context.Context, branches ...string) error {
	if slices.Contains(branches, r.branch) {
		return &git.LimitError{What: "bytes", Limit: 1, Got: 2}
	}
	return nil
}

// What is too much on the branch of a cluster is said of that cluster alone, and counts for nothing, whatever was heard before.
func TestABranchThatIsTooMuch(t *testing.T) {
	f := newFleet(t, cluster("eu", nil), cluster("us", nil))
	f.recorded("eu", "us")
	for _, c := range f.clusters {
		head := f.publish(c.Name, "new")
		f.say(c.Name, status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 0, nil)
	}
	if s, _ := f.seen(); !s.Done {
		t.Fatalf("what is known is %+v", s)
	}
	f.reader.Published.Branches = published.At(tooMuch{f.repo, status.Prefix + "eu"})
	if s, ok := f.seen(); ok {
		t.Errorf("what is known is %+v", s)
	}
	if seen, err := f.reader.Seen(t.Context(), f.heads(), f.registered); err != nil || seen["eu"] != nil || seen["us"] == nil {
		t.Errorf("in stages it is seen %v, %v", seen, err)
	}
	all, err := f.reader.Fleet(t.Context(), f.source("{}"), reports.Query{Lasting: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	eu, us := all.Clusters[0], all.Clusters[1]
	if eu.State != status.Unknown || !strings.Contains(eu.Message, "limit of 1") || us.State != status.Healthy {
		t.Errorf("eu is %s: %s, us is %s: %s", eu.State, eu.Message, us.State, us.Message)
	}
}

// What was heard of a cluster counts no more once nobody can say who its agent is.
func TestAKeyThatCannotBeReadAnyMore(t *testing.T) {
	f := newFleet(t, cluster("eu", nil), cluster("us", nil))
	head := f.publish("eu", "new")
	f.say("eu", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 0, nil)
	if s, _ := f.seen(); !s.Done {
		t.Fatalf("what is known is %+v", s)
	}
	f.clusters[0] = cluster("eu", map[string]string{"waybill.dev/agent-key": "garbage"})
	f.clusters[0].Spec.SyncMode = karmada.Pull
	if s, ok := f.seen(); ok {
		t.Errorf("what is known is %+v", s)
	}
}

// Once all is forgotten, what was heard last does not count while the repository of the agents is away.
func TestForget(t *testing.T) {
	agent := newKey(t)
	f := newFleet(t, pulled("eu", agent), cluster("us", nil))
	f.told = twin.New("told")
	head := f.publish("eu", "new")
	f.say("eu", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 0, &agent)
	f.reader.Agents = f.told
	f.seen()
	f.reader.Agents = away{f.told}
	if s, _ := f.seen(); !s.Done {
		t.Fatalf("what is known is %+v", s)
	}
	if seen, err := f.reader.Seen(t.Context(), f.heads(), f.registered); err != nil || seen["eu"] == nil {
		t.Errorf("in stages it is seen %v, %v", seen, err)
	}
	f.reader.Cache.Forget()
	if s, ok := f.seen(); ok {
		t.Errorf("what is known is %+v", s)
	}
	if seen, err := f.reader.Seen(t.Context(), f.heads(), f.registered); err != nil || len(seen) > 0 {
		t.Errorf("in stages it is seen %v, %v", seen, err)
	}
}

// What a cluster applied is looked up again where its commit was missing, although the cluster says nothing new: a commit may come.
func TestACommitThatComesLater(t *testing.T) {
	f := newFleet(t, cluster("eu", nil))
	head := f.publish("eu", "new")
	f.publish("eu", "newer")
	f.say("eu", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 0, nil)
	whole := f.repo.Clone()
	f.repo.Shallow("waybill/cluster/eu")
	var none files.ID
	for _, want := range []files.ID{none, files.NewBlob([]byte("new")).ID()} {
		all, err := f.reader.Seen(t.Context(), f.heads(), f.registered)
		if err != nil || all["eu"] == nil || all["eu"].Objects[web].Applied != want {
			t.Errorf("what is seen is %+v, %v; want %s", all["eu"], err, want)
		}
		f.repo.Restore(whole)
	}
}

// What is said of the health of an object, as evidence of a stage. Where nobody looked, nothing is said of objects, but for a
// cluster that is suspended.
func TestHealthInStages(t *testing.T) {
	for _, tt := range []struct {
		name    string
		verdict string
		state   karmada.ResourceHealth
		reason  string
		want    staged.Seen // but for what was applied, and times
	}{
		{"it is healthy", status.Applied, karmada.ResourceHealthy, "", staged.Seen{Objects: map[object.Ref]staged.Object{web: {Health: stage.Healthy}}}},
		{"it failed", status.Applied, karmada.ResourceUnhealthy, "Failed", staged.Seen{Objects: map[object.Ref]staged.Object{web: {Health: stage.Failed}}}},
		{"it rolls out", status.Applied, karmada.ResourceUnhealthy, "InProgress", staged.Seen{Objects: map[object.Ref]staged.Object{web: {Health: stage.Progressing}}}},
		{"it is healthy, and the round was held", status.Held, karmada.ResourceHealthy, "", staged.Seen{Objects: map[object.Ref]staged.Object{web: {Health: stage.Healthy}}}},
		{"it was healthy, and the cluster is suspended", status.Suspended, karmada.ResourceHealthy, "", staged.Seen{Objects: map[object.Ref]staged.Object{web: {Health: stage.Healthy}}}},
		{"it was healthy, and the cluster does not answer", status.Unreachable, karmada.ResourceHealthy, "", staged.Seen{IsSilent: true}},
		{"it was healthy, and nothing can reach the cluster", status.NoCredential, karmada.ResourceHealthy, "", staged.Seen{IsSilent: true}},
	} {
		f := newFleet(t, cluster("eu", nil))
		head := f.publish("eu", "new")
		o := healthy(head)
		o.Health.State, o.Health.Reason = tt.state, tt.reason
		f.say("eu", status.Summary{Commit: head, Verdict: status.Verdict{Reason: tt.verdict}}, o, 0, nil)
		all, err := f.reader.Seen(t.Context(), f.heads(), f.registered)
		if err != nil || all["eu"] == nil {
			t.Fatalf("%s: what is seen is %v, %v", tt.name, all, err)
		}
		is, want := all["eu"], tt.want.Objects[web].Health
		if is.IsSilent != tt.want.IsSilent || len(is.Objects) != len(tt.want.Objects) || is.Objects[web].Health != want || is.Commit != head {
			t.Errorf("%s: it is %+v, want %+v", tt.name, is, tt.want)
		}
	}
}

// What is asked for of a fleet: the source commit of a branch that was published, closely; objects of a namespace, with or without more;
// and where clusters share a branch, the newest commit that changed their folder.
func TestWhatIsAskedForOfAFleet(t *testing.T) {
	of := func(f *fleet, asked reports.Query) reports.Fleet {
		t.Helper()
		asked.Lasting = time.Hour
		all, err := f.reader.Fleet(t.Context(), f.source("{}"), asked)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	f := newFleet(t)
	f.recorded("eu", "us")
	const message = "published\n\nSource-Commit: c1\n"
	head := f.repo.Write("waybill/cluster/eu", message, twin.Tree{tree.MetadataFile: twin.File([]byte("of eu"))}.Folder())
	db := object.Ref{Kind: "ConfigMap", Namespace: "db", Name: "x"}
	f.tell("eu", time.Minute, map[object.Ref]karmada.ResourceHealth{web: karmada.ResourceHealthy, db: karmada.ResourceUnhealthy})
	for _, tt := range []struct {
		name     string
		asked    reports.Query
		rendered string
		objects  []string
		counted  int
	}{
		{"how clusters are", reports.Query{}, "", nil, 2},
		{"how they are closely", reports.Query{Closely: true}, "c1", []string{"ConfigMap/db/x", "Deployment.apps/shop/web"}, 2},
		{"how they are in a namespace", reports.Query{Namespace: "shop"}, "", []string{"Deployment.apps/shop/web"}, 1},
		{"how they are closely in a namespace", reports.Query{Namespace: "db", Closely: true}, "c1", []string{"ConfigMap/db/x"}, 1},
		{"how they are where they have nothing", reports.Query{Namespace: "other"}, "", nil, 0},
	} {
		all := of(f, tt.asked).Clusters
		eu, us := all[0], all[1]
		names := slices.Sorted(maps.Keys(named(eu.Report.Objects)))
		if eu.Rendered != tt.rendered || us.Rendered != "" || !slices.Equal(names, tt.objects) || eu.Report.Counts.Objects != tt.counted {
			t.Errorf("%s: it is rendered from %q, %q, with %q, %d of them", tt.name, eu.Rendered, us.Rendered, names, eu.Report.Counts.Objects)
		}
	}
	f.inFolders()
	inFolder := f.repo.Write("waybill/clusters", message, twin.Tree{"eu/" + tree.MetadataFile: twin.File([]byte("of eu"))}.Folder())
	f.repo.Write("waybill/clusters", "other", twin.Tree{"eu/" + tree.MetadataFile: twin.File([]byte("of eu")), "README": twin.File(nil)}.Folder())
	if eu := of(f, reports.Query{Closely: true}).Clusters[0]; eu.Head != inFolder || eu.Head == head || eu.Rendered != "c1" {
		t.Errorf("in its folder there is %s, from %q", eu.Head, eu.Rendered)
	}
}

// fetched notes which branches are fetched.
type fetched struct {
	*twin.Repo

	branches []string
}

func (r *fetched) Fetch(_ context.Context, branches ...string) error {
	r.branches = append(r.branches, branches...)
	return nil
}

// Branches of clusters are fetched only if they are read: those that are asked for closely, or the one that clusters share.
func TestWhichBranchesAreFetched(t *testing.T) {
	for _, tt := range []struct {
		name    string
		asked   reports.Query
		folders bool
		want    []string // besides the state
	}{
		{"how one is", reports.Query{Clusters: []string{"eu"}}, false, []string{"waybill/status/eu"}},
		{"how one is closely", reports.Query{Clusters: []string{"eu"}, Closely: true}, false, []string{"waybill/cluster/eu", "waybill/status/eu"}},
		{"how one is that shares a branch", reports.Query{Clusters: []string{"eu"}}, true, []string{"waybill/clusters", "waybill/status/eu"}},
		{"how one is closely that shares a branch", reports.Query{Clusters: []string{"eu"}, Closely: true}, true, []string{"waybill/clusters", "waybill/status/eu"}},
	} {
		f := newFleet(t)
		f.recorded("eu", "us")
		if tt.folders {
			f.inFolders()
		}
		r := &fetched{Repo: f.repo}
		f.reader.Published.Branches = published.At(r)
		if _, err := f.reader.Fleet(t.Context(), f.source("{}"), tt.asked); err != nil {
			t.Fatal(err)
		}
		slices.Sort(r.branches)
		if got := slices.DeleteFunc(r.branches, func(b string) bool { return b == state.Branch }); !slices.Equal(got, tt.want) {
			t.Errorf("%s: fetched are %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A state that cannot be read is no fleet.
func TestAStateThatCannotBeRead(t *testing.T) {
	for _, tt := range []struct {
		name    string
		root    twin.Tree
		isFleet bool
	}{
		{"what was published is broken", twin.Tree{"published.json": twin.File([]byte("{"))}, false},
		{"the terms are broken", twin.Tree{"apply.json": twin.File([]byte("{"))}, false},
		{"a cluster is broken", twin.Tree{"clusters/eu.yaml": twin.File([]byte("{"))}, false},
		{"it has no clusters", twin.Tree{"published.json": twin.File([]byte("{}"))}, true},
	} {
		f := newFleet(t)
		f.repo.Write(state.Branch, "state", tt.root.Folder())
		if all, err := f.reader.Fleet(t.Context(), f.source("{}"), reports.Query{}); (err == nil) != tt.isFleet {
			t.Errorf("%s: the fleet is %+v, %v", tt.name, all, err)
		}
	}
	f := newFleet(t)
	f.recorded("eu")
	if all, err := f.reader.Fleet(t.Context(), f.source("{publish: {layout: flat}}"), reports.Query{}); err == nil {
		t.Errorf("the configuration cannot be read, and the fleet is %+v", all)
	}
}

// What is to be preserved of a status is read with the evidence, by the rules of the binding.
func TestWhatIsPreservedIsRead(t *testing.T) {
	f := newFleet(t, cluster("eu", nil), cluster("us", nil))
	head := f.publish("us", "new")
	o := healthy(head)
	o.Health.Status = []byte(`{"leader": "web-0"}`)
	f.say("us", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, o, 0, nil)
	keeps := &karmada.StatePreservation{Rules: []karmada.StatePreservationRule{{AliasLabelName: "leader", JSONPath: "{.leader}"}}}
	binding := &karmada.ResourceBinding{Spec: karmada.ResourceBindingSpec{
		GracefulEvictionTasks: []karmada.GracefulEvictionTask{{FromCluster: "us"}}, Failover: &karmada.FailoverBehavior{Cluster: &karmada.ClusterFailoverBehavior{StatePreservation: keeps}},
	}}
	of := reports.Moves{Bindings: map[object.Ref]*karmada.ResourceBinding{web: binding}, Published: f.published, Registered: f.registered}
	all, err := f.reader.Evidence(t.Context(), f.heads(), of)
	if err != nil || all[web]["us"].Preserved["leader"] != "web-0" {
		t.Errorf("what is known is %+v, %v", all, err)
	}
	other := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "x"} // of it there is no binding
	all, err = f.reader.EvidenceOf(t.Context(), f.heads(), of, map[object.Ref][]string{other: {"us"}})
	if err != nil || !all[other]["us"].Gone {
		t.Errorf("of what has no binding it is known %+v, %v", all, err)
	}
}

// A virtual cluster says what it says, whether its host says anything or not.
func TestAHostThatSaysNothing(t *testing.T) {
	f := newFleet(t)
	f.tell("inner", time.Minute, map[object.Ref]karmada.ResourceHealth{{Kind: "ConfigMap", Namespace: "shop-inner", Name: "web"}: karmada.ResourceHealthy})
	registered := []policies.Cluster{
		{Spec: *cluster("host", nil)},
		{Spec: *cluster("inner", map[string]string{karmada.VirtualOfAnnotation: "host"})},
		{Spec: *cluster("other", map[string]string{karmada.VirtualOfAnnotation: "host"})},
	}
	all, err := f.reader.Reports(t.Context(), registered, "", time.Hour)
	if err != nil || len(all) != 1 || len(all["inner"].Objects) != 1 {
		t.Errorf("it is said %v, %v", all, err)
	}
}
