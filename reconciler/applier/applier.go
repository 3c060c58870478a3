// Package applier brings clusters to the heads of their branches: once, or for as long as it runs, each in a queue of its own.
package applier

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Applier applies heads of branches to clusters.
type Applier struct {
	Published *published.Reader
	Now       func() time.Time

	// Access says how clusters are reached.
	Access clusters.Access
	// Adopt are digests of lists of what may be taken over; see apply.Options.
	Adopt []string
	// Prune allows removals that the guard would hold.
	Prune bool
	// Retry runs hooks again that failed for the commit.
	Retry  bool
	DryRun bool
	// Looks has a round end with a look at how the objects are, for the status.
	Looks bool
	// Saw is told of the health of objects whenever it changes after a round that looked, as
	// long as the cluster is watched; nil: nobody is.
	Saw func(cluster string, r object.Ref, h health.Health)
	// crowded says whether other clusters wait for a round to end; nil: none does.
	crowded func() bool
	// Wait is how long to wait until what was applied is ready; zero: not at all.
	Wait time.Duration
	// WaitAccepts are the reasons with which an object counts as ready although it is not healthy.
	WaitAccepts []string

	missed clusters.Missed // of the one cluster that is applied to; nil remembers nothing from one round to the next
}

// patience is how long a hook, or a wave, may take to be healthy.
const patience = 5 * time.Minute

// serviceAccount is the annotation of a Cluster that stands for apply.serviceAccountName there.
const serviceAccount = "waybill.dev/service-account"

// Result is what applying to a cluster came to.
type Result struct {
	Cluster string
	Commit  files.ID
	Objects int // on the branch
	Report  apply.Report
	Unready []clusters.Unready
	// Waited is how long the cluster waited for others to end, and Took how long the round took
	// from then on, where a Follower applied.
	Waited, Took time.Duration
	// Credential is what is known of that by which the cluster is reached.
	Credential clusters.Credential
	// Suspension says why nothing was applied; zero if it was.
	Suspension suspend.Suspension
	// Err says that it did not come to its end.
	Err error

	observed
	news     credentialNews
	owner    string   // what the source is known by there
	formerly []string // and what it was known by before it moved
	services []byte   // the file that says which services the cluster exchanges
}

// Failed reports a cluster that is not as its branch says, or not ready.
func (a *Result) Failed() bool {
	return a.Report.Failed() || len(a.Unready) > 0 || a.Suspension.Why != ""
}

// Apply brings a cluster to the head of its branch. If somebody else applies at the same time,
// it begins again, from where the branch is then.
func (a *Applier) Apply(ctx context.Context, in *published.Desired, cluster *karmada.Cluster) Result {
	res := Result{Cluster: cluster.Name}
	if !a.DryRun {
		res.Suspension = suspend.Of(cluster.Name, cluster.Annotations, in.Windows.Manual(cluster.Name), a.Now())
	}
	if res.Suspension.Why != "" {
		if err := a.stays(ctx, in, cluster); err != nil {
			return Result{Cluster: cluster.Name, Err: err, observed: observed{reached: true}}
		}
		return res
	}
	client, err := a.open(ctx, in, cluster)
	if err == nil {
		err = client.Reachable(ctx)
	}
	if err != nil {
		res.Err = err
		res.Credential = client.Known()
		return res
	}
	return a.applyOn(ctx, in, client, cluster.Name, func() *published.Desired { return nil })
}

// open prepares a client, with the credential as it is now.
func (a *Applier) open(ctx context.Context, in *published.Desired, cluster *karmada.Cluster) (*clusters.Client, error) {
	config, err := a.Access.Among(in.Clusters).Config(ctx, cluster)
	if err != nil {
		return nil, err
	}
	account := cmp.Or(cluster.Annotations[serviceAccount], in.Apply.ServiceAccountName)
	client, err := clusters.Open(cluster.Name, in.IDOf(cluster), account, config)
	if err != nil {
		return nil, err
	}
	client.Shared = virtual.SharedServer(in.Clusters, cluster) != ""
	client.Missed, client.Now = a.missed, a.Now
	return client, nil
}

