package reconciler_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// inFolders is a fleet of two clusters with an object each, whose branch they share.
type inFolders struct {
	*testing.T

	repo   *twin.Repo
	target published.Repository
	source twin.Tree
}

const shared = "waybill/clusters"

func newFolders(t *testing.T) *inFolders {
	t.Helper()
	f := &inFolders{T: t, repo: twin.New("folders"), source: twin.Tree{}}
	f.target = f.repo
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: folders}}\n")
	for _, name := range []string{"eu", "us"} {
		f.write(name+".yaml", fmt.Sprintf(`apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: %[1]s}
spec: {syncMode: Push}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: %[1]s, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {in: %[1]s}}}]
  placement: {clusterAffinity: {clusterNames: [%[1]s]}}
`, name))
		f.object(name, "first")
	}
	return f
}

func (f *inFolders) write(path, content string) { f.source[path] = twin.File([]byte(content)) }

// object writes the object of a cluster.
func (f *inFolders) object(cluster, value string) {
	f.write(cluster+"-object.yaml", fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop, labels: {in: %[1]s}}\ndata: {value: %s}\n", cluster, value))
}

func (f *inFolders) reconciler() *reconciler.Reconciler {
	return &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: f.repo, Target: f.target, Version: "test", Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		Pauses: reconciler.Pauses{Random: func() float64 { return 0 }, Sleep: func(context.Context, time.Duration) error { return nil }},
	}
}

func (f *inFolders) publish() error {
	f.repo.Write("main", "a change", f.source.Folder())
	_, err := f.reconciler().Publish(f.Context(), "main")
	return err
}

func (f *inFolders) published() {
	f.Helper()
	if err := f.publish(); err != nil {
		f.Fatal(err)
	}
}

// delivery is what an agent, which has no source, would apply.
func (f *inFolders) delivery(cluster string) (*reconciler.Reconciler, published.Artifact, error) {
	f.Helper()
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Target: f.target, Now: time.Now}
	in, err := r.Published().Desired(f.Context(), "", files.ID{})
	if err != nil {
		f.Fatal(err)
	}
	d, err := r.Published().Artifact(f.Context(), &in, cluster)
	return r, d, err
}

func (f *inFolders) commit(cluster string) files.ID {
	f.Helper()
	_, d, err := f.delivery(cluster)
	if err != nil {
		f.Fatal(err)
	}
	if len(d.Objects) != 1 || d.Objects[0].Ref.Name != cluster {
		f.Errorf("%s is to hold %v", cluster, d.Objects)
	}
	return d.Commit
}

// edit has a person write a file of a branch.
func (f *inFolders) edit(branch, path, content string) files.ID {
	f.Helper()
	h, _, err := f.repo.Branch(f.Context(), branch)
	if err != nil {
		f.Fatal(err)
	}
	root := twin.Of(h.Tree)
	root[path] = twin.File([]byte(content))
	return f.repo.Write(branch, "by hand", root.Folder())
}

func TestWhatIsPublishedForOneClusterIsNoNewsForAnother(t *testing.T) {
	f := newFolders(t)
	f.published()
	eu, us := f.commit("eu"), f.commit("us")
	if eu != us {
		t.Errorf("one publication is %s and %s", eu, us)
	}
	f.object("us", "second")
	f.published()
	if now := f.commit("eu"); now != eu {
		t.Errorf("eu is at %s, and nothing was published for it since %s", now, eu)
	}
	if now := f.commit("us"); now == us {
		t.Error("us is where it was")
	}
	source, err := f.repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := f.reconciler().Reports().Fleet(t.Context(), source, reports.Query{Lasting: time.Hour, Closely: true})
	if err != nil || len(fleet.Clusters) != 2 || fleet.Clusters[0].Head != eu || fleet.Clusters[0].Rendered == fleet.Clusters[1].Rendered {
		t.Errorf("the fleet is %+v, %v", fleet.Clusters, err)
	}
}

