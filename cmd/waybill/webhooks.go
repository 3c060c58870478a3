package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/sources/forge"
)

// hookInterval is the least time between two looks that webhooks cause.
const hookInterval = 2 * time.Second

// webhookFlags say where a forge tells of what happens.
type webhookFlags struct {
	listen, secretFile string
	also               []string
	forge              *forgeflags.Flags // whose webhooks they are
}

// addWebhookFlags adds these flags.
func addWebhookFlags(cmd *cobra.Command, at *forgeflags.Flags) *webhookFlags {
	f := &webhookFlags{forge: at}
	flags := cmd.Flags()
	flags.StringVar(&f.secretFile, "webhook-secret-file", "", "file with the secret of webhooks, or several, one a line; with it --webhook-listen takes webhooks of --forge for --forge-repository, at /webhooks/FORGE")
	flags.StringVar(&f.listen, "webhook-listen", "127.0.0.1:9292", "address for webhooks")
	flags.StringArrayVar(&f.also, "webhook-repository", nil, "another repository, as owner/name, whose webhooks count, such as that of the branches; repeat for more")
	return f
}

// parts take webhooks, if there is a secret.
func (f *webhookFlags) parts(ctx context.Context, c *controller) ([]runnable, error) {
	if f.secretFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.secretFile)
	if err != nil {
		return nil, fmt.Errorf("reading --webhook-secret-file: %w", err)
	}
	commented := func() { wake(c.wakes.commented) }
	h := serve.Hooks{
		Pushed:       serve.NewDebouncer(hookInterval, func() { wake(c.wakes.source); commented() }),
		Commented:    serve.NewDebouncer(hookInterval, commented),
		Pulled:       serve.NewDebouncer(hookInterval, func() { commented(); wake(c.wakes.pulled) }),
		Repositories: append(f.also, f.forge.Repository),
	}
	if h.Forge.Secrets, err = forge.ParseSecrets(text); err != nil {
		return nil, fmt.Errorf("reading --webhook-secret-file: %w", err)
	}
	if f.forge.Kind == "" || f.forge.Repository == "" {
		return nil, errors.New("with --webhook-secret-file, give --forge and --forge-repository, too: whose webhooks are they?")
	}
	if h.Forge.Kind, err = forge.ParseKind(f.forge.Kind); err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", f.listen, err)
	}
	return []runnable{{name: "webhooks", run: alone(func(ctx context.Context) error { return serve.Serve(ctx, l, h.Handler(c.server)) })}}, nil
}
