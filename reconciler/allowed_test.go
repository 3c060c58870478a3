package reconciler_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// holding is a fleet of which a commit removes all that its cluster eu has.
type holding struct {
	t              *testing.T
	source, target *twin.Repo
	r              *reconciler.Reconciler
	removes        files.ID // the commit
	aside          files.ID // one that it does not contain
}

func newHolding(t *testing.T) *holding {
	t.Helper()
	h := &holding{t: t, source: twin.New("fleet"), target: twin.New("branches")}
	h.r = &reconciler.Reconciler{
		Seen: reconciler.NewCache(), Source: h.source, Target: h.target, ByComment: true,
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}
	h.source.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	if _, err := h.r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	clusters, _, _ := strings.Cut(fleet, "---\napiVersion: v1\n")
	h.removes = h.source.Write("main", "all goes", twin.Tree{"fleet.yaml": twin.File([]byte(clusters))}.Folder())
	h.aside = h.source.Write("feature", "aside", twin.Tree{}.Folder())
	return h
}

// approves records that wendy approves on a pull request, merged as a commit, that eu loses objects of a namespace.
func (h *holding) approves(merged files.ID, namespace string) {
	h.t.Helper()
	lost := guard.Removals{{Clusters: []string{"eu"}, Objects: []object.Ref{
		{Kind: "ConfigMap", Namespace: namespace, Name: "a"}, {Kind: "Secret", Namespace: namespace, Name: "filled-in-later"},
	}}}
	c := commands.Take(&commands.Request{
		Parsed:  commands.Parsed{Verb: commands.ApprovePrune, Digest: lost.Digest(), Head: strings.Repeat("a", 40)},
		Comment: forge.Comment{ID: 3, Author: forge.User{Login: "wendy"}}, Pull: forge.PullRequest{Number: 7},
	}, h.r.Now())
	c.Removals = lost
	if !merged.IsZero() {
		c.Merged = merged.String()
	}
	u, err := (&commands.Change{Taken: []commands.Command{c}}).Update(git.Head{}, h.r.Now())
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.target.Publish(h.t.Context(), []git.Update{u}); err != nil {
		h.t.Fatal(err)
	}
}

// TestWhatIsApprovedByCommentIsReleased: once the source has the commit as which the pull request was merged, and for what was approved.
func TestWhatIsApprovedByCommentIsReleased(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(h *holding)
		want string // who released eu; empty: it is held
		err  string
	}{
		"nobody approved it":                    {set: func(*holding) {}},
		"it is approved and merged":             {set: func(h *holding) { h.approves(h.removes, "shop") }, want: "wendy on pull request 7, comment 3"},
		"something else is":                     {set: func(h *holding) { h.approves(h.removes, "bank") }},
		"it is not merged yet":                  {set: func(h *holding) { h.approves(files.ID{}, "shop") }},
		"it is merged elsewhere":                {set: func(h *holding) { h.approves(h.aside, "shop") }},
		"who publishes allows all":              {set: func(h *holding) { h.r.Allow = guard.AllowAll }, want: "--allow-prune"},
		"who allows all needs no orders":        {set: func(h *holding) { h.approves(h.removes, "shop"); h.r.Allow = guard.AllowAll; h.away() }, want: "--allow-prune"},
		"the orders cannot be read":             {set: func(h *holding) { h.approves(h.removes, "shop"); h.away() }, err: "reading what is published: away"},
		"where there are no orders nobody asks": {set: func(h *holding) { h.away() }},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHolding(t)
			tt.set(h)
			res, err := h.r.DryRun(t.Context(), "main")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v; want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			by := strings.Join(res.Plan.Released.By["eu"], " ")
			if held := res.Plan.Clusters[0].Held != nil; held != (tt.want == "") || !strings.Contains(by, tt.want) {
				t.Errorf("that eu is held is %t, and %q released it; want %q", held, by, tt.want)
			}
		})
	}
}

// away has the branch of orders be unreadable.
func (h *holding) away() { h.r.Target = orderless{h.target} }

// orderless is a repository whose branch of orders cannot be fetched.
type orderless struct{ *twin.Repo }

func (o orderless) Fetch(ctx context.Context, branches ...string) error {
	if slices.Contains(branches, commands.Branch) {
		return errors.New("away")
	}
	return o.Repo.Fetch(ctx, branches...)
}

// TestTheLogSaysWhatCameOfATurn: which branches were published, who released what, and why it failed.
func TestTheLogSaysWhatCameOfATurn(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(h *holding)
		want []string
		not  string
	}{
		"it is released": {func(h *holding) { h.approves(h.removes, "shop") }, []string{
			`level=INFO msg="cluster released" cluster=eu by="[wendy on pull request 7, comment 3`, `level=INFO msg="branch published" branch=waybill/cluster/eu`,
			`level=DEBUG msg=diagnostic`, `cluster eu was held and is released`, "level=INFO msg=synced source=fleet", "branches=2 errors=0",
		}, "cluster held"},
		"it is held": {func(*holding) {}, []string{`level=WARN msg="cluster held" cluster=eu`, "level=INFO msg=synced source=fleet", "errors=1"}, "cluster released"},
		"the orders cannot be read": {func(h *holding) { h.approves(h.removes, "shop"); h.away() }, []string{
			`level=ERROR msg="sync failed" source=fleet`, `err="reading what is published: away"`,
		}, "msg=synced"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHolding(t)
			tt.set(h)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var log bytes.Buffer
			l := &reconciler.Loop{
				Reconciler: h.r, Rev: "main", Interval: time.Hour, Now: h.r.Now, Report: func(reconciler.Sync) { cancel() },
				Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			}
			if err := l.Run(ctx); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(log.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, log.String())
				}
			}
			if strings.Contains(log.String(), tt.not) {
				t.Errorf("it says %q:\n%s", tt.not, log.String())
			}
		})
	}
}
