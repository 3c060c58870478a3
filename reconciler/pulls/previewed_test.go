package pulls_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// shelved has a previewer keep what it makes.
func (p *requested) shelved() *store.Store {
	s := store.New(func() {})
	p.previewer.Shown = pulls.Shown{Store: s, URL: "https://waybill.example"}
	return s
}

const previewPage = "https://waybill.example/previews/7"

// TestPreviewerKeepsReports: the web UI has the report of a head, and the forge leads there.
func TestPreviewerKeepsReports(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	s := p.shelved()
	head := p.push(false, to("two"))
	if said := p.looks(); !strings.Contains(said, "]("+previewPage+")") {
		t.Errorf("it says\n%s", said)
	}
	if at := p.fake.Shown(head, post.Context).URL; at != previewPage {
		t.Errorf("the status leads to %q", at)
	}
	kept, _ := s.Find(forgetest.Number)
	if kept.State != forge.Success || kept.Line != "1 object in 1 cluster" || kept.Report == nil || kept.Report.Head != head {
		t.Fatalf("there is %+v", kept)
	}
	if html, err := kept.Report.HTML(); err != nil || !strings.Contains(string(html), `"m":"a"`) {
		t.Errorf("the report is %v\n%s", err, html)
	}
	nowhere := strings.Repeat("0", 38) + "ff"
	p.fake.PushCommit(nowhere)
	p.fake.SetFork(true)
	p.looks()
	if kept, _ = s.Find(forgetest.Number); kept.State != forge.Broken || kept.Pull.Head != nowhere || kept.Report == nil || kept.Report.Head != head {
		t.Errorf("of a head that is not there, there is %+v", kept)
	}
}

// TestPreviewerSaysWhatWaits: what waits for a maintainer is known to wait, and without a report.
func TestPreviewerSaysWhatWaits(t *testing.T) {
	p := newRequested(t, "")
	s := p.shelved()
	head := p.push(true, to("two"))
	for range 2 {
		p.looks()
		if kept, _ := s.Find(forgetest.Number); kept.State != forge.Pending || !strings.Contains(kept.Line, "/waybill preview "+head) || kept.Report != nil || !kept.Pull.Fork {
			t.Errorf("there is %+v", kept)
		}
	}
	if at := p.fake.Shown(head, post.StrangersContext).URL; at != previewPage {
		t.Errorf("the status leads to %q", at)
	}
}

// TestWhatWaitedIsGoneWhenItIsClosed: what waits is gone when it is closed, and waits again when it is
// opened again.
func TestWhatWaitedIsGoneWhenItIsClosed(t *testing.T) {
	p := newRequested(t, "")
	s := p.shelved()
	p.push(true, to("two"))
	p.looks()
	p.fake.Close()
	for range 3 {
		p.now = p.now.Add(10 * time.Minute)
		p.looks()
	}
	if kept, ok := s.Find(forgetest.Number); ok {
		t.Errorf("what is closed waits still: %+v", kept)
	}
	p.fake.Reopen()
	p.fake.Touch(p.now)
	p.looks()
	if kept, _ := s.Find(forgetest.Number); kept.State != forge.Pending {
		t.Errorf("what is open again is %+v", kept)
	}
}

// TestReportsOfWhatIsClosedAreGone: a forge does not list what is closed, so that it is asked.
func TestReportsOfWhatIsClosedAreGone(t *testing.T) {
	p := newRequested(t, "")
	s := p.shelved()
	p.push(false, to("two"))
	p.looks()
	p.fake.Close()
	known := func() bool {
		_, ok := s.Find(forgetest.Number)
		return ok
	}
	if p.looks(); !known() {
		t.Error("it is asked about although it was just seen")
	}
	p.now = p.now.Add(time.Hour)
	p.fake.Fail = func(method string) error {
		if method == "PullRequest" {
			return &forge.Error{Kind: forge.Gitea, Status: http.StatusServiceUnavailable}
		}
		return nil
	}
	if err := p.previewer.Look(t.Context()); err != nil || !known() {
		t.Errorf("it is known: %t, while the forge does not say: %v", known(), err)
	}
	p.fake.Fail = nil
	if p.looks(); known() {
		t.Error("a pull request that is closed is shown")
	}
}
