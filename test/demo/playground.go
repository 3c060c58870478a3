package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/test/controlplane"
)

// A playground is clusters with Flux, and an empty repository that they can read, for whoever wants
// to try what the README says.
const playground = "playground"

// play starts a playground, says in a file of the project how to come to it, and leaves it until it
// is interrupted.
func play(ctx context.Context, out io.Writer, dir string) error {
	fmt.Fprintln(out, "Two clusters on this machine: real control planes, simulated nodes, and Flux (the first time they are built, which takes twenty minutes of a processor).")
	f, err := startFleet(ctx, out, dir, playground, "eu-1", "us-1")
	if f != nil {
		defer f.stop()
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.clusters)) {
		c := f.clusters[name]
		before := len(c.Processes())
		err := c.StartFlux(controlplane.SourceController, controlplane.KustomizeController)
		f.servers = append(f.servers, c.Processes()[before:]...)
		if err != nil {
			return err
		}
		f.say("Flux runs in %s", name)
	}
	const repository = "fleet.git"
	if err := f.git("init", "-q", "--bare", "-b", "main", repository); err != nil {
		return err
	}
	if err := f.serve(); err != nil {
		return err
	}
	if err := f.contexts(); err != nil {
		return err
	}
	env := filepath.Join(f.root, "bin", playground+".env")
	if err := f.tellShells(env, f.at(repository)); err != nil {
		return err
	}
	defer os.Remove(env)
	f.say("\nIn the terminal in which you read on:\n\n. %s\n\nThey run until you press Ctrl-C here.", env)
	<-ctx.Done()
	return nil
}

// contexts writes a kubeconfig in which each cluster is a context.
func (f *fleet) contexts() error {
	var clusters, contexts []string
	for name, c := range f.clusters {
		clusters = append(clusters, fmt.Sprintf("{name: %s, cluster: {server: %q, certificate-authority: %q}}", name, c.URL, c.Authority))
		contexts = append(contexts, fmt.Sprintf("{name: %[1]s, context: {cluster: %[1]s, user: admin}}", name))
	}
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\nusers: [{name: admin, user: {token: %s}}]\nclusters: [%s]\ncontexts: [%s]\n",
		controlplane.Token, strings.Join(clusters, ", "), strings.Join(contexts, ", "))
	return os.WriteFile(filepath.Join(f.dir, "kubeconfig"), []byte(config), 0o600)
}

// tellShells writes what a shell reads to come to the clusters. The programs here come after those that
// a person has.
func (f *fleet) tellShells(env, repository string) error {
	said := fmt.Sprintf("# of make %s, and gone with it\nexport FLEET=%s\nexport KUBECONFIG='%s'\nexport PATH=\"$PATH:%s\"\n", playground, repository, filepath.Join(f.dir, "kubeconfig"), filepath.Join(f.dir, "bin"))
	return errors.Join(os.MkdirAll(filepath.Dir(env), 0o750), os.WriteFile(env, []byte(said), 0o600))
}