func TestAnEditOfOneFolderStopsNoOtherCluster(t *testing.T) {
	f := newFolders(t)
	f.published()
	eu := f.commit("eu")
	f.edit(shared, "README.md", "Whose this is.")
	edit := f.edit(shared, "us/"+tree.ManifestDir+"/shop/configmap/us.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: us, namespace: shop}\n")
	f.edit(shared, "docs/more.md", "More.")
	if now := f.commit("eu"); now != eu {
		t.Errorf("eu is at %s, and somebody edited something else since %s", now, eu)
	}
	_, _, err := f.delivery("us")
	if want := fmt.Sprintf("folder us of branch %s, as of %.12s, is not as Waybill published it: somebody edited its files: manifests/shop/configmap/us.yaml, in commit %[2]s", shared, edit.String()[:12]); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("us is refused with %v; want %s", err, want)
	}
}

func TestARaceForTheSharedBranchLosesNothing(t *testing.T) {
	f := newFolders(t)
	f.published()
	f.target = &overtaken{Repo: f.repo, write: func() { f.edit(shared, "README.md", "Somebody was faster.") }}
	f.object("eu", "second")
	f.published()
	h, _, err := f.repo.Branch(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := h.Tree.Lookup("README.md"); !ok {
		t.Error("what somebody wrote meanwhile is gone")
	}
	if named := publish.Trailer(h.Message, publish.TrailerCluster); named != "eu" {
		t.Errorf("the head is for %q", named)
	}
}

// overtaken is a repository to which somebody else writes before the first publication.
type overtaken struct {
	*twin.Repo

	write func()
}

func (o *overtaken) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	if o.write != nil {
		o.write()
		o.write = nil
	}
	return o.Repo.Publish(ctx, updates)
}

// A folder that is called as a cluster and that somebody else made stays as it is, and so does one that is no cluster's: the cluster is
// held, and the others are published.
func TestAFolderOfSomebodyElseIsNotWrittenOver(t *testing.T) {
	f := newFolders(t)
	theirs := twin.Tree{"us/README.md": twin.File([]byte("Whose this is.")), "docs/waybill.md": twin.File([]byte("How to."))}
	before := theirs.Folder()
	f.repo.Write(shared, "by hand", before)
	f.published()
	f.commit("eu")
	h, _, err := f.repo.Branch(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"us", "docs"} {
		was, _ := before.Lookup(folder)
		if is, _ := h.Tree.Lookup(folder); is.ID != was.ID {
			t.Errorf("the folder %s is another one", folder)
		}
	}
	if _, _, err := f.delivery("us"); err == nil || !strings.Contains(err.Error(), "was not written by Waybill") {
		t.Errorf("us is delivered: %v", err)
	}
}

func TestClustersHaveNoFoldersOnABranchOfASource(t *testing.T) {
	f := newFolders(t)
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: folders, branch: main}}\n")
	if err := f.publish(); err == nil || !strings.Contains(err.Error(), "branch main holds waybill.yaml, so that it is one of a source") {
		t.Errorf("error %v", err)
	}
}

// TestOnlyWhatWasSaidOfAClusterCountsForIt has commits of the branch allow removals, and say what
// failed over, for one cluster and for another.
func TestOnlyWhatWasSaidOfAClusterCountsForIt(t *testing.T) {
	f := newFolders(t)
	f.published()
	first := f.commit("eu")
	f.say("us", "Removals-Allowed: of held clusters")
	f.say("eu", "Failed-Over: us/manifests/shop/configmap/a.yaml\nFailed-Over: eu/manifests/shop/configmap/b.yaml")
	a := f.admitted("eu", first)
	if a.Allowed {
		t.Error("what was allowed for us is allowed for eu")
	}
	if want := "map[manifests/shop/configmap/b.yaml:true]"; fmt.Sprint(a.FailedOver) != want {
		t.Errorf("there failed over %v, want %s", a.FailedOver, want)
	}
	f.say("eu", "Removals-Allowed: of held clusters")
	last := f.commit("eu")
	f.say("eu", "Note: nothing")
	if !f.admitted("eu", first).Allowed {
		t.Error("what was allowed for eu is not")
	}
	if f.admitted("eu", last).Allowed {
		t.Error("what was allowed before is allowed again")
	}
}

