package reconciler_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

// agents is the repository that agents write to. It can be away.
type agents struct {
	*twin.Repo

	away bool
}

// Heads implements published.Repository.
func (a *agents) Heads(ctx context.Context) (map[string]files.ID, error) {
	if a.away {
		return nil, errors.New("connection refused")
	}
	return a.Repo.Heads(ctx)
}

// newPulled returns a fleet whose clusters are pulled to, with the repository that their agents
// write to. They all have one key.
func newPulled(t *testing.T, clusters map[string]string, policy string) (*movable, *agents) {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "agent")
	if err != nil {
		t.Fatal(err)
	}
	told := &agents{Repo: twin.New("told")}
	told.Sign = key.SignCommit
	m := newMovable(t, clusters, policy)
	m.key, m.told, m.r.Agents = key.Public().String(), told.Repo, told
	m.write(clusters, policy)
	m.publish()
	return m, told
}

// TestWhatAgentsSayMovesTheRest evicts from a cluster with an agent.
func TestWhatAgentsSayMovesTheRest(t *testing.T) {
	m, told := newPulled(t, map[string]string{"eu": "", "us": ""}, aggregated)
	m.want("eu:4")
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(map[string]string{"eu": noExecute, "us": ""}, aggregated)
	m.after(time.Second)
	m.want("eu:4 us:4")

	sign := told.Sign
	told.Sign = nil // somebody else says that it is healthy
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("eu:4 us:4")

	told.Sign = sign
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("us:4")
}

// TestWhatWasHeardLastCountsWhileAgentsCannotBeHeard has the repository of the agents be away.
func TestWhatWasHeardLastCountsWhileAgentsCannotBeHeard(t *testing.T) {
	m, told := newPulled(t, map[string]string{"eu": "", "us": ""}, aggregated)
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(map[string]string{"eu": noExecute, "us": ""}, aggregated)
	m.after(time.Second)
	m.say("us", word{health: karmada.ResourceUnhealthy})
	m.after(time.Second)
	told.away = true
	m.after(time.Hour)
	m.want("eu:4 us:4 last-copy")
}

// TestALoopPlansWhenAnAgentSaysWhatItAwaits follows a fleet in which a copy waits for another one
// to be healthy.
func TestALoopPlansWhenAnAgentSaysWhatItAwaits(t *testing.T) {
	m, _ := newPulled(t, map[string]string{"eu": "", "us": ""}, aggregated)
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(map[string]string{"eu": noExecute, "us": ""}, aggregated)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	quiet := 0
	l := &reconciler.Loop{
		Reconciler: m.r, Rev: "main", Interval: time.Millisecond, Now: func() time.Time { return m.now }, Log: slog.New(slog.DiscardHandler),
		Report: func(s reconciler.Sync) {
			switch {
			case s.Err != nil:
				t.Error(s.Err)
				cancel()
			case s.UpToDate:
				quiet++
				if quiet == 1 { // it awaits us
					m.want("eu:4 us:4")
					m.say("us", word{health: karmada.ResourceHealthy})
				}
			default:
				m.last = s.Result
				if quiet > 0 && m.where() == "us:4" {
					cancel()
				}
			}
		},
	}
	if err := l.Run(ctx); err != nil {
		t.Error(err)
	}
	m.want("us:4")
}

// TestAForgedStatusDoesNotMoveTheRest has agents be able to write the status branches of clusters that are
// pushed to: one of them says that a copy is healthy which is not.
func TestAForgedStatusDoesNotMoveTheRest(t *testing.T) {
	m := newMovable(t, map[string]string{"eu": "", "us": ""}, aggregated)
	key, _, err := signing.NewKey(rand.Reader, "publisher")
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public()
	m.r.Shared, m.r.Key = true, &public
	m.repo.Sign = key.SignCommit
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(map[string]string{"eu": noExecute, "us": ""}, aggregated)
	m.after(time.Second)
	m.want("eu:4 us:4")

	m.repo.Sign = nil // an agent's credentials
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("eu:4 us:4")

	m.repo.Sign = key.SignCommit
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("us:4")
}
