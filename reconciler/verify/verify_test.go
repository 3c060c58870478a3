package verify_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/test/twin"
)

const (
	clusters = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Push}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Push}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: us, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  overrideRules:
  - targetCluster: {clusterNames: [us]}
    overriders: {labelsOverrider: [{operator: add, value: {in: us}}]}
`
	shared  = "waybill/clusters"
	folders = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: folders}}\n"
	eu      = "waybill/cluster/eu"
	path    = "manifests/shop/configmap/a.yaml"
)

// site is a source of two clusters, what is published from it, and how it is verified.
type site struct {
	*testing.T

	repo   *twin.Repo
	before *twin.Repo // the last publication
	source twin.Tree
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t, twin.New("https://git.example/fleet"), nil, twin.Tree{"clusters.yaml": twin.File([]byte(clusters))}}
	s.publish("first")
	return s
}

// by is a reconciler of a version.
func (s *site) by(version string) *reconciler.Reconciler {
	return &reconciler.Reconciler{
		Seen: reconciler.NewCache(), Source: s.repo, Target: s.repo, Version: version, Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) },
	}
}

// publish publishes a ConfigMap with a value to both clusters.
func (s *site) publish(value string) {
	s.Helper()
	s.writes(value)
	if _, err := s.by("v1").Publish(s.Context(), "main"); err != nil {
		s.Fatal(err)
	}
}

// verify verifies something by a version.
func (s *site) verify(what, version string) (verify.Verification, error) {
	r := s.by(version)
	return verify.New(r.Planner(), r.Published(), version).Verify(s.Context(), what)
}

// rewrite puts another commit in the place of the only one of a branch.
func (s *site) rewrite(branch string, edit func(message string, root twin.Tree) string) {
	s.Helper()
	h, ok, err := s.repo.Branch(s.Context(), branch)
	if err != nil || !ok {
		s.Fatalf("branch %s: %v, %v", branch, ok, err)
	}
	root := twin.Of(h.Tree)
	message := edit(h.Message, root)
	s.repo.Delete(branch)
	s.repo.Write(branch, message, root.Folder())
}

// What is published is rebuilt from what its commits name, whatever was published since, in either layout.
func TestWhatIsPublishedVerifies(t *testing.T) {
	s := newSite(t)
	for _, value := range []string{"first", "second", "second"} {
		s.publish(value)
		for what, branch := range map[string]string{"eu": eu, eu: eu, "us": "waybill/cluster/us", state.Branch: state.Branch} {
			v, err := s.verify(what, "v1")
			if err != nil || !v.Same || len(v.Differences) > 0 || v.Branch != branch || v.Version != "v1" || len(v.Folders) > 0 {
				t.Errorf("%s of the %s: %+v, %v", what, value, v, err)
			}
		}
	}
	s.source["waybill.yaml"] = twin.File([]byte(folders))
	for _, value := range []string{"second", "third"} { // they come along, and then change
		s.publish(value)
		for what, of := range map[string][]string{"eu": {"eu"}, shared + ":us": {"us"}, shared: {"eu", "us"}, state.Branch: nil} {
			v, err := s.verify(what, "v1")
			if err != nil || !v.Same || !slices.Equal(v.Folders, of) {
				t.Errorf("%s of the %s: %+v, %v", what, value, v, err)
			}
		}
	}
}

// What a commit holds besides, or says otherwise, is found: files, what it saw of the fleet, and what it was made from.
func TestWhatWasTamperedWithDoesNotVerify(t *testing.T) {
	for _, tt := range []struct {
		name, branch string
		edit         func(message string, root twin.Tree) string
		differs      []string // a part of each difference
		fails        string   // a part of the error
	}{
		{"nothing", eu, func(m string, _ twin.Tree) string { return m }, nil, ""},
		{"a manifest", eu, func(m string, root twin.Tree) string { root[path] = twin.File([]byte("a: b\n")); return m }, []string{path}, ""},
		{"a manifest that is not there", eu, func(m string, root twin.Tree) string { delete(root, path); return m }, []string{path}, ""},
		{"a manifest more", eu, func(m string, root twin.Tree) string { root["manifests/b.yaml"] = root[path]; return m }, []string{"manifests/b.yaml"}, ""},
		{"what it says of itself", eu, func(m string, root twin.Tree) string { root["waybill.metadata"] = twin.File([]byte("{}")); return m }, []string{"waybill.metadata"}, ""},
		{"a file more of the state", state.Branch, func(m string, root twin.Tree) string { root["README"] = twin.File(nil); return m }, []string{"README"}, ""},
		{"a form of the state that is of later", state.Branch, func(m string, root twin.Tree) string { root["format"] = twin.File([]byte("9\n")); return m }, nil, "what was recorded with it cannot be read"},
		{"what it saw of the fleet", eu, func(m string, _ twin.Tree) string { return trailer(m, "Fleet-Digest", "0123456789abcdef") }, []string{"the fleet: the commit saw 0123456789ab"}, ""},
		{"the source commit", eu, func(m string, _ twin.Tree) string { return trailer(m, "Source-Commit", "") }, nil, "Waybill did not write it"},
		{"a source commit that is not there", eu, func(m string, _ twin.Tree) string { return trailer(m, "Source-Commit", strings.Repeat("1", 40)) }, nil, "its source commit cannot be read"},
		{"a state that is not there", eu, func(m string, _ twin.Tree) string { return m + "State-Commit: " + strings.Repeat("1", 40) + "\n" }, nil, "could not be rebuilt"},
		{"a time that is none", eu, func(m string, _ twin.Tree) string { return m + "Plan-Time: noon\n" }, nil, "Plan-Time"},
		{"a random key that is not here", eu, func(m string, _ twin.Tree) string { return m + "Random-Key: 0123\n" }, nil, "it depends on the random key 0123"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.rewrite(tt.branch, tt.edit)
			v, err := s.verify(tt.branch, "v1")
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || v.Same {
					t.Errorf("%+v, %v, want %q", v, err, tt.fails)
				}
				return
			}
			if err != nil || v.Same != (len(tt.differs) == 0) || len(v.Differences) < len(tt.differs) {
				t.Fatalf("%+v, %v", v, err)
			}
			for _, want := range tt.differs {
				if !slices.ContainsFunc(v.Differences, func(d string) bool { return strings.Contains(d, want) }) {
					t.Errorf("the differences are %q, want %q", v.Differences, want)
				}
			}
		})
	}
}

// trailer gives a trailer of a message another value; without one it is left out.
func trailer(message, key, value string) string {
	var out strings.Builder
	for line := range strings.Lines(message) {
		switch {
		case !strings.HasPrefix(line, key+": "):
			out.WriteString(line)
		case value != "":
			out.WriteString(key + ": " + value + "\n")
		}
	}
	return out.String()
}

// What another version wrote, and this one would write otherwise, is no difference that somebody made: it cannot be told. What both
// would write is the same.
func TestWhatAnotherVersionWrote(t *testing.T) {
	s := newSite(t)
	if v, err := s.verify("eu", "v2"); err != nil || !v.Same || v.Version != "v1" {
		t.Errorf("%+v, %v", v, err)
	}
	s.rewrite(eu, func(m string, root twin.Tree) string { root[path] = twin.File([]byte("a: b\n")); return m })
	if v, err := s.verify("eu", "v2"); err == nil || !strings.Contains(err.Error(), "it was written by Waybill v1, and this is v2") || v.Same {
		t.Errorf("%+v, %v", v, err)
	}
}

// In a branch that clusters share, that of one says nothing of another; a commit by hand says nothing at all.
func TestOneFolderOfASharedBranch(t *testing.T) {
	s := newSite(t)
	s.source["waybill.yaml"] = twin.File([]byte(folders))
	s.repo = twin.New("https://git.example/fleet")
	s.publish("first")
	s.rewrite(shared, func(m string, root twin.Tree) string { root["us/"+path] = twin.File([]byte("a: b\n")); return m })
	if v, err := s.verify("eu", "v1"); err != nil || !v.Same {
		t.Errorf("eu is as it was, and verifies as %+v, %v", v, err)
	}
	for _, what := range []string{"us", shared} {
		if v, err := s.verify(what, "v1"); err != nil || v.Same || !slices.Equal(v.Differences, []string{"us/" + path}) {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
	}
	h, _, err := s.repo.Branch(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	s.repo.Write(shared, "by hand", h.Tree)
	if v, err := s.verify(shared, "v1"); err == nil || v.Same {
		t.Errorf("a commit by hand verifies: %+v", v)
	}
	for _, what := range []string{"ap", shared + ":ap", "none/such"} {
		if v, err := s.verify(what, "v1"); err == nil || !strings.Contains(err.Error(), "there is no ") {
			t.Errorf("%s, which is not there, verifies: %+v, %v", what, v, err)
		}
	}
}
