package staged

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// A quiet unit is decided, and laid out, as it is when all of its clusters are looked at.
func TestQuietUnitsAreDecidedAlike(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "settings"}
	noon := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	strategy := &rollouts.Strategy{Name: "careful", Stages: []rollouts.Stage{{Name: "prod"}}}
	done := rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "team", Name: "web"}, Strategy: *strategy,
		Status: rollouts.Status{
			Run: "8f", Phase: rollouts.Done, Base: rollouts.Version{Commit: "a", Digest: "1"}, Target: rollouts.Version{Commit: "a", Digest: "1"}, Restarts: 0,
		},
	}
	behind := done
	behind.Clusters = map[string]rollouts.Cluster{"eu": {Stage: "prod", State: rollouts.Late, Shows: "9"}}
	waits := done
	waits.Status.Target.Digest = "0"
	for name, tt := range map[string]struct {
		unit  Unit
		quiet bool
	}{
		"done":                {Unit{Strategy: strategy, Before: &done}, true},
		"done and refused":    {Unit{Strategy: strategy, Before: &done, Refused: "its strategy has a mistake"}, true},
		"unbound":             {Unit{Before: &done}, true},
		"not readable":        {Unit{Strategy: strategy, Before: &waits, Unit: units.Unit{Unknown: true}}, true},
		"with a command":      {Unit{Strategy: strategy, Before: &done, Commands: []rollouts.Command{{Verb: rollouts.Stop, Ref: "1"}}}, false},
		"a cluster is behind": {Unit{Strategy: strategy, Before: &behind}, false},
		"changed":             {Unit{Strategy: strategy, Before: &waits}, false},
		"new":                 {Unit{Strategy: strategy}, false},
		"made again":          {Unit{Strategy: strategy, Before: &done, IsReplay: true, Recorded: &done}, true},
		"edited since":        {Unit{Strategy: strategy, Before: &done, IsReplay: true, Recorded: &waits}, false},
	} {
		blobs := &manifest.Blobs{}
		blob := files.NewBlob([]byte("kind: ConfigMap\n"))
		row := manifest.Row{Ref: ref, Wants: []manifest.Want{{Cluster: 0, Blob: blobs.Add(blob)}}}
		u := tt.unit
		u.Unit.Unit, u.Digest, u.Refs, u.Stages, u.Turns = done.Unit, "1", []object.Ref{ref}, []string{"prod"}, []int{0}
		in := Input{
			Units: []Unit{u}, Revision: "b", Published: "a", Now: noon, Clusters: []Cluster{{Name: "eu"}}, Rows: []manifest.Row{row}, Blobs: blobs,
			Have:     func(object.Ref) manifest.Published { return manifest.NewPublished([]*files.Blob{nil}, []int{0}) },
			Replicas: func(*files.Blob) (int32, bool) { return 0, false },
			Older:    func(string, rollouts.Unit) (Version, bool) { return Version{}, false },
			Write:    func(string, []schedule.Decision) manifest.Result { return manifest.Result{} },
		}
		if _, got := u.quiet(&in); got != tt.quiet {
			t.Errorf("%s: it is quiet: %t", name, got)
		}
		if !tt.quiet {
			continue
		}
		is := Settle(in)
		in = indexed(in)
		c := compare(&in, &in.Units[0])
		out, laid := c.decide(), rows{in: &in, edited: map[object.Ref]*manifest.Row{}}
		c.show(&out, &laid)
		out.Shown = nil
		of := map[object.Ref]int{ref: 1}
		if out.After == nil { // the next plan knows no unit
			of = map[object.Ref]int{}
		}
		want := Result{Rows: laid.all(), Of: of, Outputs: []stage.Output{out}, Recheck: recheck.Recheck{}.And(out.Recheck), Diags: out.Diags}
		if d := cmp.Diff(want, is, cmp.AllowUnexported(stage.Output{})); d != "" {
			t.Errorf("%s: it is decided otherwise: %s", name, d)
		}
	}
}
