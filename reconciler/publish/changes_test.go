package publish_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

var (
	settings = object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}
	claim    = object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
	at       = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
)

// id is the commit that is called so.
func id(name string) files.ID { return files.Sum("commit", []byte(name)) }

// holding is a folder with manifests of objects, and what they say.
func holding(says string, refs ...object.Ref) *files.Folder {
	all := twin.Tree{}
	for _, r := range refs {
		all[tree.Path(r)] = twin.File([]byte(says))
	}
	return all.Folder()
}

// fleetOf is a plan, over a state that is published, in which clusters are as given.
func fleetOf(t *testing.T, config render.ConfigSpec, all ...plan.Cluster) (*plan.Plan, *state.State) {
	t.Helper()
	content, err := state.Encode(state.Content{}, nil, &state.Memo{})
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Plan{State: content, Config: config, Clusters: all}
	p.Revision.Commit, p.Revision.Repo, p.Revision.When, p.Revision.Subject = "c1", "https://git.example/fleet", at, "a change"
	var registered []policies.Cluster
	for _, c := range all {
		d := object.Decode("c.yaml", fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s}\nspec: {syncMode: Pull}\n", c.Name))
		set, _, _ := policies.Load(d.Objects, nil)
		registered = append(registered, set.Clusters...)
	}
	p.Expanded.Policies = index.Of(policies.Set{Clusters: registered}, nil, &index.Memo{})
	root, err := publish.StateOf(p)
	if err != nil {
		t.Fatal(err)
	}
	was, err := state.Decode(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, &was
}

// TestWhichBranchesAreWritten: those of clusters whose tree is another one, in the stage that says whether it loses something; nothing is
// written of one that is held, that has what it is to have, or that is new and is to have nothing.
func TestWhichBranchesAreWritten(t *testing.T) {
	one, both, other := holding("one", settings), holding("one", settings, claim), holding("two", settings)
	had := func(f *files.Folder) tree.Published { return tree.Published{Built: f} }
	left := twin.Tree{"notes.md": twin.File([]byte("theirs"))}.Folder().Entries()[0]
	held := &guard.Hold{}
	for _, tt := range []struct {
		name      string
		is        plan.Cluster
		was       tree.Published
		head      string // of its branch; empty for none
		restored  bool   // its history was lost
		written   bool
		stage     int
		isForeign bool // it is said that files of others stay
	}{
		{"nothing changes", plan.Cluster{Tree: one, Objects: 1}, had(one), "h", false, false, 0, false},
		{"nothing changes, and its history was lost", plan.Cluster{Tree: one, Objects: 1}, had(one), "h", true, true, 0, false},
		{"somebody edited it", plan.Cluster{Tree: one, Objects: 1}, tree.Published{Built: one, Edited: true}, "h", false, true, 0, false},
		{"a manifest changes", plan.Cluster{Tree: other, Objects: 1}, had(one), "h", false, true, 0, false},
		{"a manifest comes", plan.Cluster{Tree: both, Objects: 2}, had(one), "h", false, true, 0, false},
		{"a manifest goes", plan.Cluster{Tree: one, Objects: 1}, had(both), "h", false, true, 1, false},
		{"it is held", plan.Cluster{Tree: one, Objects: 1, Held: held}, had(both), "h", false, false, 0, false},
		{"it is held, and has files of others", plan.Cluster{Tree: one, Objects: 1, Held: held}, tree.Published{Built: both, Foreign: map[string]files.Entry{"notes.md": left}}, "h", false, false, 0, false},
		{"it has files of others", plan.Cluster{Tree: other, Objects: 1}, tree.Published{Built: one, Foreign: map[string]files.Entry{"notes.md": left}}, "h", false, true, 0, true},
		{"it is new", plan.Cluster{Tree: one, Objects: 1}, tree.Published{}, "", false, true, 0, false},
		{"it is new, and is to have nothing", plan.Cluster{Tree: holding("")}, tree.Published{}, "", false, false, 0, false},
		{"a branch of others is there, and it is to have nothing", plan.Cluster{Tree: holding("")}, tree.Published{}, "h", false, true, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.is.Name = "eu"
			p, was := fleetOf(t, render.DefaultConfig(), tt.is)
			base := publish.Base{Published: map[string]tree.Published{"eu": tt.was}, State: was}
			heads := publish.Heads{State: id("state"), Clusters: map[string]files.ID{}}
			if tt.head != "" {
				heads.Clusters["eu"] = id(tt.head)
			}
			later := at
			if tt.restored {
				later = at.Add(time.Hour)
				base.Continued = map[string]ancestry.Continuation{"eu": {After: []files.ID{id("lost")}, Replaces: []files.ID{id("replaced")}, When: later}}
			}
			all, diags, err := publish.Changes(p, base, heads, "v1")
			if err != nil || (len(all) == 2) != tt.written || !tt.written && len(all) > 0 {
				t.Fatalf("%d branches are written, %v", len(all), err)
			}
			if says := len(diags) == 1 && diags[0].Code == diag.ForeignFiles && strings.Contains(diags[0].Message, "notes.md"); says != tt.isForeign || !says && len(diags) > 0 {
				t.Errorf("it says %v", diags)
			}
			if !tt.written {
				return
			}
			eu, st := all[0], all[1]
			if eu.Branch != "waybill/cluster/eu" || eu.Old != heads.Clusters["eu"] || eu.Stage != tt.stage || !eu.When.Equal(later) {
				t.Errorf("its update is %+v", eu)
			}
			if st.Branch != state.Branch || st.Old != id("state") || st.Stage <= 1 || !st.When.Equal(at) {
				t.Errorf("that of the state is %+v", st)
			}
			for path := range tt.was.Foreign {
				if e, _ := eu.Tree.Lookup(path); e.ID != left.ID {
					t.Errorf("a file of others, %s, is gone", path)
				}
			}
			var replaces bool
			for line := range strings.SplitSeq(eu.Message, "\n") {
				replaces = replaces || strings.Contains(line, id("replaced").String())
			}
			if slices.Contains(eu.After, id("lost")) != tt.restored || replaces != tt.restored {
				t.Errorf("it comes after %v: %s", eu.After, eu.Message)
			}
			if got := sources.Trailers(eu.Message, publish.TrailerCluster); !slices.Equal(got, []string{"eu"}) {
				t.Errorf("it is for %q", got)
			}
		})
	}
}

