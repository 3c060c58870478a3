//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/forges/hub"
)

// TestGiteaShowsAFork has a controller show a pull request from a fork when a maintainer named its
// head, and one from the repository itself at once.
func TestGiteaShowsAFork(t *testing.T) {
	t.Parallel()
	h := hub.Start(t)
	h.Repository(t, "fleet")
	h.Commit(t, "fleet", "main", "main", "fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n")
	h.Commit(t, "fleet", "main", "main", "one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\n")
	port, err := controlplane.Port()
	if err != nil {
		t.Fatal(err)
	}
	site := "http://127.0.0.1:" + port
	h.Hook(t, h.Controls(t, "--previews", "--orders", "--ui-listen", "127.0.0.1:"+port, "--ui-url", site))
	h.Until(t, "it is published", func() bool { return h.Published(t, "manifests/a/configmap/one.yaml") })
	said := func(number int) []forge.Comment {
		all, err := h.Open(t, "waybill", "fleet").Comments(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		mine := all[:0]
		for _, c := range all {
			if c.Mine {
				mine = append(mine, c)
			}
		}
		return mine
	}
	page := func(number int) string { return site + fmt.Sprintf("/previews/%d", number) }
	preview := func(head string) forge.Status { return h.Shown(t, "fleet", head, "waybill/preview") }
	var pull struct{ Number int }

	own := h.Commit(t, "fleet", "main", "change", "two.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: a}\n")
	h.Do(t, "ann", http.MethodPost, "/repos/waybill/fleet/pulls", hub.Fields{"title": "a change", "head": "change", "base": "main"}, &pull)
	h.Until(t, "a change of the repository is shown", func() bool { return preview(own).State == forge.Success && len(said(pull.Number)) == 1 })
	if body := said(pull.Number)[0].Body; !strings.Contains(body, "1 object in 1 of 1 cluster**: 1 appears") || strings.Contains(body, "From a fork") || !strings.Contains(body, "]("+page(pull.Number)+")") {
		t.Errorf("it says\n%s", body)
	}
	if s := preview(own); s.URL != page(pull.Number) {
		t.Errorf("the status leads to %q", s.URL)
	}
	shows(t, page(pull.Number), fmt.Sprintf("#%d a change", pull.Number), own[:12], "Sound", `"m":"two"`)

	h.Do(t, "rob", http.MethodPost, "/repos/waybill/fleet/forks", hub.Fields{}, nil)
	var made struct{ Commit struct{ SHA string } }
	h.Until(t, "the fork takes a commit", func() bool {
		in := hub.Fields{
			"branch": "main", "new_branch": "mine", "message": "a stranger's",
			"content": base64.StdEncoding.EncodeToString([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs, namespace: a}\n")),
		}
		return h.Try(t, "rob", http.MethodPost, "/repos/rob/fleet/contents/theirs.yaml", in, &made) == nil
	})
	head := made.Commit.SHA
	h.Do(t, "rob", http.MethodPost, "/repos/waybill/fleet/pulls", hub.Fields{"title": "a stranger's", "head": "rob:mine", "base": "main"}, &pull)
	waits := func() forge.Status { return h.Shown(t, "fleet", head, "waybill/preview-fork") }
	h.Until(t, "a fork waits for a maintainer", func() bool { return waits().State == forge.Pending })
	if s := waits(); !strings.Contains(s.Description, "/waybill preview "+head) || len(said(pull.Number)) > 0 {
		t.Errorf("the status is %+v; it says %v", s, said(pull.Number))
	}
	shows(t, page(pull.Number), "It waits: from a fork: a maintainer may comment", "<code>/waybill preview "+head+"</code>", "!application/json")
	order := func(who, head string) {
		h.Do(t, who, http.MethodPost, fmt.Sprintf("/repos/waybill/fleet/issues/%d/comments", pull.Number), hub.Fields{"body": "/waybill preview " + head}, nil)
	}
	order("rob", head) // may not write, and is not answered
	order("wendy", own)
	h.Until(t, "wendy, who came after, is answered", func() bool {
		return strings.Contains(h.Shown(t, "fleet", head, "waybill/orders").Description, "it is about the head")
	})
	if s := preview(head); s.State != "" {
		t.Errorf("its author has it shown: %+v", s)
	}
	order("wendy", head)
	h.Until(t, "a fork that a maintainer named is shown", func() bool { return preview(head).State == forge.Success && len(said(pull.Number)) == 1 })
	if body := said(pull.Number)[0].Body; !strings.Contains(body, "ConfigMap/a/theirs") || !strings.Contains(body, "From a fork") {
		t.Errorf("it says\n%s", body)
	}
	shows(t, page(pull.Number), "rob, from a fork", head[:12], `"m":"theirs"`)
	shows(t, site+"/previews", "a stranger&#39;s", "from a fork", "a change")
}

// shows requires that a page has texts, and with "!" that it has not.
func shows(t *testing.T, url string, want ...string) {
	t.Helper()
	body := pageOf(t, url)
	for _, text := range want {
		if no, isNo := strings.CutPrefix(text, "!"); isNo == strings.Contains(body, no) {
			t.Errorf("%s: want %q in\n%s", url, text, body)
		}
	}
}
