package published

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// is says what a Content has of clusters: by name the value of ConfigMap web, or what else is there.
func (c *Content) is(tb testing.TB) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for cluster, p := range c.Clusters {
		if p.Built == nil {
			all[cluster] = "others'"
			continue
		}
		e, ok := p.Built.Lookup("manifests/shop/configmap/web.yaml")
		if !ok {
			all[cluster] = "nothing"
			continue
		}
		data, err := e.Blob.Bytes()
		if err != nil {
			tb.Fatal(err)
		}
		_, after, _ := strings.Cut(string(data), "value: ")
		all[cluster], _, _ = strings.Cut(after, "\n")
		if p.Edited {
			all[cluster] += " edited" + p.Edit
		}
		if len(p.Foreign) > 0 {
			all[cluster] += " beside " + strings.Join(slices.Sorted(maps.Keys(p.Foreign)), ", ")
		}
	}
	return all
}

// TestWhereClustersWere: after a change of the layout, or of the prefix, of the config each cluster has what it had where it was before,
// until it was published at its new address; the addresses of before are told.
func TestWhereClustersWere(t *testing.T) {
	const other = `{"branchPrefix": "fleet/"}`
	const sharing = `{"branchPrefix": "waybill/cluster/", "branch": "` + shared + `"}`
	one, two := held{"web": "1"}.root(t), held{"web": "2"}.root(t)
	moving := func(from render.Address, commit files.ID, cluster string) string {
		return "Continued-From: " + cluster + " " + from.String() + " " + commit.String()
	}
	for _, tt := range []struct {
		name   string
		write  func(repo *twin.Repo)
		config func(*render.Publish)
		is     map[string]string
		moved  []string // "cluster from address"
		left   []string
		fails  string
		ahead  []string // of the state
	}{
		{
			"from another prefix", func(repo *twin.Repo) {
				states(t, repo, "c1", other)
				repo.Write("fleet/eu", publication("c1", "Cluster: eu"), one)
				repo.Write("fleet/us", publication("c1", "Cluster: us"), two)
			},
			nil,
			map[string]string{"eu": "1", "us": "2"},
			[]string{"eu from fleet/eu", "us from fleet/us"},
			[]string{"fleet/eu", "fleet/us"},
			"", nil,
		},
		{
			"from another prefix, where it was ahead", func(repo *twin.Repo) {
				s := states(t, repo, "c1", other)
				repo.Write("fleet/eu", publication("c2", "State-Commit: "+s.String(), "Cluster: eu"), two)
			},
			nil,
			map[string]string{"eu": "2"},
			[]string{"eu from fleet/eu"},
			[]string{"fleet/eu"},
			"",
			[]string{"c2"},
		},
		{
			"they share a branch, and branches of before are there", func(repo *twin.Repo) {
				states(t, repo, "c1", sharing)
				repo.Write(shared, publication("c1", "Cluster: eu"), folders(map[string]*files.Folder{"eu": one}))
				repo.Write(euAt, publication("c0", "Cluster: eu"), two)
				repo.Write("main", "of a person", twin.Tree{"a": twin.File(nil)}.Folder())
			},
			inFolders,
			map[string]string{"eu": "1"},
			nil,
			[]string{"waybill/cluster/eu"},
			"", nil,
		},
		{
			"and what is at the new address is of long ago, and of others", func(repo *twin.Repo) {
				states(t, repo, "c1", other)
				repo.Write("fleet/eu", publication("c1", "Cluster: eu"), held{"web": "1"}.root(t, "README"))
				repo.Write(euAt, publication("c0", "Cluster: eu"), held{"web": "0"}.root(t, "NOTES"))
			},
			nil,
			map[string]string{"eu": "1 beside NOTES, README"},
			[]string{"eu from fleet/eu"},
			[]string{"fleet/eu"},
			"", nil,
		},
		{
			"and it arrived on top of the state", func(repo *twin.Repo) {
				s := states(t, repo, "c1", other)
				was := repo.Write("fleet/eu", publication("c1", "Cluster: eu"), one)
				repo.Write("fleet/us", publication("c1", "Cluster: us"), one)
				repo.Write(euAt, publication("c2", "State-Commit: "+s.String(), "Cluster: eu", moving(render.Address{Branch: "fleet/eu"}, was, "eu")), two)
			},
			nil,
			map[string]string{"eu": "2", "us": "1"},
			[]string{"us from fleet/us"},
			[]string{"fleet/eu", "fleet/us"},
			"",
			[]string{"c2"},
		},
		{
			"and it arrived there once before", func(repo *twin.Repo) {
				was := repo.Write("fleet/eu", publication("c1", "Cluster: eu"), one)
				repo.Write(euAt, publication("c0", "State-Commit: "+strings.Repeat("5", 40), "Cluster: eu", moving(render.Address{Branch: "fleet/eu"}, was, "eu")), two)
				states(t, repo, "c1", other)
			},
			nil,
			map[string]string{"eu": "1"},
			[]string{"eu from fleet/eu"},
			[]string{"fleet/eu"},
			"", nil,
		},
		{
			"and something else was published there on top of the state", func(repo *twin.Repo) {
				s := states(t, repo, "c1", other)
				repo.Write("fleet/eu", publication("c1", "Cluster: eu"), one)
				repo.Write(euAt, publication("c2", "State-Commit: "+s.String(), "Cluster: eu"), two)
			},
			nil,
			map[string]string{"eu": "1"},
			[]string{"eu from fleet/eu"},
			[]string{"fleet/eu"},
			"",
			[]string{"c2"},
		},
		{
			"from branches to folders", func(repo *twin.Repo) {
				states(t, repo, "c1", "")
				repo.Write(euAt, publication("c1", "Cluster: eu"), one)
				repo.Write("main", "of a person", twin.Tree{"a": twin.File(nil)}.Folder())
			},
			inFolders,
			map[string]string{"eu": "1"},
			[]string{"eu from waybill/cluster/eu"},
			[]string{"waybill/cluster/eu"},
			"", nil,
		},
		{
			"from folders to branches", func(repo *twin.Repo) {
				states(t, repo, "c1", sharing)
				repo.Write(shared, publication("c1", "Cluster: eu", "Cluster: us"), folders(map[string]*files.Folder{"eu": one, "us": two, "docs": twin.Tree{"a": twin.File(nil)}.Folder()}))
			},
			func(p *render.Publish) { p.Branch = shared },
			map[string]string{"eu": "1", "us": "2"},
			[]string{"eu from waybill/clusters:eu", "us from waybill/clusters:us"},
			[]string{"waybill/clusters", "waybill/clusters:eu", "waybill/clusters:us"},
			"", nil,
		},
		{
			"from folders to branches, of which one arrived", func(repo *twin.Repo) {
				s := states(t, repo, "c1", sharing)
				was := repo.Write(shared, publication("c1", "Cluster: eu", "Cluster: us"), folders(map[string]*files.Folder{"eu": one, "us": one}))
				repo.Write(euAt, publication("c2", "State-Commit: "+s.String(), "Cluster: eu", moving(render.Address{Branch: shared, Folder: "eu"}, was, "eu")), two)
			},
			func(p *render.Publish) { p.Branch = shared },
			map[string]string{"eu": "2", "us": "1"},
			[]string{"us from waybill/clusters:us"},
			[]string{"waybill/clusters", "waybill/clusters:eu", "waybill/clusters:us"},
			"",
			[]string{"c2"},
		},
		{
			"it did not change", func(repo *twin.Repo) {
				states(t, repo, "c1", "")
				repo.Write(euAt, publication("c1", "Cluster: eu"), one)
				repo.Write(shared, "of a person", twin.Tree{"a": twin.File(nil)}.Folder())
			},
			func(p *render.Publish) { p.Branch = shared },
			map[string]string{"eu": "1"},
			nil, nil, "", nil,
		},
		{
			"it did not change, and the other layout was published to long ago", func(repo *twin.Repo) {
				states(t, repo, "c1", "")
				repo.Write(euAt, publication("c1", "Cluster: eu"), one)
				repo.Write(shared, publication("c0", "Cluster: eu"), folders(map[string]*files.Folder{"eu": two}))
			},
			func(p *render.Publish) { p.Branch = shared },
			map[string]string{"eu": "1"},
			nil,
			[]string{"waybill/clusters"},
			"", nil,
		},
		{
			"the branch of folders has the prefix of branches", func(repo *twin.Repo) {
				states(t, repo, "c1", "")
				repo.Write(euAt, publication("c1", "Cluster: eu"), one)
			},
			func(p *render.Publish) { p.Branch = euAt },
			map[string]string{"eu": "1"},
			nil, nil, "", nil,
		},
		{
			"nothing was published where it was", func(repo *twin.Repo) {
				states(t, repo, "c1", other)
				repo.Write(euAt, publication("c1", "Cluster: eu"), one)
			},
			nil,
			map[string]string{"eu": "1"},
			nil, nil, "", nil,
		},
		{
			"there is no state", func(repo *twin.Repo) {
				repo.Write("fleet/eu", publication("c1", "Cluster: eu"), one)
				repo.Write(euAt, publication("c1", "Cluster: eu"), two)
			},
			nil,
			map[string]string{"eu": "2"},
			nil, nil, "",
			[]string{"c1"},
		},
		{
			"another source publishes where it was", func(repo *twin.Repo) {
				states(t, repo, "c1", other)
				repo.Write("fleet/eu", message("https://git.example/other", "", "c1")+"Cluster: eu\n", one)
			},
			nil, nil, nil, nil, "published from https://git.example/other", nil,
		},
		{
			"the terms cannot be read", func(repo *twin.Repo) { states(t, repo, "c1", "{") },
			nil, nil, nil, nil, "apply.json", nil,
		},
	} {
		repo := twin.New("branches")
		tt.write(repo)
		got, err := contentOf(t.Context(), readerOf(repo), tt.config)
		if tt.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var moved, left []string
		for _, cluster := range slices.Sorted(maps.Keys(got.Moved)) {
			m := got.Moved[cluster]
			moved = append(moved, cluster+" from "+m.From.String())
			at, ok, err := readerOf(repo).CommitAt(t.Context(), m.From, m.Commit)
			if err != nil || !ok || at.Tree.ID() != m.Root.ID() {
				t.Errorf("%s: what %s goes on from is not what it had: %v, %v", tt.name, cluster, m, err)
			}
		}
		for _, a := range got.Left {
			left = append(left, a.String())
		}
		var ahead []string
		for _, p := range got.Ahead {
			ahead = append(ahead, p.Commit)
		}
		type found struct {
			Is                 map[string]string
			Moved, Left, Ahead []string
		}
		if diff := cmp.Diff(found{tt.is, tt.moved, tt.left, tt.ahead}, found{got.is(t), moved, left, ahead}); diff != "" {
			t.Errorf("%s (-want +is):\n%s", tt.name, diff)
		}
		everyFailure(t, tt.name, repo, func(c *counting) error {
			_, err := contentOf(t.Context(), readerOf(c), tt.config)
			return err
		})
	}
}

