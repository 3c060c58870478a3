package forgetest

import (
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
)

// Gitea serves a fake by Gitea's REST API, version 1.
func Gitea(tb testing.TB, f *Fake) (url string) {
	tb.Helper()
	s := &server{fake: f, tb: tb, mux: http.NewServeMux()}
	const repo = "/api/v1/repos/" + Name
	s.handle("GET /api/v1/user", func(*request) (any, error) { return hubUser(Waybill), nil })
	s.handle("GET "+repo, func(*request) (any, error) { return object{"default_merge_style": "rebase-merge"}, nil })
	s.handle("GET "+repo+"/pulls/{number}", func(r *request) (any, error) {
		p, err := f.PullRequest(r.Context(), int(r.number("number")))
		return hubPull(p), err
	})
	s.handle("GET "+repo+"/pulls", func(r *request) (any, error) {
		same(tb, "order", r.URL.Query().Get("state")+" "+r.URL.Query().Get("sort"), "open recentupdate")
		var all []object
		if p := f.Pull(); p.Open {
			all = append(all, hubPull(p))
		}
		return giteaPage(r, all), nil
	})
	s.handle("GET "+repo+"/commits/{sha}/pull", func(r *request) (any, error) {
		p := f.Pull()
		if p.Merged != r.PathValue("sha") {
			return nil, missing("looking")
		}
		return hubPull(p), nil
	})
	s.handle("POST "+repo+"/pulls/{number}/merge", func(r *request) (any, error) {
		var in struct {
			Do   string
			Head string `json:"head_commit_id"`
		}
		r.body(&in)
		same(tb, "way to merge", in.Do, "rebase-merge")
		return object{}, writer{f}.MergePullRequest(r.Context(), int(r.number("number")), in.Head)
	})
	s.hubComments(repo, func(_ *request, all []object) []object { return all })
	s.giteaLabels(repo)
	s.giteaStatuses(repo)
	s.handle("GET "+repo+"/collaborators/{login}/permission", func(r *request) (any, error) {
		u, ok := person(r.PathValue("login"))
		if !ok {
			return nil, missing("asking")
		}
		p, err := f.Permission(r.Context(), u)
		return object{"permission": p.String(), "role_name": p.String(), "user": hubUser(u)}, err
	})
	return s.start(func(r *http.Request) bool { return r.Header.Get("Authorization") == "token "+Token })
}

// giteaPage cuts out of a list what is asked for: a server gives at most 50.
func giteaPage(r *request, all []object) []object {
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if number < 1 || size < 1 {
		r.tb.Errorf("%s %s asks for no page", r.Method, r.URL)
		return nil
	}
	size = min(size, 50)
	from := min((number-1)*size, len(all))
	return append([]object{}, all[from:min(from+size, len(all))]...)
}

// giteaLabels serves labels, which have to be made first, and are named by their numbers.
func (s *server) giteaLabels(repo string) {
	var known []string // by their numbers, from 1
	s.handle("GET "+repo+"/labels", func(r *request) (any, error) { return giteaPage(r, hubNames(known)), nil })
	s.handle("POST "+repo+"/labels", func(r *request) (any, error) {
		var in struct{ Name, Color string }
		r.body(&in)
		if slices.Contains(known, in.Name) {
			s.tb.Errorf("the repository gets the label %s twice", in.Name)
		}
		known = append(known, in.Name)
		r.status = http.StatusCreated
		return object{"id": len(known), "name": in.Name}, nil
	})
	labels := repo + "/issues/{number}/labels"
	s.handle("POST "+labels, func(r *request) (any, error) {
		var in struct{ Labels []int }
		r.body(&in)
		for _, id := range in.Labels {
			if err := (writer{s.fake}).AddLabel(r.Context(), int(r.number("number")), known[id-1]); err != nil {
				return nil, err
			}
		}
		return hubNames(labelsOf(s.fake)), nil
	})
	s.handle("DELETE "+labels+"/{id}", func(r *request) (any, error) {
		r.status = http.StatusNoContent
		return nil, writer{s.fake}.RemoveLabel(r.Context(), int(r.number("number")), known[r.number("id")-1])
	})
}

// giteaStatuses serves the statuses of commits.
func (s *server) giteaStatuses(repo string) {
	s.handle("POST "+repo+"/statuses/{sha}", func(r *request) (any, error) {
		var in struct {
			State, Context, Description string
			URL                         string `json:"target_url"`
		}
		r.body(&in)
		r.status = http.StatusCreated
		return object{}, s.fake.SetStatus(r.Context(), forge.Status{
			Commit: r.PathValue("sha"), Context: in.Context, State: forge.State(in.State), Description: in.Description, URL: in.URL,
		})
	})
	s.handle("GET "+repo+"/commits/{sha}/statuses", func(r *request) (any, error) {
		same(s.tb, "order", r.URL.Query().Get("sort"), "leastindex")
		if !has(s.fake, r.PathValue("sha")) {
			return nil, missing("listing")
		}
		var all []object
		ever := everSet(s.fake, r.PathValue("sha"))
		for i, st := range ever { // the newest first
			listed := hubStatus(len(ever)-i, st)
			listed["status"] = listed["state"]
			delete(listed, "state")
			all = append(all, listed)
		}
		return giteaPage(r, all), nil
	})
}
