package forge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
)

// TestWaysToMerge: GitHub says which ways a repository allows, and only by refusing which of them a rule of the branch does.
func TestWaysToMerge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		allowed string         // what the repository says
		answers map[string]int // by ways; others are taken
		want    []string       // ways that are tried
		says    string         // of the error; empty: it is merged
	}{
		{"all", `{"allow_merge_commit": true, "allow_squash_merge": true, "allow_rebase_merge": true}`, nil, []string{"merge"}, ""},
		{"whoever asks may not know", `{"allow_merge_commit": null}`, nil, []string{"merge"}, ""},
		{"the repository allows one", `{"allow_merge_commit": false, "allow_squash_merge": false, "allow_rebase_merge": true}`, nil, []string{"rebase"}, ""},
		{"a rule allows no merge commit", `{}`, map[string]int{"merge": 405}, []string{"merge", "squash"}, ""},
		{"a rule allows what the repository does not", `{"allow_squash_merge": false}`, map[string]int{"merge": 405}, []string{"merge", "rebase"}, ""},
		{"a rule forbids all", `{}`, map[string]int{"merge": 405, "squash": 405, "rebase": 405}, []string{"merge", "squash", "rebase"}, "merging pull request 7 at"},
		{"the head is another one", `{}`, map[string]int{"merge": 409}, []string{"merge"}, "409: no merge"},
		{"nobody may", `{}`, map[string]int{"merge": 405, "squash": 403}, []string{"merge", "squash"}, "403: no squash"},
		{"none", `{"allow_merge_commit": false, "allow_squash_merge": false, "allow_rebase_merge": false}`, nil, nil, "405: the repository allows no way to merge"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var tried []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					fmt.Fprint(w, tt.allowed)
					return
				}
				var in struct {
					SHA string `json:"sha"`
					Way string `json:"merge_method"`
				}
				if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.SHA != commit || !strings.HasSuffix(r.URL.Path, "/pulls/7/merge") {
					t.Errorf("%s is asked, with %+v: %v", r.URL, in, err)
				}
				tried = append(tried, in.Way)
				if status := tt.answers[in.Way]; status != 0 {
					w.WriteHeader(status)
				}
				fmt.Fprintf(w, `{"message": "no %s"}`, in.Way)
			}))
			t.Cleanup(server.Close)
			err := open(t, forge.GitHub, server.URL).(forge.Merger).MergePullRequest(t.Context(), 7, commit)
			if !says(err, tt.says) || !reflect.DeepEqual(tried, tt.want) {
				t.Errorf("tried is %v: %v; want %v, %q", tried, err, tt.want, tt.says)
			}
			if len(tt.want) == 3 && !says(err, "405: merge: no merge; squash: no squash; rebase: no rebase") {
				t.Errorf("of three refusals it says %v", err)
			}
		})
	}
}

// TestStatusesThatAreOptional: what a forge itself does not wait for. GitLab waits for a manual job that may not fail.
func TestStatusesThatAreOptional(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind    forge.Kind
		word    string
		mayFail bool
		state   forge.State
		want    bool
	}{
		{forge.GitLab, "skipped", false, forge.Pending, true},
		{forge.GitLab, "manual", true, forge.Pending, true},
		{forge.GitLab, "manual", false, forge.Pending, false},
		{forge.GitLab, "failed", true, forge.Failure, true},
		{forge.GitLab, "failed", false, forge.Failure, false},
		{forge.GitLab, "canceled", true, forge.Broken, true},
		{forge.GitLab, "running", true, forge.Pending, false},
		{forge.GitLab, "scheduled", true, forge.Pending, false},
		{forge.GitLab, "created", false, forge.Pending, false},
		{forge.GitLab, "success", false, forge.Success, false},
		{forge.Gitea, "skipped", false, forge.Pending, true},
		{forge.Gitea, "warning", false, forge.Pending, false},
		{forge.GitHub, "pending", false, forge.Pending, false},
	} {
		answer := fmt.Sprintf(`[{"id": 1, "status": %q, "name": "job", "context": "job", "allow_failure": %t}]`, tt.word, tt.mayFail)
		f, _, _ := scripted(t, tt.kind, reply{status: 200, body: answer}, reply{status: 200, body: "[]"})
		got, err := f.Statuses(t.Context(), commit)
		if err != nil || len(got) != 1 || got[0].State != tt.state || got[0].Optional != tt.want {
			t.Errorf("%s, %s, which may fail: %t: %+v, %v", tt.kind, tt.word, tt.mayFail, got, err)
		}
	}
}
