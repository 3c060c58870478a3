package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Shown is where those look who look at previews in the web UI.
type Shown struct {
	Store *store.Store // nil: nobody looks
	// URL is where people find the web UI; empty if that is not known.
	URL string
}

// A pull request of which nothing was heard for openFor is asked about, so many of them in one look.
const (
	openFor    = 5 * time.Minute
	askedAbout = 5
)

// seen notes which pull requests to the branch are open, and asks about those that may be closed
// by now: a forge lists the open ones that changed, and says nothing of others.
func (p *Previewer) seen(ctx context.Context, open []forge.PullRequest) {
	s := p.Shown.Store
	if s == nil {
		return
	}
	now := p.Now()
	s.Seen(now, slices.DeleteFunc(slices.Clone(open), func(pr forge.PullRequest) bool {
		_, known := s.Find(pr.Number)
		return pr.Base != p.Rev || !known && !p.news(&pr) // there was no room for it
	})...)
	for _, number := range s.Unsure(now.Add(-openFor), askedAbout) {
		switch pr, err := p.Forge.PullRequest(ctx, number); {
		case errors.Is(err, forge.ErrNotFound) || err == nil && (!pr.Open || pr.Base != p.Rev):
			s.Gone(number)
			delete(p.shown, number) // if it is opened again, it is looked at again
		case err != nil:
			p.Log.DebugContext(ctx, "pull request cannot be asked about", "pull_request", number, "err", err)
			return
		default:
			kept, _ := s.Find(number)
			pr.Member = kept.Pull.Member && kept.Pull.Head == pr.Head
			s.Seen(now, pr)
		}
	}
}

// says notes what a pull request shows.
func (p *Previewer) says(pr *forge.PullRequest, state forge.State, line string) {
	if s := p.Shown.Store; s != nil {
		s.Say(p.Now(), pr, state, line)
	}
}

// keeps puts the report of a pull request where people look, and returns what its comment says of it.
func (p *Previewer) keeps(ctx context.Context, pr *forge.PullRequest, c *preview.Comparison) (notes []string) {
	if p.Shown.Store == nil {
		return nil
	}
	if err := p.Shown.Store.Keep(p.Now(), pr, c); err != nil {
		p.Log.WarnContext(ctx, "report not kept for the web UI", "pull_request", pr.Number, "err", err)
		return nil
	}
	if at := p.Shown.page(pr); at != "" {
		notes = append(notes, fmt.Sprintf("Every cluster, object and field: [in the web UI](%s).", at))
	}
	return notes
}

// page is where the preview of a pull request is shown; empty for nowhere.
func (s *Shown) page(pr *forge.PullRequest) string {
	if s.Store == nil || s.URL == "" {
		return ""
	}
	return s.URL + "/previews/" + strconv.Itoa(pr.Number)
}