// say commits another tree of a cluster as Waybill does, with trailers.
func (f *inFolders) say(cluster, trailers string) {
	f.Helper()
	h, _, err := f.repo.Branch(f.Context(), shared)
	if err != nil {
		f.Fatal(err)
	}
	e, _ := h.Tree.Lookup(cluster)
	p, err := tree.Read(e.Dir)
	if err != nil {
		f.Fatal(err)
	}
	p.Metadata.Version += "+"
	root, err := tree.WithMetadata(p.Built, p.Metadata, nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	all := twin.Of(h.Tree)
	all.Remove(cluster)
	for path, e := range root.All() {
		all[cluster+"/"+path] = e
	}
	message := "x\n\nSource-Repository: folders\nSource-Commit: " + publish.Trailer(h.Message, publish.TrailerCommit) + "\nCluster: " + cluster + "\n" + trailers + "\n"
	if _, err := f.repo.Publish(f.Context(), []git.Update{{Branch: shared, Old: h.Commit, Tree: all.Folder(), Message: message}}); err != nil {
		f.Fatal(err)
	}
}

func (f *inFolders) admitted(cluster string, applied files.ID) applier.Admission {
	f.Helper()
	r, d, err := f.delivery(cluster)
	if err != nil {
		f.Fatal(err)
	}
	a, err := applier.Admit(f.Context(), r.Published(), d, inventory.Inventory{Commit: applied})
	if err != nil {
		f.Fatal(err)
	}
	return a
}

// TestAnotherLayoutIsNoOtherHistory moves clusters from branches to folders, to folders of another branch
// and back: what comes next follows what was applied, wherever that was.
func TestAnotherLayoutIsNoOtherHistory(t *testing.T) {
	f := newFolders(t)
	var applied []files.ID
	for i, publish := range []string{
		"{}", "{layout: folders}", "{layout: folders}", "{}", "{}", "{layout: folders}", "{layout: folders, branch: fleet}", "{branchPrefix: fleets/}", "{layout: folders, branch: fleet}",
	} {
		f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: "+publish+"}\n")
		f.object("eu", fmt.Sprint("value", i))
		f.published()
		applied = append(applied, f.commit("eu"))
	}
	f.object("us", "other")
	f.published()
	for i, id := range applied {
		if f.admitted("eu", id).Allowed {
			t.Errorf("from the commit of step %d removals are allowed, and nobody said so", i+1)
		}
	}
	stranger := f.repo.Write("elsewhere", "of another history", twin.Tree{"a": twin.File(nil)}.Folder())
	r, d, err := f.delivery("eu")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := applier.Admit(t.Context(), r.Published(), d, inventory.Inventory{Commit: stranger}); err == nil || !strings.Contains(err.Error(), "does not come after") {
		t.Errorf("after a commit of another history: %v", err)
	}
}

// TestABranchReplacesAnother has a cluster's inventory name a commit of a history that is gone, and people say of the
// Cluster that its branch replaces that. Nothing is allowed by it.
func TestABranchReplacesAnother(t *testing.T) {
	f := newFolders(t)
	f.object("eu", "value")
	f.published()
	gone := files.Sum("commit", []byte("restored away"))
	admits := func(i inventory.Inventory, replaces, formerly string) error {
		t.Helper()
		r, d, err := f.delivery("eu")
		if err != nil {
			t.Fatal(err)
		}
		d.Replaces, d.NameBefore = replaces, formerly
		a, err := applier.Admit(t.Context(), r.Published(), d, i)
		if a.Allowed || len(a.FailedOver) > 0 {
			t.Errorf("it allows removals: %+v", a)
		}
		return err
	}
	old := inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: gone}
	if err := admits(old, "", ""); err == nil || !strings.Contains(err.Error(), "waybill.dev/replaces: "+gone.String()) {
		t.Errorf("nobody said so, and it is not said how: %v", err)
	}
	if err := admits(old, files.Sum("commit", []byte("another")).String(), "us"); err == nil {
		t.Error("another commit may be replaced, and this one is")
	}
	if err := admits(old, gone.String(), ""); err != nil {
		t.Error(err)
	}
	old.Cluster = "europe"
	if err := admits(old, "", "europe"); err != nil {
		t.Error(err)
	}
}

