package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
)

// GitHub serves a fake by GitHub's REST API of 2022-11-28, as an Enterprise Server does: below
// /api/v3. Authorized says who may ask; whose is what /user answers, and its absence is the
// refusal that tokens of installations get, which only the GraphQL API tells who they are.
func GitHub(tb testing.TB, f *Fake, whose *forge.User, authorized func(*http.Request) bool) (url string) {
	tb.Helper()
	s := &server{fake: f, tb: tb, mux: http.NewServeMux()}
	const repo = "/api/v3/repos/" + Name
	s.handle("GET /api/v3/user", func(r *request) (any, error) {
		if whose == nil {
			r.status = http.StatusForbidden
			return object{"message": "Resource not accessible by integration"}, nil
		}
		return hubUser(*whose), nil
	})
	s.handle("POST /api/graphql", func(r *request) (any, error) {
		var in struct{ Query string }
		r.body(&in)
		same(tb, "query", strings.Join(strings.Fields(in.Query), " "), "query { viewer { login } }")
		return object{"data": object{"viewer": object{"login": Waybill.Login}}}, nil
	})
	s.handle("GET "+repo+"/pulls/{number}", func(r *request) (any, error) {
		p, err := f.PullRequest(r.Context(), int(r.number("number")))
		return hubPull(p), err
	})
	s.handle("GET "+repo+"/pulls", func(r *request) (any, error) {
		same(tb, "order", r.URL.Query().Get("state")+" "+r.URL.Query().Get("sort")+" "+r.URL.Query().Get("direction"), "open updated desc")
		return page(r, []object{hubPull(f.Pull())}), nil
	})
	s.handle("GET "+repo+"/commits/{sha}/pulls", func(r *request) (any, error) {
		if !has(f, r.PathValue("sha")) {
			r.status = http.StatusUnprocessableEntity
			return object{"message": "No commit found for SHA: " + r.PathValue("sha")}, nil
		}
		listed := hubPull(f.Pull()) // it is a commit of the pull request, if not its head
		delete(listed, "merged")    // which lists do not have
		return page(r, []object{listed}), nil
	})
	s.handle("GET "+repo, func(*request) (any, error) {
		return object{"allow_merge_commit": false, "allow_squash_merge": true, "allow_rebase_merge": true}, nil
	})
	s.handle("PUT "+repo+"/pulls/{number}/merge", func(r *request) (any, error) {
		var in struct {
			SHA    string
			Method string `json:"merge_method"`
		}
		r.body(&in)
		same(tb, "merge_method", in.Method, "squash")
		return object{"merged": true}, writer{f}.MergePullRequest(r.Context(), int(r.number("number")), in.SHA)
	})
	s.hubLabels(repo)
	s.hubComments(repo, page[object])
	s.hubStatuses(repo)
	s.handle("GET "+repo+"/collaborators/{login}/permission", func(r *request) (any, error) {
		u, ok := person(r.PathValue("login"))
		if !ok {
			return nil, missing("asking")
		}
		p, err := f.Permission(r.Context(), u)
		return object{"permission": p.String(), "role_name": p.String(), "user": hubUser(u)}, err
	})
	return s.start(func(r *http.Request) bool {
		same(tb, "Accept", r.Header.Get("Accept"), "application/vnd.github+json")
		same(tb, "X-GitHub-Api-Version", r.Header.Get("X-GitHub-Api-Version"), "2022-11-28")
		if r.Header.Get("User-Agent") == "" {
			tb.Errorf("GitHub refuses who does not say what it is")
		}
		return authorized(r)
	})
}

// hubStatuses serves the statuses of commits.
func (s *server) hubStatuses(repo string) {
	s.handle("POST "+repo+"/statuses/{sha}", func(r *request) (any, error) {
		var in struct {
			State, Context, Description string
			URL                         string `json:"target_url"`
		}
		r.body(&in)
		known := slices.Contains([]string{"error", "failure", "pending", "success"}, in.State)
		if !known || len([]rune(in.Description)) > 140 || !has(s.fake, r.PathValue("sha")) {
			r.status = http.StatusUnprocessableEntity
			return object{"message": "Validation Failed", "errors": []string{"No commit found, or description is too long"}}, nil
		}
		r.status = http.StatusCreated
		return object{}, s.fake.SetStatus(r.Context(), forge.Status{Commit: r.PathValue("sha"), Context: in.Context, State: forge.State(in.State), Description: in.Description, URL: in.URL})
	})
	s.handle("GET "+repo+"/commits/{sha}/statuses", func(r *request) (any, error) {
		if !has(s.fake, r.PathValue("sha")) {
			r.status = http.StatusUnprocessableEntity
			return object{"message": "No commit found for SHA: " + r.PathValue("sha")}, nil
		}
		var all []object
		ever := everSet(s.fake, r.PathValue("sha"))
		for i, st := range ever { // the newest first
			all = append(all, hubStatus(len(ever)-i, st))
		}
		return page(r, all), nil
	})
}

