package forge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
)

// TestWhatIsAskedToPropose: each forge has words of its own for the same.
func TestWhatIsAskedToPropose(t *testing.T) {
	t.Parallel()
	d := forge.Draft{Title: "web 2.0", Body: "why"}
	steps := map[string]func(context.Context, forge.Proposer) error{
		"open": func(ctx context.Context, f forge.Proposer) error {
			p, err := f.OpenPullRequest(ctx, "waybill/web", "main", d)
			if err == nil && (p.Number != 7 || p.Head != commit) {
				err = fmt.Errorf("it opened %+v", p)
			}
			return err
		},
		"edit":  func(ctx context.Context, f forge.Proposer) error { return f.EditPullRequest(ctx, 7, d) },
		"close": func(ctx context.Context, f forge.Proposer) error { return f.ClosePullRequest(ctx, 7) },
		"merge": func(ctx context.Context, f forge.Proposer) error { return f.MergePullRequest(ctx, 7, commit) },
	}
	const hub = "/repos/acme/fleet/pulls"
	const lab = "/projects/acme/fleet/merge_requests"
	for kind, want := range map[forge.Kind]map[string]string{
		forge.GitHub: {
			"open": `POST ` + hub + ` {"base":"main","body":"why","head":"waybill/web","title":"web 2.0"}`, "edit": `PATCH ` + hub + `/7 {"body":"why","title":"web 2.0"}`,
			"close": `PATCH ` + hub + `/7 {"state":"closed"}`, "merge": `PUT ` + hub + `/7/merge {"merge_method":"merge","sha":"` + commit + `"}`,
		},
		forge.Gitea: {
			"open": `POST ` + hub + ` {"base":"main","body":"why","head":"waybill/web","title":"web 2.0"}`, "edit": `PATCH ` + hub + `/7 {"body":"why","title":"web 2.0"}`,
			"close": `PATCH ` + hub + `/7 {"state":"closed"}`, "merge": `POST ` + hub + `/7/merge {"Do":"merge","head_commit_id":"` + commit + `"}`,
		},
		forge.GitLab: {
			"open": `POST ` + lab + ` {"description":"why","source_branch":"waybill/web","target_branch":"main","title":"web 2.0"}`, "edit": `PUT ` + lab + `/7 {"description":"why","title":"web 2.0"}`,
			"close": `PUT ` + lab + `/7 {"state_event":"close"}`, "merge": `PUT ` + lab + `/7/merge {"sha":"` + commit + `"}`,
		},
	} {
		for step, do := range steps {
			var wrote []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					var in map[string]string
					if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
						t.Error(err)
					}
					data, _ := json.Marshal(in) // with its keys in order
					_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/"), "/")
					wrote = append(wrote, fmt.Sprintf("%s /%s %s", r.Method, path, data))
				}
				fmt.Fprintf(w, `{"number": 7, "iid": 7, "sha": %q, "head": {"sha": %q}}`, commit, commit)
			}))
			t.Cleanup(server.Close)
			err := do(t.Context(), open(t, kind, server.URL).(forge.Proposer))
			if got := strings.Join(wrote, "\n"); err != nil || got != want[step] {
				t.Errorf("%s, %s: %v\n%s\nwant\n%s", kind, step, err, got, want[step])
			}
		}
		for _, step := range []string{"merge", "edit", "close", "open"} {
			f, _, _ := scripted(t, kind, reply{status: http.StatusForbidden})
			if err := steps[step](t.Context(), f.(forge.Proposer)); !says(err, "403: forbidden") {
				t.Errorf("%s, %s, which is refused: %v", kind, step, err)
			}
		}
	}
}
