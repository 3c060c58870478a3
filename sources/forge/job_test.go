package forge_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/forge"
)

func TestDetectJob(t *testing.T) {
	head, merge := strings.Repeat("a", 40), strings.Repeat("b", 40)
	event := `{"number": 7, "pull_request": {"number": 7, "head": {"sha": "` + head + `", "ref": "x"}}}`
	for _, tt := range []struct {
		name, env, event string
		want             forge.Job
		err              string
	}{
		{"at home", "WAYBILL_FORGE_TOKEN=t GITHUB_TOKEN=other", "", forge.Job{Token: "t"}, ""},
		{
			"GitHub", "GITHUB_ACTIONS=true GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=acme/fleet GITHUB_SHA=" + merge + " GITHUB_EVENT_PATH=e GITHUB_RUN_ID=99 GITHUB_TOKEN=t", event,
			forge.Job{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet", PullRequest: 7, Commit: head, Token: "t", Page: "https://github.com/acme/fleet/actions/runs/99"},
			"",
		},
		{
			"a push to GitHub", "GITHUB_ACTIONS=true GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=acme/fleet GITHUB_SHA=" + merge + " GITHUB_EVENT_PATH=e GH_TOKEN=t", `{"after": "x"}`,
			forge.Job{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet", Commit: merge, Token: "t"},
			"",
		},
		{
			"Gitea, which looks like GitHub", "GITHUB_ACTIONS=true GITEA_ACTIONS=true GITHUB_SERVER_URL=https://git.example.com GITHUB_REPOSITORY=acme/fleet GITHUB_SHA=" + merge + " GITHUB_EVENT_PATH=e GITHUB_RUN_NUMBER=3 GITHUB_TOKEN=t GITEA_TOKEN=own", event,
			forge.Job{Kind: forge.Gitea, URL: "https://git.example.com", Repository: "acme/fleet", PullRequest: 7, Commit: head, Token: "own", Page: "https://git.example.com/acme/fleet/actions/runs/3"},
			"",
		},
		{
			"Forgejo", "GITHUB_ACTIONS=true FORGEJO_ACTIONS=true GITHUB_SERVER_URL=https://git.example.com GITHUB_REPOSITORY=acme/fleet GITHUB_SHA=" + merge + " FORGEJO_TOKEN=t", "",
			forge.Job{Kind: forge.Gitea, URL: "https://git.example.com", Repository: "acme/fleet", Commit: merge, Token: "t"},
			"",
		},
		{
			"GitLab", "GITLAB_CI=true CI_SERVER_URL=https://gitlab.com CI_PROJECT_PATH=ann/fleet CI_MERGE_REQUEST_PROJECT_PATH=acme/prod/fleet CI_MERGE_REQUEST_IID=7 CI_COMMIT_SHA=" + merge + " CI_MERGE_REQUEST_SOURCE_BRANCH_SHA=" + head + " CI_JOB_URL=https://gitlab.com/j/1 GITLAB_TOKEN=t CI_JOB_TOKEN=no", "",
			forge.Job{Kind: forge.GitLab, URL: "https://gitlab.com", Repository: "acme/prod/fleet", PullRequest: 7, Commit: head, Token: "t", Page: "https://gitlab.com/j/1"},
			"",
		},
		{
			"a branch of GitLab", "GITLAB_CI=true CI_SERVER_URL=https://gitlab.com CI_PROJECT_PATH=acme/fleet CI_COMMIT_SHA=" + merge + " WAYBILL_FORGE_TOKEN=w GITLAB_TOKEN=t", "",
			forge.Job{Kind: forge.GitLab, URL: "https://gitlab.com", Repository: "acme/fleet", Commit: merge, Token: "w"},
			"",
		},
		{"an event that is none", "GITHUB_ACTIONS=true GITHUB_EVENT_PATH=e", "{", forge.Job{Kind: forge.GitHub}, "reading the event"},
		{"an event that is not there", "GITHUB_ACTIONS=true GITHUB_EVENT_PATH=gone", "", forge.Job{Kind: forge.GitHub}, "reading the event"},
		{"no commit", "GITLAB_CI=true CI_COMMIT_SHA=main", "", forge.Job{Kind: forge.GitLab}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{}
			for pair := range strings.FieldsSeq(tt.env) {
				name, value, _ := strings.Cut(pair, "=")
				env[name] = value
			}
			got, err := forge.DetectJob(func(name string) string { return env[name] }, func(path string) ([]byte, error) {
				if path != "e" {
					return nil, errors.Join(os.ErrNotExist)
				}
				return []byte(tt.event), nil
			})
			if d := cmp.Diff(tt.want, got); d != "" || !says(err, tt.err) {
				t.Errorf("%v, want %q\n%s", err, tt.err, d)
			}
		})
	}
}
