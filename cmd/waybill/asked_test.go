package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/test/apiserver"
)

// TestWhatClustersAreAsked: what they hold now, who they are, and what a lost inventory left there; one that does not answer is told, and
// is no end of the others.
func TestWhatClustersAreAsked(t *testing.T) {
	server := apiserver.New(t, "shop", "kube-system")
	contexts := server.Kubeconfigs(t, "eu", "ap", "me")
	source, git := workTree(t)
	t.Setenv("KUBECONFIG", filepath.Join(contexts, "none"))
	t.Setenv("HOME", t.TempDir()) // where what servers serve is kept
	const settings = "/api/v1/namespaces/shop/configmaps/"
	server.Put(settings+"mine", apiserver.Object{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": apiserver.Object{"name": "mine", "namespace": "shop"},
	})
	places := map[string]string{"SRC": source, "REACH": contexts}
	const reach = " -C SRC --kubeconfig-dir REACH"
	hold(t, places, []saying{
		{"publish SRC", 0, nil},
		{"get configmaps -n shop --clusters=eu" + reach, 0, []string{`^eu +\S*mine `}},
		{"get configmaps -n shop --clusters -o name" + reach, 1, []string{"mine", "us"}},
		{"get configmaps -n shop --clusters=us" + reach, 2, []string{"us"}},
		{"get configmaps mine -n shop --clusters=eu --context eu -C SRC --kubeconfig REACH/none", 2, nil},
		{"get configmaps mine none -n shop --clusters=eu" + reach, 1, []string{"mine", "NotFound"}},
		{"get configmaps -n shop --clusters=eu -o nothing" + reach, 2, []string{"nothing"}},
		{"orphans eu" + reach, 2, []string{"unknown command"}},
		{"cluster orphans eu" + reach, 0, nil},
		{"cluster orphans ap" + reach, 2, []string{"ap"}},
		{"cluster orphans us" + reach, 2, []string{"us"}},
		{"cluster orphans eu -C SRC/none", 2, nil},
		{
			"cluster join me --dry-run --agent --sync-mode Pull --repository https://git.example/a" + reach, 0,
			[]string{"kind: Deployment", `^\+  name: me$`, "!agent-key"},
		},
		{"cluster join ap" + reach, 0, []string{`ap runs Kubernetes \S+, and its id is \S+$`, `^\+  name: ap$`}},
		{"cluster join us2" + reach, 2, []string{"us2"}},
		{"logs web --cluster eu -n shop" + reach, 2, []string{"^error: eu: "}},
		{"logs web --cluster eu -n shop --request-timeout 1ns" + reach, 2, []string{`^error: eu: .* exceeded`}},
		{"logs web --context eu --cluster eu -n shop --kubeconfig REACH/none -C SRC", 2, []string{"!unknown flag"}},
		{"get pods --clusters -C REACH", 2, []string{"the source registers no cluster"}},
		{"logs web --cluster us -n shop" + reach, 2, []string{"^error: us: "}},
		{"logs web --cluster none -n shop" + reach, 2, []string{"none"}},
		{"top pods --cluster eu -n shop" + reach, 2, []string{"^error: eu: "}},
		{"exec web --cluster eu -n shop" + reach + " -- ls", 2, []string{"^error: eu: "}},
	})
	if _, err := os.Stat(filepath.Join(source, "clusters", "ap.yaml")); err != nil {
		t.Errorf("what registers the cluster: %v", err)
	}
	git("add", "-A")
	git("commit", "-qm", "ap")
	hold(t, places, []saying{
		{"cluster drain ap -C SRC --dry-run", 0, []string{"removes shop/settings"}},
		{"publish SRC", 0, nil},
		{"cluster drain ap -C SRC --dry-run", 0, []string{"^nothing moves; work leaves clusters where spec.failover.enabled"}},
		{"cluster drain eu -C SRC", 0, []string{`waybill.dev/drain`}},
		{"cluster drain eu -C SRC", 0, []string{"is drained already"}},
		{"cluster remove us -C SRC --dry-run", 0, []string{"settings", `^-  name: us$|^-metadata: \{name: us\}$`}},
		{"cluster join ap --agent --sync-mode Pull --repository https://git.example/a" + reach, 2, []string{"ap"}},
	})
}

// answers are those of a person whom nobody hears.
type answers struct{ io.Reader }

func (answers) Read([]byte) (int, error) { return 0, errors.New("the line is cut") }

// TestNobodyIsAsked: a question needs somebody at a terminal.
func TestNobodyIsAsked(t *testing.T) {
	for _, in := range []io.Reader{strings.NewReader("y\n"), answers{}, os.Stdin} {
		cmd := &cobra.Command{}
		cmd.SetIn(in)
		if f, ok := in.(*os.File); ok {
			if at, err := f.Stat(); err != nil || at.Mode()&os.ModeCharDevice != 0 {
				continue // somebody is there
			}
		}
		if err := confirmed(cmd, "sure?"); err == nil || err.Error() != "sure? nobody can be asked here, so say --yes" {
			t.Errorf("it is %v", err)
		}
	}
}

// ends is an output after whose first lines a command is told to stop.
type ends struct {
	strings.Builder

	at   string
	stop context.CancelFunc
}

func (e *ends) Write(p []byte) (int, error) {
	n, err := e.Builder.Write(p)
	if strings.Contains(e.String(), e.at) {
		e.stop()
	}
	return n, err
}

// TestWhatIsWatched: it is printed, and the command ends well when it is told to stop; of what cannot be watched it says so.
func TestWhatIsWatched(t *testing.T) {
	source, _ := workTree(t)
	hold(t, map[string]string{"SRC": source}, []saying{{"publish SRC", 0, nil}})
	for line, at := range map[string]string{"get templates --watch": "settings", "diff --watch": "o", "problems --watch": "Silent"} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		out := &ends{at: at, stop: cancel}
		var problems strings.Builder
		began := time.Now()
		code := run(ctx, append(strings.Fields(line), "-C", source), out, &problems)
		if code != 0 || !strings.Contains(out.String(), at) || time.Since(began) > 15*time.Second {
			t.Errorf("waybill %s ends with %d after %s: %s%s", line, code, time.Since(began), out.String(), problems.String())
		}
		cancel()
	}
}