// hubLabels serves labels, which GitHub makes where there is none of a name.
func (s *server) hubLabels(repo string) {
	labels := repo + "/issues/{number}/labels"
	s.handle("POST "+labels, func(r *request) (any, error) {
		var in struct{ Labels []string }
		r.body(&in)
		for _, name := range in.Labels {
			if err := (writer{s.fake}).AddLabel(r.Context(), int(r.number("number")), name); err != nil {
				return nil, err
			}
		}
		return hubNames(labelsOf(s.fake)), nil
	})
	s.handle("DELETE "+labels+"/{name}", func(r *request) (any, error) {
		if !slices.Contains(labelsOf(s.fake), r.PathValue("name")) {
			r.status = http.StatusNotFound
			return object{"message": "Label does not exist"}, nil
		}
		err := (writer{s.fake}).RemoveLabel(r.Context(), int(r.number("number")), r.PathValue("name"))
		return hubNames(labelsOf(s.fake)), err
	})
}

// hubNames are labels by their names.
func hubNames(names []string) []object {
	listed := []object{}
	for i, name := range names {
		listed = append(listed, object{"id": i + 1, "name": name})
	}
	return listed
}

// hubComments serves comments, of which a request gets a page.
func (s *server) hubComments(repo string, page func(*request, []object) []object) {
	f := s.fake
	s.handle("GET "+repo+"/issues/{number}/comments", func(r *request) (any, error) {
		all, err := f.Comments(r.Context(), int(r.number("number")))
		var listed []object
		for _, c := range all {
			listed = append(listed, hubComment(c))
		}
		return page(r, listed), err
	})
	s.handle("POST "+repo+"/issues/{number}/comments", func(r *request) (any, error) {
		var in struct{ Body string }
		r.body(&in)
		c, err := f.Comment(r.Context(), int(r.number("number")), in.Body)
		r.status = http.StatusCreated
		return hubComment(c), err
	})
	s.handle("PATCH "+repo+"/issues/comments/{comment}", func(r *request) (any, error) {
		var in struct{ Body string }
		r.body(&in)
		return object{}, f.EditComment(r.Context(), Number, r.number("comment"), in.Body)
	})
	s.handle("DELETE "+repo+"/issues/comments/{comment}", func(r *request) (any, error) {
		r.status = http.StatusNoContent
		return nil, f.DeleteComment(r.Context(), Number, r.number("comment"))
	})
}

// Bearer authorizes who has a token.
func Bearer(token string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+token }
}

// has reports whether a commit is there.
func has(f *Fake, commit string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.heads, commit)
}

// person finds somebody by login.
func person(login string) (forge.User, bool) {
	for _, u := range []forge.User{Waybill, Author, Writer, Reader, Stranger} {
		if strings.EqualFold(u.Login, login) {
			return u, true
		}
	}
	return forge.User{}, false
}

func hubUser(u forge.User) object {
	kind := "User"
	if u.Bot {
		kind = "Bot"
	}
	return object{"id": u.ID, "login": u.Login, "type": kind, "site_admin": false}
}

func hubStatus(id int, s forge.Status) object {
	return object{
		"id": id, "state": s.State, "context": s.Context, "description": s.Description, "target_url": s.URL, "creator": hubUser(s.Creator),
		"created_at": s.Time, "updated_at": s.Time,
	}
}

func hubPull(p forge.PullRequest) object {
	state := "closed"
	if p.Open {
		state = "open"
	}
	merge := p.Merged
	if merge == "" {
		merge = strings.Repeat("7", 40) // of a trial
	}
	return object{
		"merged": p.Merged != "", "merged_at": mergedAt(p), "merge_commit_sha": merge,
		"number": p.Number, "state": state, "html_url": p.URL, "user": hubUser(p.Author), "updated_at": p.Updated, "title": p.Title,
		"head": object{"ref": "change", "sha": p.Head, "repo": object{"id": 10}},
		"base": object{"ref": p.Base, "sha": strings.Repeat("0", 40), "repo": object{"id": 10}},
	}
}

// mergedAt is when a pull request was merged.
func mergedAt(p forge.PullRequest) any {
	if p.Merged == "" {
		return nil
	}
	return Epoch
}

func hubComment(c forge.Comment) object {
	updated := c.Created
	if c.Edited {
		updated = updated.Add(1)
	}
	return object{"id": c.ID, "body": c.Body, "user": hubUser(c.Author), "created_at": c.Created, "updated_at": updated, "html_url": c.URL}
}
