package fluxsync

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/object"
)

// specOf is the spec of an object.
func specOf(t *testing.T, o map[string]any) map[string]any {
	t.Helper()
	spec, ok := o["spec"].(map[string]any)
	if !ok {
		t.Fatalf("it has no spec: %v", o)
	}
	return spec
}

// TestWhatIsNotAskedForIsNotThere: neither credentials, nor an account, nor decryption.
func TestWhatIsNotAskedForIsNotThere(t *testing.T) {
	s := of("eu-1")
	if _, is := specOf(t, s.GitRepository("https://git.example.com/fleet.git", "b", ""))["secretRef"]; is {
		t.Error("the source has a Secret that nobody named")
	}
	root := specOf(t, s.Root())
	for _, field := range []string{"decryption", "serviceAccountName", "dependsOn", "deletionPolicy", "wait", "healthChecks", "patches"} {
		if v, is := root[field]; is {
			t.Errorf("the root has %s: %v", field, v)
		}
	}
	if v, is := specOf(t, s.AwaitedRoot(nil))["healthChecks"]; is {
		t.Errorf("a root without workloads waits for %v", v)
	}
}

// TestWhereKeysAre: in the Secret that is named, or in Flux's own where something is encrypted.
func TestWhereKeysAre(t *testing.T) {
	for _, tt := range []struct {
		named     string
		encrypted bool
		want      string
	}{
		{"", false, ""},
		{"", true, "sops-age"},
		{"keys", false, "keys"},
		{"keys", true, "keys"},
	} {
		s := of("eu-1")
		s.DecryptionSecret, s.Encrypted = tt.named, tt.encrypted
		got := ""
		if decryption, is := specOf(t, s.Root())["decryption"].(map[string]any); is {
			ref, _ := decryption["secretRef"].(map[string]any)
			got, _ = ref["name"].(string)
		}
		if got != tt.want {
			t.Errorf("named %q, encrypted %t: they are in %q, want %q", tt.named, tt.encrypted, got, tt.want)
		}
	}
}

// TestWhatFollowsWhat: a part follows the root, and a folder of the form before the first one, which follows nothing.
func TestWhatFollowsWhat(t *testing.T) {
	s := of("eu-1")
	s.Folder = "clusters/eu-1"
	for _, tt := range []struct {
		name                    string
		of                      map[string]any
		path, namespace         string
		dependsOn, source, from string // the last two: the namespaces of both references, where they name one
	}{
		{"the root", s.Root(), "./clusters/eu-1", "flux-system", "", "", ""},
		{"a part", s.Child(Child{Part: "part.1", Path: "parts/1", Namespace: "flux-system"}), "./clusters/eu-1/parts/1", "flux-system", "waybill-eu-1", "", ""},
		{"a part elsewhere", s.Child(Child{Part: "part.1", Path: "parts/1", Namespace: "team"}), "./clusters/eu-1/parts/1", "team", "waybill-eu-1", "flux-system", "flux-system"},
		{"a folder", s.FolderOf("shop", "flux/shop", "_cluster"), "./clusters/eu-1/flux/shop", "flux-system", "waybill-eu-1-cluster", "", ""},
		{"the first folder", s.FolderOf("_cluster", "flux/_cluster", "_cluster"), "./clusters/eu-1/flux/_cluster", "flux-system", "", "", ""},
		{"a folder without a first one", s.FolderOf("shop", "flux/shop", ""), "./clusters/eu-1/flux/shop", "flux-system", "", "", ""},
	} {
		spec := specOf(t, tt.of)
		meta, _ := tt.of["metadata"].(map[string]any)
		source, _ := spec["sourceRef"].(map[string]any)
		var after map[string]any
		if all, is := spec["dependsOn"].([]any); is {
			after, _ = all[0].(map[string]any)
		}
		text := func(v any) string { s, _ := v.(string); return s }
		if spec["path"] != tt.path || meta["namespace"] != tt.namespace || text(after["name"]) != tt.dependsOn || text(source["namespace"]) != tt.source || text(after["namespace"]) != tt.from {
			t.Errorf("%s: %s", tt.name, object.Encode(tt.of))
		}
	}
}

// TestAChildIsReadBack: where it is, and what its deletion does.
func TestAChildIsReadBack(t *testing.T) {
	s := of("eu-1")
	for _, want := range []Child{{Part: "part.1", Namespace: "team", Orphan: true}, {Part: "part.2", Namespace: "flux-system"}} {
		if namespace, orphan := ReadChild(s.Child(want)); namespace != want.Namespace || orphan != want.Orphan {
			t.Errorf("%+v is read back as %s, %t", want, namespace, orphan)
		}
	}
	if namespace, orphan := ReadChild(map[string]any{}); namespace != "" || orphan {
		t.Errorf("nothing is read as %s, %t", namespace, orphan)
	}
}

