package read_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/problems/read"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// fleet is a fleet of two clusters in memory.
type fleet struct {
	t    *testing.T
	repo *twin.Repo
	tree twin.Tree
	now  time.Time
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, repo: twin.New("fleet"), tree: twin.Tree{}, now: time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)}
	for _, name := range []string{"eu", "us"} {
		f.put(name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+name+"}\nspec: {syncMode: Push}\n")
	}
	f.put("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n")
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\n")
	return f
}

func (f *fleet) put(name, text string) { f.tree[name] = twin.File([]byte(text)) }

func (f *fleet) reconciler() *reconciler.Reconciler {
	return &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: f.repo, Target: f.repo, Now: func() time.Time { return f.now }}
}

// publish commits the source, an hour later, and publishes it.
func (f *fleet) publish(message string) (commit string) {
	f.t.Helper()
	f.now = f.now.Add(time.Hour)
	f.repo.Now = f.now
	id := f.repo.Write("main", message, f.tree.Folder())
	if _, err := f.reconciler().Publish(f.t.Context(), "main"); err != nil {
		f.t.Fatal(err)
	}
	return id.String()
}

// say has a cluster say that all is well, or why not.
func (f *fleet) say(cluster, why string) {
	f.t.Helper()
	h, _, err := f.repo.Branch(f.t.Context(), "waybill/cluster/"+cluster)
	if err != nil {
		f.t.Fatal(err)
	}
	c := status.Cluster{Summary: status.Summary{Name: cluster, Commit: h.Commit, Since: f.now, Verdict: status.Verdict{Reason: status.Applied}}}
	if why != "" {
		c.Verdict = status.Verdict{Reason: status.Unreachable, Message: why}
	}
	f.repo.Now = f.now
	f.repo.Write(status.Prefix+cluster, "status", status.Summarize(c))
}

func (f *fleet) reader() *read.Reader {
	f.t.Helper()
	s, err := f.repo.Snapshot(f.t.Context(), "main", "")
	if err != nil {
		f.t.Fatal(err)
	}
	return &read.Reader{Reconciler: f.reconciler(), Snapshot: s, Lasting: reports.Lasting}
}

// TestACauseHasItsAuthor: the commit at which a hold began is told, and who wrote it, though more was published since.
func TestACauseHasItsAuthor(t *testing.T) {
	f := newFleet(t)
	f.publish("all is well")
	f.tree.Remove("conf.yaml")
	gone := f.publish("conf: gone\n\nAnd why.\n")
	f.put("other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\n")
	later := f.publish("other: new")
	f.say("eu", "")
	f.say("us", "")
	list, err := f.reader().List(t.Context())
	i := slices.IndexFunc(list.Problems, func(p problems.Problem) bool { return p.Kind == problems.Held })
	if err != nil || i < 0 {
		t.Fatalf("%+v, %v", list.Problems, err)
	}
	if p := &list.Problems[i]; p.Commit != gone || p.Subject != "conf: gone" || p.Author == "" {
		t.Errorf("it began with %.12s %q by %q, want %.12s", p.Commit, p.Subject, p.Author, gone)
	}
	if list.Commit != later {
		t.Errorf("published is %.12s, want %.12s", list.Commit, later)
	}
}

// TestWatch: what is broken is shown at first, and again when it is something else; what cannot be read is told once, and what is read then
// is shown, though it is the same.
func TestWatch(t *testing.T) {
	f := newFleet(t)
	f.publish("all is well")
	f.say("eu", "")
	f.say("us", "")
	var said []string
	r := f.reader()
	target := &away{Repo: f.repo}
	r.Reconciler.Target = target
	ctx, cancel := context.WithCancel(t.Context())
	steps := []func(){
		func() {}, func() { f.say("eu", "connection refused") }, func() {}, func() { target.err = errors.New("no way there") }, func() {},
		func() { target.err = errors.New("another way") }, func() { target.err = nil }, func() { f.say("eu", "") }, cancel,
	}
	target.before = func() {
		if len(steps) > 0 {
			steps[0]()
			steps = steps[1:]
		}
	}
	err := r.Watch(ctx, time.Microsecond, func(l *problems.List) error {
		said = append(said, strconv.Itoa(len(l.Problems)))
		return nil
	}, func(err error) { said = append(said, err.Error()[strings.LastIndex(err.Error(), ":")+1:]) })
	if got, want := strings.Join(said, ","), "0,1, no way there, another way,1,0"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") || err != nil {
		t.Errorf("shown is %s, %v; want %s", got, err, want)
	}
	full := errors.New("nobody reads it")
	if err := f.reader().Watch(t.Context(), time.Microsecond, func(*problems.List) error { return full }, nil); !errors.Is(err, full) {
		t.Errorf("it ends with %v", err)
	}
}

// away is a repository that does not say where its branches are, for as long as that is an error.
type away struct {
	*twin.Repo

	before func()
	err    error
}

func (a *away) Heads(ctx context.Context) (map[string]files.ID, error) {
	if a.before(); a.err != nil {
		return nil, a.err
	}
	return a.Repo.Heads(ctx)
}
