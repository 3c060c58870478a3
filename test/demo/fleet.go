package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/peers"
)

// fleet is a source, the repository that it is published to, and clusters that run.
type fleet struct {
	ctx                       context.Context //nolint:containedctx // a demo is one call
	out                       io.Writer
	root                      string // of this project
	dir                       string // in which everything runs
	source, bare, kubeconfigs string // in dir
	waybill                   string
	clusters                  map[string]*controlplane.Cluster
	servers                   []*controlplane.Process
	controller                *exec.Cmd
	log                       bytes.Buffer
}

func startFleet(ctx context.Context, out io.Writer, dir string, names ...string) (*fleet, error) {
	in := func(name string) string { return filepath.Join(dir, name) }
	root, err := peers.Go(".", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	f := &fleet{
		ctx: ctx, out: out, root: strings.TrimSpace(root), dir: dir, source: "source", bare: "published.git", kubeconfigs: "kubeconfigs", waybill: in("bin/waybill"),
		clusters: map[string]*controlplane.Cluster{},
	}
	if err := errors.Join(os.Mkdir(in(f.kubeconfigs), 0o700), os.Mkdir(in("bin"), 0o700)); err != nil {
		return nil, err
	}
	if _, err := peers.Go(f.root, "build", "-o", f.waybill, "./cmd/waybill"); err != nil {
		return nil, err
	}
	programs, err := controlplane.Build(in("bin"))
	if err != nil {
		return nil, err
	}
	etcd, url, err := programs.StartEtcd(dir)
	if err != nil {
		return nil, err
	}
	f.servers = append(f.servers, etcd)
	for _, name := range names {
		c, err := programs.Start(ctx, url, in(name), 2)
		if c != nil {
			f.servers = append(f.servers, c.Processes()...)
		}
		if err != nil {
			return f, err
		}
		f.clusters[name] = c
		config, err := os.ReadFile(c.Kubeconfig)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.kubeconfigs, name+".kubeconfig"), config, 0o600)
		}
		if err != nil {
			return f, err
		}
		f.say("%s runs at %s", name, c.URL)
	}
	return f, nil
}

// tell runs steps until one fails. What the controller said is shown then.
func (f *fleet) tell(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("%w\n%s", err, f.log.String())
		}
	}
	return f.end()
}

// control starts the controller.
func (f *fleet) control() error {
	args := []string{"controller", f.source, "--to", f.bare, "--interval", "1s", "--listen=", "--apply", "--kubeconfig-dir", f.kubeconfigs}
	f.say("\n$ waybill %s &", strings.Join(args, " "))
	f.controller = f.command("waybill", args...)
	f.controller.Cancel = func() error { return f.controller.Process.Signal(syscall.SIGTERM) }
	f.controller.Stdout, f.controller.Stderr = &f.log, &f.log
	return f.controller.Start()
}

// end stops the controller, which must end well.
func (f *fleet) end() error {
	f.title("Stop: the controller ends what is under way, and the clusters are gone with this folder")
	c := f.controller
	f.controller = nil
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return c.Wait()
}

func (f *fleet) stop() {
	if f.controller != nil && f.controller.Process != nil {
		_ = f.controller.Process.Kill()
		_ = f.controller.Wait()
	}
	for _, p := range f.servers {
		p.Stop()
	}
}

