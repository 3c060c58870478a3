package forge

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// listed is a status as a forge lists it.
type listed struct {
	id int64 // which grows
	Status
}

// newest leaves of statuses, in whatever order they are, the newest of each context and creator, by context and then by creator.
// A status of somebody does not hide what somebody else said of the same context.
func newest(commit string, all []listed) []Status {
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(
			cmp.Compare(a.Context, b.Context), cmp.Compare(a.Creator.Login, b.Creator.Login), cmp.Compare(a.Creator.ID, b.Creator.ID),
			cmp.Compare(b.id, a.id),
		)
	})
	all = slices.CompactFunc(all, func(a, b listed) bool { return a.Context == b.Context && a.Creator == b.Creator })
	statuses := make([]Status, len(all))
	for i, s := range all {
		statuses[i] = s.Status
		statuses[i].Commit, statuses[i].Description = commit, s.Line()
	}
	return statuses
}

// skipped is GitLab's word, and Gitea's, for what did not run, and will not.
const skipped = "skipped"

// stateOf reads the words of all forges. What is none of these says nothing yet, such as skipped and Gitea's warning.
func stateOf(word string) State {
	switch word {
	case "success":
		return Success
	case "failure", "failed":
		return Failure
	case "error", "canceled":
		return Broken
	}
	return Pending
}

// listing says what is done.
func listing(commit string) string { return "listing the statuses of " + short(commit) }

// hubStatus is what GitHub and Gitea say of a status.
type hubStatus struct {
	ID          int64       `json:"id"`
	State       string      `json:"state"`  // of GitHub
	Status      string      `json:"status"` // of Gitea
	Context     string      `json:"context"`
	Description string      `json:"description"`
	URL         string      `json:"target_url"`
	Creator     *githubUser `json:"creator"`
	Created     time.Time   `json:"created_at"`
}

func (s *hubStatus) value() listed {
	word := cmp.Or(s.State, s.Status)
	return listed{s.ID, Status{
		Context: s.Context, State: stateOf(word), Description: s.Description, URL: s.URL,
		Creator: s.Creator.user(), Time: s.Created, Optional: word == skipped,
	}}
}

// hubStatuses reads a list of GitHub or Gitea, which has each status that was ever set.
func (c *client) hubStatuses(ctx context.Context, commit string, order url.Values) ([]Status, error) {
	k := get(listing(commit), "/commits/"+url.PathEscape(commit)+"/statuses", nil)
	k.query = order
	all, err := pages[hubStatus](ctx, c, k, nil)
	if err != nil {
		return nil, err
	}
	list := make([]listed, len(all))
	for i := range all {
		list[i] = all[i].value()
	}
	return newest(commit, list), nil
}

// Statuses implements Forge. GitHub answers for what is no commit of the repository that it cannot process the request.
func (g *github) Statuses(ctx context.Context, commit string) ([]Status, error) {
	list, err := g.hubStatuses(ctx, commit, nil)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusUnprocessableEntity {
		missing := *e
		missing.Status = http.StatusNotFound
		return nil, &missing
	}
	return list, err
}

// Statuses implements Forge. Gitea's leastindex begins with the one that was set last, so that a status which is set
// meanwhile hides none of a later page.
func (g *gitea) Statuses(ctx context.Context, commit string) ([]Status, error) {
	return g.hubStatuses(ctx, commit, url.Values{"sort": {"leastindex"}})
}

// labStatus is what GitLab says of a status, and of a job of its own, which is one, too.
type labStatus struct {
	ID          int64       `json:"id"`
	Status      string      `json:"status"`
	Name        string      `json:"name"`
	Description string      `json:"description"` // of a job: none
	URL         string      `json:"target_url"`
	Author      *gitlabUser `json:"author"`
	MayFail     bool        `json:"allow_failure"`
	Created     time.Time   `json:"created_at"`
	Started     time.Time   `json:"started_at"`
	Finished    time.Time   `json:"finished_at"`
}

func (s *labStatus) value() listed {
	at := s.Created
	for _, later := range []time.Time{s.Started, s.Finished} {
		if later.After(at) {
			at = later
		}
	}
	return listed{s.ID, Status{
		Context: s.Name, State: stateOf(s.Status), Description: s.Description, URL: s.URL, Creator: s.Author.user(), Time: at,
		Optional: s.isOptional(),
	}}
}

// isOptional reports what GitLab leaves out when it says whether a pipeline went well. A manual job that may not fail is waited for, as
// GitLab does.
func (s *labStatus) isOptional() bool {
	return s.Status == skipped || s.MayFail && slices.Contains([]string{"failed", "canceled", "manual"}, s.Status)
}

// Statuses implements Forge. GitLab leaves out what was set anew.
func (g *gitlab) Statuses(ctx context.Context, commit string) ([]Status, error) {
	k := get(listing(commit), "/repository/commits/"+url.PathEscape(commit)+"/statuses", nil)
	all, err := pages[labStatus](ctx, g.client, k, nil)
	if err != nil {
		return nil, err
	}
	list := make([]listed, len(all))
	for i := range all {
		list[i] = all[i].value()
	}
	return newest(commit, list), nil
}
