package reconciler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/test/twin"
)

func TestTheLogSaysWhichClustersAreHeldAndWhatReleasesThem(t *testing.T) {
	repo := twin.New("held")
	clusters, app, _ := strings.Cut(fleet, "---\napiVersion: v1\n")
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(clusters)), "app.yaml": twin.File([]byte("apiVersion: v1\n" + app))}.Folder())
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	repo.Write("main", "all gone", twin.Tree{"fleet.yaml": twin.File([]byte(clusters))}.Folder())

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	var removals string
	l := &reconciler.Loop{
		Reconciler: r, Rev: "main", Interval: time.Hour, Now: r.Now, Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Report: func(s reconciler.Sync) {
			removals = s.Result.Plan.Removals
			cancel()
		},
	}
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(log.String()) {
		var entry struct {
			Msg, Level, Cluster, Reason, Release string
			Removals                             int
			Loses                                []string
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Msg != "cluster held" {
			continue
		}
		if entry.Level != "WARN" || entry.Cluster != "eu" || entry.Reason != "it would lose all it holds, 2 of 2 objects" || entry.Removals != 2 {
			t.Errorf("it says %+v", entry)
		}
		if len(entry.Loses) != 2 || entry.Loses[0] != "ConfigMap/shop/a (it is no longer in the source)" {
			t.Errorf("it says that it loses %q", entry.Loses)
		}
		if removals == "" || !strings.Contains(entry.Release, `"Waybill-Allow-Prune: `+removals+`"`) || !strings.Contains(entry.Release, "--allow-prune") {
			t.Errorf("it says that %q releases it", entry.Release)
		}
		return
	}
	t.Errorf("the log does not say that a cluster is held:\n%s", log.String())
}
