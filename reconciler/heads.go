package reconciler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// basis says which branches a plan depends on: those at which clusters are published, by the config of
// its source commit, and, if it awaits what clusters say of their status, those that say it.
type basis struct {
	at     render.Addresses
	awaits bool
}

func basisOf(r *Result) basis {
	return basis{r.Plan.Config.Publish.Addresses(), r.Plan.Basis.Awaits || r.awaits}
}

// seen is where the followed branch, the branches of the repository that is published to, and
// those that agents write were. The last are looked at only while a plan awaits them. What is remembered of new versions is no
// reason to plan.
type seen struct {
	source       files.ID
	memory       files.ID // of new versions
	target, told map[string]files.ID
}

func (s seen) equal(o seen) bool {
	return s.source == o.source && maps.Equal(s.target, o.target) && maps.Equal(s.told, o.told)
}

// published leaves the branches that a publication reads and writes: those of the clusters,
// the state, and the orders. What moves besides, as the branches of the status do all the time, is no
// reason to plan, unless the last plan awaits it.
func (s seen) published(by basis) seen {
	ours := map[string]files.ID{}
	for name, id := range s.target {
		if name == state.Branch || name == commands.Branch || by.at.Has(name) || by.awaits && strings.HasPrefix(name, status.Prefix) {
			ours[name] = id
		}
	}
	s.target = ours
	return s
}

// after returns where the branches are by an update. What others moved meanwhile is not
// in it, so that it is looked at the next time.
func (s seen) after(r Result) seen {
	s = s.published(basisOf(&r))
	for i, u := range r.Updates {
		s.target[u.Branch] = r.Heads[i]
	}
	return s
}

// Whereabouts tells where everything is that says how clusters are: the followed branch, what is remembered of new versions beside
// it, the branches of what is published, and those that agents write. Equal ones mean that nothing moved. It asks each
// repository once, and reads nothing.
func (r *Reconciler) Whereabouts(ctx context.Context, rev string) (string, error) {
	at, err := r.look(ctx, rev)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, at.source, at.memory)
	for _, heads := range []map[string]files.ID{at.target, lookTold(ctx, r.Agents, nil)} {
		for _, branch := range slices.Sorted(maps.Keys(heads)) {
			fmt.Fprintln(h, branch, heads[branch])
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// look asks each repository for its heads, once.
func (r *Reconciler) look(ctx context.Context, rev string) (seen, error) {
	heads, err := r.Source.Heads(ctx)
	if err != nil {
		return seen{}, fmt.Errorf("looking at the source: %w", err)
	}
	tip, ok := heads[rev]
	if !ok {
		if tip, err = r.Source.Resolve(ctx, rev); err != nil {
			return seen{}, fmt.Errorf("looking at the source: %w", err)
		}
	}
	target := heads
	if r.Target != r.Source {
		if target, err = r.Target.Heads(ctx); err != nil {
			return seen{}, fmt.Errorf("looking at what is published: %w", err)
		}
	}
	return seen{source: tip, memory: heads[render.UpdatesBranch], target: target}, nil
}

// lookTold asks the repository that agents write to for the branches of the status. While it does
// not answer, they are where they were.
func lookTold(ctx context.Context, told published.Repository, were map[string]files.ID) map[string]files.ID {
	if told == nil {
		return nil
	}
	heads, err := told.Heads(ctx)
	if err != nil {
		return were
	}
	maps.DeleteFunc(heads, func(branch string, _ files.ID) bool { return !strings.HasPrefix(branch, status.Prefix) })
	return heads
}

// Work is what a reconciler that follows a branch of its source does, in words: two that do the
// same are replicas.
func Work(r *Reconciler, rev string) string {
	return fmt.Sprintf("%s of %s to %s", rev, published.SourceID(r.Source.Name(), r.Subdir), sources.Place(r.Target.Name()))
}
