package forgetest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
)

// The people of a fake forge. Waybill is who its client asks as.
var (
	Waybill  = forge.User{ID: 1, Login: "waybill", Bot: true}
	Author   = forge.User{ID: 2, Login: "ann"} // of the pull request, who may write
	Writer   = forge.User{ID: 3, Login: "wendy"}
	Reader   = forge.User{ID: 4, Login: "rob"}
	Stranger = forge.User{ID: 5, Login: "sam"}
)

// Number is the pull request of a fake forge.
const Number = 7

// Fake is a forge in memory, with one pull request. As a forge.Forge it is asked by Waybill.
type Fake struct {
	// Fail, if it is there, is asked before each call, by the name of its method, and fails it.
	Fail func(method string) error

	mu          sync.Mutex
	pull        forge.PullRequest
	heads       []string // that there were
	comments    []forge.Comment
	statuses    []forge.Status
	permissions map[int64]forge.Permission
	labels      []string
	last        counter // of what has a number
}

var _ forge.Forge = (*Fake)(nil)

// Epoch is when everything begins.
var Epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// NewFake returns a forge whose pull request has no comment yet.
func NewFake() *Fake {
	f := &Fake{permissions: map[int64]forge.Permission{Author.ID: forge.Write, Writer.ID: forge.Write, Reader.ID: forge.Read, Waybill.ID: forge.Admin}}
	f.pull = forge.PullRequest{Number: Number, Base: "main", Branch: "change", Author: Author, Open: true, URL: "https://forge.example/acme/fleet/pulls/7", Title: "a change"}
	f.Push()
	return f
}

// World is the fake as its tests see it.
func (f *Fake) World() World {
	return World{
		Forge: writer{f}, Number: Number, Head: f.Pull().Head, Base: "main", Author: Author, Writer: Writer, Reader: Reader, Stranger: Stranger,
		Say: func(_ T, as forge.User, body string) { f.SayAs(as, body) },
		Edit: func(t T, comment int64, body string) {
			if err := f.EditComment(t.Context(), Number, comment, body); err != nil {
				t.Fatal(err)
			}
		},
		Merge: func(T) string { f.Merge(strings.Repeat("4", 40)); return strings.Repeat("4", 40) },
		Push:  func(T) string { return f.Push() }, Shown: func(_ T, commit, about string) forge.Status { return f.Shown(commit, about) },
		Labels: func(T) []string { return labelsOf(f) },
	}
}

// counter numbers what there is.
type counter int64

// next is the number of one more.
func (c *counter) next() int64 {
	*c++
	return int64(*c)
}

// at is when a thing of a number came about.
func at(number int64) time.Time { return Epoch.Add(time.Duration(number) * time.Second) }

// Push gives the pull request another head.
func (f *Fake) Push() (head string) {
	f.mu.Lock()
	head = fmt.Sprintf("%040x", 0xabc000+f.last.next())
	f.mu.Unlock()
	f.PushCommit(head)
	return head
}

// PushCommit gives the pull request a head.
func (f *Fake) PushCommit(head string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pull.Head, f.heads, f.pull.Updated = head, append(f.heads, head), at(f.last.next())
}

// Touch says when something of the pull request changed last.
func (f *Fake) Touch(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pull.Updated = at
}

// Close closes the pull request.
func (f *Fake) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pull.Open = false
}

// Merge merges the pull request as a commit.
func (f *Fake) Merge(commit string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pull.Open, f.pull.Merged, f.heads = false, commit, append(f.heads, commit)
}

// writer is a fake that merges, and labels.
type writer struct{ *Fake }

// MergePullRequest implements forge.Merger.
func (w writer) MergePullRequest(ctx context.Context, number int, head string) error {
	p, err := w.PullRequest(ctx, number)
	if err == nil && (p.Head != head || !p.Open) {
		err = &forge.Error{Host: "forge.example", Doing: "merging", Status: http.StatusConflict}
	}
	if err == nil {
		w.Merge(strings.Repeat("5", 40))
	}
	return err
}

// AddLabel implements forge.Labeler.
func (w writer) AddLabel(ctx context.Context, number int, name string) error {
	err := w.RemoveLabel(ctx, number, name)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.labels = append(w.labels, name)
	}
	return err
}

// RemoveLabel implements forge.Labeler.
func (w writer) RemoveLabel(ctx context.Context, number int, name string) error {
	_, err := w.PullRequest(ctx, number)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.labels = slices.DeleteFunc(slices.Clone(w.labels), func(l string) bool { return l == name })
	return err
}

// labelsOf are those of the pull request.
func labelsOf(f *Fake) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.labels
}

// Reopen opens the pull request again.
func (f *Fake) Reopen() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pull.Open = true
}

// SetFork says whether the pull request comes from a fork.
func (f *Fake) SetFork(fork bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pull.Fork, f.pull.Branch = fork, map[bool]string{false: "change"}[fork]
}

// Pull returns the pull request.
func (f *Fake) Pull() forge.PullRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pull
}

// SayAs has somebody comment on the pull request.
func (f *Fake) SayAs(u forge.User, body string) forge.Comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.last.next()
	c := forge.Comment{ID: n, Author: u, Mine: u == Waybill, Body: body, Created: at(n), URL: fmt.Sprintf("%s#%d", f.pull.URL, n)}
	f.comments, f.pull.Updated = append(f.comments, c), at(n)
	return c
}

