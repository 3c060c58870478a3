package pulls_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/sources"
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
