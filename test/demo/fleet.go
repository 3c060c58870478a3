package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/forges"
	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/program"
)

// fleet is a source, the repository that it is published to, and clusters that run.
type fleet struct {
	ctx                       context.Context //nolint:containedctx // a demo is one call
	out                       io.Writer
	root                      string // of this project
	story                     string
	dir                       string // in which everything runs
	source, bare, kubeconfigs string // in dir
	waybill                   string
	clusters                  map[string]*controlplane.Cluster
	servers                   []*controlplane.Process
	forge                     *http.Server  // nil: nothing is served
	address                   string        // of the forge
	gitea                     *forges.Gitea // nil: there is none
	background                []*exec.Cmd   // what runs until the end
	log                       log
}

// newFleet returns a fleet without clusters, and builds waybill.
func newFleet(ctx context.Context, out io.Writer, dir, story string) (*fleet, error) {
	in := func(name string) string { return filepath.Join(dir, name) }
	root, err := peers.Go(".", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	f := &fleet{
		ctx: ctx, out: out, root: strings.TrimSpace(root), story: story, dir: dir, source: "source", bare: "published.git", kubeconfigs: "kubeconfigs",
		clusters: map[string]*controlplane.Cluster{},
	}
	if err := errors.Join(os.Mkdir(in(f.kubeconfigs), 0o700), os.Mkdir(in("bin"), 0o700)); err != nil {
		return nil, err
	}
	f.waybill, err = program.Link(ctx, in("bin"))
	return f, err
}

func startFleet(ctx context.Context, out io.Writer, dir, story string, names ...string) (*fleet, error) {
	f, err := newFleet(ctx, out, dir, story)
	if err != nil {
		return nil, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
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

// repositories makes the source of the story, and bare repositories.
func (f *fleet) repositories(bare ...string) error {
	if err := os.CopyFS(filepath.Join(f.dir, f.source), os.DirFS(filepath.Join(f.root, "test/demo", f.story))); err != nil {
		return err
	}
	if err := f.git("init", "-q", "-b", "main", f.source); err != nil {
		return err
	}
	for _, name := range bare {
		if err := f.git("init", "-q", "--bare", "-b", "main", name); err != nil {
			return err
		}
	}
	return nil
}

// serve serves the repositories of the folder over HTTP.
func (f *fleet) serve() error {
	handler, err := peers.GitServer(f.ctx, f.dir)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(f.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.forge = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	f.address = "http://" + listener.Addr().String()
	go func() { _ = f.forge.Serve(listener) }() // it ends with the demo
	return nil
}

// at is where a repository is served.
func (f *fleet) at(repository string) string { return f.address + "/" + repository }

// control starts the controller.
func (f *fleet) control(more ...string) error {
	return f.start(append([]string{"controller", f.source, "--to", f.bare, "--interval", "1s", "--listen=", "--apply", "--kubeconfig-dir", f.kubeconfigs}, more...)...)
}

// start starts a waybill that runs until the end.
func (f *fleet) start(args ...string) error {
	f.say("\n$ waybill %s &", strings.Join(args, " "))
	cmd := f.command("waybill", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdout, cmd.Stderr = &f.log, &f.log
	f.background = append(f.background, cmd)
	return cmd.Start()
}

// end says that this was all, and stops what runs in the background.
func (f *fleet) end() error {
	f.title("Stop: what is under way ends, and the clusters are gone with this folder")
	return f.halt()
}

// halt stops what runs in the background, which must end well.
func (f *fleet) halt() error {
	running := f.background
	f.background = nil
	var errs []error
	for _, cmd := range running {
		errs = append(errs, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}
	return errors.Join(errs...)
}

func (f *fleet) stop() {
	if f.forge != nil {
		_ = f.forge.Close()
	}
	for _, cmd := range f.background {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	if f.gitea != nil {
		f.gitea.Stop()
	}
	for _, p := range f.servers {
		p.Stop()
	}
}

// log is what several programs say.
type log struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.String()
}
