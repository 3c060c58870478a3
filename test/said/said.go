// Package said writes to a repository in memory what others than plans say on its branches: whoever applies to clusters, on
// their status branches, and people who command something of roll-outs. It is for tests that publish many times.
package said

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// Word is what whoever applies a cluster says now.
type Word struct {
	Cluster string
	At      render.Address // where the cluster is published
	// Unwell are objects that are not healthy, by KIND/NAME: "failed", "progressing" or "refused".
	Unwell map[string]string
	Now    time.Time
}

// Applied has the status branch of a cluster say that it is at the head of its branch, or at the commit that changed its
// folder last, as whoever applies writes it. Objects are healthy but those that are unwell.
func Applied(ctx context.Context, repo *twin.Repo, w *Word) error {
	cluster, at, unwell, now := w.Cluster, w.At, w.Unwell, w.Now
	h, ok, err := repo.Branch(ctx, at.Branch)
	if err != nil || !ok {
		return fmt.Errorf("applying %s: there is no branch %s", cluster, at.Branch)
	}
	root := h.Tree
	if at.Folder != "" {
		e, _ := root.Lookup(at.Folder)
		if root = e.Dir; root == nil {
			return fmt.Errorf("applying %s: there is no %s", cluster, at)
		}
	}
	commit, err := (&published.Branches{Target: repo}).Newest(ctx, at, h.Commit)
	if err != nil {
		return fmt.Errorf("applying %s: %w", cluster, err)
	}
	s := status.Cluster{
		Summary: status.Summary{Name: cluster, Branch: at.String(), Commit: commit, Verdict: status.Verdict{Reason: status.Applied}, Since: now},
		Objects: map[object.Ref]*status.Object{},
	}
	for path, e := range root.All() {
		if !strings.HasPrefix(path, tree.ManifestDir+"/") {
			continue
		}
		r, is, err := applied(path, e.Blob, commit, now, unwell)
		if err != nil {
			return err
		}
		s.Objects[r] = is
	}
	repo.Write(status.Prefix+cluster, "applied", status.Summarize(s))
	return nil
}

// applied is what is said of an object of a file.
func applied(
	path string, b *files.Blob, commit files.ID, now time.Time, unwell map[string]string,
) (r object.Ref, is *status.Object, err error) {
	data, err := b.Bytes()
	if err != nil {
		return r, nil, err
	}
	d := object.Decode(path, data)
	if len(d.Objects) != 1 {
		return r, nil, fmt.Errorf("%s is no manifest", path)
	}
	o := d.Objects[0]
	r = o.Ref()
	_, version := object.GroupVersion(o.APIVersion())
	is = &status.Object{
		Version: version, Applied: status.Application{Phase: status.PhaseApplied, Commit: commit, Since: now},
		Health: status.Health{State: karmada.ResourceHealthy, Since: now},
	}
	switch how := unwell[r.Kind+"/"+r.Name]; how {
	case "":
	case "failed":
		is.Health = status.Health{State: karmada.ResourceUnhealthy, Reason: health.Failed, Message: "ProgressDeadlineExceeded", Since: now}
	case "progressing":
		is.Health = status.Health{State: karmada.ResourceUnhealthy, Reason: health.InProgress, Message: "1 of 2 are ready", Since: now}
	case "refused":
		is.Applied = status.Application{Phase: status.PhaseFailed, Message: "admission webhook denied it", Since: now}
	default:
		return r, nil, fmt.Errorf("nothing is %q", how)
	}
	return r, is, nil
}

// Silent has the status branch of a cluster say that it does not answer.
func Silent(repo *twin.Repo, cluster string, at render.Address, now time.Time) {
	repo.Write(status.Prefix+cluster, "silent", status.Summarize(status.Cluster{
		Summary: status.Summary{
			Name: cluster, Branch: at.String(), Verdict: status.Verdict{Reason: status.Unreachable}, Since: now,
		},
	}))
}

// Command has somebody command something of the run of a unit, as waybill rollout does: NAME VERB UNIT[@RUN] [STAGE|CLUSTER]. It is the
// run that is open, unless one is named. It is signed unless the signer is nil.
func Command(ctx context.Context, repo *twin.Repo, args []string, sign git.Signer, now time.Time) error {
	head, _, err := repo.Branch(ctx, state.Branch)
	if err != nil {
		return err
	}
	e, _ := head.Tree.Lookup(rollouts.Folder)
	all, _ := rollouts.Decode(e.Dir)
	unit, run, _ := strings.Cut(args[2], "@")
	c := commands.RolloutCommand{Verb: rollouts.Verb(args[1]), Unit: unit, Run: run, By: args[0] + "@example.com", Via: commands.ViaCLI, At: now}
	said := commands.Spoken{Verb: c.Verb, Of: strings.Join(args[3:], " ")}
	for _, r := range all {
		if r.Unit.String() == unit && run == "" {
			c.Run = r.Status.Run
		}
		if r.Unit.String() == unit && said.Of != "" {
			c.Stage, c.Cluster = said.Aim(r.Status.Stages)
		}
	}
	if c.Run == "" {
		return fmt.Errorf("no run of %s is recorded", unit)
	}
	if head, _, err = repo.Branch(ctx, commands.Branch); err != nil {
		return err
	}
	change := commands.Change{Given: []commands.RolloutCommand{c}}
	u, err := change.Update(head, now)
	if err != nil {
		return err
	}
	repo.Sign = sign
	repo.Write(commands.Branch, u.Message, u.Tree)
	repo.Sign = nil
	return nil
}
