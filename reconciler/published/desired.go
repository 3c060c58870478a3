package published

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/applying"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Desired is the desired state of the clusters at one moment: those that are registered, and the heads of their branches.
type Desired struct {
	// Clusters are those that the state branch registers, in the order of their names.
	Clusters []*karmada.Cluster
	Guard    render.Guard
	Apply    applying.Apply
	// Services say how clusters exchange services.
	Services exchange.Services
	// Booked are the services that clusters export by their books; nil: nobody says.
	Booked []services.Booked
	// Judge knows who is healthy, by the customizations that were published.
	Judge *health.Judge

	// Windows are those in which clusters are applied to.
	Windows suspend.Windows
	// Waiting are the workloads of which observers count the replicas that wait for a node; nil for none.
	Waiting *deschedule.Watch
	// Head is the head of the state branch that was gone by, and State the same where it is to be remembered in the cluster: by
	// an agent, which goes by none that does not come after it. State is zero where nothing is signed, and whoever may push may
	// say anything.
	Head, State files.ID

	terms    [sha256.Size]byte // digest of the config and the customizations
	formerly []string          // what the source was known by
	revision sources.Revision
	at       render.Addresses
	heads    map[string]files.ID
}

// Desired reads which clusters are registered and where their branches are. The config is
// that of the source at rev; for a reader without a source, as that of an agent, what the
// state branch says of it counts, whose head has to come after the one that was gone by last; zero for none.
func (r *Reader) Desired(ctx context.Context, rev string, last files.ID) (d Desired, err error) {
	var terms state.Terms
	if r.Source != nil {
		if terms, err = r.termsAt(ctx, rev, &d); err != nil {
			return d, err
		}
	}
	if d.heads, err = r.Target.Heads(ctx); err != nil {
		return d, fmt.Errorf("reading what is published: %w", err)
	}
	head, err := r.StateHead(ctx, d.heads, d.revision, state.Branch)
	if err != nil {
		return d, err
	}
	d.Head = head.Commit
	if r.Source == nil {
		if err := r.GoesOn(ctx, head.Commit, last); err != nil {
			return d, err
		}
		if !r.Signers.IsZero() {
			d.State = head.Commit
		}
		d.revision = sources.Revision{Repo: publish.Trailer(head.Message, publish.TrailerRepository), Path: publish.Trailer(head.Message, publish.TrailerPath)}
		if terms, err = state.ReadTerms(head.Tree); err != nil {
			return d, err
		}
	}
	if err := d.take(&terms); err != nil {
		return d, err
	}
	if d.at, err = AddressesOf(head.Tree, terms.Addresses()); err != nil {
		return d, err
	}
	if d.Clusters, err = state.Clusters(head.Tree); err != nil {
		return d, err
	}
	if d.Waiting, err = state.Descheduler(head.Tree); err != nil {
		return d, err
	}
	if d.Booked, err = state.Booked(head.Tree); err != nil {
		return d, err
	}
	custom, err := state.Interpreters(head.Tree)
	if err != nil {
		return d, err
	}
	d.Judge = &health.Judge{Kinds: interpret.New(custom...), Prefer: health.Prefer(terms.Health.Prefer)}
	scripts, err := state.HealthScripts(head.Tree)
	if err != nil {
		return d, err
	}
	if scripts != nil {
		d.Judge.Own = scripts.Rules()
	}
	digest, err := json.Marshal([]any{terms, custom, scripts})
	d.terms = sha256.Sum256(digest)
	return d, err
}

// termsAt reads the terms that the source has at rev, and notes which commit that is.
func (r *Reader) termsAt(ctx context.Context, rev string, d *Desired) (state.Terms, error) {
	snapshot, err := r.Source.Snapshot(ctx, rev, r.Subdir)
	if err != nil {
		return state.Terms{}, fmt.Errorf("reading the source: %w", err)
	}
	d.revision = snapshot.Revision()
	config, err := render.ReadConfig(snapshot)
	return state.TermsOf(&config), err
}

// take goes by terms.
func (d *Desired) take(t *state.Terms) (err error) {
	d.Guard, d.Apply, d.Services = t.Guard, t.Apply, t.Services
	for _, former := range t.Formerly {
		repository, folder, _ := strings.Cut(former, " ")
		d.formerly = append(d.formerly, SourceID(repository, folder))
	}
	if d.Windows, err = suspend.Parse(t.Apply.SyncWindows); err != nil {
		return fmt.Errorf("%s: %w", render.ConfigFile, err)
	}
	return nil
}

// StateHead fetches branches, that of the state among them, and reads the state's head. It
// refuses one that was published from another source.
func (r *Reader) StateHead(ctx context.Context, heads map[string]files.ID, here sources.Revision, branches ...string) (git.Head, error) {
	if _, ok := heads[state.Branch]; !ok {
		return git.Head{}, fmt.Errorf("nothing is published in %s: there is no branch %s; waybill publish comes first", r.Target.Name(), state.Branch)
	}
	if err := r.Target.Fetch(ctx, branches...); err != nil {
		return git.Head{}, err
	}
	head, _, err := r.Target.Branch(ctx, state.Branch)
	if err != nil {
		return git.Head{}, err
	}
	if err := r.IsSigned(state.Branch, head); err != nil {
		return git.Head{}, err
	}
	return head, r.sameSource(ctx, here, state.Branch, head)
}

// Address is where a cluster is published.
func (d *Desired) Address(cluster string) render.Address { return d.at.Of(cluster) }

// Fingerprint is all of a Desired that a round at one cluster goes by. Two that are equal mean the same round.
type Fingerprint struct {
	head    files.ID
	cluster string
	terms   [sha256.Size]byte
	source  string
}

// Fingerprint returns what a round at a cluster would go by.
func (r *Reader) Fingerprint(ctx context.Context, in *Desired, c *karmada.Cluster) (Fingerprint, error) {
	head, err := r.Head(ctx, in.heads, in.Address(c.Name))
	if err != nil {
		return Fingerprint{}, err
	}
	cluster, err := json.Marshal(c)
	return Fingerprint{
		head: head, cluster: string(cluster), terms: in.terms, source: SourceID(in.revision.Repo, in.revision.Path),
	}, err
}
