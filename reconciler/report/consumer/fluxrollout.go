package consumer

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/forge"
)

// FluxRollout says how Flux is to say at a forge what becomes of commits, so that roll-outs have evidence.
type FluxRollout struct {
	Wanted bool
	Forge  string // its kind; empty: that of the URL's host, if it is known
	Secret string // with the credentials that may set commit statuses
}

// reporter is what notification-controller is told.
func (r *FluxRollout) reporter(address string) (fluxsync.Reporter, error) {
	kind := r.Forge
	if u, err := url.Parse(address); kind == "" && err == nil {
		kind = string(forge.KindOf(u.Hostname()))
	}
	switch kind {
	case "github", "gitlab", "gitea":
	case "forgejo":
		kind = "gitea" // whose API it has
	case "":
		return fluxsync.Reporter{}, errors.New("--rollout has Flux set commit statuses, and what kind of forge the URL is of is not known; give --forge: github, gitlab, gitea or forgejo")
	default:
		return fluxsync.Reporter{}, fmt.Errorf("--forge is %q; want github, gitlab, gitea or forgejo", kind)
	}
	return fluxsync.Reporter{Forge: kind, URL: address, Secret: r.Secret}, nil
}

// rollout prints how Flux syncs a branch, and says at the forge what becomes of it.
func (p *fluxPrinter) rollout(sync fluxsync.Sync, source string, before tree.Published) error {
	reporter := p.reporter
	parts, err := before.Parts()
	if err != nil {
		return err
	}
	for _, part := range parts {
		if ns := part.Namespace; ns != "" && ns != sync.Namespace && !slices.Contains(reporter.Namespaces, ns) {
			reporter.Namespaces = append(reporter.Namespaces, ns)
		}
	}
	root := sync.Awaited(sync.Root())
	if len(parts) > 0 {
		workloads, err := before.RootedWorkloads()
		if err != nil {
			return err
		}
		fmt.Fprintf(p.notes, "note: the branch of cluster %s has parts, so that its root waits for the workloads that it lists itself, which are %d now; print and apply it again when these change\n", sync.Cluster, len(workloads))
		root = sync.AwaitedRoot(workloads)
	}
	return p.print(source, documents(p.site.Told(sync.Cluster, root))+documents(sync.Reports(reporter)...))
}
