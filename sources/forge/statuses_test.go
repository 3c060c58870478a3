package forge_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

var kinds = []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea}

// commit is one that statuses are asked for of.
var commit = strings.Repeat("a", 40)

// TestStatusesAsForgesTellThem reads the form of each forge: every word for a state, accounts that are gone, and whom somebody
// else's newer status of the same context does not hide.
func TestStatusesAsForgesTellThem(t *testing.T) {
	t.Parallel()
	hub := func(state string) string {
		form := `{"id": %d, "` + state + `": "%s", "context": "%s", "description": "%s", "target_url": "https://x.example", "creator": %s, "created_at": "2026-05-01T12:00:0%dZ"}`
		return "[" + strings.Join([]string{
			fmt.Sprintf(form, 9, "success", "b", "the newest", `{"id": 5, "login": "flux"}`, 9),
			fmt.Sprintf(form, 8, "error", "c", "two\\nlines \\u001b[31m", "null", 8),
			fmt.Sprintf(form, 7, "failure", "b", "of another", `{"id": 6, "login": "eve"}`, 7),
			fmt.Sprintf(form, 4, "failure", "b", "older", `{"id": 5, "login": "flux"}`, 4),
			fmt.Sprintf(form, 3, "a word that is new", "a", "", `{"id": 7, "login": "ci[bot]", "type": "Bot"}`, 3),
		}, ",") + "]"
	}
	const lab = `[
		{"id": 3, "status": "running", "name": "a", "author": {"id": 7, "username": "project_1_bot_2"}, "created_at": "2026-05-01T12:00:01Z", "started_at": "2026-05-01T12:00:03Z", "finished_at": null, "target_url": "https://x.example", "description": null},
		{"id": 7, "status": "failed", "name": "b", "author": {"id": 6, "username": "eve"}, "created_at": "2026-05-01T12:00:07Z", "description": "of another", "target_url": "https://x.example"},
		{"id": 4, "status": "failed", "name": "b", "author": {"id": 5, "username": "flux"}, "created_at": "2026-05-01T12:00:04Z", "description": "older", "target_url": "https://x.example"},
		{"id": 9, "status": "success", "name": "b", "author": {"id": 5, "username": "flux"}, "created_at": "2026-05-01T12:00:08Z", "finished_at": "2026-05-01T12:00:09Z", "description": "the newest", "target_url": "https://x.example"},
		{"id": 8, "status": "canceled", "name": "c", "author": null, "created_at": "2026-05-01T12:00:08Z", "description": "two\nlines \u001b[31m", "target_url": "https://x.example"}]`
	status := func(about string, state forge.State, says string, by forge.User, second int) forge.Status {
		return forge.Status{Commit: commit, Context: about, State: state, Description: says, URL: "https://x.example", Creator: by, Time: noon.Add(time.Duration(second) * time.Second)}
	}
	want := []forge.Status{
		status("a", forge.Pending, "", forge.User{ID: 7, Login: "ci[bot]", Bot: true}, 3),
		status("b", forge.Failure, "of another", forge.User{ID: 6, Login: "eve"}, 7),
		status("b", forge.Success, "the newest", forge.User{ID: 5, Login: "flux"}, 9),
		status("c", forge.Broken, "two lines [31m", forge.User{}, 8),
	}
	for kind, answer := range map[forge.Kind]string{forge.GitHub: hub("state"), forge.Gitea: hub("status"), forge.GitLab: strings.ReplaceAll(lab, "two\nlines", `two\nlines`)} {
		answers := []string{answer, "[]"}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if want := "/commits/" + commit + "/statuses"; !strings.HasSuffix(r.URL.Path, want) {
				t.Errorf("%s is asked for %s, want %s", kind, r.URL, want)
			}
			fmt.Fprint(w, answers[min(len(answers)-1, max(0, strings.Count(r.URL.RawQuery, "page=2")))])
		}))
		t.Cleanup(server.Close)
		got, err := open(t, kind, server.URL).Statuses(t.Context(), commit)
		if kind == forge.GitLab {
			want[0].Creator.Login = "project_1_bot_2"
		} else {
			want[0].Creator.Login = "ci[bot]"
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%+v\nwant\n%+v", kind, err, got, want)
		}
	}
}

// TestStatusesOfManyPages reads as many pages as there are, and says where there are too many.
func TestStatusesOfManyPages(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for have, want := range map[int]string{250: "", 1 << 20: "there are more than 100 pages"} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var page, size int
				q := r.URL.Query()
				fmt.Sscan(q.Get("page"), &page)                    //nolint:errcheck // 0 fails below
				fmt.Sscan(q.Get("per_page")+q.Get("limit"), &size) //nolint:errcheck // 0 fails below
				if page < 1 || size < 1 || size > 100 || kind == forge.Gitea && (size > 50 || q.Get("sort") != "leastindex") {
					t.Errorf("%s is asked for %s", kind, r.URL)
				}
				fmt.Fprint(w, "[")
				for i := (page - 1) * size; i < min(page*size, have); i++ {
					if i > (page-1)*size {
						fmt.Fprint(w, ",")
					}
					fmt.Fprintf(w, `{"id": %d, "state": "success", "status": "success", "context": "c%06d", "name": "c%06d"}`, i+1, i, i)
				}
				fmt.Fprint(w, "]")
			}))
			t.Cleanup(server.Close)
			got, err := open(t, kind, server.URL).Statuses(t.Context(), commit)
			if !says(err, want) || want == "" && len(got) != have || want != "" && got != nil {
				t.Errorf("%s, %d: %d, %v", kind, have, len(got), err)
			}
		}
	}
}

