package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// TestWhichPartsAControllerHas: those that its flags ask for, and no others.
func TestWhichPartsAControllerHas(t *testing.T) {
	for _, name := range []string{"GITHUB_ACTIONS", "GITLAB_CI", "GITEA_ACTIONS", "KUBERNETES_SERVICE_HOST"} {
		t.Setenv(name, "")
	}
	t.Setenv("WAYBILL_FORGE_TOKEN", "t")
	t.Setenv("WAYBILL_UPDATES_TOKEN", "t")
	forge := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(forge.Close)
	server := apiserver.New(t, "waybill")
	contexts := server.Kubeconfigs(t, "eu")
	source, git := workTree(t)
	git("init", "--quiet", "--bare", "statuses")
	hold(t, map[string]string{"SRC": source}, []saying{{"publish SRC", 0, nil}})
	places := strings.NewReplacer(
		"REACH", contexts, "HOME", managedBy(t, server, func(runtime.Object) {}), "SRC", source, "SECRET", inFile(t, strings.Repeat("s", 32)),
		"HOOK", inFile(t, forge.URL+"/hook"), "FORGE", "--forge gitea --plain-http --forge-repository a/b --forge-url "+forge.URL, "AT", "127.0.0.1:0",
	)
	for _, tt := range []struct {
		flags string
		want  []string // besides the loop
	}{
		{"", nil},
		{"--listen AT", []string{"health and metrics"}},
		{"--apply --kubeconfig-dir REACH", []string{"books of endpoints", "clusters", "observer", "status writer"}},
		{"--apply --kubeconfig-dir REACH --observe=false", []string{"books of endpoints", "clusters", "status writer"}},
		{"--apply --kubeconfig-dir REACH --status=false", []string{"books of endpoints", "clusters", "observer"}},
		{"--leader-elect --management-kubeconfig HOME", []string{"branch poller"}},
		{
			"--leader-elect --management-kubeconfig HOME --apply --observe=false --status=false --kubeconfig-dir REACH",
			[]string{"books of endpoints", "branch poller", "clusters", "share of the clusters"},
		},
		{"--status-repository SRC/statuses", []string{"heartbeats"}},
		{"--shared-repository", []string{"heartbeats"}},
		{"--previews FORGE", []string{"previews"}},
		{"--orders FORGE", []string{"command handler"}},
		{"--commit-statuses FORGE", nil},
		{"--updates FORGE", []string{"updates"}},
		{"--notify-webhook-file HOOK", []string{"notifications"}},
		{"--ui-listen AT --previews FORGE", []string{"previews", "web UI"}},
		{"--webhook-secret-file SECRET --webhook-listen AT FORGE", []string{"webhooks"}},
	} {
		args := strings.Fields(places.Replace("controller SRC --interval 1h --verbose " + tt.flags))
		if !slices.Contains(args, "--listen") {
			args = append(args, "--listen", "")
		}
		s := starts(t, args...)
		want := slices.Sorted(slices.Values(append(tt.want, "loop")))
		s.says(t, `"msg":"started"`, len(want))
		s.says(t, `"msg":"synced"`, 1)
		if strings.Contains(tt.flags, "--apply") { // what is published already, too
			s.says(t, `"msg":"cluster has no credential","cluster":"us"`, 1)
		}
		s.ends(t)
		if diff := cmp.Diff(want, s.parts()); diff != "" {
			t.Errorf("controller %s has (-want +got):\n%s", tt.flags, diff)
		}
	}
	for _, tt := range []saying{
		{"--events", 2, []string{"there is no management cluster"}},
		{"--leader-elect", 2, []string{"^error: --leader-elect: there is no management cluster.*by compare-and-set"}},
		{"--leader-elect --management-kubeconfig HOME/none", 2, []string{"^error: reading how the management cluster is reached"}},
		{"--leader-elect --leader-elect-retry-period 8s --management-kubeconfig HOME", 2, []string{"--leader-elect-renew-deadline is 10s"}},
		{"--listen 192.0.2.1:1", 2, []string{"listening on 192.0.2.1:1"}},
		{"--webhook-secret-file SECRET --webhook-listen 192.0.2.1:1 --forge gitea --forge-repository a/b", 2, []string{"listening on 192.0.2.1:1"}},
		{"--notify-webhook-file SRC/none", 2, []string{"reading --notify-webhook-file: open "}},
		{"--notify-slack-file SECRET", 2, []string{"reading --notify-slack-file: "}},
		{"--previews", 2, []string{"give --forge"}},
	} {
		tt.line = places.Replace("controller SRC --interval 1h " + tt.line)
		hold(t, nil, []saying{tt})
	}
}

// other is an engine that is no renderer.
type other struct{ render.Engine }

// TestHowPreviewsAreRendered: each within a budget of its own, and what strangers have rendered apart; walls that are missing are named only
// where there are not enough.
func TestHowPreviewsAreRendered(t *testing.T) {
	e := renderer.New(nil, nil)
	for name, made := range map[string]func(render.Engine) render.Engine{"a budget": bound, "memory of its own": ownResults} {
		if o := (other{}); made(o) != render.Engine(o) {
			t.Errorf("%s: another engine is not left alone", name)
		}
		if first, second := made(e), made(e); first == render.Engine(e) || second == render.Engine(e) || first == second {
			t.Errorf("%s: two previews share it", name)
		}
	}
	cmd := controllerCommand()
	cmd.SetContext(t.Context())
	c := &controller{loop: &reconciler.Loop{Reconciler: &reconciler.Reconciler{}}, server: serve.New(), wakes: newWakes()}
	if _, err := newPreviewer(cmd, c); err == nil || err.Error() != "--previews and --orders need a source that is a Git repository" {
		t.Errorf("of a folder in no repository: %v", err)
	}
	o, err := workerOptions(cmd)
	if err != nil {
		t.Fatal(err)
	}
	up, err := worker.Walls(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, w := range up {
		if !w.Up && !worker.Enough(up) {
			missing = append(missing, w.Name)
		}
	}
	if diff := cmp.Diff(missing, missingWalls(t.Context(), o)); diff != "" {
		t.Errorf("of walls are missing (-want +got):\n%s", diff)
	}
	if o.Command = []string{"/none"}; missingWalls(t.Context(), o) != nil {
		t.Error("what cannot be started has walls that are missing")
	}
}
