package helm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/helm"
)

func TestArgoCD(t *testing.T) {
	const hook, policy, wave = "argocd.argoproj.io/hook", "argocd.argoproj.io/hook-delete-policy", "argocd.argoproj.io/sync-wave"
	tests := []struct {
		name string
		hook helm.Hook
		want map[string]string
	}{
		{"install and upgrade are one", helm.Hook{Events: []string{"pre-install", "pre-upgrade"}}, map[string]string{hook: "PreSync"}},
		{"before and after", helm.Hook{Events: []string{"pre-install", "post-upgrade"}}, map[string]string{hook: "PreSync,PostSync"}},
		{"deletion", helm.Hook{Events: []string{"pre-delete", "post-delete"}}, map[string]string{hook: "PreDelete,PostDelete"}},
		{"rollback is skipped", helm.Hook{Events: []string{"pre-rollback"}, Weight: 2}, map[string]string{hook: "Skip"}},
		{"a test is skipped", helm.Hook{Events: []string{"test"}}, map[string]string{hook: "Skip"}},
		{
			"weight and policies",
			helm.Hook{Events: []string{"post-install", "pre-rollback"}, Weight: -5, DeletePolicies: []string{"hook-succeeded", "before-hook-creation", "hook-failed"}},
			map[string]string{hook: "PostSync", wave: "-5", policy: "HookSucceeded,BeforeHookCreation,HookFailed"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, helm.ArgoCD(tt.hook)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatHooksAreFor says which hooks are for tests alone, and which of them Argo CD runs.
func TestWhatHooksAreFor(t *testing.T) {
	for _, tt := range []struct {
		events      []string
		test, syncs bool
	}{
		{nil, false, false},
		{[]string{"test"}, true, false},
		{[]string{"test", "post-install"}, false, true},
		{[]string{"pre-rollback"}, false, false},
		{[]string{"pre-rollback", "test"}, false, false},
		{[]string{"pre-delete"}, false, true},
	} {
		h := helm.Hook{Events: tt.events}
		if h.Test() != tt.test || h.Syncs() != tt.syncs {
			t.Errorf("%q: for tests alone %t, run by Argo CD %t", tt.events, h.Test(), h.Syncs())
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for want, e := range map[string]*helm.Error{
		"chart/templates/a.yaml:3: no": {File: "chart/templates/a.yaml", Line: 3, Message: "no", Hint: "do"},
		"chart/values.yaml: no":        {File: "chart/values.yaml", Message: "no"},
	} {
		if e.Error() != want {
			t.Errorf("it is %q, want %q", e, want)
		}
	}
}

func TestKeep(t *testing.T) {
	for policy, want := range map[string]bool{"keep": true, " Keep ": true, "": false, "delete": false} {
		content := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"helm.sh/resource-policy": policy}}}
		if got := helm.Keep(content); got != want {
			t.Errorf("Keep with %q is %t, want %t", policy, got, want)
		}
	}
	if helm.Keep(map[string]any{"metadata": "x"}) {
		t.Error("Keep without annotations is true")
	}
}
