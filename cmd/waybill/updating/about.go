package updating

import (
	"context"
	"time"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/report/update"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
)

// About says what is newer of what stands in the source somewhere: of images that have a marker there, and of the chart that a release
// there names. No registry is asked: it goes by what was remembered when somebody looked last.
func About(ctx context.Context, at Places, where []diag.Pos) (all []update.Update, err error) {
	p, err := at.Standing()
	if err != nil || !p.Config.Updates.Acts() {
		return nil, err
	}
	planner := p.Reconciler.Planner()
	read, err := planner.Load(ctx, p.Source, render.With{})
	if err != nil {
		return nil, err
	}
	source, err := propose.Subscribed(ctx, p.Source, &read, charts(planner))
	if err != nil {
		return nil, err
	}
	var others []diag.Pos
	for _, o := range read.Objects {
		others = append(others, o.Origin())
	}
	var found []*updates.Subscription
	for _, pos := range where {
		found = append(found, source.At(pos, others)...)
	}
	if len(found) == 0 {
		return nil, nil
	}
	var upstream published.Repository
	if p.Upstream != nil {
		if upstream, err = p.Upstream(); err != nil {
			return nil, err
		}
	}
	memory, err := remembered(ctx, upstream)
	if err != nil {
		return nil, err
	}
	for _, s := range found {
		v := updates.Remembered(s, updates.Facts{Now: time.Now(), Settings: read.Config.Updates, Memory: memory})
		all = append(all, update.Of(&v))
	}
	return all, nil
}