// git runs git, and shows what it printed only if it fails; show runs waybill, and shows all.
func (f *fleet) git(args ...string) error {
	out, err := f.command("git", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (f *fleet) show(args ...string) error {
	f.say("\n$ waybill %s", strings.Join(args, " "))
	cmd := f.command("waybill", args...)
	cmd.Stdout, cmd.Stderr = f.out, f.out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("waybill %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// differ shows a difference, of which there must be one.
func (f *fleet) differ(args ...string) error {
	err := f.show(args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		return fmt.Errorf("there is no difference: %w", err)
	}
	return nil
}

func (f *fleet) command(name string, args ...string) *exec.Cmd {
	if name == "waybill" {
		name = f.waybill
	}
	cmd := exec.CommandContext(f.ctx, name, args...) //nolint:gosec // the steps say what
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@example.com", "GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@example.com")
	return cmd
}

func (f *fleet) commit(message string) error {
	if err := f.git("-C", f.source, "add", "-A"); err != nil {
		return err
	}
	f.say("\n$ git commit -m %q", message)
	return f.git("-C", f.source, "commit", "-q", "-m", message)
}

func (f *fleet) replace(name, from, to string) error {
	return f.rewrite(name, func(s string) (string, bool) { return strings.Replace(s, from, to, 1), strings.Contains(s, from) })
}

// cut takes the end of a file away, from a mark on.
func (f *fleet) cut(name, mark string) error {
	return f.rewrite(name, func(s string) (string, bool) {
		before, _, found := strings.Cut(s, mark)
		return before, found
	})
}

func (f *fleet) rewrite(name string, change func(string) (string, bool)) error {
	path := filepath.Join(f.dir, f.source, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, ok := change(string(data))
	if !ok {
		return fmt.Errorf("%s is not as the demo knows it", path)
	}
	return os.WriteFile(path, []byte(changed), 0o600)
}

// kubectl does what a person does in a cluster.
func (f *fleet) kubectl(cluster string, args ...string) error {
	f.say("\n$ kubectl --kubeconfig %s/%s.kubeconfig %s", f.kubeconfigs, cluster, strings.Join(args, " "))
	out, err := f.clusters[cluster].Kubectl("", args...)
	if err != nil {
		return fmt.Errorf("kubectl: %w\n%s", err, out)
	}
	_, err = io.WriteString(f.out, out)
	return err
}

func (f *fleet) title(text string) { f.say("\n## %s", text) }

// say prints a line. Who has gone away need not be told.
func (f *fleet) say(format string, args ...any) { _, _ = fmt.Fprintf(f.out, format+"\n", args...) }

// look shows the clusters, as they are and as Git says.
func (f *fleet) look() error {
	if err := f.show("get", "deploy", "-A", "--clusters", "-C", f.source, "--kubeconfig-dir", f.kubeconfigs); err != nil {
		return err
	}
	if err := f.show("get", "pods", "-n", "web", "--clusters", "-C", f.source, "--kubeconfig-dir", f.kubeconfigs); err != nil {
		return err
	}
	args := []string{"status", "-C", f.source, "--to", f.bare}
	if err := f.await("waybill status", func() (string, bool) { // who applies says it after a moment
		out, err := f.command("waybill", args...).CombinedOutput()
		return string(out), err == nil
	}); err != nil {
		return err
	}
	return f.show(args...)
}

// ready waits until each cluster has so many replicas of web available, three of shop, and the
// gadget.
func (f *fleet) ready(web map[string]int) error {
	for name, replicas := range web {
		for _, want := range []struct{ namespace, object, path, value string }{
			{"web", "deployment/web", "{.spec.replicas}/{.status.replicas}/{.status.availableReplicas}", fmt.Sprintf("%[1]d/%[1]d/%[1]d", replicas)},
			{"shop", "deployment/shop", "{.metadata.labels.cluster}/{.status.availableReplicas}", name + "/3"},
			{"web", "gadget/one", "{.spec.size}", "3"},
		} {
			if err := f.until(name, func(out string, err error) bool { return err == nil && out == want.value },
				"get", "-n", want.namespace, want.object, "-o", "jsonpath="+want.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// gone waits until no cluster has an object.
func (f *fleet) gone(namespace, kind, name string) error {
	for cluster := range f.clusters {
		if err := f.until(cluster, func(out string, err error) bool { return err != nil && strings.Contains(out, "NotFound") },
			"get", "-n", namespace, kind, name); err != nil {
			return err
		}
	}
	return nil
}

// until asks a cluster until it gives an answer.
func (f *fleet) until(cluster string, good func(out string, err error) bool, args ...string) error {
	return f.await(cluster+": kubectl "+strings.Join(args, " "), func() (string, bool) {
		out, err := f.clusters[cluster].Kubectl("", args...)
		return out, good(out, err)
	})
}

// await asks until the answer is good.
func (f *fleet) await(what string, ask func() (answer string, good bool)) error {
	const patience, interval = 2 * time.Minute, 200 * time.Millisecond
	deadline := time.Now().Add(patience)
	for {
		answer, good := ask()
		if good {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %s", what, answer)
		}
		select {
		case <-f.ctx.Done():
			return f.ctx.Err()
		case <-time.After(interval):
		}
	}
}
