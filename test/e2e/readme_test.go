//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/docs"
	"github.com/waybill-dev/waybill/test/peers"
)

// person reads the README in a clone of this repository, and types what it says.
type person struct {
	*testing.T

	clone, memory string
}

// TestReadme has a person who has a clone of the last commit, and nothing else, come by what the README
// says from nothing to two clusters that Flux syncs.
func TestReadme(t *testing.T) {
	t.Parallel()
	root, err := peers.Go(".", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	p := person{t, filepath.Join(home, "waybill"), filepath.Join(home, "memory")}
	config := filepath.Join(home, "gitconfig")
	for path, text := range map[string]string{
		config:   "[user]\n\tname = reader\n\temail = reader@example.com\n",
		p.memory: "cd '" + p.clone + "'\nunset GOFLAGS KUBECONFIG FLEET\nexport GIT_CONFIG_GLOBAL='" + config + "'\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "clone", "-q", strings.TrimSpace(root), p.clone).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	page, err := os.ReadFile(filepath.Join(p.clone, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Five minutes to a cluster\n")
	section, _, found := strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("the README has no such section")
	}
	blocks, _ := docs.Read(section)
	playing := false
	for _, b := range blocks {
		switch {
		case b.Text == "make playground\n":
			p.plays()
			playing = true
		case b.Language == "sh" || b.Language == "console":
			p.types(b)
		}
	}
	if !playing {
		t.Fatal("the README starts no clusters")
	}

	// and so the clusters are in sync
	for cluster, want := range map[string]string{"eu-1": "6 6 registry.example.com/hello:1.0", "us-1": "3 3 us.registry.example.com/hello:1.0"} {
		ask := func(command string) string { return strings.TrimSpace(p.types(docs.Block{Exit: "0", Text: command})) }
		head := ask("git ls-remote $FLEET refs/heads/waybill/cluster/" + cluster)
		kubectl := "kubectl --context " + cluster + " "
		eventually(t, cluster+" is in sync", func() (bool, string) {
			revision := ask(kubectl + `-n flux-system get kustomization waybill-` + cluster + ` -o 'jsonpath={.status.lastAppliedRevision}'`)
			got := ask(kubectl + `-n hello get deployment hello -o 'jsonpath={.spec.replicas} {.status.availableReplicas} {.spec.template.spec.containers[0].image}'`)
			_, commit, _ := strings.Cut(revision, "@sha1:")
			return strings.HasPrefix(head, commit+"\t") && got == want, revision + " " + got + " of " + head
		})
	}
}

// types runs a block, in the folder and with the variables in which the one before it ended, and returns
// what it printed.
func (p person) types(b docs.Block) string {
	p.Helper()
	cmd := exec.Command("sh", "-c", ". '"+p.memory+"'\ntrap '{ echo \"cd \\\"$PWD\\\"\"; export -p; echo \"FLEET=$FLEET\"; } > \""+p.memory+"\"' EXIT\nset -e\n"+b.Text)
	out, err := cmd.CombinedOutput()
	p.Logf("%s%s", b.Text, out)
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != b.Exit {
		p.Fatalf("it ended with status %s and not %s: %v", got, b.Exit, err)
	}
	return string(out)
}

// plays starts the clusters in another terminal, until the test ends.
func (p person) plays() {
	p.Helper()
	cmd := exec.Command("make", "playground")
	cmd.Dir, cmd.SysProcAttr = p.clone, &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(filepath.Join(p.TempDir(), "playground.log"))
	if err != nil {
		p.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	env := filepath.Join(p.clone, "bin", "playground.env")
	said := func() string {
		data, err := os.ReadFile(log.Name())
		return fmt.Sprint(string(data), err)
	}
	p.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // Ctrl-C reaches all that runs in a terminal
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			p.Errorf("it does not end:\n%s", said())
		}
		if _, err := os.Stat(env); err == nil {
			p.Errorf("%s is left:\n%s", env, said())
		}
	})
	eventually(p.T, "the clusters are there", func() (bool, string) {
		select {
		case <-ended:
			p.Fatalf("it ended:\n%s", said())
		default:
		}
		_, err := os.Stat(env)
		return err == nil, said()
	})
}
