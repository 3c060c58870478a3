// Package demo shows the whole way in a folder: a source, branches, bindings, a diff. It needs git.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/waybill-dev/waybill/cmd/waybill/firstsource"
	"github.com/waybill-dev/waybill/examples"
)

// Waybill runs a command of this program, and returns its status.
type Waybill func(args []string, out io.Writer) int

// demo runs steps until one fails.
type demo struct {
	ctx          context.Context //nolint:containedctx // a demo is one call
	out          io.Writer
	run          Waybill
	source, bare string
	err          error
}

// Show makes a source and an empty bare repository in a folder, publishes, changes the source and shows what that does.
func Show(ctx context.Context, out io.Writer, dir string, run Waybill) error {
	d := demo{ctx: ctx, out: out, run: run, source: filepath.Join(dir, "source"), bare: filepath.Join(dir, "published.git")}
	d.say("A source: two clusters, a policy, an override, an app")
	d.do(func() error { _, err := firstsource.Write(d.source, examples.Quickstart, "quickstart"); return err })
	d.git("init", "-q", "-b", "main", d.source)
	d.git("init", "-q", "--bare", "-b", "main", d.bare)
	d.commit("first version")
	d.show("find", d.source, "-name", "*.yaml")

	d.say("Where everything goes, and why")
	d.waybill("render", d.source)
	d.waybill("explain", "deployment/hello", "-n", "hello", "-C", d.source)

	d.say("Publish: a branch a cluster, and one that remembers the decisions")
	d.waybill("publish", d.source, "--to", d.bare)
	d.show("git", "-C", d.bare, "log", "--all", "--format=%<(26)%D %s")
	d.show("git", "-C", d.bare, "ls-tree", "-r", "--name-only", "waybill/cluster/us-1")
	d.show("git", "-C", d.bare, "show", "waybill/cluster/us-1:manifests/hello/deployment.apps/hello.yaml")

	d.say("The decision, as Karmada would have bound it")
	d.show("git", "-C", d.bare, "show", "waybill/state:bindings/hello/hello-deployment.yaml")

	d.say("A change: more replicas. What would it do, before it is merged?")
	d.replace("hello.yaml", "replicas: 6", "replicas: 8")
	d.waybill("diff", "-C", d.source, "--to", d.bare)

	d.say("Publish it, and check a branch against its source, byte for byte")
	d.commit("more replicas")
	d.waybill("publish", d.source, "--to", d.bare)
	d.waybill("verify", "waybill/cluster/eu-1", "-C", d.source, "--to", d.bare)
	d.chart()
	return d.err
}

// chart goes the way again with a chart.
func (d *demo) chart() {
	d.source, d.bare = d.source+"-of-charts", strings.TrimSuffix(d.bare, ".git")+"-charts.git"
	d.say("A chart on three clusters, with other values in each region")
	d.do(func() error {
		_, err := firstsource.Write(d.source, examples.ChartPerRegion, "chart-per-region")
		return err
	})
	d.git("init", "-q", "-b", "main", d.source)
	d.git("init", "-q", "--bare", "-b", "main", d.bare)
	d.commit("a chart")
	d.waybill("render", d.source)
	d.waybill("publish", d.source, "--to", d.bare)
	d.show("git", "-C", d.bare, "show", "waybill/cluster/us-1:manifests/shop/deployment.apps/shop.yaml")
	d.show("git", "-C", d.bare, "diff", "--stat", "waybill/cluster/us-1", "waybill/cluster/ap-1", "--", "manifests")
	d.show("git", "-C", d.bare, "diff", "-U1", "waybill/cluster/us-1", "waybill/cluster/ap-1", "--", "manifests/shop/deployment.apps")
}

func (d *demo) do(step func() error) {
	if d.err == nil {
		d.err = step()
	}
}

func (d *demo) say(title string) {
	d.do(func() error { _, err := fmt.Fprintf(d.out, "\n## %s\n", title); return err })
}

// git runs git quietly; show runs any program and prints what it prints.
func (d *demo) git(args ...string) { d.exec(io.Discard, "git", args...) }

func (d *demo) show(name string, args ...string) {
	d.do(func() error {
		_, err := fmt.Fprintf(d.out, "\n$ %s %s\n", name, strings.Join(args, " "))
		return err
	})
	d.exec(d.out, name, args...)
}

func (d *demo) exec(out io.Writer, name string, args ...string) {
	d.do(func() error {
		c := exec.CommandContext(d.ctx, name, args...) //nolint:gosec // the demo's own steps
		c.Stdout, c.Stderr = out, out
		if err := c.Run(); err != nil {
			return fmt.Errorf("running %s %s: %w", name, strings.Join(args, " "), err)
		}
		return nil
	})
}

func (d *demo) commit(message string) {
	d.git("-C", d.source, "add", "-A")
	d.git("-C", d.source, "-c", "user.name=demo", "-c", "user.email=demo@example.com", "commit", "-q", "-m", message)
}

// waybill runs a command of this program. Status 1 of diff means differences.
func (d *demo) waybill(args ...string) {
	d.do(func() error {
		fmt.Fprintf(d.out, "\n$ waybill %s\n", strings.Join(args, " "))
		if code := d.run(args, d.out); code != 0 && (args[0] != "diff" || code != 1) {
			return fmt.Errorf("waybill %s ended with status %d", args[0], code)
		}
		return nil
	})
}

func (d *demo) replace(file, old, now string) {
	d.do(func() error {
		name := filepath.Join(d.source, file)
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !strings.Contains(string(data), old) {
			return errors.New(file + " does not hold " + old)
		}
		return os.WriteFile(name, []byte(strings.Replace(string(data), old, now, 1)), 0o600)
	})
}
