package replicas

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"
)

const (
	// groupLabel is on the Leases of the members of one group.
	groupLabel = "waybill.dev/replicas"
	// viewAnnotation lists the members by which a member divides, with commas.
	viewAnnotation = "waybill.dev/view"
	// workAnnotation says what a member works for.
	workAnnotation = "waybill.dev/work"
)

// Times are those of a Lease, as kube-controller-manager has them.
type Times struct {
	// Lease is how long others wait after a renewal until they take over.
	Lease time.Duration
	// Renew is how long the holder goes on after a renewal. It is shorter.
	Renew time.Duration
	// Retry is the time between two tries to get or renew it.
	Retry time.Duration
}

// Check returns an error for times with which two could hold one Lease.
func (t Times) Check() error {
	switch {
	case t.Retry < 100*time.Millisecond:
		return fmt.Errorf("--leader-elect-retry-period is %s; want at least 100ms", t.Retry)
	case t.Renew < 2*t.Retry:
		return fmt.Errorf("--leader-elect-renew-deadline is %s; want at least twice --leader-elect-retry-period (%s)", t.Renew, t.Retry)
	case t.Lease < t.Renew+t.Retry || t.Lease < time.Second:
		return fmt.Errorf("--leader-elect-lease-duration is %s; want at least a second, and at least --leader-elect-renew-deadline and --leader-elect-retry-period together (%s)", t.Lease, t.Renew+t.Retry)
	}
	return nil
}

// Member is this replica among those that divide clusters.
type Member struct {
	leases coordination.LeaseInterface
	group  string // the name of the leader's Lease
	work   string
	times  Times
	now    func() time.Time
	log    *slog.Logger
	change func()

	mu      sync.Mutex
	book    *book
	stops   map[string]context.CancelFunc // of the clusters that are worked at
	left    chan struct{}
	written *coordinationv1.Lease // by Run alone
}

// Options are what a Member is made of.
type Options struct {
	Leases coordination.LeaseInterface
	Group  Group
	// Name is that of this replica. No other one ever had it.
	Name  string
	Times Times
	Now   func() time.Time
	Log   *slog.Logger
	// Change is told that other clusters than before may be taken.
	Change func()
}

// NewMember returns a replica that serves nothing before it runs.
func NewMember(o Options) *Member {
	return &Member{
		leases: o.Leases, group: o.Group.Lease(), work: o.Group.Work, times: o.Times, now: o.Now, log: o.Log, change: o.Change,
		book: newBook(o.Name, o.Times.Renew), stops: map[string]context.CancelFunc{}, left: make(chan struct{}, 1),
	}
}

// Take returns whether a cluster is this replica's. If so, the context ends when it has to be
// left, and leave is to be called when it is.
func (m *Member) Take(ctx context.Context, cluster string) (_ context.Context, leave func(), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.book.takes(m.now(), cluster) {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	m.book.held[cluster] = true
	m.stops[cluster] = cancel
	return ctx, sync.OnceFunc(func() {
		cancel()
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.book.held, cluster)
		delete(m.stops, cluster)
		select {
		case m.left <- struct{}{}:
		default:
		}
	}), true
}

// Members are the replicas that live, by what this one knows.
func (m *Member) Members() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.book.members()
}

// Run holds the Lease until ctx ends, and gives it back when every cluster has been left.
func (m *Member) Run(ctx context.Context) error {
	// requests may hang, and this does not
	watchdog := time.AfterFunc(m.times.Renew, m.stop)
	defer watchdog.Stop()
	divided, left := "", false
	for {
		m.turn(ctx, watchdog)
		if now := m.division(); now != divided || left {
			divided = now
			m.change()
		}
		timer := time.NewTimer(m.times.Retry)
		select {
		case <-ctx.Done():
			m.resign(ctx)
			return nil
		case <-m.left:
			left = true // whoever wanted it meanwhile was refused
		case <-timer.C:
			left = false
		}
		timer.Stop()
	}
}

func (m *Member) division() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.book.division(m.now())
}

// turn renews the Lease and looks at those of the others.
func (m *Member) turn(ctx context.Context, watchdog *time.Timer) {
	bounded, cancel := context.WithTimeout(ctx, m.times.Renew/2)
	defer cancel()
	err := m.look(bounded)
	m.stop()
	if err == nil {
		err = m.renew(bounded, watchdog)
	}
	if err == nil && !m.current() {
		err = m.look(bounded)
	}
	if err != nil && ctx.Err() == nil {
		m.log.WarnContext(ctx, "replica cannot renew its lease", "replica", m.book.me, "err", err)
	}
}

