package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/sources/git"
)

// statusFlags say where agents write.
type statusFlags struct {
	cmd    *cobra.Command
	at     string
	shared bool
	auth   func() (git.Auth, error)
}

// addStatusFlags adds these flags. Shared adds the one for the repository of the branches, which
// readers need not be told of.
func addStatusFlags(cmd *cobra.Command, usage string) *statusFlags {
	f := &statusFlags{cmd: cmd}
	cmd.Flags().StringVar(&f.at, "status-repository", "", usage)
	f.auth = credentialSet(cmd, "status-", "WAYBILL_STATUS_", "the repository of the statuses")
	return f
}

// addSharedFlag adds the flag that says that there is one repository.
func (f *statusFlags) addSharedFlag() *statusFlags {
	f.cmd.Flags().BoolVar(&f.shared, "shared-repository", false, "agents write to the repository of the branches; see docs/security.md for the rules that its branches need")
	f.cmd.MarkFlagsMutuallyExclusive("status-repository", "shared-repository")
	return f
}

// open opens the repository that agents write to; nil if none is named.
func (f *statusFlags) open() (*git.Repo, error) {
	if f.at == "" {
		return nil, nil
	}
	auth, err := f.auth()
	if err != nil {
		return nil, err
	}
	if auth.PlainHTTP, err = f.cmd.Flags().GetBool("plain-http"); err != nil {
		return nil, err
	}
	return open(f.cmd.Context(), f.at, forNamed(auth, f.at))
}

// into has a reconciler read there what agents say.
func (f *statusFlags) into(r *reconciler.Reconciler) error {
	repo, err := f.open()
	if repo != nil {
		r.Agents = repo
	}
	r.Shared = f.shared
	return err
}

// parts watch the clusters that are pulled to, if somebody says where agents write.
func (f *statusFlags) parts(ctx context.Context, c *controller) ([]runnable, error) {
	r, log := c.loop.Reconciler, c.loop.Log
	repo, _ := r.Agents.(*git.Repo)
	if f.shared {
		repo, _ = r.Target.(*git.Repo)
	}
	if repo == nil {
		return nil, nil
	}
	m := &observe.Agents{
		Recorder: observe.Recorder{Target: r.Target, Version: r.Version, Now: r.Now}, Status: repo, Origin: git.Origin(repo.Name()), Log: log,
		Recorded: func() { wake(c.wakes.source) },
		Receiver: &receive.Receiver{
			Now: time.Now,
			Ignored: func(cluster, why string) {
				log.WarnContext(ctx, "heartbeat ignored", "cluster", cluster, "by", "http", "err", why)
			},
		},
	}
	c.server.Receive(m.Receiver)
	return []runnable{{name: "heartbeats", leads: true, run: alone(func(ctx context.Context) error { return m.Run(ctx, rand.Text()) })}}, nil
}