// TestWhatTheStateDoesNotKnow is what clusters have on top of it: which commits these are, and what the state knows to be there.
func TestWhatTheStateDoesNotKnow(t *testing.T) {
	value := func(v string) *files.Folder { return held{"web": v}.root(t) }
	type unrecorded struct {
		Commits int
		Known   string
	}
	for _, tt := range []struct {
		name  string
		write func(w func(message string, eu *files.Folder), on func(string) string)
		want  map[string]unrecorded
	}{
		{"nothing", func(func(string, *files.Folder), func(string) string) {}, map[string]unrecorded{}},
		{"one", func(w func(string, *files.Folder), on func(string) string) { w(on("c2"), value("2")) }, map[string]unrecorded{"eu": {1, "1"}}},
		{"two", func(w func(string, *files.Folder), on func(string) string) {
			w(on("c2"), value("2"))
			w(on("c3"), value("3"))
		}, map[string]unrecorded{"eu": {2, "1"}}},
		{"one that is as before", func(w func(string, *files.Folder), on func(string) string) {
			w(on("c2"), value("2"))
			w(on("c3"), value("1"))
		}, map[string]unrecorded{}},
		{"one that is as before but for what others put there", func(w func(string, *files.Folder), on func(string) string) {
			w(on("c2"), held{"web": "1"}.root(t, "README"))
		}, map[string]unrecorded{}},
		{"on what a person wrote", func(w func(string, *files.Folder), on func(string) string) {
			w("by hand", twin.Tree{"a": twin.File(nil)}.Folder())
			w(on("c2"), value("2"))
		}, map[string]unrecorded{"eu": {2, "1"}}},
		{"below what a person wrote beside it", func(w func(string, *files.Folder), on func(string) string) {
			w(on("c2"), value("2"))
			w("by hand", held{"web": "2"}.root(t, "README"))
		}, map[string]unrecorded{"eu": {2, "1"}}},
		{"two, and a person wrote between them", func(w func(string, *files.Folder), on func(string) string) {
			w(on("c2"), value("2"))
			w("by hand", held{"web": "2"}.root(t, "README"))
			w(on("c3"), value("3"))
		}, map[string]unrecorded{"eu": {3, "1"}}},
		{"what a person edited", func(w func(string, *files.Folder), _ func(string) string) {
			w("by hand", edited(value("1"), "kustomization.yaml", "resources: []\n"))
		}, map[string]unrecorded{}},
		{"on what is known to be no tree", func(w func(string, *files.Folder), on func(string) string) {
			w(publication("c1"), twin.Tree{"a": twin.File(nil)}.Folder())
			w(on("c2"), value("2"))
		}, map[string]unrecorded{}},
		{"a hundred", func(w func(string, *files.Folder), on func(string) string) {
			for range mostUnrecorded {
				w(on("c2"), value("2"))
			}
		}, map[string]unrecorded{"eu": {mostUnrecorded, "1"}}},
		{"more than anybody reads", func(w func(string, *files.Folder), on func(string) string) {
			for range mostUnrecorded + 1 {
				w(on("c2"), value("2"))
			}
		}, map[string]unrecorded{}},
	} {
		for name, config := range map[string]func(*render.Publish){"branches": nil, "branches, and something was observed": nil, "folders": inFolders} {
			repo := twin.New("branches")
			terms := ""
			if config != nil {
				terms = `{"branchPrefix": "waybill/cluster/", "branch": "` + shared + `"}`
			}
			write := func(message string, eu *files.Folder) {
				if config != nil {
					repo.Write(shared, message, folders(map[string]*files.Folder{"eu": eu, "us": value("1")}))
				} else {
					repo.Write(euAt, message+"Cluster: eu\n", eu)
				}
			}
			write(publication("c1"), value("1"))
			if config == nil {
				repo.Write(usAt, publication("c1", "Cluster: us"), value("1"))
			}
			s := states(t, repo, "c1", terms)
			tt.write(write, func(c string) string { return publication(c, "State-Commit: "+s.String()) })
			if strings.HasSuffix(name, "observed") {
				h, _, err := repo.Branch(t.Context(), state.Branch)
				if err != nil {
					t.Fatal(err)
				}
				repo.Write(state.Branch, publication("c1", "State-Commit: "+s.String(), "Observed: eu"), h.Tree)
			}
			got, err := contentOf(t.Context(), readerOf(repo), config)
			if err != nil {
				t.Errorf("%s: %s: %v", name, tt.name, err)
				continue
			}
			heads, _ := repo.Heads(t.Context())
			if got.Heads.State != heads[state.Branch] {
				t.Errorf("%s: %s: the state is at %v", name, tt.name, got.Heads.State)
			}
			is := map[string]unrecorded{}
			for cluster, u := range got.Unrecorded {
				known := Content{Clusters: map[string]tree.Published{cluster: {Built: u.Known}}}
				is[cluster] = unrecorded{len(u.Commits), known.is(t)[cluster]}
				if u.Commits[0] != got.Heads.Clusters[cluster] {
					t.Errorf("%s: %s: the newest of %s is %v", name, tt.name, cluster, u.Commits[0])
				}
			}
			if diff := cmp.Diff(tt.want, is); diff != "" {
				t.Errorf("%s: %s (-want +is):\n%s", name, tt.name, diff)
			}
		}
	}
}

