package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
)

// GitLab serves a fake by GitLab's REST API, version 4.
func GitLab(tb testing.TB, f *Fake) (url string) {
	tb.Helper()
	s := &server{fake: f, tb: tb, mux: http.NewServeMux()}
	project := "/api/v4/projects/" + strings.ReplaceAll(Name, "/", "%2F")
	s.handle("GET /api/v4/user", func(*request) (any, error) { return labUser(Waybill), nil })
	s.handle("GET "+project+"/merge_requests/{number}", func(r *request) (any, error) {
		p, err := f.PullRequest(r.Context(), int(r.number("number")))
		return labMerge(p), err
	})
	s.handle("GET "+project+"/merge_requests", func(r *request) (any, error) {
		since, err := time.Parse(time.RFC3339, r.URL.Query().Get("updated_after"))
		same(tb, "order", r.URL.Query().Get("state")+" "+r.URL.Query().Get("order_by"), "opened updated_at")
		all := []object{}
		if p := f.Pull(); p.Open && !p.Updated.Before(since) {
			all = append(all, labMerge(p))
		}
		return page(r, all), err
	})
	s.handle("GET "+project+"/repository/commits/{sha}/merge_requests", func(r *request) (any, error) {
		if !has(f, r.PathValue("sha")) {
			return nil, missing("looking")
		}
		return page(r, []object{labMerge(f.Pull())}), nil
	})
	s.handle("PUT "+project+"/merge_requests/{number}/merge", func(r *request) (any, error) {
		var in struct{ SHA string }
		r.body(&in)
		return object{"state": "merged"}, writer{f}.MergePullRequest(r.Context(), int(r.number("number")), in.SHA)
	})
	s.handle("PUT "+project+"/merge_requests/{number}", s.labLabels)
	notes := project + "/merge_requests/{number}/notes"
	s.handle("GET "+notes, func(r *request) (any, error) {
		same(tb, "order", r.URL.Query().Get("order_by")+" "+r.URL.Query().Get("sort"), "created_at asc")
		all, err := f.Comments(r.Context(), int(r.number("number")))
		listed := []object{{"id": 1 << 20, "body": "added 1 commit", "system": true, "author": labUser(Author), "created_at": Epoch, "updated_at": Epoch}}
		for _, c := range all {
			listed = append(listed, labNote(c))
		}
		return page(r, listed), err
	})
	s.handle("POST "+notes, func(r *request) (any, error) {
		var in struct{ Body string }
		r.body(&in)
		c, err := f.Comment(r.Context(), int(r.number("number")), in.Body)
		r.status = http.StatusCreated
		return labNote(c), err
	})
	s.handle("PUT "+notes+"/{note}", func(r *request) (any, error) {
		var in struct{ Body string }
		r.body(&in)
		return object{}, f.EditComment(r.Context(), int(r.number("number")), r.number("note"), in.Body)
	})
	s.handle("DELETE "+notes+"/{note}", func(r *request) (any, error) {
		r.status = http.StatusNoContent
		return nil, f.DeleteComment(r.Context(), int(r.number("number")), r.number("note"))
	})
	s.handle("POST "+project+"/statuses/{sha}", s.labStatus)
	s.handle("GET "+project+"/repository/commits/{sha}/statuses", s.labStatuses)
	s.handle("GET "+project+"/members/all/{user}", func(r *request) (any, error) {
		for _, u := range []forge.User{Waybill, Author, Writer, Reader, Stranger} {
			if p, err := f.Permission(r.Context(), u); err != nil || u.ID == r.number("user") && p > forge.None {
				level := map[forge.Permission]int{forge.Read: 20, forge.Write: 30, forge.Admin: 40}[p]
				return object{"id": u.ID, "username": u.Login, "state": "active", "access_level": level}, err
			}
		}
		return nil, missing("asking")
	})
	return s.start(Bearer(Token))
}

// labLabels adds a label, or removes one.
func (s *server) labLabels(r *request) (any, error) {
	var in struct {
		Add    string `json:"add_labels"`
		Remove string `json:"remove_labels"`
	}
	r.body(&in)
	set, name := writer{s.fake}.AddLabel, in.Add
	if in.Remove != "" {
		set, name = writer{s.fake}.RemoveLabel, in.Remove
	}
	return object{}, set(r.Context(), int(r.number("number")), name)
}

// labStatus sets a status, which goes from no state to itself.
func (s *server) labStatus(r *request) (any, error) {
	var in struct {
		State, Name, Description string
		URL                      string `json:"target_url"`
	}
	r.body(&in)
	state, ok := map[string]forge.State{"pending": forge.Pending, "success": forge.Success, "failed": forge.Failure}[in.State]
	if !ok {
		s.tb.Errorf("GitLab knows no state %s", in.State)
	}
	if s.fake.Shown(r.PathValue("sha"), in.Name).State == state {
		r.status = http.StatusBadRequest
		event := map[string]string{"pending": "enqueue", "success": "succeed", "failed": "drop"}[in.State]
		return object{"message": object{"state": []string{"Cannot transition status via :" + event + " from :" + in.State}}}, nil
	}
	r.status = http.StatusCreated
	return object{}, s.fake.SetStatus(r.Context(), forge.Status{Commit: r.PathValue("sha"), Context: in.Name, State: state, Description: in.Description, URL: in.URL})
}

// labStatuses lists the statuses of a commit, from the oldest, without those that were set anew by the same author.
func (s *server) labStatuses(r *request) (any, error) {
	current, err := s.fake.Statuses(r.Context(), r.PathValue("sha"))
	if err != nil {
		return nil, err
	}
	var all []object
	ever := everSet(s.fake, r.PathValue("sha"))
	slices.Reverse(ever)
	for i, st := range ever {
		if !slices.Contains(current, st) {
			continue
		}
		state := map[forge.State]string{forge.Pending: "pending", forge.Success: "success", forge.Failure: "failed", forge.Broken: "failed"}[st.State]
		listed := object{
			"id": i + 1, "sha": st.Commit, "ref": "change", "status": state, "name": st.Context, "description": st.Description, "target_url": st.URL,
			"created_at": st.Time, "started_at": nil, "finished_at": st.Time, "allow_failure": false, "coverage": nil, "author": labUser(st.Creator),
		}
		all = append(all, listed)
	}
	return page(r, all), nil
}

func labUser(u forge.User) object {
	return object{"id": u.ID, "username": u.Login, "name": u.Login, "state": "active", "bot": u.Bot}
}

func labMerge(p forge.PullRequest) object {
	state := "closed"
	var merge any
	if p.Open {
		state = "opened"
	} else if p.Merged != "" {
		state, merge = "merged", p.Merged
	}
	return object{
		"id": 4000 + p.Number, "iid": p.Number, "title": p.Title, "sha": p.Head, "source_branch": "change", "target_branch": p.Base, "source_project_id": 10, "target_project_id": 10,
		"state": state, "author": labUser(p.Author), "web_url": p.URL, "updated_at": p.Updated, "merge_commit_sha": merge, "squash_commit_sha": nil,
	}
}

func labNote(c forge.Comment) object {
	updated := c.Created
	if c.Edited {
		updated = updated.Add(1)
	}
	return object{
		"id": c.ID, "body": c.Body, "author": labUser(c.Author), "system": false,
		"created_at": c.Created, "updated_at": updated,
	}
}
