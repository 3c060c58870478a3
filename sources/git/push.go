package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/pack"
	"github.com/waybill-dev/waybill/sources/git/internal/refs"
	"github.com/waybill-dev/waybill/sources/words"
)

// push moves branches of a server. The caller holds w, so the cache is ours.
func (u *behindURL) push(ctx context.Context, w *refs.Writer, all []move) error {
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	s, adv, err := u.remote.receivePack(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	at := advertised(adv)
	todo, err := outstanding(all, at)
	if err != nil || len(todo) == 0 {
		return err
	}
	var parents []files.ID
	for _, m := range todo {
		if !m.Old.IsZero() {
			parents = append(parents, m.Old)
		}
	}
	if err := u.download(ctx, w, parents); err != nil {
		return err
	}
	stored, err := u.repo.write(ctx, todo, at)
	if err != nil {
		return err
	}
	stages := [][]move{todo}
	if !adv.Capabilities.Supports(capability.Atomic) {
		stages = inStages(todo)
	}
	if err := u.remote.sendAll(ctx, s, adv, stages, stored.pack); err != nil {
		return err
	}
	u.repo.store.refresh()
	if err := keep(w, u.repo.store, u.remote.moved(todo)); err != nil {
		return err
	}
	u.repo.letGo(stored.blobs)
	return nil
}

// inStages splits moves for a server that may do some and refuse others.
func inStages(todo []move) [][]move {
	byStage := map[int][]move{}
	for _, m := range todo {
		byStage[m.Stage] = append(byStage[m.Stage], m)
	}
	stages := make([][]move, 0, len(byStage))
	for _, n := range slices.Sorted(maps.Keys(byStage)) {
		stages = append(stages, byStage[n])
	}
	return stages
}

// sendAll pushes one stage after the other, the first with the pack. What is left of a
// stage that is not done whole is not begun.
func (m *remote) sendAll(ctx context.Context, s transport.ReceivePackSession, adv *packp.AdvRefs, stages [][]move, path string) error {
	var done []string
	for n, stage := range stages {
		if n > 0 {
			var err error
			if s, adv, err = m.receivePack(ctx); err != nil {
				return partial(done, err)
			}
			defer s.Close()
			path = ""
		}
		if refused := m.send(ctx, s, adv, stage, path); refused != nil {
			if err := m.settle(ctx, stage, refused); err != nil {
				return partial(done, err)
			}
		}
		for _, t := range stage {
			done = append(done, t.Branch)
		}
	}
	return nil
}

// partial adds the branches that moved before to an error.
func partial(done []string, err error) error {
	if len(done) == 0 {
		return err
	}
	if p, ok := errors.AsType[*PartialError](err); ok {
		return &PartialError{Moved: append(done, p.Moved...), Err: p.Err}
	}
	return &PartialError{Moved: done, Err: err}
}

// receivePack starts a session for writing.
func (m *remote) receivePack(ctx context.Context) (transport.ReceivePackSession, *packp.AdvRefs, error) {
	s, err := open(ctx, func() (transport.ReceivePackSession, error) {
		return m.client.NewReceivePackSession(m.endpoint(), m.auth)
	})
	if err != nil {
		return nil, nil, m.explain(ctx, err)
	}
	adv, err := s.AdvertisedReferencesContext(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		adv, err = packp.NewAdvRefs(), nil
	}
	if err != nil {
		s.Close()
		return nil, nil, m.explain(ctx, err)
	}
	return s, adv, nil
}

// advertised returns the branches that a server said it has.
func advertised(adv *packp.AdvRefs) map[string]files.ID {
	at := make(map[string]files.ID, len(adv.References))
	for name, id := range adv.References {
		at[name] = files.ID(id)
	}
	return branches(at, refs.Heads)
}

// send pushes a pack, an empty one if path is empty, and a command for each move. Without
// an error, the server said that all of them are done.
func (m *remote) send(ctx context.Context, s transport.ReceivePackSession, adv *packp.AdvRefs, todo []move, path string) error {
	content := io.NopCloser(bytes.NewReader(pack.Empty()))
	if path != "" {
		var err error
		if content, err = os.Open(path); err != nil { //nolint:gosec // a path of the repository that was opened
			return err
		}
	}
	commands := make([]*packp.Command, len(todo))
	for i, t := range todo {
		commands[i] = &packp.Command{Name: plumbing.ReferenceName(t.ref()), Old: plumbing.Hash(t.Old), New: plumbing.Hash(t.id)}
	}
	return m.order(ctx, s, adv, content, commands)
}

// order pushes a pack, nil for none, with commands, all of which the server said are done if there is no error.
func (m *remote) order(ctx context.Context, s transport.ReceivePackSession, adv *packp.AdvRefs, content io.ReadCloser, commands []*packp.Command) error {
	if content != nil {
		defer content.Close()
	}
	req := packp.NewReferenceUpdateRequestFromCapabilities(adv.Capabilities)
	for _, c := range []capability.Capability{capability.Atomic, capability.Sideband64k} {
		if adv.Capabilities.Supports(c) {
			if err := req.Capabilities.Set(c); err != nil {
				return err
			}
		}
	}
	var said excerpt
	req.Packfile, req.Progress, req.Commands = content, &said, commands
	report, err := s.ReceivePack(ctx, req)
	if report != nil && err != nil {
		return &refusal{text: printable(verdict(report)+"; "+said.String(), m.secrets...)}
	}
	if err != nil {
		return m.explain(ctx, err)
	}
	if report == nil {
		return &remoteError{text: "the server did not say what it did"}
	}
	return nil
}

// refusal is the report of a server that did not do all that was asked.
type refusal struct{ text string }

func (e *refusal) Error() string { return "the server refused: " + strings.TrimRight(e.text, "; ") }

// verdict says why, for at most three branches.
func verdict(r *packp.ReportStatus) string {
	if r.UnpackStatus != "ok" {
		return "unpacking: " + r.UnpackStatus
	}
	var why []string
	for _, c := range r.CommandStatuses {
		if c.Error() != nil {
			why = append(why, strings.TrimPrefix(c.ReferenceName.String(), refs.Heads)+": "+c.Status)
		}
	}
	return words.List(why)
}

// excerpt keeps the beginning of what a server's hooks print.
type excerpt struct{ strings.Builder }

// Write implements io.Writer.
func (e *excerpt) Write(p []byte) (int, error) {
	const most = 2 << 10
	e.Builder.Write(p[:min(len(p), max(0, most-e.Len()))])
	return len(p), nil
}

// settleTime is how long another push may take that locked a branch when ours came.
const settleTime = 200 * time.Millisecond

// settle finds out what became of a push that was refused or not answered, from where
// the branches are now. If nothing moved although the server answered, somebody else
// may be moving them this moment, so it looks twice.
func (m *remote) settle(ctx context.Context, todo []move, refused error) error {
	done, err := m.outcome(ctx, todo, refused)
	var report *refusal
	if len(done) == 0 && errors.Is(err, refused) && errors.As(refused, &report) {
		pause := time.NewTimer(settleTime)
		defer pause.Stop()
		select {
		case <-pause.C:
			done, err = m.outcome(ctx, todo, refused)
		case <-ctx.Done():
		}
	}
	if err != nil && len(done) > 0 {
		return &PartialError{Moved: done, Err: err}
	}
	return err
}

// outcome reads the branches again. It returns those that moved, and an error unless
// all did: a RaceError if one is at somebody else's commit, else refused.
func (m *remote) outcome(ctx context.Context, todo []move, refused error) ([]string, error) {
	l, err := m.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w; whether the branches moved is unknown: %w", refused, err)
	}
	var done []string
	var race error
	for _, t := range todo {
		switch at := l.refs[t.ref()]; at {
		case t.id:
			done = append(done, t.Branch)
		case t.Old:
		default:
			if race == nil {
				race = &RaceError{Branch: t.Branch, Want: t.Old, Got: at}
			}
		}
	}
	switch {
	case len(done) == len(todo):
		return done, nil
	case race != nil:
		return done, race
	}
	return done, refused
}

// moved notes that moves are done, and returns the refs that the server has now.
func (m *remote) moved(todo []move) map[string]files.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := map[string]files.ID{}
	if m.latest != nil {
		maps.Copy(now, m.latest.refs)
	}
	for _, t := range todo {
		now[t.ref()] = t.id
	}
	if m.latest != nil {
		m.latest = &listing{refs: now, head: m.latest.head}
	}
	return now
}
