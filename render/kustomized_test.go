package render_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatKustomizationsTakeIn of each other, of folders of clusters, and where one of them cannot be read or uses a link.
func TestWhatKustomizationsTakeIn(t *testing.T) {
	lists := func(resources string) string { return kustomization + "resources: [" + resources + "]\n" }
	policy := func(name string) string {
		return "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: " + name +
			", annotations: {waybill.dev/paths: base/}}\nspec: {}\n"
	}
	was := func(text string) func(string) (sources.Snapshot, bool) {
		return func(p string) (sources.Snapshot, bool) {
			return twin.Texts{"web/kustomization.yaml": text}, p == "web/kustomization.yaml"
		}
	}
	link := map[string]sources.File{"web/link.yaml": {Kind: sources.Symlink, Target: "b.yaml"}}
	for _, tt := range []struct {
		name               string
		files              twin.Texts
		are                map[string]sources.File
		earlier            func(string) (sources.Snapshot, bool)
		want, broken, said string
	}{
		{"one below builds on that of the whole source", twin.Texts{
			"kustomization.yaml": lists("a.yaml"), "a.yaml": configMap("a"), "eu/kustomization.yaml": lists(".."),
		}, nil, nil, "eu@eu/kustomization.yaml", "", ""},
		{"the outer one of a cluster's folder builds on the inner one", twin.Texts{
			"eu.yaml": clusterOfFolder, "clusters/eu/kustomization.yaml": lists("in"), "clusters/eu/in/kustomization.yaml": lists("b.yaml"),
			"clusters/eu/in/b.yaml": configMap("b"),
		}, nil, nil, "eu@eu.yaml eu:clusters-eu@clusters/eu/kustomization.yaml", "", ""},
		{"a base that two policies name is built once", twin.Texts{
			"base/kustomization.yaml": lists("a.yaml"), "base/a.yaml": configMap("a"), "eu/kustomization.yaml": lists("../base"),
			"p.yaml": policy("p"),
			"q.yaml": policy("q"),
		}, nil, nil, "base@base/kustomization.yaml as a base eu@eu/kustomization.yaml p@p.yaml q@q.yaml", "", ""},
		{"one that uses a link, beside what may be behind it", twin.Texts{
			"web/kustomization.yaml": lists("a.yaml, link.yaml"), "web/a.yaml": configMap("a"), "web/b.yaml": configMap("b"),
			"web-2/c.yaml": configMap("c"),
		}, link, nil, "c@web-2/c.yaml web@web/kustomization.yaml", "web/", "web/link.yaml: error: the file is a symbolic link"},
		{"one that uses no link, beside one", twin.Texts{
			"web/kustomization.yaml": lists("a.yaml"), "web/a.yaml": configMap("a"),
		}, link, nil, "web@web/kustomization.yaml", "web/link.yaml", "web/link.yaml: error: the file is a symbolic link"},
		{"one that cannot be read names a file, which it did not use", twin.Texts{
			"web/kustomization.yaml": "resources: [../x/b.yaml\n", "web/a.yaml": configMap("a"), "x/b.yaml": configMap("b"),
			"x/c.yaml": configMap("c"),
		}, nil, was(lists("a.yaml")), "web@web/kustomization.yaml c@x/c.yaml", "web/kustomization.yaml x/b.yaml", ""},
		{"one that cannot be read names another one, which it did not use", twin.Texts{
			"web/kustomization.yaml": "resources: [../x\n", "web/a.yaml": configMap("a"), "x/kustomization.yaml": lists("b.yaml"),
			"x/b.yaml": configMap("b"),
		}, nil, was(lists("a.yaml")), "web@web/kustomization.yaml", "web/kustomization.yaml x/kustomization.yaml", ""},
		{
			"a config with a mistake",
			twin.Texts{"waybill.yaml": configHead + "spec: {secrets: n}\n", "a.yaml": configMap("a")},
			nil, nil, "a@a.yaml", "waybill.yaml", "waybill.yaml:3: error: spec.secrets is \"n\"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, objs, broken, said := loaded(t, special{tt.files, tt.are}, render.With{Earlier: tt.earlier})
			if objs != tt.want || broken != tt.broken {
				t.Errorf("it reads %s, broken is %q\nwant %s, and %q", objs, broken, tt.want, tt.broken)
			}
			if !strings.HasPrefix(said, tt.said) || tt.said == "" && tt.broken == "" && said != "" {
				t.Errorf("it says\n%s\nwant %s", said, tt.said)
			}
		})
	}
}

// TestObjectsOfClustersAreCounted with those of the whole source.
func TestObjectsOfClustersAreCounted(t *testing.T) {
	files := twin.Texts{"eu.yaml": clusterOfFolder, "a.yaml": configMap("a"), "clusters/eu/b.yaml": configMap("b") + "---\n" + configMap("c")}
	if src, _, _, _ := loaded(t, files, render.With{}); src.Stats.Objects != 4 || src.Stats.Files != 3 {
		t.Errorf("it counts %+v", src.Stats)
	}
}