// TestAGiteaThatGivesShortPages: a server may be set up to give less on a page than it is asked for.
func TestAGiteaThatGivesShortPages(t *testing.T) {
	t.Parallel()
	const most, have = 30, 70
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		var all []string
		for i := (page - 1) * most; i < min(page*most, have); i++ {
			all = append(all, fmt.Sprintf(`{"id": %d, "status": "success", "context": "c%02d"}`, i+1, i))
		}
		fmt.Fprintf(w, "[%s]", strings.Join(all, ","))
	}))
	t.Cleanup(server.Close)
	if got, err := open(t, forge.Gitea, server.URL).Statuses(t.Context(), commit); err != nil || len(got) != have {
		t.Errorf("read are %d, %v", len(got), err)
	}
}

// TestStatusesThatCannotBeHad: what a forge does not tell is an error, and no fact.
func TestStatusesThatCannotBeHad(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, tt := range []struct {
			name    string
			replies []reply
			want    string
			is      error
			asked   int
		}{
			{"no such commit", []reply{{status: 404, body: `{"message":"404 Commit Not Found"}`}}, "listing the statuses of aaaaaaaaaaaa at", forge.ErrNotFound, 1},
			{"forbidden", []reply{{status: 403, body: `{"message":"no"}`}}, "403: no; the token may not do that", forge.ErrForbidden, 1},
			{"a limit for long", []reply{{status: 429, header: map[string]string{"Retry-After": "3600"}}}, "is asked again after 2026-05-01T13:00:00Z", nil, 1},
			{"a limit for a moment", []reply{{status: 429, header: map[string]string{"Retry-After": "5"}}, {status: 200, body: "[]"}}, "", nil, 2},
			{"garbage", []reply{{status: 200, body: "<html>"}}, "the answer is not what the API says", nil, 1},
			{"a value of another kind", []reply{{status: 200, body: `[{"id": "x"}]`}}, "the answer is not what the API says", nil, 1},
			{"an object", []reply{{status: 200, body: `{"message": "x"}`}}, "the answer is not what the API says", nil, 1},
			{"a failure", []reply{{status: 500}}, "500: internal server error", nil, 4},
			{"a second page that fails", []reply{{status: 200, body: full(100)}, {status: 403}}, "403: forbidden", forge.ErrForbidden, 2},
		} {
			f, s, _ := scripted(t, kind, tt.replies...)
			got, err := f.Statuses(t.Context(), commit)
			if !says(err, tt.want) || tt.is != nil && !errors.Is(err, tt.is) || err != nil && got != nil || s.count() != tt.asked {
				t.Errorf("%s, %s: %v, %v, asked %d times; want %q, %d times", kind, tt.name, got, err, s.count(), tt.want, tt.asked)
			}
		}
	}
	f, _, _ := scripted(t, forge.GitHub, reply{status: 422, body: `{"message":"No commit found for SHA: ` + commit + `"}`})
	if _, err := f.Statuses(t.Context(), commit); !errors.Is(err, forge.ErrNotFound) || !says(err, "No commit found for SHA") {
		t.Errorf("GitHub without the commit: %v", err)
	}
}

// full is a page of so many statuses.
func full(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`{"id": 1, "context": "c", "name": "c"},`, n), ",") + "]"
}

// TestAStatusOfAnotherHidesNone: the one of each who set one is told.
func TestAStatusOfAnotherHidesNone(t *testing.T) {
	t.Parallel()
	for name, serve := range map[forge.Kind]func(*forgetest.Fake) string{
		forge.GitHub: func(f *forgetest.Fake) string {
			return forgetest.GitHub(t, f, &forgetest.Waybill, forgetest.Bearer(forgetest.Token))
		},
		forge.GitLab: func(f *forgetest.Fake) string { return forgetest.GitLab(t, f) },
	} {
		fake := forgetest.NewFake()
		head := fake.Pull().Head
		for i, by := range []forge.User{forgetest.Writer, forgetest.Author, forgetest.Writer, forgetest.Author} {
			s := forge.Status{Commit: head, Context: "waybill/flux/m1/app", State: []forge.State{forge.Failure, forge.Pending, forge.Success, forge.Failure}[i]}
			if err := forgetest.SetStatusAs(fake, by, s); err != nil {
				t.Fatal(err)
			}
		}
		got, err := open(t, name, serve(fake)).Statuses(t.Context(), head)
		if err != nil || len(got) != 2 || got[0].Creator.Login != "ann" || got[0].State != forge.Failure || got[1].Creator.Login != "wendy" || got[1].State != forge.Success {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
