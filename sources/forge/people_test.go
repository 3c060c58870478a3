package forge_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
)

// answering is a repository of a forge that answers some paths, and no others.
func answering(t *testing.T, kind forge.Kind, answers map[string]string) forge.Forge {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for path, text := range answers {
			if strings.HasSuffix(r.URL.Path, path) {
				fmt.Fprint(w, text)
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	f, err := forge.Open(forge.Options{Kind: kind, URL: server.URL, Repository: "shop/fleet", Token: "t", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestWhoMayNotLogInMayNothing: GitLab lists a member that is blocked, or was asked to join, with what it may as one.
func TestWhoMayNotLogInMayNothing(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]forge.Permission{
		`{"access_level": 40, "state": "active"}`:          forge.Admin,
		`{"access_level": 30, "state": "active"}`:          forge.Write,
		`{"access_level": 20, "state": "active"}`:          forge.Read,
		`{"access_level": 5, "state": "active"}`:           forge.None,
		`{"access_level": 50, "state": "blocked"}`:         forge.None,
		`{"access_level": 40, "state": "awaiting"}`:        forge.None,
		`{"access_level": 40, "state": "blocked_pending"}`: forge.None,
		`{"access_level": 40}`:                             forge.None,
	} {
		f := answering(t, forge.GitLab, map[string]string{"/members/all/7": said})
		if got, err := f.Permission(t.Context(), forge.User{ID: 7, Login: "ann"}); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", said, got, err, want)
		}
	}
}

// TestWhatAForgeCallsNobodyMayNothing: a word that is none of those that are known, and an account that is no collaborator.
func TestWhatAForgeCallsNobodyMayNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []forge.Kind{forge.GitHub, forge.Gitea} {
		for said, want := range map[string]forge.Permission{`{"permission": "admin"}`: forge.Admin, `{"permission": "write"}`: forge.Write, `{"permission": "read"}`: forge.Read, `{"permission": "none"}`: forge.None, `{"permission": "triage"}`: forge.None, `{"permission": "owner"}`: forge.Admin, `{}`: forge.None} {
			f := answering(t, kind, map[string]string{"/collaborators/ann/permission": said})
			if got, err := f.Permission(t.Context(), forge.User{ID: 7, Login: "ann"}); got != want || err != nil {
				t.Errorf("%s, %s: %s, %v; want %s", kind, said, got, err, want)
			}
			if got, err := f.Permission(t.Context(), forge.User{ID: 8, Login: "bob"}); got != forge.None || err != nil {
				t.Errorf("%s: somebody who is no collaborator: %s, %v", kind, got, err)
			}
		}
	}
}

// TestAMaintainerOfGitHub is told as somebody who writes, and has more rights.
func TestAMaintainerOfGitHub(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]forge.Permission{"maintain": forge.Admin, "write": forge.Write, "a role of the organization": forge.Write} {
		f := answering(t, forge.GitHub, map[string]string{"/collaborators/ann/permission": fmt.Sprintf(`{"permission": "write", "role_name": %q}`, role)})
		if got, err := f.Permission(t.Context(), forge.User{ID: 7, Login: "ann"}); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", role, got, err, want)
		}
	}
	for _, kind := range kinds {
		f, _, _ := scripted(t, kind, reply{status: http.StatusForbidden, body: `{"permission": "admin", "access_level": 50, "state": "active"}`})
		if got, err := f.Permission(t.Context(), forge.User{ID: 7, Login: "ann"}); got != forge.None || !errors.Is(err, forge.ErrForbidden) {
			t.Errorf("%s does not tell: %s, %v", kind, got, err)
		}
	}
}

// TestADeletedForkIsNoBranchOfTheRepository: of a pull request whose repository is gone forges tell none.
func TestADeletedForkIsNoBranchOfTheRepository(t *testing.T) {
	t.Parallel()
	const pull = `{"number": 7, "state": "open", "user": {"id": 7, "login": "ann"}, "head": {"ref": "main", "sha": "1111", "repo": %s}, "base": {"ref": "main", "repo": {"id": 1}}}`
	for _, kind := range []forge.Kind{forge.GitHub, forge.Gitea} {
		for repo, branch := range map[string]string{`{"id": 1}`: "main", `{"id": 2}`: "", "null": ""} {
			f := answering(t, kind, map[string]string{"/pulls/7": fmt.Sprintf(pull, repo)})
			p, err := f.PullRequest(t.Context(), 7)
			if err != nil || p.Branch != branch || p.Fork != (branch == "") {
				t.Errorf("%s, %s: %+v, %v", kind, repo, p, err)
			}
		}
	}
	const merge = `{"iid": 7, "state": "opened", "author": {"id": 7, "username": "ann"}, "sha": "1111", "source_branch": "main", "target_branch": "main", "source_project_id": %s, "target_project_id": 1}`
	for project, branch := range map[string]string{"1": "main", "2": "", "null": ""} {
		f := answering(t, forge.GitLab, map[string]string{"/merge_requests/7": fmt.Sprintf(merge, project)})
		p, err := f.PullRequest(t.Context(), 7)
		if err != nil || p.Branch != branch || p.Fork != (branch == "") {
			t.Errorf("GitLab, %s: %+v, %v", project, p, err)
		}
	}
}

