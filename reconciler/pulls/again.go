package pulls

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
)

// mostAgain is how many previews are made again at once.
const mostAgain = 20

// publication is what was published last, as far as a previewer knows.
type publication struct {
	head   files.ID // of the state branch
	commit string   // of the source
}

// again has the newest previews be made again that show what is held, or what is wrong without their change,
// too, once another commit of the branch is published: it may be otherwise by now.
func (p *Previewer) again(ctx context.Context) error {
	was := p.published
	if err := p.readPublished(ctx); err != nil || was.commit == "" || was.commit == p.published.commit {
		return err
	}
	numbers := slices.DeleteFunc(slices.Collect(maps.Keys(p.shown)), func(n int) bool { return !p.shown[n].passing })
	slices.SortFunc(numbers, func(a, b int) int {
		return cmp.Or(p.shown[b].pull.Updated.Compare(p.shown[a].pull.Updated), cmp.Compare(b, a))
	})
	for _, n := range numbers[:min(mostAgain, len(numbers))] {
		s := p.shown[n]
		s.again = true
		p.shown[n] = s
	}
	return nil
}

// readPublished reads what was published last.
func (p *Previewer) readPublished(ctx context.Context) error {
	target := p.Reconciler.Target
	heads, err := target.Heads(ctx)
	if err != nil || heads[state.Branch] == p.published.head {
		return err
	}
	if err := target.Fetch(ctx, state.Branch); err != nil {
		return err
	}
	head, _, err := target.Branch(ctx, state.Branch)
	if err != nil || head.Tree == nil {
		return err
	}
	last, err := state.Published(head.Tree)
	if err != nil {
		return err
	}
	p.published = publication{head: heads[state.Branch], commit: last.Commit}
	return nil
}
