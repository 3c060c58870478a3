package reconciler_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

// beaten is the repository that agents write to, with their heartbeats.
type beaten struct {
	*twin.Repo

	beats map[string]git.Head // by ref
}

// RemoteRefs implements observe.RefReader.
func (b *beaten) RemoteRefs(ctx context.Context, wanted func(ref string, id files.ID) bool) (git.RemoteRefs, error) {
	heads, err := b.Heads(ctx)
	found := git.RemoteRefs{Refs: map[string]files.ID{}, Read: map[files.ID]git.Head{}}
	for branch, id := range heads {
		found.Refs["refs/heads/"+branch] = id
	}
	for i, ref := range slices.Sorted(maps.Keys(b.beats)) {
		id := files.ID{byte(i + 1)}
		if found.Refs[ref] = id; wanted(ref, id) {
			found.Read[id] = b.beats[ref]
		}
	}
	return found, err
}

// spoken is what an agent sends.
type spoken struct {
	cluster string // in whose name
	uid     string
	by      signing.Key // the zero one: nobody signs it
}

func (s spoken) beat(t *testing.T, now time.Time) git.Head {
	t.Helper()
	b := heartbeat.Beat{Cluster: s.cluster, UID: s.uid, Agent: "agent-0", Sequence: uint64(now.UnixMilli())}
	out := git.Head{Message: b.Text(), Signed: []byte(b.Text())}
	if !s.by.IsZero() {
		var err error
		if out.Signature, err = s.by.SignCommit(out.Signed); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestAnAgentSpeaksForItsCluster: of what stands where a cluster's agent beats, and says what it observes, only what that
// agent signed in the name of that cluster counts.
func TestAnAgentSpeaksForItsCluster(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	keys := map[string]signing.Key{}
	for _, name := range []string{"eu", "us"} {
		key, _, err := signing.NewKey(rand.Reader, name)
		if err != nil {
			t.Fatal(err)
		}
		keys[name] = key
	}
	for name, tt := range map[string]struct {
		spoken

		beats, tells bool
	}{
		"its agent":                       {spoken{"eu", "uid-eu", keys["eu"]}, true, true},
		"nobody signs it":                 {spoken{"eu", "uid-eu", signing.Key{}}, false, false},
		"another cluster's agent":         {spoken{"eu", "uid-eu", keys["us"]}, false, false},
		"its agent, for another one":      {spoken{"us", "uid-eu", keys["eu"]}, false, false},
		"its agent, from another cluster": {spoken{"eu", "uid-us", keys["eu"]}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			source := twin.Tree{}
			for name, key := range keys {
				source[name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s, annotations: {waybill.dev/agent-key: %q}}\nspec: {syncMode: Pull, id: uid-%[1]s}\n", name, key.Public().String()))
			}
			repo, told := twin.New("published"), &beaten{Repo: twin.New("told"), beats: map[string]git.Head{}}
			repo.Write("main", "next", source.Folder())
			r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Agents: told, Version: "test", Now: func() time.Time { return now }}
			if _, err := r.Publish(t.Context(), "main"); err != nil {
				t.Fatal(err)
			}
			for at, s := range map[string]spoken{"eu": tt.spoken, "us": {"us", "uid-us", keys["us"]}} {
				told.beats[heartbeat.Refs+at] = s.beat(t, now)
				root, err := state.Observe(files.NewFolder(nil), map[string]*karmada.ClusterStatus{s.cluster: {KubernetesVersion: "v1.35.0"}})
				if err != nil {
					t.Fatal(err)
				}
				told.Sign = nil
				if !s.by.IsZero() {
					told.Sign = s.by.SignCommit
				}
				told.Write(observation.Prefix+at, fmt.Sprintf("observed\n\n%s: %d\n", observation.TrailerSequence, now.UnixMilli()), root)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			recorded := false
			m := &observe.Agents{
				Recorder: observe.Recorder{Target: repo, Version: "test", Now: r.Now}, Status: told, Log: slog.New(slog.DiscardHandler), Receiver: &receive.Receiver{Now: func() time.Time { return now }},
				Recorded: func() { recorded = true; cancel() },
			}
			if err := m.Run(ctx, "session"); err != nil || !recorded {
				t.Fatalf("nothing is recorded: %v", errors.Join(err, ctx.Err()))
			}
			head, _, err := repo.Branch(t.Context(), state.Branch)
			if err != nil {
				t.Fatal(err)
			}
			all := state.Observed(head.Tree)
			for cluster, want := range map[string][2]bool{"eu": {tt.beats, tt.tells}, "us": {true, true}} {
				s := all[cluster]
				if s == nil {
					s = &karmada.ClusterStatus{}
				}
				if got := [2]bool{meta.IsStatusConditionTrue(s.Conditions, observation.ConditionHeartbeat), s.KubernetesVersion != ""}; got != want {
					t.Errorf("of %s it is heard that it beats, and what it observes: %v, want %v", cluster, got, want)
				}
			}
		})
	}
}
