package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/klog/v2"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/management"
	"github.com/waybill-dev/waybill/reconciler/replicas"
)

// replicaFlags say how a controller that runs several times divides its work. They are called
// as those of kube-controller-manager.
type replicaFlags struct {
	elect bool
	name  string
	times replicas.Times
}

func addReplicaFlags(flags *pflag.FlagSet) *replicaFlags {
	const lease, renew, retry = 15 * time.Second, 10 * time.Second, 2 * time.Second
	f := &replicaFlags{}
	flags.BoolVar(&f.elect, "leader-elect", false, "several replicas run: the one that leads publishes, and with --apply the clusters are divided among all; needs a management cluster")
	flags.StringVar(&f.name, "leader-elect-resource-name", "waybill", "what the names of the Leases begin with; a digest of source, branch and repository follows")
	flags.DurationVar(&f.times.Lease, "leader-elect-lease-duration", lease, "how long the others wait until they take over from a replica that does not renew its Lease")
	flags.DurationVar(&f.times.Renew, "leader-elect-renew-deadline", renew, "how long a replica that cannot renew its Lease goes on")
	flags.DurationVar(&f.times.Retry, "leader-elect-retry-period", retry, "time between two tries to get or renew a Lease")
	return f
}

// replica is one of several controllers; nil: it is the only one.
type replica struct {
	cluster *management.Cluster
	name    string
	group   replicas.Group
	times   replicas.Times
	log     *slog.Logger
}

// open finds the management cluster, and gives this replica a name that no other ever had. All that
// work for the same are replicas.
func (f *replicaFlags) open(m *managementFlags, work string, log *slog.Logger) (*replica, error) {
	if !f.elect {
		return nil, nil
	}
	if err := f.times.Check(); err != nil {
		return nil, err
	}
	group := replicas.Group{Name: f.name, Work: work}
	if wrong := append(validation.IsDNS1123Subdomain(f.name), validation.IsValidLabelValue(group.Lease())...); len(wrong) > 0 {
		return nil, fmt.Errorf("--leader-elect-resource-name is %q: %s", f.name, wrong[0])
	}
	cluster, err := m.open()
	if errors.Is(err, management.ErrNone) {
		return nil, fmt.Errorf("--leader-elect: %w; without one, several replicas do no harm, because branches and inventories are written by compare-and-set, but they do the same work", err)
	}
	if err != nil {
		return nil, err
	}
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // what the election logs is said here
	name, err := replicaName()
	return &replica{cluster: cluster, name: name, group: group, times: f.times, log: log}, err
}

// lead works while this replica leads. The only one always does.
func (r *replica) lead(ctx context.Context, work func(context.Context) error, tell func(leads bool)) error {
	if r == nil {
		return work(ctx)
	}
	return replicas.Election{
		Leases: r.cluster.Leases(), Namespace: r.cluster.In(), Name: r.group.Lease(), Replica: r.name, Times: r.times, Log: r.log, Tell: tell,
	}.Run(ctx, work)
}

// parts see what others publish. The only replica knows what it publishes.
func (*replicaFlags) parts(_ context.Context, c *controller) ([]runnable, error) {
	if c.one == nil {
		return nil, nil
	}
	poller := &applier.BranchPoller{
		Target: c.loop.Reconciler.Target, Interval: c.loop.Interval, Log: c.loop.Log, Wake: func() { wake(c.wakes.published) }, Report: c.server.RecordLook,
	}
	return []runnable{{name: "branch poller", run: alone(poller.Run)}}, nil
}

// member divides the clusters among the replicas. It calls change when other ones are this replica's.
func (r *replica) member(change func()) *replicas.Member {
	return replicas.NewMember(replicas.Options{
		Leases: r.cluster.Leases().Leases(r.cluster.In()), Group: r.group, Name: r.name, Times: r.times,
		Now: time.Now, Log: r.log, Change: change,
	})
}

// replicaName is the name of the machine or the Pod, with something that no other has.
func replicaName() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	const longest = 63
	host = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(host))
	return strings.Trim(host[:min(len(host), longest)], "-") + "-" + strings.ToLower(rand.Text()[:8]), nil
}