// TestWhatIsNewIsNotKnown: of a cluster that has a branch, or a folder, only since the state was written, nothing is known to be there;
// and nothing is said where its history was cut off, or where there is no state.
func TestWhatIsNewIsNotKnown(t *testing.T) {
	for name, config := range map[string]func(*render.Publish){"branches": nil, "folders": inFolders} {
		for _, tt := range []struct {
			name    string
			shallow bool
			deleted bool
			commits int // that are not recorded; 0: nothing is said
		}{
			{"new", false, false, 1}, {"cut off", true, false, 0}, {"without a state", false, true, 0},
		} {
			repo := twin.New("branches")
			root := held{"web": "1"}.root(t)
			s := states(t, repo, "c1", map[bool]string{false: "", true: `{"branchPrefix": "waybill/cluster/", "branch": "` + shared + `"}`}[config != nil])
			on := publication("c2", "State-Commit: "+s.String(), "Cluster: eu")
			branch := euAt
			if config == nil {
				if tt.shallow {
					repo.Write(euAt, publication("c1", "Cluster: eu"), held{"web": "0"}.root(t))
				}
				repo.Write(euAt, on, root)
			} else {
				branch = shared
				repo.Write(shared, publication("c1", "Cluster: us"), folders(map[string]*files.Folder{"us": root}))
				repo.Write(shared, on, folders(map[string]*files.Folder{"us": root, "eu": root}))
			}
			if tt.shallow {
				repo.Shallow(branch)
			}
			if tt.deleted {
				repo.Delete("waybill/state")
			}
			got, err := contentOf(t.Context(), readerOf(repo), config)
			if tt.shallow && config != nil {
				if !errors.Is(err, git.ErrMissing) {
					t.Errorf("%s, %s: %v", name, tt.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", name, tt.name, err)
				continue
			}
			u := got.Unrecorded["eu"]
			if (u != nil) != (tt.commits > 0) || u != nil && (len(u.Commits) != tt.commits || len(u.Known.Entries()) > 0) || len(got.Unrecorded) > 1 {
				t.Errorf("%s, %s: not recorded are %v", name, tt.name, got.Unrecorded)
			}
		}
	}
}

// TestWhatIsKeptOfABranch is not read again while the branch is where it was; one that moved, or went, is, and so is all that was forgotten.
func TestWhatIsKeptOfABranch(t *testing.T) {
	for name, config := range map[string]func(*render.Publish){"branches": nil, "folders": inFolders} {
		repo := twin.New("branches")
		write := func(eu, us string) {
			if config != nil {
				of := map[string]*files.Folder{"eu": held{"web": eu}.root(t)}
				if us != "" {
					of["us"] = held{"web": us}.root(t)
				}
				repo.Write(shared, publication("c1", "Cluster: eu"), folders(of))
				return
			}
			repo.Write(euAt, publication("c1", "Cluster: eu"), held{"web": eu}.root(t))
			if repo.Delete(usAt); us != "" {
				repo.Write(usAt, publication("c1", "Cluster: us"), held{"web": us}.root(t))
			}
		}
		terms := ""
		if config != nil {
			terms = `{"branchPrefix": "waybill/cluster/", "branch": "` + shared + `"}`
		}
		states(t, repo, "c1", terms)
		c := &counting{Repo: repo}
		r := readerOf(c)
		read := func(step string, want map[string]string, asked ...string) *Content {
			t.Helper()
			c.asked = nil
			got, err := contentOf(t.Context(), r, config)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.is(t)); diff != "" {
				t.Errorf("%s, %s (-want +is):\n%s", name, step, diff)
			}
			var branches []string
			for _, what := range c.asked {
				if branch, ok := strings.CutPrefix(what, "branch "); ok {
					branches = append(branches, branch)
				}
			}
			slices.Sort(branches)
			if diff := cmp.Diff(asked, branches); config == nil && diff != "" {
				t.Errorf("%s, %s: it reads (-want +is):\n%s", name, step, diff)
			}
			for cluster, at := range got.Heads.Clusters {
				heads, _ := repo.Heads(t.Context())
				if branch := map[bool]string{false: "waybill/cluster/" + cluster, true: shared}[config != nil]; at != heads[branch] {
					t.Errorf("%s, %s: the head of %s is %v", name, step, cluster, at)
				}
			}
			return got
		}
		write("1", "1")
		first := read("first", map[string]string{"eu": "1", "us": "1"}, euAt, usAt, "waybill/state")
		again := read("again", map[string]string{"eu": "1", "us": "1"})
		if first.Clusters["eu"].Built != again.Clusters["eu"].Built {
			t.Errorf("%s: what did not move is read again", name)
		}
		write("2", "1")
		read("one changed", map[string]string{"eu": "2", "us": "1"}, euAt, usAt)
		if states(t, repo, "c2", terms); read("another state", map[string]string{"eu": "2", "us": "1"}, "waybill/state").State.Published.Commit != "c2" {
			t.Errorf("%s: the state of before is taken", name)
		}
		write("2", "")
		read("one went", map[string]string{"eu": "2"}, euAt)
		r.Cache.Forget()
		read("all was forgotten", map[string]string{"eu": "2"}, euAt, "waybill/state")
	}
}

// TestABranchThatGoesWhileItIsRead is none: what was kept of it is not taken for what is there, and of the others nothing is lost.
func TestABranchThatGoesWhileItIsRead(t *testing.T) {
	root := held{"web": "1"}.root(t)
	repo := twin.New("branches")
	states(t, repo, "c1", `{"branchPrefix": "fleet/"}`)
	repo.Write(euAt, publication("c1", "Cluster: eu"), root)
	for _, cluster := range []string{"asia", "eu", "us"} {
		repo.Write("fleet/"+cluster, publication("c1", "Cluster: "+cluster), root)
	}
	r := readerOf(repo)
	heads, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for branch, is := range map[string]map[string]string{state.Branch: {"eu": "1"}, euAt: {"asia": "1", "eu": "1", "us": "1"}} {
		without := repo.Clone()
		without.Delete(branch)
		config := render.DefaultConfig()
		got, err := readerOf(without).Content(t.Context(), heads, Asked{Revision: sources.Revision{Repo: here}, Publish: &config.Publish})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(is, got.is(t)); diff != "" {
			t.Errorf("without %s (-want +is):\n%s", branch, diff)
		}
	}
	repo.Delete(euAt)
	repo.Delete("fleet/eu")
	config := render.DefaultConfig()
	got, err := r.Content(t.Context(), heads, Asked{Revision: sources.Revision{Repo: here}, Publish: &config.Publish})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"asia": "1", "us": "1"}, got.is(t)); diff != "" || len(got.Moved) != 2 || len(got.Heads.Clusters) != 0 {
		t.Errorf("what is left (-want +is):\n%s", diff)
	}
}

