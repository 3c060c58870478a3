package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// TestVerdictOfApply: one cluster that is not as its branch is enough, however many are, and an error weighs more.
func TestVerdictOfApply(t *testing.T) {
	well, held, failed := applier.Result{}, applier.Result{Report: apply.Report{Plan: apply.Plan{Hold: &apply.Hold{}}}}, applier.Result{Err: errors.New("away")}
	for _, tt := range []struct {
		name string
		apps []applier.Result
		want int
	}{
		{"none", nil, 0},
		{"all are well", []applier.Result{well, well}, 0},
		{"one is held", []applier.Result{well, held}, 1},
		{"all are held", []applier.Result{held, held}, 1},
		{"one did not come to its end", []applier.Result{well, held, failed}, 2},
	} {
		got, err := 0, verdict(tt.apps)
		if exit, is := errors.AsType[*exitError](err); is {
			got = exit.code
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got != tt.want {
			t.Errorf("%s: it ends with %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestWhatApplyWrites runs the command against the API server of a cluster: what only shows something writes nothing, neither there nor to a
// status branch; a context is of one cluster; and what is applied is told.
func TestWhatApplyWrites(t *testing.T) {
	server := apiserver.New(t, "shop")
	contexts := server.Kubeconfigs(t, "eu", "us")
	source, git := workTree(t)
	waybill := func(want int, args ...string) (said string) {
		t.Helper()
		var out, problems strings.Builder
		if got := run(t.Context(), append(args, "--source", source), &out, &problems); got != want {
			t.Errorf("waybill %s ends with %d, want %d: %s%s", strings.Join(args, " "), got, want, out.String(), problems.String())
		}
		return out.String() + problems.String()
	}
	waybill(0, "publish")
	const settings = "/api/v1/namespaces/shop/configmaps/settings"
	server.Put(settings, apiserver.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": apiserver.Object{"name": "settings", "namespace": "shop"}})
	server.Forget()
	reach := []string{"--kubeconfig-dir", contexts}
	for _, tt := range []struct {
		args []string
		ends int
		says string
	}{
		{[]string{"eu", "--adopt"}, 1, "ConfigMap/shop/settings"},
		{[]string{"eu", "--dry-run"}, 1, "settings"},
		{[]string{"eu", "us", "--context", "x"}, 2, "--context is for one cluster, and these are 2"},
		{[]string{"ap"}, 2, "ap"},
	} {
		said := waybill(tt.ends, slices.Concat([]string{"apply"}, tt.args, reach)...)
		if !strings.Contains(said, tt.says) {
			t.Errorf("apply %s says %q, want something of %q", tt.args, said, tt.says)
		}
		if w := server.Writes(); len(w) > 0 {
			t.Errorf("apply %s writes %v", tt.args, w)
		}
		if branches := git("branch", "--list", "waybill/status/*"); branches != "" {
			t.Errorf("apply %s writes to %s", tt.args, branches)
		}
	}
	server.Remove(settings)
	waybill(0, append([]string{"apply", "eu"}, reach...)...)
	if server.Get(settings) == nil || !strings.Contains(git("branch", "--list", "waybill/status/*"), "waybill/status/eu") {
		t.Error("what is applied, or what became of it, is not there")
	}
}