// TestWhatLeftBecauseItFailed is named on the branch of its cluster, where it leaves that now; no guard counts it.
func TestWhatLeftBecauseItFailed(t *testing.T) {
	one, both := holding("one", settings), holding("one", settings, claim)
	for _, tt := range []struct {
		name    string
		layout  string
		leaves  []string // clusters that the claim leaves
		is, was *files.Folder
		want    []string
	}{
		{"it leaves", render.LayoutBranches, []string{"eu"}, one, both, []string{tree.Path(claim)}},
		{"it leaves a folder", render.LayoutFolders, []string{"eu"}, one, both, []string{"eu/" + tree.Path(claim)}},
		{"it stays for now", render.LayoutBranches, []string{"eu"}, both, holding("two", settings, claim), nil},
		{"it leaves another cluster", render.LayoutBranches, []string{"us"}, one, both, nil},
		{"something else leaves", render.LayoutBranches, []string{"eu"}, holding("one", claim), both, nil},
		{"it was not published", render.LayoutBranches, []string{"eu"}, one, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := render.DefaultConfig()
			config.Publish.Layout = tt.layout
			p, was := fleetOf(t, config, plan.Cluster{Name: "eu", Tree: tt.is, Objects: 1})
			p.Leaving = map[object.Ref][]string{claim: tt.leaves}
			made := object.Decode("claim.yaml", []byte("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\n")).Objects[0]
			p.Decisions = []plan.Decision{{Template: template.New(made, &template.Memo{})}}
			all, _, err := publish.Changes(p, publish.Base{Published: map[string]tree.Published{"eu": {Built: tt.was}}, State: was}, publish.Heads{}, "v1")
			if err != nil || len(all) != 2 {
				t.Fatalf("%d branches are written, %v", len(all), err)
			}
			if got := sources.Trailers(all[0].Message, publish.TrailerFailedOver); !slices.Equal(got, tt.want) {
				t.Errorf("it names %q, want %q", got, tt.want)
			}
		})
	}
}

