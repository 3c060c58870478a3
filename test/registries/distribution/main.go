// Distribution runs the CNCF's registry, in memory, by a configuration file of its own: the argument.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/auth/token"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	config, err := configuration.Parse(f)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	server, err := registry.NewRegistry(ctx, config)
	if err != nil {
		return err
	}
	return server.ListenAndServe()
}
