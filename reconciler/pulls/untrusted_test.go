package pulls_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/lock"
)

// listening is an engine that hears what is rendered with.
type listening struct {
	render.Engine

	t     *testing.T
	draws int // jobs that may draw
}

// Render implements render.Engine.
func (l *listening) Render(ctx context.Context, s sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	for _, j := range jobs {
		text, err := json.Marshal(j)
		if err != nil {
			l.t.Error(err)
		}
		if !strings.Contains(string(text), `"secret":`) {
			continue
		}
		l.draws++
		if !strings.Contains(string(text), `"masked":true`) {
			l.t.Error("a preview is rendered with a key that others draw from, too")
		}
	}
	return l.Engine.Render(ctx, s, jobs)
}

// TestNoPreviewDrawsFromTheRandomKey, be it a member's or a stranger's: what it draws from is thrown away.
func TestNoPreviewDrawsFromTheRandomKey(t *testing.T) {
	for _, fork := range []bool{false, true} {
		d := newDrawing(t)
		all := &listening{Engine: newCounted(), t: t}
		d.previewer.Reconciler.Engine = all
		d.previewer.Sandbox = func(*render.ConfigSpec, ...lock.Lock) (render.Engine, error) { return all, nil }
		d.push(fork, releases("two"))
		d.looks()
		if all.draws == 0 {
			t.Error("nothing is drawn")
		}
	}
}

// silent is a forge on which nothing seems to change.
type silent struct{ forge.Forge }

// OpenPullRequests implements forge.Forge.
func (silent) OpenPullRequests(context.Context, time.Time) ([]forge.PullRequest, error) {
	return nil, nil
}

// TestAHeadThatMovedWhileItWaitedIsNotLookedAt: its turn comes, and there is another head by then.
func TestAHeadThatMovedWhileItWaitedIsNotLookedAt(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	p.previewer.PerAuthor = 1
	p.push(true, to("two"))
	p.looks()
	waits := p.push(true, to("three"))
	p.looks()
	sandboxes := p.sandboxes
	p.push(true, to("four"))
	p.now = p.now.Add(2 * time.Hour)
	p.previewer.Forge = silent{p.fake}
	p.looks()
	if s := p.fake.Shown(waits, post.StrangersContext); s.State != forge.Pending || p.sandboxes != sandboxes {
		t.Errorf("with %d sandboxes more the head that waited shows %+v", p.sandboxes-sandboxes, s)
	}
}

// TestAMembersRequestIsAStrangersWithAHeadOfTheirs: a member's head was shown, and then there is one that is on no branch.
func TestAMembersRequestIsAStrangersWithAHeadOfTheirs(t *testing.T) {
	p := newRequested(t, "")
	head := p.push(false, to("two"))
	p.looks()
	if s := p.fake.Shown(head, post.Context); s.State != forge.Success {
		t.Fatalf("the member's head shows %+v", s)
	}
	head = p.push(false, to("three"))
	run(t, p.src, "branch", "-f", "change", "main")
	p.looks()
	if s := p.fake.Shown(head, post.StrangersContext); s.State != forge.Pending {
		t.Errorf("the stranger's head shows %+v", s)
	}
	if s := p.fake.Shown(head, post.Context); s.State != "" {
		t.Errorf("as a member's it shows %+v", s)
	}
}

// TestAChangeThatSharesNothingWithTheBranch is compared with where the branch is: it left it nowhere.
func TestAChangeThatSharesNothingWithTheBranch(t *testing.T) {
	p := newRequested(t, "")
	p.previewer.MergeBase = func(context.Context, files.ID, files.ID) (files.ID, bool, error) { return files.ID{}, false, nil }
	head := p.push(false, to("two"))
	change(t, p.src, map[string]string{"b.yaml": strings.ReplaceAll(strings.ReplaceAll(configMap, "name: a", "name: later"), "%", "x")})
	if said := p.looks(); !strings.Contains(said, "later") {
		t.Errorf("it says\n%s", said)
	}
	if s := p.fake.Shown(head, post.Context); s.State != forge.Success {
		t.Errorf("the status is %+v", s)
	}
}

// TestWhatAStrangerRendersIsKeptApart: the engine that renders a stranger's head keeps what it renders to itself, and that of a member's
// does not. Both render within a budget. A sandbox that is not there renders nothing.
func TestWhatAStrangerRendersIsKeptApart(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	apart, bound := 0, 0
	p.previewer.Apart = func(e render.Engine) render.Engine {
		apart++
		return e
	}
	p.previewer.Bound = func(e render.Engine) render.Engine {
		bound++
		return e
	}
	for _, fork := range []bool{false, true} {
		apart, bound = 0, 0
		p.push(fork, to(map[bool]string{true: "two", false: "three"}[fork]))
		if p.looks(); apart != map[bool]int{true: 1}[fork] || bound < 3 {
			t.Errorf("of a fork: %t; kept apart is %d times, within a budget %d", fork, apart, bound)
		}
	}
	p = newRequested(t, "previews: {forks: open}")
	p.previewer.Sandbox = func(*render.ConfigSpec, ...lock.Lock) (render.Engine, error) {
		return nil, errors.New("no sandbox at /srv")
	}
	head := p.push(true, to("two"))
	if said := p.looks(); strings.Contains(said, "/srv") || p.fake.Shown(head, post.StrangersContext).State != forge.Broken {
		t.Errorf("without a sandbox it says\n%s", said)
	}
}