// same builds every Kustomize root to one object.
type same struct{}

// Render implements render.Engine.
func (same) Render(_ context.Context, _ sources.Snapshot, jobs []engine.Job) (all []engine.Rendered, err error) {
	for range jobs {
		all = append(all, engine.Rendered{Manifests: []engine.Manifest{{Object: object.Decode("base/a.yaml",
			[]byte(configMap("a"))).Objects[0]}}})
	}
	return all, nil
}

// TestHowWhatIsDefinedTwiceComesApart is said with it, by where the two stand.
func TestHowWhatIsDefinedTwiceComesApart(t *testing.T) {
	const until = "; until then neither is used"
	for _, tt := range []struct {
		name       string
		files      twin.Texts
		says, hint string
	}{
		{
			"two kustomizations build it",
			twin.Texts{"x/kustomization.yaml": kustomization, "y/kustomization.yaml": kustomization},
			"y/kustomization.yaml:1: error: ConfigMap/a/a is defined here and at x/kustomization.yaml:1",
			"a kustomization that no other one takes in is built: name in .waybillignore what is not to be" + until,
		},
		{
			"two files of one folder",
			twin.Texts{"x/a.yaml": configMap("a"), "x/b.yaml": configMap("a")},
			"x/b.yaml:1: error: ConfigMap/a/a is defined here and at x/a.yaml:1", "remove one of them" + until,
		},
		{
			"files of two folders",
			twin.Texts{"x/a.yaml": configMap("a"), "y/a.yaml": configMap("a")},
			"y/a.yaml:1: error: ConfigMap/a/a is defined here and at x/a.yaml:1",
			"remove one of them, or bind the folder of each to its cluster, with the annotation waybill.dev/path of the Cluster" + until,
		},
		{
			"two folders below that of one cluster",
			twin.Texts{"eu.yaml": clusterOfFolder, "clusters/eu/x/a.yaml": configMap("a"), "clusters/eu/y/a.yaml": configMap("a")},
			"clusters/eu/y/a.yaml:1: error: ConfigMap/a/a is defined here and at clusters/eu/x/a.yaml:1", "remove one of them" + until,
		},
	} {
		src, err := render.Load(t.Context(), tt.files, render.With{Engine: same{}})
		if err != nil || len(src.Diags) != 1 {
			t.Errorf("%s: it says %v; %v", tt.name, src.Diags, err)
			continue
		}
		if d := src.Diags[0]; !strings.HasPrefix(d.String(), tt.says) || d.Hint != tt.hint {
			t.Errorf("%s: it says %s, and %q", tt.name, d, d.Hint)
		}
		if len(src.Broken) != 1 || src.Broken[0].Ref.Name != "a" {
			t.Errorf("%s: broken is %v", tt.name, src.Broken)
		}
	}
}

// TestWhatAFileWasIsOfItsOwnObject: of another Cluster in that file nothing is taken; and what cannot be read of it now is an error.
func TestWhatAFileWasIsOfItsOwnObject(t *testing.T) {
	us := strings.ReplaceAll(clusterOfFolder, "eu", "us")
	now := twin.Texts{"all.yaml": strings.Replace(clusterOfFolder, "clusters/eu", "/clusters/eu", 1), "clusters/us/a.yaml": configMap("a")}
	for _, tt := range []struct {
		was  sources.Snapshot
		want string // what is read, or the error
	}{
		{twin.Texts{"all.yaml": us}, "eu@all.yaml a@clusters/us/a.yaml"},
		{
			twin.Texts{"all.yaml": us + "---\n" + strings.Replace(clusterOfFolder, "clusters/eu", "clusters/us", 1)},
			"eu@all.yaml eu:a@clusters/us/a.yaml",
		},
		{away{twin.Texts{"all.yaml": us}}, "reading what all.yaml was: "},
	} {
		with := render.With{Engine: builder{}, Earlier: func(string) (sources.Snapshot, bool) { return tt.was, true }}
		_, err := render.Load(t.Context(), now, with)
		got := fmt.Sprint(err)
		if err == nil {
			_, got, _, _ = loaded(t, now, with)
		}
		if !strings.HasPrefix(got, tt.want) || errors.Is(err, errAway) != strings.HasPrefix(tt.want, "reading") {
			t.Errorf("it comes to %s, want %s", got, tt.want)
		}
	}
	files := twin.Texts{"web/kustomization.yaml": "resources: [\n"}
	gone := render.With{Earlier: func(string) (sources.Snapshot, bool) { return away{files}, true }}
	if _, err := render.Load(t.Context(), files, gone); !errors.Is(err, errAway) || !strings.Contains(err.Error(),
		"reading what web/kustomization.yaml was: ") {
		t.Errorf("what a kustomization was cannot be read: %v", err)
	}
}