// TestAFolderIsAClusters where Waybill wrote it, or where a cluster of its name is registered; another one is somebody's own.
func TestAFolderIsAClusters(t *testing.T) {
	repo := twin.New("branches")
	states(t, repo, "c1", `{"branchPrefix": "waybill/cluster/", "branch": "`+shared+`"}`)
	theirs := twin.Tree{"a": twin.File(nil)}.Folder()
	was := held{"web": "1"}.root(t)
	repo.Write(shared, publication("c1", "Cluster: asia"), folders(map[string]*files.Folder{"asia": was, "eu": theirs, "docs": theirs}))
	for range 2 {
		repo.Write(shared, "by hand", folders(map[string]*files.Folder{"asia": edited(was, "kustomization.yaml", "resources:\n- manifests/shop/configmap/web.yaml\n"), "eu": theirs, "docs": theirs}))
	}
	commits, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, err := repo.Commit(t.Context(), commits[shared])
	if err != nil {
		t.Fatal(err)
	}
	r := readerOf(repo)
	for range 2 {
		got, err := contentOf(t.Context(), r, inFolders)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"asia": "1 edited: kustomization.yaml, in commit " + first.Parent.String()[:12], "eu": "others'"}
		if diff := cmp.Diff(want, got.is(t)); diff != "" {
			t.Errorf("(-want +is):\n%s", diff)
		}
		if got.Heads.Shared.Commit != commits[shared] || got.Heads.Shared.Root == nil || got.Heads.Clusters["asia"] != commits[shared] {
			t.Errorf("the heads are %+v", got.Heads)
		}
	}
	repo.Write(shared, "by hand", twin.Tree{"waybill.yaml": twin.File(nil)}.Folder())
	if _, err := contentOf(t.Context(), readerOf(repo), inFolders); err == nil || !strings.Contains(err.Error(), "it is one of a source") {
		t.Errorf("a branch of a source is taken: %v", err)
	}
}

