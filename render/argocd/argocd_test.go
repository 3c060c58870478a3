package argocd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// configMap has a text of n bytes.
func configMap(n int, annotations map[string]any) map[string]any {
	meta := map[string]any{"name": "large"}
	if annotations != nil {
		meta["annotations"] = annotations
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{"text": strings.Repeat("x", n)}}
}

func TestOnlyWhatIsTooLargeForAnAnnotationIsMarked(t *testing.T) {
	const key = "argocd.argoproj.io/sync-options"
	for _, tt := range []struct {
		name        string
		content     map[string]any
		annotations map[string]any
	}{
		{"small", configMap(10, nil), nil},
		{"nearly too large", configMap(260_000, nil), nil},
		{"too large", configMap(262_144, nil), map[string]any{key: "ServerSideApply=true"}},
		{
			"too large with its other annotations", configMap(250_000, map[string]any{"note": strings.Repeat("y", 6_000)}),
			map[string]any{"note": strings.Repeat("y", 6_000), key: "ServerSideApply=true"},
		},
		{
			"too large once it is escaped",
			map[string]any{"kind": "ConfigMap", "metadata": map[string]any{}, "data": map[string]any{"text": strings.Repeat("<", 50_000)}},
			map[string]any{key: "ServerSideApply=true"},
		},
		{
			"too large by what is in a list",
			map[string]any{"kind": "X", "metadata": map[string]any{}, "spec": []any{"a", map[string]any{"b": strings.Repeat("x", 270_000)}}},
			map[string]any{key: "ServerSideApply=true"},
		},
		{
			"too large by its keys",
			map[string]any{"kind": "X", "metadata": map[string]any{}, strings.Repeat("k", 270_000): int64(1)},
			map[string]any{key: "ServerSideApply=true"},
		},
		{"options are kept", configMap(300_000, map[string]any{key: "Prune=false,Replace=true"}), map[string]any{key: "Prune=false,Replace=true,ServerSideApply=true"}},
		{"who says no is left alone", configMap(300_000, map[string]any{key: "ServerSideApply=false"}), map[string]any{key: "ServerSideApply=false"}},
		{"who says so is left alone", configMap(300_000, map[string]any{key: "Prune=false, ServerSideApply=true"}), map[string]any{key: "Prune=false, ServerSideApply=true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := cmp.Diff(nil, tt.content)
			got := ServerSide(tt.content)
			meta, _ := got["metadata"].(map[string]any)
			annotations, _ := meta["annotations"].(map[string]any)
			if d := cmp.Diff(tt.annotations, annotations); d != "" {
				t.Error(d)
			}
			if cmp.Diff(nil, tt.content) != before {
				t.Error("the content that was given was changed")
			}
		})
	}
}
