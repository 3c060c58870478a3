package hub

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// Removes has ann open a pull request of the repository fleet that deletes files, from a branch of main.
func (h *Hub) Removes(t forgetest.T, branch string, names ...string) (number int, head string) {
	t.Helper()
	from := "main"
	for _, name := range names {
		head, from = h.Delete(t, from, branch, name), branch
	}
	return h.Pull(t, branch), head
}

// Delete has ann delete a file of the repository fleet, on a branch that is made of another if it is not
// there.
func (h *Hub) Delete(t forgetest.T, from, branch, name string) (sha string) {
	t.Helper()
	var file struct{ SHA string }
	h.Do(t, "ann", http.MethodGet, "/repos/waybill/fleet/contents/"+name+"?ref="+from, nil, &file)
	in := Fields{"sha": file.SHA, "branch": from, "message": "delete " + name}
	if from != branch {
		in["new_branch"] = branch
	}
	var gone struct{ Commit struct{ SHA string } }
	h.Do(t, "ann", http.MethodDelete, "/repos/waybill/fleet/contents/"+name, in, &gone)
	return gone.Commit.SHA
}

// Pull has ann open a pull request of a branch of the repository fleet.
func (h *Hub) Pull(t forgetest.T, branch string) (number int) {
	t.Helper()
	var pull struct{ Number int }
	h.Do(t, "ann", http.MethodPost, "/repos/waybill/fleet/pulls", Fields{"title": "a change", "head": branch, "base": "main"}, &pull)
	return pull.Number
}

// Comment has somebody comment on a pull request of the repository fleet.
func (h *Hub) Comment(t forgetest.T, who string, number int, body string) {
	t.Helper()
	h.Do(t, who, http.MethodPost, fmt.Sprintf("/repos/waybill/fleet/issues/%d/comments", number), Fields{"body": body}, nil)
}

// Says is the comment of waybill on a pull request of the repository fleet; empty where there is none.
func (h *Hub) Says(t forgetest.T, number int) string {
	t.Helper()
	var all []struct {
		Body string
		User struct{ Login string }
	}
	h.Do(t, "waybill", http.MethodGet, fmt.Sprintf("/repos/waybill/fleet/issues/%d/comments", number), nil, &all)
	for _, c := range all {
		if c.User.Login == "waybill" {
			return c.Body
		}
	}
	return ""
}

// Offered is the command that the comment of waybill says; empty where it says none.
func (h *Hub) Offered(t forgetest.T, number int) string {
	t.Helper()
	for line := range strings.Lines(h.Says(t, number)) {
		if strings.HasPrefix(line, "/waybill approve-prune ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// Merge has waybill merge a pull request, and returns what main stands at then.
func (h *Hub) Merge(t forgetest.T, name string, number int) (commit string) {
	t.Helper()
	at := "/repos/waybill/" + name
	const patience = time.Minute
	merge := func() error {
		return h.Try(t, "waybill", http.MethodPost, fmt.Sprintf("%s/pulls/%d/merge", at, number), Fields{"Do": "merge"}, nil)
	}
	err := merge()
	for deadline := time.Now().Add(patience); err != nil && strings.Contains(err.Error(), "405") && time.Now().Before(deadline); err = merge() {
		time.Sleep(100 * time.Millisecond) // Gitea looks first whether it can be
	}
	if err != nil {
		t.Fatal(err)
	}
	var main struct{ Commit struct{ ID string } }
	h.Do(t, "waybill", http.MethodGet, at+"/branches/main", nil, &main)
	return main.Commit.ID
}

// Message is the message of the head of a branch of the repository fleet.
func (h *Hub) Message(t forgetest.T, branch string) string {
	t.Helper()
	var at struct{ Commit struct{ Message string } }
	h.Do(t, "waybill", http.MethodGet, "/repos/waybill/fleet/branches/"+branch, nil, &at)
	return at.Commit.Message
}
