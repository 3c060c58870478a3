//go:build e2e

package e2e

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/forges"
	"github.com/waybill-dev/waybill/test/forges/hub"
)

// visitor is somebody with a browser that keeps cookies, and where they are.
type visitor struct {
	t      *testing.T
	client *http.Client
	at     *url.URL
	status int
	page   string
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, client: &http.Client{Jar: jar, Timeout: time.Minute}, at: &url.URL{}}
}

// goes takes them to an address, as one of the page where it is, and submits a form there if there is one.
func (v *visitor) goes(to string, form url.Values) {
	v.t.Helper()
	next, err := v.at.Parse(to)
	if err != nil {
		v.t.Fatal(err)
	}
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, next.String(), body)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	v.at, v.status = resp.Request.URL, resp.StatusCode
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		v.page = ""
		return // it does not end
	}
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	v.page = string(page)
}

// sees requires that the page is the one at an address, and says something.
func (v *visitor) sees(address string, status int, says string) {
	v.t.Helper()
	if got := v.at.Scheme + "://" + v.at.Host + v.at.Path; got != address || v.status != status || !strings.Contains(v.page, says) {
		v.t.Fatalf("at %s, %d; want %q at %s, %d, in\n%s", got, v.status, says, address, status, v.page)
	}
}

var (
	toLogIn = regexp.MustCompile(`href="(/login/start[^"]*)"`)
	hidden  = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)
)

// logsIn follows the link by which one logs in, and does what Gitea asks for.
func (v *visitor) logsIn(login string) {
	v.t.Helper()
	link := toLogIn.FindStringSubmatch(v.page)
	if link == nil {
		v.t.Fatalf("there is no link to log in:\n%s", v.page)
	}
	v.goes(html.UnescapeString(link[1]), nil)
	v.goes("/user/login", url.Values{"user_name": {login}, "password": {forges.Password}})
	grant := url.Values{"granted": {"true"}}
	for _, field := range hidden.FindAllStringSubmatch(v.page, -1) {
		grant.Set(field[1], html.UnescapeString(field[2]))
	}
	if grant.Get("redirect_uri") == "" {
		v.t.Fatalf("Gitea does not ask whether the web UI may know:\n%s", v.page)
	}
	v.goes("/login/oauth/grant", grant)
}

// TestGiteaKnowsWhoLogsIn has people log in to the web UI at a real provider of OpenID Connect: Gitea,
// which says in which teams they are.
func TestGiteaKnowsWhoLogsIn(t *testing.T) {
	t.Parallel()
	h := hub.Start(t)
	h.Repository(t, "fleet")
	h.Commit(t, "fleet", "main", "main", "fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n")
	h.Do(t, "waybill", http.MethodPost, "/orgs", hub.Fields{"username": "acme"}, nil)
	var team struct{ ID int }
	h.Do(t, "waybill", http.MethodPost, "/orgs/acme/teams", hub.Fields{"name": "platform", "permission": "read", "units": []string{"repo.code"}}, &team)
	h.Do(t, "waybill", http.MethodPut, fmt.Sprintf("/teams/%d/members/wendy", team.ID), nil, nil)
	port, err := controlplane.Port()
	if err != nil {
		t.Fatal(err)
	}
	site := "http://127.0.0.1:" + port
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	h.Do(t, "waybill", http.MethodPost, "/user/applications/oauth2", hub.Fields{"name": "the web UI", "redirect_uris": []string{site + "/login/callback"}, "confidential_client": true}, &client)
	secret := filepath.Join(t.TempDir(), "client-secret")
	if err := os.WriteFile(secret, []byte(client.Secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Controls(t, "--ui-listen", "127.0.0.1:"+port, "--ui-url", site, "--ui-oidc-issuer", h.URL, "--ui-oidc-client-id", client.ID, "--ui-oidc-client-secret-file", secret, "--ui-oidc-allowed-groups", "acme:platform")
	h.Until(t, "it is published", func() bool {
		return h.Try(t, "waybill", http.MethodGet, "/repos/waybill/fleet/branches/waybill/state", nil, nil) == nil
	})

	v := newVisitor(t)
	v.goes(site+"/events", nil)
	v.sees(site+"/events", http.StatusUnauthorized, "nobody is logged in")
	v.goes(site+"/clusters/eu", nil)
	v.sees(site+"/login", http.StatusUnauthorized, "To look at this fleet you have to log in.")
	v.logsIn("wendy")
	v.sees(site+"/clusters/eu", http.StatusOK, "<span>wendy</span>") // the page that was asked for
	v.goes("/events", nil)
	v.sees(site+"/events", http.StatusOK, "")
	v.goes("/logout", nil)
	v.sees(site+"/logout", http.StatusOK, "You are logged out here")
	for _, path := range []string{"/events", "/clusters/eu", "/changes"} {
		if v.goes(path, nil); v.status != http.StatusUnauthorized {
			t.Errorf("who is logged out sees %s: %d", path, v.status)
		}
	}
	v.goes("/", nil)
	v.goes(html.UnescapeString(toLogIn.FindStringSubmatch(v.page)[1]), nil) // Gitea knows who that is, and what it may say
	v.sees(site+"/", http.StatusOK, "<span>wendy</span>")

	other := newVisitor(t)
	other.goes(site+"/", nil)
	other.logsIn("rob")
	other.sees(site+"/login/callback", http.StatusForbidden, "you are in no group that may look at this fleet")
	for _, path := range []string{"/events", "/"} {
		if other.goes(path, nil); other.status != http.StatusUnauthorized {
			t.Errorf("who is in no group sees %s: %d", path, other.status)
		}
	}
}
