// Package reconciler observes, plans and acts: it reads a source and what was
// published from it, asks plan.Build what should be, and has it written, for as long as it runs. What it does that by stands
// in packages below it; what people and forges do with it stands above it.
package reconciler

import (
	"context"
	"time"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/history"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status/posts"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/seal/unseal"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Reconciler publishes one source to one repository.
type Reconciler struct {
	Source published.Repository // nil for one who only applies what is published, as an agent does
	Target published.Repository // may be Source
	// Agents is where agents say what became of branches; nil: where the branches are.
	Agents published.Repository
	// Shared is that agents may write where the branches are. What is said there of clusters whose agents
	// have no key then counts for moving work only if Key signed it.
	Shared bool
	// Key is who signs what is published; nil: nobody does.
	Key     *signing.Public
	Subdir  string // folder of the source to read; empty for all
	Cache   render.Cache
	Engine  render.Engine // nil: what needs one is reported as not rendered
	Version string        // of the running Waybill, for commit trailers
	Allow   string        // removals to allow, as guard.Allowance names them
	// AllowedBy is who allows them, as Git knows him here; it may be empty.
	AllowedBy string
	// ByComment says that maintainers allow removals by comments on pull requests; see guard.Allowance.
	ByComment bool
	// TakeOver lets branches be written that were published from another source, and
	// Rollback from a commit that comes before the one published last.
	TakeOver, Rollback bool
	// Restored says that what is published was restored from a backup: every cluster is asked what it applied.
	Restored bool
	// Random is what releases draw from. Its source is filled in.
	Random plan.Random
	// Identities returns what decrypts what SOPS encrypted, to apply it; nil: nothing does. It
	// is asked anew whenever a branch has something encrypted.
	Identities func(context.Context) (unseal.Identities, error)
	// Signers are those of whom one has to have signed what is applied; the zero value asks for
	// no signature.
	Signers signing.Signers
	// Now tells the time for which schedules of the source are judged.
	Now func() time.Time
	// Pauses come before a publication that lost a race is planned again.
	Pauses Pauses
	// Statuses lists commit statuses on what is published, by which Flux and Argo CD say how clusters are; nil: nobody asks
	// for them.
	Statuses posts.Lister
	// Accept is asked before a plan is published, which its error prevents. Nil accepts all.
	Accept func(*plan.Plan) error
	// Pushing is told before so many branches are pushed, and end when that is over; nil: nobody is told.
	Pushing func(ctx context.Context, branches int) (end func())
	// Seen is what is remembered from one call to the next; nil: nothing is.
	Seen *Cache
}

// Cache is what a Reconciler remembers of the repositories. It is made by whoever starts it, cannot be copied, and is for one
// Reconciler that plans; those that only read may share it.
type Cache struct {
	published published.Cache
	reports   reports.Cache
	history   history.Memory
	posts     posts.Cache
	plans     *plan.Memo
}

// NewCache returns a cache that remembers nothing yet.
func NewCache() *Cache { return &Cache{plans: plan.NewMemo()} }

// forget forgets what plans are made from, but not where branches were.
func (c *Cache) forget() {
	c.published.Forget()
	c.reports.Forget()
	c.plans = plan.NewMemo()
}

// remembering returns a reconciler that remembers, until it is done.
func remembering(r *Reconciler) *Reconciler {
	if r.Seen != nil {
		return r
	}
	own := *r
	own.Seen = NewCache()
	return &own
}

// Published returns what reads what is published.
func (r *Reconciler) Published() *published.Reader {
	r = remembering(r)
	return &published.Reader{
		Branches: published.Branches{Target: r.Target, Cache: &r.Seen.published},
		Source:   r.Source, Subdir: r.Subdir, TakeOver: r.TakeOver, Rollback: r.Rollback,
		Identities: r.Identities, Signers: r.Signers,
	}
}

// Reports returns what reads what clusters report.
func (r *Reconciler) Reports() *reports.Reader {
	r = remembering(r)
	return &reports.Reader{Published: r.Published(), Agents: r.Agents, Shared: r.Shared, Key: r.Key, Now: r.Now, Cache: &r.Seen.reports}
}

// Planner returns what plans versions of the source.
func (r *Reconciler) Planner() *planner.Planner {
	r = remembering(r)
	return &planner.Planner{
		Source: r.Source, Subdir: r.Subdir, Cache: r.Cache, Engine: r.Engine,
		Allow:  guard.Allowance{Named: r.Allow, Publisher: r.AllowedBy, ByComment: r.ByComment},
		Random: r.Random, Now: r.Now, Memo: r.Seen.plans, Version: r.Version,
	}
}
