package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWhatDiffShowsAtAForge: the verdict on the commit of the job or the one that was looked at, as the status of its folder; of what
// cannot be compared that it is not known, and of a directory nothing. The pull request is that of the job, unless another one is named.
func TestWhatDiffShowsAtAForge(t *testing.T) {
	source, git := workTree(t)
	var asked []string
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := "[]"
		if r.Method != http.MethodGet {
			var s struct{ State, Context string }
			_ = json.NewDecoder(r.Body).Decode(&s)
			asked, said = append(asked, fmt.Sprintf("%s %s: %s is %s", r.Method, r.URL.Path, s.Context, s.State)), "{}"
			w.WriteHeader(http.StatusCreated)
		} else if strings.Contains(r.URL.Path, "/pulls/") {
			asked, said = append(asked, "GET "+r.URL.Path), "{}" // its head is another one
		}
		fmt.Fprint(w, said)
	}))
	t.Cleanup(at.Close)
	t.Setenv("WAYBILL_FORGE_TOKEN", "t")
	const other = "-- other/other.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\ndata: {a: b}\n" +
		"-- own/own.yaml --\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: ap}\nspec: {syncMode: Pull}\n"
	unpack(t, source, other)
	git("add", "--all")
	git("commit", "--quiet", "--message=other")
	head := strings.TrimSpace(git("rev-parse", "HEAD"))
	status := func(context, state string) []string {
		return []string{"POST /api/v1/repos/a/b/statuses/" + head + ": " + context + " is " + state}
	}
	for _, tt := range []struct {
		saying

		want []string
	}{
		{saying{"diff HEAD~1 HEAD -C SRC", 1, []string{"other", "!nothing is commented"}}, nil},
		{
			saying{"diff HEAD~1 HEAD -C SRC --post FORGE", 1, []string{"other", "nothing is commented: no open pull request has the head " + head}},
			status("waybill/preview", "success"),
		},
		{saying{"diff main HEAD -C SRC/other --post FORGE", 2, []string{"registers no cluster and holds nothing"}}, nil},
		{saying{"diff HEAD -C SRC --post FORGE", 2, []string{"--post shows what a commit does, and this is a directory"}}, nil},
		{saying{"diff HEAD~1 HEAD -C SRC --post --forge none", 2, []string{"none"}}, nil},
		{saying{"diff HEAD~1 HEAD -C SRC --watch --post FORGE", 2, []string{"--watch shows the directory as it stands"}}, nil},
	} {
		asked = nil
		tt.line = strings.ReplaceAll(tt.line, "FORGE", "--forge gitea --plain-http --forge-repository a/b --forge-url "+at.URL)
		hold(t, map[string]string{"SRC": source}, []saying{tt.saying})
		if diff := cmp.Diff(tt.want, asked); diff != "" {
			t.Errorf("waybill %s asks (-want +got):\n%s", tt.line, diff)
		}
	}
	// what a job looks at is its commit, and what cannot be compared is said of it, too
	for name, value := range map[string]string{
		"GITEA_ACTIONS": "true", "GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": at.URL, "GITHUB_REPOSITORY": "a/b", "GITHUB_SHA": head, "GITEA_TOKEN": "t",
	} {
		t.Setenv(name, value)
	}
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, fmt.Appendf(nil, `{"pull_request": {"number": 7, "head": {"sha": %q}}}`, head), 0o600); err != nil {
		t.Fatal(err)
	}
	pull := func(number string) []string {
		return append([]string{"GET /api/v1/repos/a/b/pulls/" + number}, status("waybill/preview", "success")...)
	}
	for _, tt := range []struct {
		line, event string
		ends        int
		want        []string
	}{
		{"diff HEAD --post --plain-http -C " + source, "", 0, status("waybill/preview", "success")},
		{"diff HEAD --post --plain-http -C " + filepath.Join(source, "own"), "", 0, status("waybill/preview (own)", "success")},
		{"diff HEAD --post --plain-http --without-cluster ap -C " + source, "", 1, status("waybill/preview", "success")},
		{"diff none --post --plain-http -C " + source, "", 2, nil},
		{"diff HEAD --post --plain-http --with-cluster " + filepath.Join(source, "own", "own.yaml") + " -C " + source, "", 2, status("waybill/preview", "error")},
		{"diff HEAD --post --plain-http --pull-request 9 -C " + source, "", 0, pull("9")},
		{"diff HEAD --post --plain-http -C " + source, event, 0, pull("7")},
		{"diff HEAD --post --plain-http --pull-request 9 -C " + source, event, 0, pull("9")},
	} {
		asked = nil
		t.Setenv("GITHUB_EVENT_PATH", tt.event)
		var out, problems strings.Builder
		if code := run(t.Context(), strings.Fields(tt.line), &out, &problems); code != tt.ends {
			t.Errorf("waybill %s ends with %d, want %d: %s%s", tt.line, code, tt.ends, out.String(), problems.String())
		}
		if diff := cmp.Diff(tt.want, asked); diff != "" {
			t.Errorf("waybill %s asks (-want +got):\n%s", tt.line, diff)
		}
	}
}

