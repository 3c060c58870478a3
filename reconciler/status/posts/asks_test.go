package posts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/status/posts"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// counted is a board that counts how often it is asked, and may be away.
type counted struct {
	board

	asked int
	away  error
}

func (c *counted) Statuses(ctx context.Context, commit string) ([]forge.Status, error) {
	if c.asked++; c.away != nil {
		return nil, c.away
	}
	return c.board.Statuses(ctx, commit)
}

// asking reads again and again what is said of the cluster since its first minute, with what was remembered.
func (f *fleet) asking(b posts.Lister) func(at time.Time) *staged.Posted {
	cache := &posts.Cache{}
	return func(at time.Time) *staged.Posted {
		f.Helper()
		heads, err := f.repo.Heads(f.Context())
		if err != nil {
			f.Fatal(err)
		}
		r := posts.Reader{Target: f.repo, Forge: b, Now: at, Cache: cache}
		all, err := r.Read(f.Context(), &posts.Asked{
			Clusters: map[string]time.Time{"eu": noon.Add(time.Minute)}, Creators: []string{"bot"},
			Heads: heads, Addresses: f.at, Published: map[string]tree.Published{"eu": {Built: f.built}},
		})
		if err != nil {
			f.Fatal(err)
		}
		return all["eu"]
	}
}

// TestAForgeIsAskedOnceAMinute about a commit, whatever it says meanwhile; where it fails it is asked again, and that is said.
func TestAForgeIsAskedOnceAMinute(t *testing.T) {
	f, b := &fleet{T: t, repo: twin.New("fleet"), at: own()}, &counted{board: board{}}
	head := f.publish(content("one"))
	read, at := f.asking(b), noon.Add(time.Hour)
	for n, tt := range []struct {
		after time.Duration
		asked int
		says  stage.Health
	}{{0, 1, ""}, {staged.AskEvery - time.Second, 1, ""}, {staged.AskEvery, 2, stage.Healthy}, {2*staged.AskEvery - time.Second, 2, stage.Healthy}, {2 * staged.AskEvery, 3, stage.Healthy}} {
		p := read(at.Add(tt.after))
		if b.asked != tt.asked || len(p.Said) != 1 || p.Said[0].Health != tt.says || p.Failed != "" {
			t.Errorf("%d: it was asked %d times, and says %+v; want %d, %q", n, b.asked, p, tt.asked, tt.says)
		}
		if n == 0 {
			b.post(head, root, forge.Success)
		}
	}
	b.away = errors.New("the forge is down")
	at = at.Add(time.Hour)
	for n := range 2 {
		if p := read(at); len(p.Said) > 0 || p.Failed != "the forge is down" || b.asked != 4+n {
			t.Errorf("where it is away it was asked %d times, and says %+v", b.asked, p)
		}
	}
	b.away = nil
	if p := read(at); len(p.Said) != 1 || p.Said[0].Health != stage.Healthy || p.Failed != "" {
		t.Errorf("when it is back it says %+v", p)
	}
}

// TestWhoSaysIt: what counts is named with who said it, where; what does not count is named once, and says nothing.
func TestWhoSaysIt(t *testing.T) {
	f, b := &fleet{T: t, repo: twin.New("fleet"), at: own()}, board{}
	first := f.publish(content("one"))
	for range 2 {
		f.post(b, first, "mallory", forge.Success)
	}
	if p := f.read(b, 1); len(p.Said) != 1 || p.Said[0] != (staged.Said{}) || !slices.Equal(p.Ignored, []string{root + " by mallory"}) {
		t.Errorf("by somebody else it is said %+v", p)
	}
	head := f.publish(content("two"))
	f.post(b, head, "mallory", forge.Success)
	for state, want := range map[forge.State]stage.Health{forge.Failure: stage.Failed, forge.Broken: stage.Failed, forge.Pending: stage.Progressing, forge.Success: stage.Healthy} {
		b[head.String()] = b[head.String()][:1]
		b.post(head, root, state)
		p := f.read(b, 2)
		ref := fmt.Sprintf("%s %s by bot at %.12s", root, state, head)
		if s := p.Said[0]; s.Health != want || s.Ref != ref || strings.HasPrefix(s.Message, root+" says that it failed") != (want == stage.Failed) {
			t.Errorf("by %s it is said %+v, want %s", state, s, want)
		}
		if !slices.Equal(p.Ignored, []string{root + " by mallory"}) {
			t.Errorf("by %s there are ignored %v", state, p.Ignored)
		}
	}
}

// post is what somebody says.
func (*fleet) post(b board, commit files.ID, who string, s forge.State) {
	b[commit.String()] = append(b[commit.String()], forge.Status{Context: root, State: s, Creator: forge.User{Login: who}})
}

// shortened is a repository without the history before a commit.
type shortened struct {
	*twin.Repo

	lacks map[files.ID]error
}

func (s shortened) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if err := s.lacks[id]; err != nil {
		return git.Head{}, err
	}
	return s.Repo.Commit(ctx, id)
}

// TestHowFarItIsLookedBack: a failure of the first commit of a branch is one, that of a commit of which nobody knows what was before is
// none; and of a long history some commits are looked at.
func TestHowFarItIsLookedBack(t *testing.T) {
	f, b := &fleet{T: t, repo: twin.New("fleet"), at: own()}, &counted{board: board{}}
	first := f.publish(content("one"))
	b.post(first, root, forge.Failure)
	if p := f.read(b.board, 1); len(p.Said) != 1 || p.Said[0].Health != stage.Failed || p.Said[0].WasUnhealthy {
		t.Errorf("of the first commit it is said %+v", p.Said)
	}
	head := f.publish(content("two"))
	b.post(head, root, forge.Failure)
	read := func(lacks error) (*staged.Posted, error) {
		heads, err := f.repo.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := posts.Reader{Target: shortened{f.repo, map[files.ID]error{first: lacks}}, Forge: b, Now: noon.Add(time.Hour), Cache: &posts.Cache{}}
		all, err := r.Read(t.Context(), &posts.Asked{Clusters: map[string]time.Time{"eu": noon}, Creators: []string{"bot"}, Heads: heads, Addresses: f.at})
		return all["eu"], err
	}
	if p, err := read(git.ErrMissing); err != nil || len(p.Said) != 1 || !p.Said[0].WasUnhealthy {
		t.Errorf("where the history ends it is said %+v, %v", p, err)
	}
	if p, err := read(errors.New("away")); err == nil || !strings.Contains(err.Error(), "reading the branch of eu") {
		t.Errorf("where it cannot be read it is said %+v, %v", p, err)
	}
	for n := range 40 {
		f.publish(content(strconv.Itoa(n)))
	}
	b.asked = 0
	if p, err := read(nil); err != nil || len(p.Said) != 32 || b.asked != 32 || len(p.Trees) != 32 {
		t.Errorf("of a long history %d commits are asked for, and %d say something, %v", b.asked, len(p.Said), err)
	}
}