// TestClustersThatShareABranch: one update has the folders that changed and all else that is there, goes on after what was lost of each,
// and names the clusters that it is for.
func TestClustersThatShareABranch(t *testing.T) {
	config := render.DefaultConfig()
	config.Publish.Layout = render.LayoutFolders
	one, two := holding("one", settings), holding("two", settings)
	p, was := fleetOf(t, config, plan.Cluster{Name: "eu", Tree: two, Objects: 1}, plan.Cluster{Name: "sa", Tree: one, Objects: 1}, plan.Cluster{Name: "us", Tree: one, Objects: 1})
	p.Released = plan.Released{Held: true, Missing: true, Clusters: map[string]bool{"eu": true}, By: map[string][]string{"eu": {"wendy"}, "us": {"otto"}}}
	root := twin.Tree{"eu/old.yaml": twin.File([]byte("old")), "us/kept.yaml": twin.File([]byte("kept")), "README.md": twin.File([]byte("theirs"))}.Folder()
	base := publish.Base{
		State: was, Published: map[string]tree.Published{"eu": {Built: one}, "us": {Built: one}},
		Continued: map[string]ancestry.Continuation{"eu": {After: []files.ID{id("lost"), id("also")}, When: at.Add(time.Hour)}, "sa": {After: []files.ID{id("lost")}, When: at.Add(time.Minute)}},
	}
	heads := publish.Heads{Shared: publish.Shared{Commit: id("head"), Root: root}}
	all, _, err := publish.Changes(p, base, heads, "v1")
	if err != nil || len(all) != 2 || all[0].Branch != config.Publish.Branch || all[1].Branch != state.Branch {
		t.Fatalf("it writes %+v, %v", all, err)
	}
	u := all[0]
	if u.Old != id("head") || !slices.Equal(u.After, []files.ID{id("lost"), id("also")}) || !u.When.Equal(at.Add(time.Hour)) || u.Stage != 0 {
		t.Errorf("the update is %+v", u)
	}
	for path, want := range map[string]bool{
		"eu/" + tree.Path(settings): true, "sa/" + tree.Path(settings): true, "us/kept.yaml": true, "README.md": true, "eu/old.yaml": false, "us/" + tree.Path(settings): false, tree.SharedFile: true,
	} {
		if _, is := u.Tree.Lookup(path); is != want {
			t.Errorf("%s is there: %t", path, is)
		}
	}
	for key, want := range map[string][]string{
		publish.TrailerCluster: {"eu", "sa"}, publish.TrailerReleasedIn: {"eu"}, publish.TrailerReleasedBy: {"wendy"}, publish.TrailerReleased: {"of what is missing"}, publish.TrailerVersion: {"v1"},
	} {
		if got := sources.Trailers(u.Message, key); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if got := sources.Trailers(all[1].Message, publish.TrailerReleasedBy); !slices.Equal(got, []string{"otto", "wendy"}) {
		t.Errorf("by the state it was allowed by %q", got)
	}
	if got := sources.Trailers(all[1].Message, publish.TrailerReleased); !slices.Equal(got, []string{"of held clusters, of what is missing"}) {
		t.Errorf("by the state there were allowed %q", got)
	}
	p.Clusters = p.Clusters[2:] // which has what it is to have
	if all, _, err := publish.Changes(p, base, heads, "v1"); err != nil || len(all) > 0 {
		t.Errorf("nothing changes, and it writes %+v, %v", all, err)
	}
}

// TestClustersThatMove to other addresses: each commit says where its cluster was. One that is held, and one that is registered no more,
// have there what they had, and files of others; all others have what they are to have.
func TestClustersThatMove(t *testing.T) {
	one, two := holding("one", settings), holding("two", settings)
	p, was := fleetOf(t, render.DefaultConfig(), plan.Cluster{Name: "eu", Tree: two, Objects: 1}, plan.Cluster{Name: "us", Tree: two, Objects: 1, Held: &guard.Hold{}})
	theirs := map[string]files.Entry{"notes.md": files.FileEntry("notes.md", files.NewBlob([]byte("theirs")))}
	from := func(name string) publish.Moved {
		return publish.Moved{From: render.Address{Branch: "waybill/clusters", Folder: name}, Commit: id("shared"), Root: one}
	}
	base := publish.Base{
		State: was, Published: map[string]tree.Published{"eu": {Built: two}, "us": {Built: one, Foreign: theirs}, "gone": {Foreign: theirs}},
		Moved: map[string]publish.Moved{"eu": from("eu"), "us": from("us"), "gone": from("gone")}, Left: []render.Address{from("eu").From},
	}
	all, diags, err := publish.Changes(p, base, publish.Heads{}, "v1")
	if err != nil || len(all) != 4 || len(diags) > 0 {
		t.Fatalf("it writes %+v, and says %v, %v", all, diags, err)
	}
	for n, want := range []struct {
		name    string
		asItWas bool
		holds   *files.Folder
	}{{"eu", false, two}, {"us", true, one}, {"gone", true, one}} {
		u := all[n]
		is, ok := publish.ParseContinued(u.Message, want.name)
		if !ok || is != (publish.Continued{From: from(want.name).From, Commit: id("shared"), AsItWas: want.asItWas}) || u.Branch != "waybill/cluster/"+want.name {
			t.Errorf("%s: %s says that it was at %+v, %t", want.name, u.Branch, is, ok)
		}
		e, _ := u.Tree.Lookup(tree.Path(settings))
		wants, _ := want.holds.Lookup(tree.Path(settings))
		if _, isTheirs := u.Tree.Lookup("notes.md"); e.ID != wants.ID || isTheirs != want.asItWas {
			t.Errorf("%s: it holds %v, and files of others: %t", want.name, e, isTheirs)
		}
	}
	base.Moved = nil // they have moved
	base.Left = append(base.Left, from("us").From, render.Address{Branch: "waybill/older"})
	for n, want := range map[int]string{1: "the branch of before, waybill/clusters, stays as it is", 3: "the branches of before (waybill/clusters, waybill/older) stay as they are"} {
		b := base
		b.Left = base.Left[:n]
		_, diags, err := publish.Changes(p, b, publish.Heads{}, "v1")
		diags = slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Code != diag.LeftBehind })
		if err != nil || len(diags) != 1 || !strings.Contains(diags[0].Message, want) {
			t.Errorf("of %d addresses it says %v, %v", n, diags, err)
		}
	}
}

