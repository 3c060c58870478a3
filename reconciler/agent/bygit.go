package agent

import (
	"context"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/refs"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Lighter is a repository that heartbeats are written to. *git.Repo is one.
type Lighter interface {
	observe.RefReader
	Light(ctx context.Context, messages map[string]string, by git.Author, at time.Time) error
}

// ByGit carries heartbeats by a ref without a history, which the repository signs.
type ByGit struct {
	Repo   Lighter
	Origin string // of the repository, as scheme://host
	Key    signing.Public
	Host   refs.Host
}

// Times implements Heart.
func (h *ByGit) Times(clusters int) (heartbeat.Times, error) {
	return heartbeat.ByGit(h.Origin, clusters)
}

// Last implements Heart. What others wrote there does not count, nor does what is no time of an agent.
func (h *ByGit) Last(ctx context.Context, clusters []string) (last uint64, err error) {
	isOurs := func(ref string, _ files.ID) bool {
		return slices.ContainsFunc(clusters, func(c string) bool { return ref == heartbeat.Refs+c || ref == heartbeat.Branches+c })
	}
	b, err := h.Repo.RemoteRefs(ctx, isOurs)
	if err != nil {
		return 0, err
	}
	for _, ref := range b.Read {
		if h.Key.Verify(signing.Git, ref.Signed, ref.Signature) != nil {
			continue
		}
		beat, err := heartbeat.Parse(ref.Message)
		if err == nil && slices.Contains(clusters, beat.Cluster) && heartbeat.GoesOn(beat.Sequence, h.Host.Now()) {
			last = max(last, beat.Sequence)
		}
	}
	return last, nil
}

// Beat implements Heart: one push for all.
func (h *ByGit) Beat(ctx context.Context, beats []heartbeat.Beat) error {
	write := func(prefix string) func() error {
		messages := make(map[string]string, len(beats))
		for i := range beats {
			messages[prefix+beats[i].Cluster] = beats[i].Text()
		}
		return func() error {
			return h.Repo.Light(ctx, messages, git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}, h.Host.Now())
		}
	}
	return h.Host.Write(ctx, write(heartbeat.Refs), write(heartbeat.Branches))
}