// TestWhoEdited is told by the first commit in which files were not as published any more, also where a cluster was published elsewhere before.
func TestWhoEdited(t *testing.T) {
	const web, api = "manifests/shop/configmap/web.yaml", "manifests/shop/configmap/api.yaml"
	was := held{"web": "1", "api": "1"}.root(t)
	for _, tt := range []struct {
		name  string
		write func(w func(message string, root *files.Folder))
		files string
		nth   int // of commits, which began it
	}{
		{"one file", func(w func(string, *files.Folder)) { w("by hand", edited(was, web, "a: 1\n")) }, web, 1},
		{"one that was removed", func(w func(string, *files.Folder)) { w("by hand", edited(was, web, "")) }, web, 1},
		{"one after the other", func(w func(string, *files.Folder)) {
			w("by hand", edited(was, web, "a: 1\n"))
			w("again", edited(edited(was, web, "a: 1\n"), api, "a: 1\n"))
		}, api + ", " + web, 1},
		{"one after another publication", func(w func(string, *files.Folder)) {
			w("by hand", edited(was, web, "a: 1\n"))
			w(publication("c2", "Cluster: eu"), was)
			w("by hand", edited(was, api, "a: 1\n"))
		}, api, 3},
		{"the metadata", func(w func(string, *files.Folder)) {
			w("by hand", edited(edited(was, "waybill.metadata", ""), web, "a: 1\n"))
		}, web, 1},
	} {
		for _, at := range []render.Address{{Branch: euAt}, {Branch: shared, Folder: "eu"}} {
			for _, continued := range []bool{false, true} {
				repo := twin.New("branches")
				var commits []files.ID
				var began files.ID
				write := func(message string, root *files.Folder) {
					if at.Folder != "" {
						root = folders(map[string]*files.Folder{"eu": root})
					}
					commits = append(commits, repo.Write(at.Branch, message, root))
				}
				if continued { // it was edited where it was before, and went along as it was
					repo.Write("fleet/eu", publication("c1", "Cluster: eu"), was)
					began = repo.Write("fleet/eu", "by hand", edited(was, web, "a: 2\n"))
					before := repo.Write("fleet/eu", "and again", edited(was, web, "a: 3\n"))
					write(publication("c1", "Cluster: eu", "Continued-From: eu fleet/eu "+before.String()+" as-it-was"), edited(was, web, "a: 3\n"))
					commits = nil
				} else {
					write(publication("c1", "Cluster: eu"), was)
					commits = nil
				}
				tt.write(write)
				config := (func(*render.Publish))(nil)
				if at.Folder != "" {
					config = inFolders
				}
				got, err := contentOf(t.Context(), readerOf(repo), config)
				if err != nil {
					t.Fatal(err)
				}
				if tt.nth > 1 || !continued {
					began = commits[tt.nth-1]
				}
				want := ": " + tt.files + ", in commit " + began.String()[:12]
				if edit := got.Clusters["eu"].Edit; edit != want {
					t.Errorf("%s, %v, continued %v: it says %q, want %q", tt.name, at, continued, edit, want)
				}
				for n := 1; ; n++ { // where it cannot be found out, nothing is said of it
					c := &counting{Repo: repo, fails: n}
					got, err := contentOf(t.Context(), readerOf(c), config)
					if c.n < n {
						break
					}
					if err == nil && got.Clusters["eu"].Edit != want && got.Clusters["eu"].Edit != "" {
						t.Errorf("%s, %v, continued %v: where %s fails, it says %q", tt.name, at, continued, c.asked[n-1], got.Clusters["eu"].Edit)
					}
				}
			}
		}
	}
	repo := twin.New("branches")
	repo.Write(euAt, publication("c1", "Cluster: eu"), was)
	repo.Write(euAt, "by hand", edited(was, web, "a: 1\n"))
	repo.Shallow(euAt)
	if got, err := contentOf(t.Context(), readerOf(repo), nil); err != nil || !got.Clusters["eu"].Edited || got.Clusters["eu"].Edit != "" {
		t.Errorf("where the history is cut off: %+v, %v", got, err)
	}
	repo = twin.New("branches")
	repo.Write(euAt, "by hand", twin.Tree{"a": twin.File(nil)}.Folder())
	repo.Write(euAt, publication("c1", "Cluster: eu"), edited(was, web, "a: 1\n"))
	if got, err := contentOf(t.Context(), readerOf(repo), nil); err != nil || !got.Clusters["eu"].Edited || got.Clusters["eu"].Edit != "" {
		t.Errorf("where it was never as published: %+v, %v", got, err)
	}
}