// Permit says what somebody may do from now on.
func (f *Fake) Permit(u forge.User, p forge.Permission) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.permissions[u.ID] = p
}

// Shown returns the status that is shown at a commit.
func (f *Fake) Shown(commit, about string) forge.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range slices.Backward(f.statuses) {
		if s.Commit == commit && s.Context == about {
			return s
		}
	}
	return forge.Status{}
}

func (f *Fake) fails(method string) error {
	if f.Fail == nil {
		return nil
	}
	return f.Fail(method)
}

func missing(doing string) error {
	return &forge.Error{Host: "forge.example", Doing: doing, Status: http.StatusNotFound}
}

// PullRequest implements forge.Forge.
func (f *Fake) PullRequest(_ context.Context, number int) (forge.PullRequest, error) {
	if err := f.fails("PullRequest"); err != nil {
		return forge.PullRequest{}, err
	}
	if p := f.Pull(); p.Number == number {
		return p, nil
	}
	return forge.PullRequest{}, missing("reading")
}

// PullRequestsOf implements forge.Forge.
func (f *Fake) PullRequestsOf(_ context.Context, commit string) ([]forge.PullRequest, error) {
	if err := f.fails("PullRequestsOf"); err != nil {
		return nil, err
	}
	if p := f.Pull(); p.Head == commit && p.Open {
		return []forge.PullRequest{p}, nil
	}
	return nil, nil
}

// PullRequestsMergedAs implements forge.Forge.
func (f *Fake) PullRequestsMergedAs(_ context.Context, commit string) ([]forge.PullRequest, error) {
	if err := f.fails("PullRequestsMergedAs"); err != nil {
		return nil, err
	}
	if p := f.Pull(); p.Merged == commit && commit != "" {
		return []forge.PullRequest{p}, nil
	}
	return nil, nil
}

// OpenPullRequests implements forge.Forge.
func (f *Fake) OpenPullRequests(_ context.Context, since time.Time) ([]forge.PullRequest, error) {
	if err := f.fails("OpenPullRequests"); err != nil {
		return nil, err
	}
	if p := f.Pull(); p.Open && !p.Updated.Before(since) {
		return []forge.PullRequest{p}, nil
	}
	return nil, nil
}

// Comments implements forge.Forge.
func (f *Fake) Comments(_ context.Context, number int) ([]forge.Comment, error) {
	if err := f.fails("Comments"); err != nil {
		return nil, err
	}
	if number != Number {
		return nil, missing("reading")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.comments), nil
}

// Comment implements forge.Forge.
func (f *Fake) Comment(_ context.Context, number int, body string) (forge.Comment, error) {
	if err := f.fails("Comment"); err != nil {
		return forge.Comment{}, err
	}
	if number != Number {
		return forge.Comment{}, missing("commenting")
	}
	return f.SayAs(Waybill, body), nil
}

// EditComment implements forge.Forge.
func (f *Fake) EditComment(_ context.Context, _ int, comment int64, body string) error {
	if err := f.fails("EditComment"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.comments, func(c forge.Comment) bool { return c.ID == comment })
	if i < 0 {
		return missing("editing")
	}
	f.comments[i].Body, f.comments[i].Edited = body, true
	return nil
}

// DeleteComment implements forge.Forge.
func (f *Fake) DeleteComment(_ context.Context, _ int, comment int64) error {
	if err := f.fails("DeleteComment"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.comments)
	f.comments = slices.DeleteFunc(f.comments, func(c forge.Comment) bool { return c.ID == comment })
	if len(f.comments) == before {
		return missing("deleting")
	}
	return nil
}

// SetStatus implements forge.Forge.
func (f *Fake) SetStatus(_ context.Context, s forge.Status) error {
	if err := f.fails("SetStatus"); err != nil {
		return err
	}
	return SetStatusAs(f, Waybill, s)
}

// SetStatusAs has somebody show a status at a commit.
func SetStatusAs(f *Fake, u forge.User, s forge.Status) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.heads, s.Commit) {
		return missing("setting a status")
	}
	s.Description, s.Creator, s.Time = s.Line(), u, at(f.last.next())
	f.statuses = append(f.statuses, s)
	return nil
}

// Statuses implements forge.Forge.
func (f *Fake) Statuses(_ context.Context, commit string) ([]forge.Status, error) {
	if err := f.fails("Statuses"); err != nil {
		return nil, err
	}
	if !has(f, commit) {
		return nil, missing("listing statuses")
	}
	var found []forge.Status
	for _, s := range everSet(f, commit) {
		isSaid := func(t forge.Status) bool { return t.Context == s.Context && t.Creator == s.Creator }
		if !slices.ContainsFunc(found, isSaid) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b forge.Status) int {
		return cmp.Or(cmp.Compare(a.Context, b.Context), cmp.Compare(a.Creator.Login, b.Creator.Login))
	})
	return found, nil
}

// everSet lists all statuses of a commit, from the one that was set last.
func everSet(f *Fake, commit string) (found []forge.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range slices.Backward(f.statuses) {
		if s.Commit == commit {
			found = append(found, s)
		}
	}
	return found
}

// Permission implements forge.Forge.
func (f *Fake) Permission(_ context.Context, u forge.User) (forge.Permission, error) {
	if err := f.fails("Permission"); err != nil {
		return forge.None, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.permissions[u.ID], nil
}
