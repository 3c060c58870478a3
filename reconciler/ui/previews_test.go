package ui_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/shown"
)

// shelves has a fleet show pull requests.
func (f *fleet) shelves() *store.Store {
	f.ui.Previews = store.New(f.ui.Changed)
	f.ui.Previews.Working(true)
	return f.ui.Previews
}

func pull(number int, head, title string) *forge.PullRequest {
	return &forge.PullRequest{Number: number, Head: strings.Repeat(head, 40), Title: title, Author: forge.User{Login: "ann"}, URL: "https://forge.example/pulls/1", Base: "main", Member: true}
}

// shown asks for a page, and holds it to texts that it has, and with "!" has not.
func (f *fleet) shown(path string, want ...string) {
	f.t.Helper()
	w := f.get(http.MethodGet, path)
	text := shown.Words(w.Body.String())
	for _, s := range want {
		if no, isNo := strings.CutPrefix(s, "!"); isNo == strings.Contains(text, no) {
			f.t.Errorf("%s: %d; want %q in\n%s", path, w.Code, s, text)
		}
	}
}

func TestPreviews(t *testing.T) {
	f := published(t)
	s, c := f.shelves(), previewtest.Everything()
	f.shown("/", "Changes Previews")
	f.shown("/previews", "No open pull request to main is known.")
	ago := f.now.Add(-time.Hour)
	if err := s.Keep(ago, pull(1, "a", "the first"), &c); err != nil {
		t.Fatal(err)
	}
	s.Say(ago, pull(1, "a", "the first"), forge.Failure, "1 object; 1 cluster would be held")
	if err := s.Keep(ago, pull(2, "b", "moved on"), &c); err != nil {
		t.Fatal(err)
	}
	s.Seen(f.now, *pull(2, "c", "moved on"))
	stranger := pull(3, "d", "")
	stranger.Fork, stranger.Member = true, false
	s.Say(f.now, stranger, forge.Pending, "from a fork: a maintainer may comment /waybill preview "+stranger.Head)
	s.Say(f.now, pull(4, "e", "lost"), forge.Broken, "the versions could not be compared")
	s.Say(f.now, pull(5, "f", "kept no longer"), forge.Success, "1 object in 1 cluster")
	f.shown("/previews", "#5 kept no longer by ann ✓ Sound 1 object in 1 cluster ffffffffffff 0s ago", "#4 lost by ann ? Not known", "Pull request 3 from a fork by ann ‖ Waits from a fork: a maintainer may comment",
		"#2 moved on by ann … Not made yet", "#1 the first by ann ✕ Not sound 1 object; 1 cluster would be held aaaaaaaaaaaa 60m ago", "!Another replica")
	f.shown("/previews/1", "#1 the first", "✕ Not sound", "At the forge pull request 1", "Blast radius", "Held by the guard", "!earlier head")
	f.shown("/previews/2", "Nobody looked at this head yet", "Below is what the earlier head bbbbbbbbbbbb would do, as of 60m ago.", "Blast radius")
	f.shown("/previews/3", "Author ann, from a fork", "It waits: from a fork: a maintainer may comment /waybill preview dddd", "!Blast radius")
	f.shown("/previews/4", "the log of the controller says why", "!Blast radius")
	f.shown("/previews/5", "The report was kept until newer ones took its room.", "waybill diff BASE ffff", "!Blast radius")
	sound := c
	sound.Diags = nil
	if err := s.Keep(f.now, pull(7, "9", "a hold alone"), &sound); err != nil {
		t.Fatal(err)
	}
	s.Say(f.now, pull(7, "9", "a hold alone"), forge.Failure, "1 object; 1 cluster would be held")
	f.shown("/previews/7", "#7 a hold alone", "‖ Would be held", "!Not sound")
	for _, path := range []string{"/previews/6", "/previews/x", "/previews/-1", "/previews/1/2", "/previews/999999999999999999999999"} {
		if w := f.get(http.MethodGet, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	s.Working(false)
	f.shown("/previews", "Another replica of the controller looks at pull requests, and shows them. Below is what this one knows of its own time.")
}

func TestNobodyLooksAtPullRequests(t *testing.T) {
	f := published(t)
	f.shown("/", "!Previews")
	for _, path := range []string{"/previews", "/previews/1"} {
		if w := f.get(http.MethodGet, path); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "--previews has it do so") {
			t.Errorf("%s: %d %s", path, w.Code, shown.Words(w.Body.String()))
		}
	}
}

// TestAPreviewHasNothingInline: what draws a report is a file of the UI's own, as its policy demands.
func TestAPreviewHasNothingInline(t *testing.T) {
	f := published(t)
	s := f.shelves()
	for i, text := range append(previewtest.Hostile(), hostile, "</script><script>alert(1)</script>") {
		c, number := previewtest.Filled(text), i+1
		p := pull(number, "a", text)
		p.Author.Login, p.URL = text, "javascript:alert(1)"
		if err := s.Keep(f.now, p, &c); err != nil {
			t.Fatal(err)
		}
		s.Say(f.now, p, forge.Failure, text)
	}
	all, _ := s.All()
	var b strings.Builder
	b.WriteString(f.get(http.MethodGet, "/previews").Body.String())
	for i := range all {
		b.WriteString(f.get(http.MethodGet, pages.PreviewURL(all[i].Pull.Number)).Body.String())
	}
	page := b.String()
	for _, bad := range []string{" style=", "<style", "<script>", "<img", "<base", `="javascript:`, "\u202e", "\x1b"} {
		if strings.Contains(page, bad) {
			at := strings.Index(page, bad)
			t.Errorf("there is %q: %q", bad, page[max(0, at-200):at+50])
		}
	}
	if n := strings.Count(page, `type="application/json"`); n == 0 {
		t.Error("there is no report")
	}
	for part := range strings.SplitSeq(page, `="/assets/`) {
		if name, _, _ := strings.Cut(part, `"`); !strings.HasPrefix(part, "<!doctype") {
			if w := f.get(http.MethodGet, "/assets/"+name); w.Code != http.StatusOK {
				t.Errorf("its file %s: %d", name, w.Code)
			}
		}
	}
}

// shut lets nobody in.
type shut struct{ login.Open }

func (shut) Who(*http.Request) (login.Session, error) { return login.Session{}, errors.New("nobody") }

func (shut) Refuse(w http.ResponseWriter, _ *http.Request, why error, _ login.Tell) {
	http.Error(w, why.Error(), http.StatusUnauthorized)
}

// TestPreviewsNeedALogin: what pull requests do is for those who may look.
func TestPreviewsNeedALogin(t *testing.T) {
	f := published(t)
	f.shelves().Say(f.now, pull(1, "a", "the first"), forge.Success, "no cluster changes")
	f.ui.Guard = shut{}
	for _, path := range []string{"/previews", "/previews/1", "/previews/2"} {
		if w := f.get(http.MethodGet, path); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "the first") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestEventsTellOfPreviews: an open page hears that there is another report.
func TestEventsTellOfPreviews(t *testing.T) {
	f := published(t)
	s := f.shelves()
	url, stop := f.listens(t)
	defer stop()
	_, r := stream(t, url)
	first := event(t, r)
	if key := strings.TrimPrefix(strings.TrimSpace(first), "event: facts\ndata: "); !strings.Contains(f.get(http.MethodGet, "/previews").Body.String(), `data-key="`+key+`"`) {
		t.Errorf("the first event %q is not of what the page shows", first)
	}
	s.Say(f.now, pull(1, "a", "the first"), forge.Success, "no cluster changes")
	if next := event(t, r); next == first || !strings.HasPrefix(next, "event: facts") {
		t.Errorf("then it tells %q", next)
	}
}