// TestWhoseCommentItIs: accounts that are gone, and robots, are nobody who may command.
func TestWhoseCommentItIs(t *testing.T) {
	t.Parallel()
	const notes = `[{"id": 1, "body": "a", "author": {"id": 7, "username": "ann"}}, {"id": 2, "body": "b", "author": {"id": 8, "username": "project_1_bot_2"}}, {"id": 3, "body": "c", "author": {"id": 9, "username": "me"}}, {"id": 4, "body": "d", "system": true, "author": {"id": 7, "username": "ann"}}, {"id": 5, "body": "e", "author": null}, ` +
		`{"id": 6, "body": "f", "author": {"id": 10, "username": "group_1_bot_2"}}, {"id": 7, "body": "g", "author": {"id": 11, "username": "project_lead"}}, {"id": 8, "body": "h", "author": {"id": 12, "username": "group_lead"}}, ` +
		`{"id": 9, "body": "i", "author": {"id": 13, "username": "my_bot"}}, {"id": 10, "body": "j", "author": {"id": 14, "username": "ci", "bot": true}}]`
	f := answering(t, forge.GitLab, map[string]string{"/user": `{"id": 9, "username": "me"}`, "/merge_requests/7/notes": notes})
	all, err := f.Comments(t.Context(), 7)
	if err != nil || len(all) != 9 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []struct{ bot, mine bool }{{}, {bot: true}, {mine: true}, {}, {bot: true}, {}, {}, {}, {bot: true}} {
		if c := all[i]; c.Author.Bot != want.bot || c.Mine != want.mine {
			t.Errorf("comment %d: %+v, want %+v", c.ID, c, want)
		}
	}
}

// TestWhoseCommentItIsAtGiteaActions: whose token may not ask whose it is, and comments as a robot whose name nobody else can have.
func TestWhoseCommentItIsAtGiteaActions(t *testing.T) {
	t.Parallel()
	const comments = `[{"id": 1, "body": "a", "user": {"id": 7, "login": "ann"}}, {"id": 2, "body": "b", "user": {"id": -2, "login": "gitea-actions"}}, {"id": 3, "body": "c", "user": {"id": 0, "login": "forgejo-actions"}}, {"id": 4, "body": "d", "user": {"id": 8, "login": "gitea-actions-too"}}]`
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusUnauthorized, http.StatusOK} {
		f := answeringUser(t, forge.Gitea, status, map[string]string{"/issues/7/comments": comments})
		all, err := f.Comments(t.Context(), 7)
		if status == http.StatusUnauthorized {
			if err == nil {
				t.Errorf("a token that is not valid: %+v", all)
			}
			continue
		}
		if err != nil || len(all) != 4 {
			t.Fatalf("%d: %+v, %v", status, all, err)
		}
		robot := status != http.StatusOK // else it is ann's
		for i, want := range []struct{ bot, mine bool }{{mine: !robot}, {bot: true, mine: robot}, {bot: true, mine: robot}, {}} {
			if c := all[i]; c.Author.Bot != want.bot || c.Mine != want.mine {
				t.Errorf("%d, comment %d: %+v, want %+v", status, c.ID, c, want)
			}
		}
	}
	for _, kind := range []forge.Kind{forge.GitLab, forge.GitHub} { // GitLab tells everybody
		f := answeringUser(t, kind, map[forge.Kind]int{forge.GitLab: http.StatusForbidden, forge.GitHub: http.StatusUnauthorized}[kind], map[string]string{"/notes": "[]", "/comments": "[]"})
		if all, err := f.Comments(t.Context(), 7); err == nil {
			t.Errorf("%s does not tell who asks, and whose comments are whose is known: %+v", kind, all)
		}
	}
}

// answeringUser is a repository of a forge that answers with a status who asks.
func answeringUser(t *testing.T, kind forge.Kind, status int, answers map[string]string) forge.Forge {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/user") {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"id": 7, "login": "ann"}`)
			return
		}
		for path, text := range answers {
			if strings.HasSuffix(r.URL.Path, path) {
				fmt.Fprint(w, text)
			}
		}
	}))
	t.Cleanup(server.Close)
	return open(t, kind, server.URL)
}

