package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

func TestABrokenPartHasANameOfItsOwn(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "b"}
	for _, tt := range []struct {
		in   render.Broken
		want string
	}{
		{render.Broken{Path: "a/b.yaml"}, "a/b.yaml"},
		{render.Broken{Path: "a", Dir: true}, "a/"},
		{render.Broken{Path: ".", Dir: true}, "./"},
		{render.Broken{Path: "a/\xff.yaml"}, `"a/\xff.yaml"`},
		{render.Broken{Path: "a/\xfe.yaml"}, `"a/\xfe.yaml"`},
		{render.Broken{Path: "\xff", Dir: true}, `"\xff"/`},
		{render.Broken{Path: `"a/\xff.yaml"`}, `"\"a/\\xff.yaml\""`},
		{render.Broken{Ref: ref}, "ConfigMap/a/b"},
		{render.Broken{Ref: ref, Cluster: "eu"}, "cluster eu/ConfigMap/a/b"},
	} {
		if got := tt.in.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestWhatABrokenPartCovers(t *testing.T) {
	for _, tt := range []struct {
		in   render.Broken
		file string
		want bool
	}{
		{render.Broken{Path: "shop", Dir: true}, "shop/app.yaml", true},
		{render.Broken{Path: "shop", Dir: true}, "shop/base/app.yaml", true},
		{render.Broken{Path: "shop", Dir: true}, "shop-eu/app.yaml", false},
		{render.Broken{Path: "shop", Dir: true}, "shop.yaml", false},
		{render.Broken{Path: ".", Dir: true}, "shop/app.yaml", true},
		{render.Broken{Path: "shop.yaml"}, "shop.yaml", true},
		{render.Broken{Path: "shop.yaml"}, "shop.yaml.orig", false},
		{render.Broken{}, "shop.yaml", false},
	} {
		if got := tt.in.Covers(tt.file); got != tt.want {
			t.Errorf("%s covers %s: %t, want %t", tt.in, tt.file, got, tt.want)
		}
	}
}

func TestAWindowIsOfStagesOfStrategies(t *testing.T) {
	for _, tt := range []struct {
		strategies, stages []string
		want               string
	}{
		{[]string{"*"}, []string{"*"}, "careful/canary careful/prod quick/canary quick/prod"},
		{[]string{"careful"}, []string{"prod"}, "careful/prod"},
		{[]string{"q*", "none"}, []string{"prod", "canary"}, "quick/canary quick/prod"},
		{[]string{"careful"}, nil, ""},
		{nil, []string{"prod"}, ""},
	} {
		w := render.RolloutWindow{Strategies: tt.strategies, Stages: tt.stages}
		var got []string
		for _, strategy := range []string{"careful", "quick"} {
			for _, stage := range []string{"canary", "prod"} {
				if w.Covers(strategy, stage) {
					got = append(got, strategy+"/"+stage)
				}
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("a window of %v and %v is of %v, want %s", tt.strategies, tt.stages, got, tt.want)
		}
	}
}

// odd is a snapshot of files that are no files, or large.
type odd map[string]sources.File

func (odd) Revision() sources.Revision { return sources.Revision{} }

func (s odd) Files() []sources.File {
	var all []sources.File
	for name, f := range s {
		f.Path = name
		all = append(all, f)
	}
	return all
}

func (odd) ReadFile(string) ([]byte, error) { return []byte("a: b\n"), nil }

func TestWhatSaysHowToReadASourceIsNeverPassedOver(t *testing.T) {
	link, module, large := sources.File{Kind: sources.Symlink}, sources.File{Kind: sources.Submodule}, sources.File{Size: object.MaxFile + 1}
	for _, name := range []string{"waybill.yaml", ".waybillignore", "waybill.lock"} {
		for _, f := range []sources.File{link, module, large} {
			src, err := render.Load(t.Context(), odd{name: f}, render.With{})
			if err != nil {
				t.Fatal(err)
			}
			want := "[bad-config]"
			if name == "waybill.lock" {
				want = "[bad-lock]"
			}
			if len(src.Diags) != 1 || !strings.Contains(src.Diags[0].String(), want) || src.Diags[0].Pos.File != name {
				t.Errorf("%s: want %s, got %v", name, want, src.Diags)
			}
			if _, bad := src.BadConfig(); bad != (want == "[bad-config]") {
				t.Errorf("%s: publication goes on: %t", name, !bad)
			}
		}
	}
}

func TestALinkIsAKustomizationOfWhichNothingIsKnown(t *testing.T) {
	for _, kind := range []sources.FileKind{sources.Symlink, sources.Submodule} {
		for _, name := range []string{"k/kustomization.yaml", "k/Kustomization", "Kustomization"} {
			src, err := render.Load(t.Context(), odd{name: {Kind: kind}, "k/x.yaml": {}, "k/sub/y.yaml": {}, "k/own/kustomization.yaml": {}}, render.With{})
			if err != nil {
				t.Fatal(err)
			}
			dir := "k"
			if name == "Kustomization" {
				dir = "."
			}
			if len(src.Objects) > 0 || len(src.Diags) != 1 || src.Diags[0].Pos.File != name || !slices.ContainsFunc(src.Broken, func(b render.Broken) bool { return b.Path == dir && b.Dir }) {
				t.Errorf("%s: %v, broken %v", name, src.Diags, src.Broken)
			}
		}
	}
}
