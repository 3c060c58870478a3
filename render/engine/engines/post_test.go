package engines_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
)

// TestHooksPassPostRenderers: an overlay changes what a release renders to, and neither changes its hooks nor loses them; where no hooks are
// wanted there are none.
func TestHooksPassPostRenderers(t *testing.T) {
	const template = configMap + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: first, annotations: {helm.sh/hook: pre-install}}\n"
	label := kustomize.Overlay{CommonMetadata: &kustomize.Metadata{Labels: map[string]string{"by": "overlay"}}}
	for _, tt := range []struct {
		name    string
		post    []kustomize.Overlay
		noHooks bool
		want    []string
	}{
		{"without one", nil, false, []string{"a", "first, a hook"}},
		{"with one", []kustomize.Overlay{label}, false, []string{"a overlay", "first, a hook"}},
		{"with one, and without hooks", []kustomize.Overlay{label}, true, []string{"a overlay"}},
	} {
		r, _ := render(t, engine.Job{Helm: &engine.Helm{
			Chart: engine.Chart{Path: "c"}, Post: tt.post, NoHooks: tt.noHooks, Release: helm.Release{Name: "r"},
		}}, template)
		var got []string
		for _, m := range r.Manifests {
			text := m.Object.Ref().Name
			if by := m.Object.Labels()["by"]; by != "" {
				text += " " + by
			}
			if m.Hook != nil {
				text += ", a hook"
			}
			got = append(got, text)
		}
		slices.Sort(got)
		if diff := cmp.Diff(tt.want, got); diff != "" || r.Failed() {
			t.Errorf("%s: %v %s", tt.name, r.Diags, diff)
		}
	}
}