// TestStatusesAreOfWhatIsAwaited: it has the label by which the Alerts choose.
func TestStatusesAreOfWhatIsAwaited(t *testing.T) {
	s := of("eu-1")
	for name, k := range map[string]map[string]any{"a Kustomization": s.Awaited(s.Root()), "a root with children": s.AwaitedRoot(nil)} {
		meta, _ := k["metadata"].(map[string]any)
		if diff := cmp.Diff(map[string]any{"waybill.dev/reports": "eu-1"}, meta["labels"]); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// TestNamesAreCutBehindTheirMost: 63 letters stay as they are.
func TestNamesAreCutBehindTheirMost(t *testing.T) {
	const before = len("waybill-")
	most := strings.Repeat("c", 63-before)
	if got := of(most).RootName(); got != "waybill-"+most {
		t.Errorf("a name of 63 letters became %q", got)
	}
	longer, other := of(most+"c").RootName(), of(most+"d").RootName()
	if len(longer) != 63 || longer == other || !strings.HasPrefix(longer, "waybill-ccc") {
		t.Errorf("names of 64 letters became %q and %q", longer, other)
	}
	if got := of(strings.Repeat("c", 43) + "." + strings.Repeat("d", 40)).RootName(); strings.Contains(got, ".-") {
		t.Errorf("a name is cut into %q", got)
	}
}

// TestSteps of a cluster with folders, with a root that is too large, or with parts that are to leave it; the others need none.
func TestSteps(t *testing.T) {
	s := of("eu-1")
	const toRoot, toParts = "from a Kustomization for each namespace to one root", "its root lists"
	for _, tt := range []struct {
		name        string
		m           Migration
		root, parts bool
	}{
		{"nothing to do", Migration{Rooted: MaxObjects}, false, false},
		{"folders", Migration{Folders: []string{"shop"}, Rooted: 3}, true, false},
		{"a large root", Migration{Rooted: MaxObjects + 1}, false, true},
		{"parts that are about to leave it", Migration{Rooted: 3, Leaving: 1}, false, true},
		{"both", Migration{Folders: []string{"shop"}, Rooted: MaxObjects + 1}, true, true},
	} {
		got := s.Steps(tt.m)
		if strings.Contains(got, toRoot) != tt.root || strings.Contains(got, toParts) != tt.parts || (got == "") != (!tt.root && !tt.parts) {
			t.Errorf("%s: it prints\n%s", tt.name, got)
		}
	}
	got := s.Steps(Migration{
		Folders: []string{"_cluster", "cluster", "shop"}, Rooted: 2001, Branch: "waybill/cluster/eu-1", URL: "https://git.example.com/fleet.git", Objects: "kind: Kustomization\n",
	})
	for _, want := range []string{
		"for name in waybill-eu-1-cluster waybill-eu-1-shop; do\n", // both folders have one name
		"kubectl -n flux-system patch kustomization \"$name\" --type merge -p '{\"spec\":{\"suspend\":true,\"prune\":false,\"deletionPolicy\":\"Orphan\"}}'\n",
		"kubectl apply -f - <<'EOF'\nkind: Kustomization\nEOF\n",
		"kubectl -n flux-system wait kustomization/waybill-eu-1 --for=condition=Ready",
		"kubectl -n flux-system delete kustomization --ignore-not-found waybill-eu-1-cluster waybill-eu-1-shop\n",
		"waybill.dev/flux-form: root on the\n",
		"its root lists 2001 objects; kustomize is slow above 2000",
		"kubectl -n flux-system patch kustomization waybill-eu-1 --type merge -p '{\"spec\":{\"prune\":false}}'\n",
		"waybill.dev/flux-form: split on the Cluster",
		"revision=\"waybill/cluster/eu-1@sha1:$(git ls-remote https://git.example.com/fleet.git refs/heads/waybill/cluster/eu-1 | cut -f1)\"\n",
		"-l kustomize.toolkit.fluxcd.io/name=waybill-eu-1 ",
		"kubectl -n flux-system patch kustomization waybill-eu-1 --type merge -p '{\"spec\":{\"prune\":true}}'\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if rest, prune := strings.Index(got, `"suspend":true`), strings.Index(got, "delete kustomization"); rest < 0 || prune < rest {
		t.Errorf("what deletes comes before what keeps:\n%s", got)
	}
}

// TestSettingsThatMayBe are the forms that there are, and a form that a Cluster leaves out is that of the source.
func TestSettingsThatMayBe(t *testing.T) {
	for form, want := range map[string]bool{"": true, FormRoot: true, FormSplit: true, FormOrphan: true, FormSingle: true, "folders": false} {
		s := Default()
		s.Form = form
		if field, _ := s.Check(); (field == "") != want {
			t.Errorf("the form %q is refused for %q", form, field)
		}
		if _, problems := s.For("eu", map[string]string{"waybill.dev/flux-form": form}); (len(problems) == 0) != want {
			t.Errorf("the form %q of a Cluster: %v", form, problems)
		}
	}
	s := Default()
	if _, problems := s.For("eu", map[string]string{"waybill.dev/flux-namespace": "", "waybill.dev/flux-decryption-secret": ""}); len(problems) != 1 || problems[0].Annotation != "waybill.dev/flux-namespace" {
		t.Errorf("empty ones: %v", problems)
	}
}