// applyOn applies on a client. Newer returns what was published meanwhile; nil for nothing.
func (a *Applier) applyOn(ctx context.Context, in *published.Desired, client *clusters.Client, cluster string, newer func() *published.Desired) (res Result) {
	const rounds = 3
	for n := range rounds {
		if n > 0 {
			heads, err := a.Published.Target.Heads(ctx)
			if err != nil {
				return Result{Cluster: cluster, Err: err, observed: observed{reached: true}}
			}
			in = in.At(heads)
		}
		res = a.round(ctx, in, client, cluster, newer)
		a.look(ctx, client, &res)
		if !errors.Is(res.Err, apply.ErrRace) {
			break
		}
	}
	return res
}

func (a *Applier) round(ctx context.Context, in *published.Desired, client *clusters.Client, cluster string, newer func() *published.Desired) Result {
	res := Result{Cluster: cluster, Credential: client.Credential, observed: observed{branch: in.Address(cluster).String()}}
	client.Judge = in.Judge
	reading, end := traces.Begin(ctx, "read")
	var d published.Artifact
	d, res.Err = a.Published.Artifact(reading, in, cluster)
	if end(res.Err); res.Err != nil {
		return res
	}
	res.Commit, res.Objects = d.Commit, len(d.Objects)
	res.source, res.objects = d.Source, d.Objects
	res.owner, res.formerly, res.services = d.Owner, in.FormerOwners(cluster), d.Services
	round := apply.Round{
		Cluster: client, Name: cluster, Owner: d.Owner, Formerly: res.formerly, NameBefore: d.NameBefore, Commit: d.Commit, State: in.State, Source: d.Source, Objects: d.Objects, DryRun: a.DryRun,
		Admit: func(ctx context.Context, i inventory.Inventory) (apply.Options, error) {
			if err := a.recalls(ctx, in, i); err != nil {
				return apply.Options{}, err
			}
			admitted, err := Admit(ctx, a.Published, d, i)
			return apply.Options{Guard: in.Guard, Allowed: admitted.Allowed || a.Prune, FailedOver: admitted.FailedOver, Adopt: a.Adopt, Retry: a.Retry, Ignore: in.Apply.IgnoreDifferences}, err
		},
		Patience: patience, Crowded: a.crowded, Now: a.Now(),
		Superseded: func(ctx context.Context) bool {
			next := newer()
			return next != nil && a.Published.Follows(ctx, next, d)
		},
	}
	doing, end := traces.Begin(ctx, "round")
	res.Report, res.Err = round.Do(doing)
	end(res.Err, traces.Count("objects", res.Objects), traces.Count("changed", len(res.Report.Outcomes)), traces.Count("refused", len(res.Report.Plan.Refused)))
	if res.Err != nil || a.DryRun || a.Wait == 0 || res.Report.Plan.Hold != nil {
		return res
	}
	res.Unready, res.Err = client.Wait(ctx, applied(&res.Report, d.Objects), a.Wait, a.WaitAccepts...)
	return res
}

// recalls refuses a state that does not come after the one that an inventory remembers.
func (a *Applier) recalls(ctx context.Context, in *published.Desired, i inventory.Inventory) error {
	if in.State.IsZero() {
		return nil
	}
	return a.Published.GoesOn(ctx, in.State, i.State)
}

// stays has a cluster to which nothing is applied now, because somebody suspended that, remember by which state: going
// back to one before it does not end the suspension. One that cannot be asked is asked again later.
func (a *Applier) stays(ctx context.Context, in *published.Desired, cluster *karmada.Cluster) error {
	if in.State.IsZero() || a.DryRun {
		return nil
	}
	const soon = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	client, err := a.open(ctx, in, cluster)
	if err != nil {
		return nil // it is asked again later
	}
	owner := in.Owner(cluster.Name)
	stored, err := client.Inventory(ctx, owner)
	if err != nil || stored.Inventory.Cluster == "" || stored.Inventory.State == in.State {
		return nil // it is asked again later
	}
	if err := a.recalls(ctx, in, stored.Inventory); err != nil {
		return err
	}
	now := stored.Inventory
	now.State = in.State
	_, _ = client.Store(ctx, stored, now)
	return nil
}

// applied are the objects of a branch of which it makes sense to wait for.
func applied(r *apply.Report, objects []apply.Object) []object.Ref {
	not := map[object.Ref]bool{}
	for _, a := range r.Plan.Refused {
		not[a.Ref] = true
	}
	for _, o := range r.Outcomes {
		not[o.Ref] = o.Err != nil
	}
	var refs []object.Ref
	for i := range objects {
		if !not[objects[i].Ref] && !apply.IsHook(&objects[i]) {
			refs = append(refs, objects[i].Ref)
		}
	}
	return refs
}
