package writer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// timed is a repository in a bubble, which notes when what is written to it.
type timed struct {
	*twin.Repo

	began time.Time
	mu    sync.Mutex
	fails int           // so many pushes
	takes time.Duration // a push
	said  []string
	lost  map[files.ID]bool // commits that cannot be read
}

// Publish implements published.Repository.
func (r *timed) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	at := time.Since(r.began)
	r.mu.Lock()
	fails, takes := r.fails > 0, r.takes
	r.fails--
	r.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(takes):
	}
	ids, err := []files.ID(nil), ctx.Err()
	switch {
	case err != nil:
	case fails:
		err = errors.New("the forge is down")
	default:
		ids, err = r.Repo.Publish(ctx, updates)
	}
	var words []string
	for _, u := range updates {
		s, readErr := status.Read(u.Tree)
		if readErr != nil {
			return nil, readErr
		}
		words = append(words, strings.TrimPrefix(u.Branch, status.Prefix)+" "+s.Verdict.Reason)
	}
	line := fmt.Sprintf("%s: %s", at, strings.Join(words, ", "))
	if err != nil {
		line += ", fails"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, line)
	return ids, err
}

// Commit implements published.Repository.
func (r *timed) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if r.lost[id] {
		return git.Head{}, errors.New("it is no commit")
	}
	return r.Repo.Commit(ctx, id)
}

// TestWhenStatusesAreWritten: what is due of all clusters at once, not more often than it may, later where it fails, and one push at a time;
// what is not written when it ends is written then.
func TestWhenStatusesAreWritten(t *testing.T) {
	t.Parallel()
	type step struct {
		at time.Duration
		do func(*writer.Writer, *timed)
	}
	ends := func(at time.Duration, cluster string, n int) step {
		return step{at, func(w *writer.Writer, _ *timed) { is := lost(cluster, n); w.Ended(cluster, is.Round()) }}
	}
	well := func(at time.Duration, cluster string) step {
		return step{at, func(w *writer.Writer, _ *timed) {
			w.Ended(cluster, &status.Round{Commit: files.Sum("commit", []byte(cluster))})
		}}
	}
	push := func(at time.Duration, fails int, takes time.Duration) step {
		return step{at, func(_ *writer.Writer, r *timed) { r.fails, r.takes = fails, takes }}
	}
	const second = time.Second
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	applied := &status.Round{
		Commit: files.Sum("commit", nil), Objects: []apply.Object{{Ref: web}}, Health: map[object.Ref]health.Health{web: health.There()},
	}
	applied.Report.Inventory.Entries = map[object.Ref]inventory.Entry{web: {}}
	for _, tt := range []struct {
		name  string
		steps []step
		end   time.Duration
		want  []string
	}{
		{"nothing happens", nil, time.Hour, nil},
		{"one round", []step{ends(second, "eu", 0)}, time.Hour, []string{"2s: eu NoCredential"}},
		{"rounds of two clusters, one after the other", []step{
			ends(second, "eu", 0), ends(2*second, "us", 0), ends(3*second, "ap", 1), ends(15*second, "eu", 1),
		}, time.Hour, []string{
			"2s: eu NoCredential", "4s: ap Unreachable, us NoCredential", "1m2s: eu Unreachable",
		}},
		{"it says the same", []step{ends(second, "eu", 0), ends(20*second, "eu", 0)}, time.Hour, []string{"2s: eu NoCredential"}},
		{"it fails for a while", []step{push(0, 4, 0), ends(second, "eu", 0), ends(30*second, "us", 1)}, time.Hour, []string{
			"2s: eu NoCredential, fails", "6s: eu NoCredential, fails", "14s: eu NoCredential, fails",
			"30s: eu NoCredential, fails", "50s: eu NoCredential, us Unreachable",
		}},
		{"it fails, is well, and fails again", []step{
			push(0, 2, 0), ends(second, "eu", 0), push(100*second, 1, 0), ends(100*second, "eu", 1),
		}, time.Hour, []string{
			"2s: eu NoCredential, fails", "6s: eu NoCredential, fails", "14s: eu NoCredential",
			"1m41s: eu Unreachable, fails", "1m45s: eu Unreachable",
		}},
		{"a push takes long", []step{push(0, 0, 25*second), ends(second, "eu", 0), ends(5*second, "us", 0)}, time.Hour, []string{
			"2s: eu NoCredential", "27s: us NoCredential",
		}},
		{"an object is seen", []step{
			{second, func(w *writer.Writer, _ *timed) { w.Ended("eu", applied) }},
			{90 * second, func(w *writer.Writer, _ *timed) {
				w.Saw("eu", web, health.Health{State: karmada.ResourceUnhealthy, Reason: health.InProgress})
			}},
			{200 * second, func(w *writer.Writer, _ *timed) { w.Saw("eu", web, health.There()) }},
			{201 * second, func(w *writer.Writer, _ *timed) { w.Saw("us", web, health.There()) }},
		}, time.Hour, []string{"2s: eu Applied", "1m31s: eu Applied", "3m21s: eu Applied"}},
		{"it ends before what happened is due", []step{well(second, "eu"), ends(5*second, "us", 0)}, 5500 * time.Millisecond, []string{
			"2s: eu Applied", "5.5s: us NoCredential",
		}},
		{"it ends while a push is under way", []step{push(0, 0, 15*second), ends(second, "eu", 0), ends(5*second, "us", 0)}, 6 * second, []string{
			"2s: eu NoCredential, fails", "6s: eu NoCredential, us NoCredential",
		}},
		{"it ends while nothing can be written", []step{push(0, 9, 0), ends(second, "eu", 0)}, 5 * second, []string{
			"2s: eu NoCredential, fails", "5s: eu NoCredential, fails",
		}},
		{"it ends while nothing comes back", []step{push(0, 0, time.Hour), ends(second, "eu", 0)}, 6 * second, []string{
			"2s: eu NoCredential, fails", "6s: eu NoCredential, fails",
		}},
		{"a cluster is left while it waits", []step{
			ends(second, "eu", 0), ends(2*second, "us", 0), {3 * second, func(w *writer.Writer, _ *timed) { w.Forget("us") }},
		}, time.Hour, []string{"2s: eu NoCredential"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &timed{Repo: twin.New("fleet"), began: time.Now()}
				var text bytes.Buffer
				w := writer.New(r, time.Now, slog.New(slog.NewTextHandler(&text, nil)))
				if w.Every != 10*time.Second {
					t.Errorf("it writes every %s", w.Every)
				}
				w.Every = 2 * time.Second
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- w.Run(ctx) }()
				for _, s := range tt.steps {
					time.Sleep(s.at - time.Since(r.began))
					synctest.Wait()
					s.do(w, r)
				}
				time.Sleep(tt.end - time.Since(r.began))
				synctest.Wait()
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(tt.want, r.said); diff != "" {
					t.Errorf("%s: %s", tt.name, diff)
				}
				if fails := strings.Count(strings.Join(r.said, "\n"), "fails"); strings.Count(text.String(), "status not written") != fails {
					t.Errorf("%s: it is said of %d that fail: %s", tt.name, fails, text.String())
				}
			})
		})
	}
}

