package forgeflags

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/status/posts"
)

// Evidence says whether commit statuses count for evidence.
type Evidence struct {
	forge      *Flags
	reads      bool
	repository string
}

// AddEvidence adds these flags to those of the forge.
func AddEvidence(cmd *cobra.Command, f *Flags) *Evidence {
	e := &Evidence{forge: f}
	cmd.Flags().BoolVar(&e.reads, "commit-status-evidence", false, "let commit statuses at --forge say how healthy clusters are, by which roll-outs go on, where spec.rollout.commitStatus.creators says whose count")
	cmd.Flags().StringVar(&e.repository, "forge-published-repository", "", "with --commit-status-evidence: repository of the forge that is published to, as owner/name (default: --forge-repository)")
	return e
}

// Lister is who is asked for commit statuses; nil: nobody.
func (e *Evidence) Lister() (posts.Lister, error) {
	if !e.reads {
		return nil, nil
	}
	j, err := e.forge.Job()
	if err != nil {
		return nil, err
	}
	j.Repository = cmp.Or(e.repository, j.Repository)
	return e.forge.Open(j)
}
