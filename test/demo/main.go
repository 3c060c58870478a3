// Demo brings a source to three real clusters, as make demo-clusters shows it: it starts them
// on this machine, registers them, commits a Deployment with weighted replicas, a HelmRelease
// and a CRD with its object, and has waybill controller keep the clusters there while it
// changes the source, and a cluster. Every step is checked, so that it is a test as well: it
// ends with status 1 where something is not as it should be.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "waybill-demo-clusters-")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(dir); err == nil {
			err = removed
		}
	}()
	fmt.Fprintln(out, "Three clusters on this machine: real control planes, simulated nodes (the first time they are built, which takes some ten minutes).")
	f, err := startFleet(ctx, out, dir, "eu-1", "us-1", "ap-1")
	if f != nil {
		defer f.stop()
	}
	if err != nil {
		return err
	}
	return f.tell(
		f.register,
		f.deliver,
		f.edit,
		f.drift,
		f.remove,
	)
}

// register has each cluster joined, as a person would.
func (f *fleet) register() error {
	f.title("Register them: a file each, which a person reviews and commits")
	if err := os.CopyFS(filepath.Join(f.dir, f.source), os.DirFS(filepath.Join(f.root, "test/demo/source"))); err != nil {
		return err
	}
	if err := f.git("init", "-q", "-b", "main", f.source); err != nil {
		return err
	}
	if err := f.git("init", "-q", "--bare", "-b", "main", f.bare); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.clusters)) {
		if err := f.show("cluster", "join", name, "-C", f.source, "--kubeconfig-dir", f.kubeconfigs, "--region", name[:2]); err != nil {
			return err
		}
	}
	return nil
}

// deliver starts the controller, which publishes and applies.
func (f *fleet) deliver() error {
	f.title("Commit a Deployment, a HelmRelease and a CRD with its object; the controller plans, publishes and applies")
	if err := f.commit("first version"); err != nil {
		return err
	}
	if err := f.control(); err != nil {
		return err
	}
	if err := f.ready(map[string]int{"eu-1": 4, "us-1": 2, "ap-1": 2}); err != nil {
		return err
	}
	return f.look()
}

// edit changes the source.
func (f *fleet) edit() error {
	f.title("Edit the source: twelve replicas")
	if err := f.replace("web.yaml", "replicas: 8", "replicas: 12"); err != nil {
		return err
	}
	if err := f.differ("diff", "-C", f.source, "--to", f.bare); err != nil {
		return err
	}
	if err := f.commit("more replicas"); err != nil {
		return err
	}
	if err := f.ready(map[string]int{"eu-1": 6, "us-1": 3, "ap-1": 3}); err != nil {
		return err
	}
	return f.look()
}

// drift changes a cluster.
func (f *fleet) drift() error {
	f.title("Somebody scales a Deployment and deletes another, by hand; both are put right")
	if err := f.kubectl("us-1", "-n", "web", "scale", "deployment", "web", "--replicas=1"); err != nil {
		return err
	}
	if err := f.kubectl("ap-1", "-n", "shop", "delete", "deployment", "shop"); err != nil {
		return err
	}
	if err := f.ready(map[string]int{"eu-1": 6, "us-1": 3, "ap-1": 3}); err != nil {
		return err
	}
	return f.look()
}

// remove takes something out of the source.
func (f *fleet) remove() error {
	f.title("Take the object out of the source: it leaves every cluster, and nothing else does")
	if err := f.cut("gadget.yaml", "---\n"); err != nil {
		return err
	}
	if err := f.commit("no gadget"); err != nil {
		return err
	}
	return f.gone("web", "gadget", "one")
}