// TestWhatHasArrived is what is published where the config has it, and what is still elsewhere is not.
func TestWhatHasArrived(t *testing.T) {
	f := newFolders(t)
	folders := f.source["waybill.yaml"]
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\n")
	arrived := func() string {
		t.Helper()
		f.repo.Write("main", "a change", f.source.Folder())
		obs, err := f.reconciler().Observe(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(slices.Sorted(maps.Keys(obs.Arrived())), " of ", slices.Sorted(maps.Keys(obs.Input.Published)))
	}
	steps := []struct {
		what string
		do   func()
		want string
	}{
		{"nothing is published", func() {}, "[] of []"},
		{"all is published", f.published, "[eu us] of [eu us]"},
		{"the layout changes", func() { f.source["waybill.yaml"] = folders }, "[] of [eu us]"},
		{"that is published", f.published, "[eu us] of [eu us]"},
	}
	for _, s := range steps {
		if s.do(); arrived() != s.want {
			t.Errorf("%s: arrived are %s; want %s", s.what, arrived(), s.want)
		}
	}
}

// TestALoopFollowsTheBranchThatClustersShare has the layout change under a loop, and somebody push to
// where clusters are and are no longer.
func TestALoopFollowsTheBranchThatClustersShare(t *testing.T) {
	f := newFolders(t)
	folders := f.source["waybill.yaml"]
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\n")
	f.repo.Write("main", "branches", f.source.Folder())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	steps := []func(){
		func() { f.source["waybill.yaml"] = folders; f.repo.Write("main", "folders", f.source.Folder()) },
		func() { f.edit("waybill/cluster/eu", "notes.txt", "nobody reads this any more") },
		func() { f.edit(shared, "us/"+tree.ManifestDir+"/shop/configmap/us.yaml", "of a person") },
		cancel,
	}
	var moved [][]string
	l := &reconciler.Loop{
		Reconciler: f.reconciler(), Rev: "main", Interval: time.Microsecond, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Report: func(s reconciler.Sync) {
			if s.Err != nil {
				t.Error(s.Err)
				cancel()
			}
			if !s.UpToDate {
				var branches []string
				for _, u := range s.Result.Updates {
					branches = append(branches, u.Branch)
				}
				moved = append(moved, branches)
				return
			}
			if len(steps) > 0 { // it may turn once more before it ends
				steps[0]()
				steps = steps[1:]
			}
		},
	}
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"waybill/cluster/eu", "waybill/cluster/us", "waybill/state"}, {shared, "waybill/state"}, {"waybill/state"}}
	if d := cmp.Diff(want, moved); d != "" {
		t.Error(d)
	}
}

// TestWhatIsAllowedForOneClusterIsNotForOthersOfTheCommit publishes for two clusters at once, of which
// one was held and is released.
func TestWhatIsAllowedForOneClusterIsNotForOthersOfTheCommit(t *testing.T) {
	f := newFolders(t)
	f.published()
	first := f.commit("eu")
	f.object("eu", "second")
	delete(f.source, "us-object.yaml")
	f.repo.Write("main", "a change", f.source.Folder())
	r := f.reconciler()
	r.Allow = guard.OfCluster("us")
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	h, _, err := f.repo.Branch(t.Context(), shared)
	if named := sources.Trailers(h.Message, publish.TrailerCluster); err != nil || fmt.Sprint(named) != "[eu us]" {
		t.Fatalf("the head is for %v, %v", named, err)
	}
	if f.admitted("eu", first).Allowed || !f.admitted("us", first).Allowed {
		t.Errorf("removals are allowed otherwise than in us:\n%s", h.Message)
	}
	for _, what := range []string{"us", "eu", shared} {
		if v, err := verify.New(f.reconciler().Planner(), f.reconciler().Published(), f.reconciler().Version).Verify(t.Context(), what); err != nil || !v.Same {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
	}
}