// TestOnlyWhatWasMergedIsMerged: GitLab names a commit of a merge request that was closed, too, and GitHub one of a trial.
func TestOnlyWhatWasMergedIsMerged(t *testing.T) {
	t.Parallel()
	const merge = `{"iid": 7, "state": %q, "author": {"id": 7, "username": "ann"}, "sha": "1111", "merge_commit_sha": "2222", "source_project_id": 1, "target_project_id": 1}`
	for state, want := range map[string]string{"merged": "2222", "closed": "", "opened": "", "locked": ""} {
		f := answering(t, forge.GitLab, map[string]string{"/merge_requests/7": fmt.Sprintf(merge, state)})
		if p, err := f.PullRequest(t.Context(), 7); err != nil || p.Merged != want || p.Open != (state == "opened") {
			t.Errorf("GitLab, %s: %+v, %v; want it merged as %q", state, p, err, want)
		}
	}
	const squashed = `{"iid": 7, "state": "merged", "sha": "1111", "squash_commit_sha": "3333"%s}`
	for more, want := range map[string]string{`, "merge_commit_sha": "2222"`: "2222", "": "3333"} {
		f := answering(t, forge.GitLab, map[string]string{"/merge_requests/7": fmt.Sprintf(squashed, more)})
		if p, err := f.PullRequest(t.Context(), 7); err != nil || p.Merged != want {
			t.Errorf("GitLab, squashed%s: %+v, %v; want it merged as %q", more, p, err, want)
		}
	}
	const pull = `{"number": 7, "state": "closed", "merged": %v, "merge_commit_sha": "2222", "user": {"id": -7, "login": "ghost"}, "head": {"ref": "a", "sha": "1111"}, "base": {"ref": "main"}}`
	for merged, want := range map[bool]string{true: "2222", false: ""} {
		f := answering(t, forge.GitHub, map[string]string{"/pulls/7": fmt.Sprintf(pull, merged)})
		p, err := f.PullRequest(t.Context(), 7)
		if err != nil || p.Merged != want || p.Open {
			t.Errorf("GitHub, merged %v: %+v, %v; want it merged as %q", merged, p, err, want)
		}
		if !p.Author.Bot { // Gitea's, which GitHub's form is read for, too
			t.Errorf("an account with a negative number is nobody's: %+v", p.Author)
		}
	}
}

// TestAClosedPullRequestIsNoneOfACommit: forges list those that are closed, too, and those that have the commit further down.
func TestAClosedPullRequestIsNoneOfACommit(t *testing.T) {
	t.Parallel()
	const hub = `[{"number": 1, "state": "open", "head": {"sha": "1111"}}, {"number": 2, "state": "closed", "head": {"sha": "1111"}}, {"number": 3, "state": "open", "head": {"sha": "2222"}}]`
	const lab = `[{"iid": 1, "state": "opened", "sha": "1111"}, {"iid": 2, "state": "closed", "sha": "1111"}, {"iid": 3, "state": "opened", "sha": "2222"}]`
	for kind, answer := range map[forge.Kind]string{forge.GitHub: hub, forge.Gitea: hub, forge.GitLab: lab} {
		f, s, _ := scripted(t, kind, reply{status: 200, body: answer}, reply{status: 200, body: "[]"})
		if all, err := f.PullRequestsOf(t.Context(), "1111"); err != nil || len(all) != 1 || all[0].Number != 1 || s.count() == 0 {
			t.Errorf("%s: %+v, %v", kind, all, err)
		}
	}
}

// TestAStatusThatGitLabHasAlready is set; one that it does not take is an error.
func TestAStatusThatGitLabHasAlready(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]bool{
		"Cannot transition status via :enqueue from :pending": true, "Cannot transition status via :enqueue from :running": false, "name is too long (from :pending)": false,
	} {
		f, _, _ := scripted(t, forge.GitLab, reply{status: http.StatusBadRequest, body: fmt.Sprintf(`{"message": {"state": [%q]}}`, says)})
		if err := f.SetStatus(t.Context(), forge.Status{Commit: commit, Context: "c", State: forge.Pending}); (err == nil) != want {
			t.Errorf("%s: %v", says, err)
		}
	}
	f, _, _ := scripted(t, forge.GitLab, reply{status: http.StatusForbidden, body: `{"message": "Cannot transition status via :enqueue from :pending"}`})
	if err := f.SetStatus(t.Context(), forge.Status{Commit: commit, Context: "c", State: forge.Pending}); !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("what is forbidden: %v", err)
	}
}

// TestWhatChangedWithinTheSecond: forges tell by the second when something changed, so what was read within one may have changed after.
func TestWhatChangedWithinTheSecond(t *testing.T) {
	t.Parallel()
	const pulls = `[{"number": 7, "state": "open", "updated_at": "2026-03-02T12:00:00Z", "user": {"id": 7, "login": "ann"}, "head": {"ref": "a", "sha": "1"}, "base": {"ref": "main"}}, ` +
		`{"number": 8, "state": "closed", "updated_at": "2026-03-02T12:00:00Z", "user": {"id": 7, "login": "ann"}, "head": {"ref": "c", "sha": "3"}, "base": {"ref": "main"}}, ` +
		`{"number": 6, "state": "open", "updated_at": "2026-03-02T11:59:59Z", "user": {"id": 7, "login": "ann"}, "head": {"ref": "b", "sha": "2"}, "base": {"ref": "main"}}]`
	since := time.Date(2026, 3, 2, 12, 0, 0, int(700*time.Millisecond), time.UTC)
	for _, kind := range []forge.Kind{forge.GitHub, forge.Gitea} {
		all, err := answering(t, kind, map[string]string{"/pulls": pulls}).OpenPullRequests(t.Context(), since)
		if err != nil || len(all) != 1 || all[0].Number != 7 {
			t.Errorf("%s: %+v, %v", kind, all, err)
		}
	}
}
