package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/fetching"
	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/cmd/waybill/updating"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/git"
)

// updatesFlags say whether the controller looks for new versions, and as whom.
type updatesFlags struct {
	*updating.ControllerFlags

	cmd   *cobra.Command
	own   func() (git.Auth, error)
	where func(path string) (repositories, error)
}

// addUpdatesFlags adds these flags to those of the forge and of the repositories.
func addUpdatesFlags(cmd *cobra.Command, f *forgeflags.Flags, where func(path string) (repositories, error)) *updatesFlags {
	own := credentialSet(cmd, "updates-", "WAYBILL_UPDATES_", "the source, with --updates, to push new versions")
	return &updatesFlags{ControllerFlags: updating.AddControllerFlags(cmd, f), cmd: cmd, own: own, where: where}
}

// parts look for new versions. The source is read and pushed to by a credential that is for that alone.
func (f *updatesFlags) parts(ctx context.Context, c *controller) ([]runnable, error) {
	if !f.On {
		return nil, nil
	}
	own, err := f.own()
	if err != nil {
		return nil, err
	}
	w, err := f.where(sourcePath(f.cmd))
	if err != nil {
		return nil, err
	}
	if own.PlainHTTP = w.at.PlainHTTP; git.Origin(w.path) != "" && own.Password == "" && own.SSHKey == "" {
		return nil, fmt.Errorf("--updates pushes to %s by a credential of its own; give --updates-username and --updates-password-file, or --updates-ssh-key", git.Origin(w.path))
	}
	p := &updating.Proposals{Base: c.loop.Rev, Reconciler: forOthers(*c.loop.Reconciler), Now: time.Now}
	if p.Forge, err = f.Forge(own); err != nil {
		return nil, err
	}
	upstream, err := openSigned(ctx, w.path, forNamed(own, w.path), w.sign)
	if err != nil {
		return nil, err
	}
	p.Upstream, p.Reconciler.Source = upstream, upstream
	p.Asked = func(config render.ConfigSpec) fetching.Asked { return asked(f.cmd, config) }
	return []runnable{{name: "updates", leads: true, run: alone(p.Loop(c.loop.Interval, c.loop.Log))}}, nil
}