// TestAddressesOf: where the state says nothing, clusters are where the config says, for that was so when it was written.
func TestAddressesOf(t *testing.T) {
	prefix := func(p string) render.Addresses { return render.Addresses{Prefix: p} }
	for _, tt := range []struct {
		name, terms string
		config      render.Addresses
		want        render.Addresses
	}{
		{"nothing is said", "", prefix("waybill/cluster/"), prefix("waybill/cluster/")},
		{"nothing is said, by another config", "", prefix("fleet/"), prefix("fleet/")},
		{"nothing is said, and now they share a branch", "", render.Addresses{Shared: shared}, prefix("waybill/cluster/")},
		{"another prefix is said", `{"branchPrefix": "fleet/"}`, prefix("waybill/cluster/"), prefix("fleet/")},
		{"they shared a branch", `{"branchPrefix": "waybill/cluster/", "branch": "all"}`, prefix("waybill/cluster/"), render.Addresses{Shared: "all"}},
		{"they share another one", `{"branchPrefix": "waybill/cluster/", "branch": "all"}`, render.Addresses{Shared: shared}, render.Addresses{Shared: "all"}},
	} {
		root := twin.Tree{"format": twin.File([]byte("2\n"))}
		if tt.terms != "" {
			root["apply.json"] = twin.File([]byte(tt.terms))
		}
		if got, err := AddressesOf(root.Folder(), tt.config); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	if _, err := AddressesOf(twin.Tree{"apply.json": twin.File([]byte("{"))}.Folder(), prefix("a/")); err == nil {
		t.Error("terms that cannot be read are none")
	}
}

// TestTheCommitBefore of an address is that of its branch or, where clusters share one, the last one before it that changed its folder.
func TestTheCommitBefore(t *testing.T) {
	repo := twin.New("branches")
	var commits []files.ID
	for i, step := range []string{"1", "1", "2", "2", ""} {
		of := map[string]*files.Folder{"us": held{"web": string(rune('0' + i))}.root(t)}
		if step != "" {
			of["eu"] = held{"web": step}.root(t)
		}
		commits = append(commits, repo.Write(shared, publication("c"), folders(of)))
	}
	b := At(repo)
	eu := render.Address{Branch: shared, Folder: "eu"}
	nth := func(id files.ID) int { return slices.Index(commits, id) }
	for head, want := range []int{0, 0, 2, 2, -1} {
		if got, err := b.Newest(t.Context(), eu, commits[head]); err != nil || nth(got) != want {
			t.Errorf("as of commit %d, the newest is %d, %v, want %d", head, nth(got), err, want)
		}
		if got, err := b.Newest(t.Context(), render.Address{Branch: shared}, commits[head]); err != nil || nth(got) != head {
			t.Errorf("as of commit %d, the newest of the branch is %d, %v", head, nth(got), err)
		}
	}
	h, err := repo.Commit(t.Context(), commits[2])
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		at   render.Address
		want int
	}{"a folder": {eu, 0}, "a branch": {render.Address{Branch: shared}, 1}} {
		got, ok, err := b.Before(t.Context(), tt.at, h)
		if err != nil || !ok || nth(got.Commit) != tt.want {
			t.Errorf("%s: before commit 2 is %d, %v, %v", name, nth(got.Commit), ok, err)
		}
		first, err := b.Target.Commit(t.Context(), commits[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := b.Before(t.Context(), tt.at, first); ok || err != nil {
			t.Errorf("%s: there is one before the first, %v", name, err)
		}
		for n := 1; n < 10; n++ { // a failure is not the first commit
			c := &counting{Repo: repo, fails: n}
			b := At(c)
			_, ok, err := b.Before(t.Context(), tt.at, h)
			if c.n >= n && (ok || !errors.Is(err, errBroken)) {
				t.Errorf("%s: where %s fails, it says %v, %v", name, c.asked[n-1], ok, err)
			}
		}
	}
}

// TestWhatCannotBeReadIsNotNothing: a branch, a folder or a state that cannot be read is an error, and no cluster without objects.
func TestWhatCannotBeReadIsNotNothing(t *testing.T) {
	lost := files.FileEntry("kustomization.yaml", files.StoredBlob(files.Sum("blob", []byte("lost")), func(files.ID) ([]byte, error) { return nil, errBroken }))
	broken := twin.Of(held{"web": "1"}.root(t))
	broken["kustomization.yaml"] = lost
	const other = `{"branchPrefix": "waybill/cluster/", "branch": "` + shared + `"}`
	for _, tt := range []struct {
		name   string
		write  func(repo *twin.Repo)
		config func(*render.Publish)
	}{
		{"a branch", func(repo *twin.Repo) { repo.Write(euAt, publication("c1", "Cluster: eu"), broken.Folder()) }, nil},
		{"a folder", func(repo *twin.Repo) {
			repo.Write(shared, publication("c1", "Cluster: eu"), folders(map[string]*files.Folder{"eu": broken.Folder()}))
		}, inFolders},
		{"a folder that was published to before", func(repo *twin.Repo) {
			states(t, repo, "c1", other)
			repo.Write(shared, publication("c1", "Cluster: eu"), folders(map[string]*files.Folder{"eu": broken.Folder()}))
		}, nil},
		{"a state", func(repo *twin.Repo) {
			repo.Write(state.Branch, publication("c1"), twin.Tree{"format": twin.File([]byte("999\n"))}.Folder())
		}, nil},
	} {
		repo := twin.New("branches")
		tt.write(repo)
		if got, err := contentOf(t.Context(), readerOf(repo), tt.config); err == nil {
			t.Errorf("%s: it is %v", tt.name, got.is(t))
		}
		if tt.config != nil {
			if _, err := (&Reader{Branches: At(repo)}).Artifact(t.Context(), desired(t, repo, render.Addresses{Shared: shared}), "eu"); !errors.Is(err, errBroken) {
				t.Errorf("%s: to be applied is %v", tt.name, err)
			}
		}
	}
}

// TestTheRandomKeyIsRead of the branches where somebody deleted the state, be it that clusters share one.
func TestTheRandomKeyIsRead(t *testing.T) {
	root := held{"web": "1"}.root(t)
	for name, config := range map[string]func(*render.Publish){"branches": nil, "folders": inFolders} {
		repo := twin.New("branches")
		repo.Write(euAt, publication("c1", "Cluster: eu", "Random-Key: k"), root)
		repo.Write(shared, publication("c1", "Cluster: eu", "Random-Key: k"), folders(map[string]*files.Folder{"eu": root}))
		repo.Write(shared, publication("c2", "Cluster: eu"), folders(map[string]*files.Folder{"eu": root}))
		got, err := contentOf(t.Context(), readerOf(repo), config)
		if err != nil || got.State.Random.Key != "k" || len(got.Ahead) == 0 {
			t.Errorf("%s: it is %+v, ahead is %v, %v", name, got.State.Random, got.Ahead, err)
		}
	}
}