// TestWhatIsSupposedAndVerified: clusters of a file, labels and taints are supposed for one answer; what is published is rebuilt, and printed
// for others as their flags say.
func TestWhatIsSupposedAndVerified(t *testing.T) {
	source, git := workTree(t)
	unpack(t, source, `
-- shop.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {a: b}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {clusterAffinity: {labelSelector: {matchExpressions: [{key: ring, operator: NotIn, values: [old]}]}}}
`)
	away := t.TempDir()
	unpack(t, away, "-- ap.yaml --\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: ap}\nspec: {syncMode: Push}\n-- none.yaml --\na: [\n")
	git("commit", "--quiet", "--all", "--message=rings")
	places := map[string]string{"SRC": source, "AWAY": away}
	const flux = "get flux -C SRC --url https://git.example/a "
	hold(t, places, []saying{
		{"diff -C SRC", 0, []string{"!settings"}},
		{"diff -C SRC --label eu=ring=old", 1, []string{"settings", "eu", "!us "}},
		{"diff -C SRC --label eu=ring=old --label us=a=b", 1, []string{"^supposed: cluster us has the label a=b"}},
		{"diff -C SRC --taint us=a=b:NoSchedule", 1, []string{"us"}},
		{"diff -C SRC --with-cluster AWAY/ap.yaml", 1, []string{"ap"}},
		{"diff -C SRC --with-cluster AWAY/none.yaml", 2, []string{"^error: --with-cluster: "}},
		{"diff -C SRC --with-cluster AWAY/away.yaml", 2, []string{"^error: --with-cluster: open "}},
		{"diff -C SRC --label eu", 2, []string{"^error: --label: "}},
		{"diff -C SRC --taint eu", 2, []string{"^error: --taint: "}},
		{"diff -C SRC --capacity eu", 2, []string{"^error: --capacity: "}},
		{"diff -C SRC --at noon", 2, []string{"^error: --at: "}},
		{"publish SRC", 0, nil},
		{"verify waybill/state --chain -C SRC", 0, []string{"state"}},
		{"verify waybill/state --from none -C SRC", 2, nil},
		{flux, 0, []string{"waybill/cluster/eu", "!secretRef"}},
		{flux + "--secret-ref creds", 0, []string{"secretRef:", "creds"}},
		{flux + "--ui-url https://ui.example --secret-ref creds extra", 2, []string{`get flux lists no "extra"`}},
		{"get argocd -C SRC --url https://git.example/a --ui-url https://ui.example --argocd-project p", 0, []string{"kind: Application", "project: p$", "https://ui.example"}},
		{"explain configmap/ -C SRC", 2, []string{`"configmap/" names no object`}},
		{"explain configmap/a configmap/b -C SRC", 2, []string{"are two objects; one is explained at a time"}},
		{"get pods --clusters=* -C SRC --kubeconfig-dir AWAY", 2, []string{"eu", "us"}},
	})
	git("commit", "--quiet", "--allow-empty", "--message=next")
	first := strings.TrimSpace(git("rev-parse", "--short=12", "HEAD~1"))
	git("rm", "--quiet", "shop.yaml")
	git("commit", "--quiet", "--message=without")
	hold(t, places, []saying{
		{"publish SRC --allow-prune=eu --allow-prune=us", 0, nil},
		{"rollback " + first + " --dry-run -C SRC", 0, []string{"^from .*, published last, back to " + first}},
		{"rollback none -C SRC", 2, []string{"none"}},
	})
}

// TestRoughly is how long ago something was, in the largest unit of which there is more than one.
func TestRoughly(t *testing.T) {
	for want, seconds := range map[string]int{
		"0 seconds": 0, "119 seconds": 119, "2 minutes": 120, "119 minutes": 7199, "2 hours": 7200, "47 hours": 47 * 3600, "2 days": 48 * 3600,
	} {
		if got := roughly(time.Duration(seconds) * time.Second); got != want {
			t.Errorf("%d seconds are %q, want %q", seconds, got, want)
		}
	}
}
