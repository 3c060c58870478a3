package scenario

import (
	"context"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/test/said"
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
		at, err := addressOf(ctx, repo, cluster)
		if err != nil {
			return err
		}
		if err := said.Applied(ctx, repo, &said.Word{Cluster: cluster, At: at, Unwell: unwell, Now: now}); err != nil {
			return err
		}
	}
	return nil
}

// silence has the status branches of clusters say that these do not answer.
func silence(ctx context.Context, repo *twin.Repo, clusters []string, now time.Time) error {
	for _, cluster := range clusters {
		at, err := addressOf(ctx, repo, cluster)
		if err != nil {
			return err
		}
		said.Silent(repo, cluster, at, now)
	}
	return nil
}

// addressOf is where a cluster is published: on a branch of its own if it has one, and otherwise in a folder.
func addressOf(ctx context.Context, repo *twin.Repo, cluster string) (render.Address, error) {
	heads, err := repo.Heads(ctx)
	own := render.Addresses{Prefix: "waybill/cluster/"}.Of(cluster)
	if _, ok := heads[own.Branch]; ok || err != nil {
		return own, err
	}
	return render.Addresses{Shared: "waybill/clusters"}.Of(cluster), nil
}
