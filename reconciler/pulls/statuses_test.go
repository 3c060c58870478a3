package pulls_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/announce"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/test/twin"
)

// recorder is a forge that remembers what it was sent.
type recorder struct {
	said  []string
	fails int
}

// SetStatus implements announce.Forge.
func (r *recorder) SetStatus(_ context.Context, s announce.Status) error {
	if r.fails > 0 {
		r.fails--
		return errors.New("the forge is down")
	}
	r.said = append(r.said, fmt.Sprint(s.Fact, " ", s.State))
	return nil
}

func TestAForgeShowsWhatBecameOfACommit(t *testing.T) {
	repo := twin.New("announced")
	repo.Write("main", "first", twin.Tree{
		"fleet.yaml": twin.File([]byte(strings.Replace(fleet, "syncMode: Pull", "syncMode: Push", 1))),
		"app.yaml":   twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: shop}\n")),
	}.Folder())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	forge := &recorder{fails: 2}
	turns := 0
	tell := func(err error) {
		if err := writer.Write(ctx, repo, time.Now(), applier.Rounds([]applier.Result{{Cluster: "eu", Err: err}})); err != nil {
			t.Error(err)
		}
	}
	r := &reconciler.Reconciler{Source: repo, Target: repo, Now: time.Now, Seen: reconciler.NewCache()}
	statuses := &pulls.CommitStatuses{Reconciler: r, Rev: "main", Forge: forge, Log: slog.New(slog.DiscardHandler)}
	l := &reconciler.Loop{
		Reconciler: r,
		Rev:        "main", Interval: time.Microsecond, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		After: statuses.Turned,
		Report: func(s reconciler.Sync) {
			switch turns++; turns {
			case 10:
				tell(clusters.ErrNoCredential) // it is still not applied
			case 20:
				cancel()
			}
			if s.Err != nil {
				t.Error(s.Err)
			}
		},
	}
	if err := l.Run(ctx); err != nil {
		t.Error(err)
	}
	want := []string{"published success", "applied pending", "healthy pending"}
	if !slices.Equal(forge.said, want) {
		t.Errorf("it was sent %q, want %q", forge.said, want)
	}
}
