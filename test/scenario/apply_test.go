package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// apply has clusters be at the heads of their branches, and their status branches say so, as whoever applies
// writes them:
//
//	apply CLUSTER... [KIND/NAME=failed|progressing|refused]
//
// What is not named is healthy.
func apply(ctx context.Context, repo *twin.Repo, args []string, now time.Time) error {
	var clusters []string
	unwell := map[string]string{}
	for _, a := range args {
		if what, is, ok := strings.Cut(a, "="); ok {
			unwell[what] = is
		} else {
			clusters = append(clusters, a)
		}
	}
	for _, cluster := range clusters {
		branch := "waybill/cluster/" + cluster
		heads, err := repo.Heads(ctx)
		if err != nil {
			return err
		}
		h, ok, err := repo.Branch(ctx, branch)
		if err != nil || !ok {
			return fmt.Errorf("applying %s: there is no branch %s", cluster, branch)
		}
		s := status.Cluster{
			Summary: status.Summary{Name: cluster, Branch: branch, Commit: heads[branch], Verdict: status.Verdict{Reason: status.Applied}, Since: now},
			Objects: map[object.Ref]*status.Object{},
		}
		for path, e := range h.Tree.All() {
			if !strings.HasPrefix(path, "manifests/") {
				continue
			}
			o, err := applied(path, e.Blob, heads[branch], now, unwell)
			if err != nil {
				return err
			}
			s.Objects[o.ref] = o.is
		}
		repo.Write(status.Prefix+cluster, "applied", status.Summarize(s))
	}
	return nil
}

type appliedObject struct {
	ref object.Ref
	is  *status.Object
}

// applied is what is said of an object of a file.
func applied(path string, b *files.Blob, commit files.ID, now time.Time, unwell map[string]string) (a appliedObject, err error) {
	data, err := b.Bytes()
	if err != nil {
		return a, err
	}
	d := object.Decode(path, data)
	if len(d.Objects) != 1 {
		return a, fmt.Errorf("%s is no manifest", path)
	}
	o := d.Objects[0]
	a.ref = o.Ref()
	_, version := object.GroupVersion(o.APIVersion())
	a.is = &status.Object{
		Version: version, Applied: status.Application{Phase: status.PhaseApplied, Commit: commit, Since: now},
		Health: status.Health{State: karmada.ResourceHealthy, Since: now},
	}
	switch is := unwell[a.ref.Kind+"/"+a.ref.Name]; is {
	case "":
	case "failed":
		a.is.Health = status.Health{State: karmada.ResourceUnhealthy, Reason: health.Failed, Message: "ProgressDeadlineExceeded", Since: now}
	case "progressing":
		a.is.Health = status.Health{State: karmada.ResourceUnhealthy, Reason: health.InProgress, Message: "1 of 2 are ready", Since: now}
	case "refused":
		a.is.Applied = status.Application{Phase: status.PhaseFailed, Message: "admission webhook denied it", Since: now}
	default:
		return a, fmt.Errorf("nothing is %q", is)
	}
	return a, nil
}

// silence has the status branches of clusters say that these do not answer.
func silence(repo *twin.Repo, clusters []string, now time.Time) error {
	for _, cluster := range clusters {
		repo.Write(status.Prefix+cluster, "silent", status.Summarize(status.Cluster{
			Summary: status.Summary{
				Name: cluster, Branch: "waybill/cluster/" + cluster, Verdict: status.Verdict{Reason: status.Unreachable}, Since: now,
			},
		}))
	}
	return nil
}