// TestWhatACommitSays of its plan: what it depends on, if it does, and no more of a long subject than a line.
func TestWhatACommitSays(t *testing.T) {
	says := func(change func(*plan.Plan, *publish.Base)) git.Update {
		t.Helper()
		p, was := fleetOf(t, render.DefaultConfig(), plan.Cluster{Name: "eu", Tree: holding("one", settings), Objects: 1})
		base := publish.Base{State: was}
		change(p, &base)
		all, _, err := publish.Changes(p, base, publish.Heads{}, "")
		if err != nil || len(all) != 2 {
			t.Fatalf("it writes %+v, %v", all, err)
		}
		return all[0]
	}
	for _, tt := range []struct {
		name   string
		change func(*plan.Plan, *publish.Base)
		key    string
		want   []string
	}{
		{"no time counts", func(p *plan.Plan, _ *publish.Base) { p.Basis.Time = at }, publish.TrailerTime, nil},
		{"a time counts", func(p *plan.Plan, _ *publish.Base) { p.Basis.Time, p.Basis.Scheduled = at, true }, publish.TrailerTime, []string{"2026-11-24T12:00:00Z"}},
		{"nothing random", func(*plan.Plan, *publish.Base) {}, publish.TrailerRandomKey, nil},
		{"something random", func(p *plan.Plan, _ *publish.Base) { p.Basis.RandomKey = "k" }, publish.TrailerRandomKey, []string{"k"}},
		{"something is published ahead", func(_ *plan.Plan, b *publish.Base) { b.Ahead = []string{"c2", "c3"} }, publish.TrailerAhead, []string{"c2 c3"}},
		{"a folder of the repository", func(p *plan.Plan, _ *publish.Base) { p.Revision.Path = "prod" }, publish.TrailerPath, []string{"prod"}},
		{"no version", func(*plan.Plan, *publish.Base) {}, publish.TrailerVersion, nil},
	} {
		if got := sources.Trailers(says(tt.change).Message, tt.key); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %s is %q, want %q", tt.name, tt.key, got, tt.want)
		}
	}
	for subject, want := range map[string]string{
		strings.Repeat("x", 200): strings.Repeat("x", 200), strings.Repeat("x", 201): strings.Repeat("x", 200) + "...",
		strings.Repeat("x", 199) + "é": strings.Repeat("x", 199) + "...",
	} {
		u := says(func(p *plan.Plan, _ *publish.Base) { p.Revision.Subject = subject })
		if got, _, _ := strings.Cut(u.Message, "\n"); got != "c1: "+want {
			t.Errorf("its subject is %q", got)
		}
	}
}