// TestOfBranchesThatCannotBeRead only those are written over; where nobody may look, or it ends, nothing is known.
func TestOfBranchesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := &timed{Repo: twin.New("fleet"), began: time.Now(), lost: map[files.ID]bool{}}
	tree := twin.Tree{"a": twin.File(nil)}.Folder()
	heads := map[string]files.ID{}
	for _, cluster := range []string{"ap", "eu", "us"} {
		heads[cluster] = r.Write(status.Prefix+cluster, "x", tree)
	}
	r.Write("main", "x", tree)
	r.lost[heads["eu"]] = true
	read := func(ctx context.Context, only ...string) map[string]string {
		all, err := writer.Heads(ctx, r, only...)
		if err != nil {
			return map[string]string{"": err.Error()}
		}
		is := map[string]string{}
		for cluster, h := range all {
			is[cluster] = fmt.Sprint(h.Commit == heads[cluster], ", ", h.Tree.ID() == tree.ID())
		}
		return is
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		gone bool // whoever asks
		only []string
		want map[string]string
	}{
		{false, nil, map[string]string{"ap": "true, true", "eu": "true, false", "us": "true, true"}},
		{false, []string{"us", "asia"}, map[string]string{"us": "true, true"}},
		{true, []string{"us"}, map[string]string{"": "context canceled"}},
	} {
		ctx := t.Context()
		if tt.gone {
			ctx = gone
		}
		if diff := cmp.Diff(tt.want, read(ctx, tt.only...)); diff != "" {
			t.Errorf("of %q: %s", tt.only, diff)
		}
	}
}
