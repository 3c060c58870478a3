package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

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

// until asks a cluster until it gives an answer.
func (f *fleet) until(cluster string, good func(out string, err error) bool, args ...string) error {
	return f.await(cluster+": kubectl "+strings.Join(args, " "), func() (string, bool) {
		out, err := f.clusters[cluster].Kubectl("", args...)
		return out, good(out, err)
	})
}

// await asks until the answer is good.
func (f *fleet) await(what string, ask func() (answer string, good bool)) error {
	const patience, interval = 5 * time.Minute, 200 * time.Millisecond
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