// stop has the clusters left that are not this replica's any more.
func (m *Member) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.book.leavers(m.now()) {
		m.stops[c]()
	}
}

// look lists the Leases.
func (m *Member) look(ctx context.Context) error {
	asked := m.now()
	l, err := m.leases.List(ctx, metav1.ListOptions{LabelSelector: groupLabel + "=" + m.group})
	if err != nil {
		return err
	}
	all := make([]record, len(l.Items))
	for i := range l.Items {
		all[i] = recordOf(&l.Items[i])
	}
	m.mu.Lock()
	before := m.book.members()
	m.book.see(asked, m.now(), all)
	after, abandoned := m.book.members(), m.book.abandoned()
	m.mu.Unlock()
	if !slices.Equal(before, after) {
		m.log.InfoContext(ctx, "replicas changed", "replica", m.book.me, "replicas", after)
	}
	for _, r := range abandoned { // somebody else may be quicker
		_ = m.leases.Delete(ctx, m.lease(r.member), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &r.revision}})
	}
	return nil
}

// recordOf reads a Lease.
func recordOf(l *coordinationv1.Lease) record {
	r := record{member: ptr.Deref(l.Spec.HolderIdentity, ""), revision: l.ResourceVersion}
	if l.Spec.RenewTime != nil {
		r.renewal = l.Spec.RenewTime.Format(time.RFC3339Nano)
	}
	r.lasts = time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second
	if view := l.Annotations[viewAnnotation]; view != "" {
		r.view = strings.Split(view, ",")
	}
	return r
}

// current reports whether clusters may be taken by what is known.
func (m *Member) current() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.book.current
}

func (m *Member) lease(member string) string { return m.group + "-" + member }

// renew writes the Lease.
func (m *Member) renew(ctx context.Context, watchdog *time.Timer) error {
	sent := m.now()
	m.mu.Lock()
	view := m.book.next()
	m.book.writing(sent, view)
	m.mu.Unlock()
	lease := m.form(sent, view)
	var err error
	if m.written == nil {
		lease, err = m.leases.Create(ctx, lease, metav1.CreateOptions{})
	} else {
		lease.ResourceVersion = m.written.ResourceVersion
		lease, err = m.leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	switch {
	case err == nil:
		m.written = lease
		m.mu.Lock()
		m.book.wrote(sent, m.now())
		m.mu.Unlock()
		watchdog.Reset(m.times.Renew - m.now().Sub(sent))
		return nil
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err):
		return m.recover(ctx)
	}
	return err
}

// recover reads the Lease after a write whose answer was lost, or which somebody deleted.
func (m *Member) recover(ctx context.Context) error {
	lease, err := m.leases.Get(ctx, m.lease(m.book.me), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		m.written = nil
		m.mu.Lock()
		m.book.lost()
		m.mu.Unlock()
		return nil // the next turn makes it anew
	case err != nil:
		return err
	}
	m.written = lease
	return nil
}

// form is the Lease as it is to be.
func (m *Member) form(sent time.Time, view []string) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: m.lease(m.book.me)}}
	if m.written != nil {
		lease = m.written.DeepCopy()
	}
	lease.Labels = map[string]string{groupLabel: m.group}
	lease.Annotations = map[string]string{viewAnnotation: strings.Join(view, ","), workAnnotation: m.work}
	lease.Spec.HolderIdentity = &m.book.me
	lease.Spec.LeaseDurationSeconds = new(int32(math.Ceil(m.times.Lease.Seconds())))
	lease.Spec.RenewTime = &metav1.MicroTime{Time: sent}
	return lease
}

// resign deletes the Lease when every cluster has been left, so that the others need not wait.
func (m *Member) resign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.times.Renew)
	defer cancel()
	for {
		m.mu.Lock()
		working := len(m.book.held)
		m.mu.Unlock()
		if working == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-m.left:
		}
	}
	if m.written == nil {
		return
	}
	if err := m.leases.Delete(ctx, m.written.Name, metav1.DeleteOptions{}); err != nil {
		m.log.WarnContext(ctx, "replica cannot give its lease back", "replica", m.book.me, "err", err)
	}
}
