package demo_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/cmd/waybill/demo"
)

// publishing stands for the program: publish makes the branches that the demo shows, and each command prints its name and ends with
// the status that is said here.
func publishing(t *testing.T, ran *[]string, statuses map[string]int) demo.Waybill {
	t.Helper()
	return func(args []string, out io.Writer) int {
		*ran = append(*ran, args[0])
		fmt.Fprintln(out, "waybill does", args[0])
		if i := slices.Index(args, "--to"); args[0] == "publish" {
			// all branches have one commit, with a file at each path that is shown
			const script = `cd "$1" && git checkout -q --detach &&
for f in manifests/hello/deployment.apps/hello.yaml manifests/shop/deployment.apps/shop.yaml bindings/hello/hello-deployment.yaml; do mkdir -p $(dirname $f); cat *.yaml > $f; done &&
git add -A && git -c user.name=x -c user.email=x@example.com commit -q -m published &&
git push -q -f "$2" HEAD:refs/heads/waybill/cluster/us-1 HEAD:refs/heads/waybill/cluster/eu-1 HEAD:refs/heads/waybill/cluster/ap-1 HEAD:refs/heads/waybill/state &&
git checkout -q main`
			if said, err := exec.Command("sh", "-c", script, "sh", args[1], args[i+1]).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
		}
		return statuses[args[0]]
	}
}

func show(t *testing.T, statuses map[string]int) (ran []string, out string, err error) {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	var b bytes.Buffer
	err = demo.Show(t.Context(), &b, t.TempDir(), publishing(t, &ran, statuses))
	return ran, b.String(), err
}

// The demo goes the whole way; that diff says by its status that something differs is as it should be. The source that is published
// last has more replicas.
func TestShow(t *testing.T) {
	ran, out, err := show(t, map[string]int{"diff": 1})
	if want := []string{"render", "explain", "publish", "diff", "publish", "verify", "render", "publish"}; err != nil || !slices.Equal(ran, want) {
		t.Fatalf("it ran %q and ended with %v, want %q\n%s", ran, err, want, out)
	}
	for _, want := range []string{"## A source: two clusters", "\n$ waybill diff -C", "waybill does diff\n", "\n$ git -C", "replicas: 6", "## A chart on three clusters"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q:\n%s", want, out)
		}
	}
}

// A step that fails is the last one, and the demo says which it was.
func TestAStepThatFailsIsTheLast(t *testing.T) {
	for name, test := range map[string]struct {
		statuses map[string]int
		ran      int
		says     string
	}{
		"explain fails":                    {map[string]int{"explain": 1}, 2, "waybill explain ended with status 1"},
		"diff fails":                       {map[string]int{"diff": 2}, 4, "waybill diff ended with status 2"},
		"verify finds what is not rebuilt": {map[string]int{"verify": 1}, 6, "waybill verify ended with status 1"},
	} {
		ran, _, err := show(t, test.statuses)
		if len(ran) != test.ran || err == nil || err.Error() != test.says {
			t.Errorf("%s: it ran %q and ended with %v, want %s", name, ran, err, test.says)
		}
	}
}

// An output that takes nothing more, and a folder that is no folder, end the demo before anything is run.
func TestShowWritesNowhere(t *testing.T) {
	var ran []string
	if err := demo.Show(t.Context(), full{}, t.TempDir(), publishing(t, &ran, nil)); !errors.Is(err, errFull) || len(ran) > 0 {
		t.Errorf("it ran %q and ended with %v", ran, err)
	}
	if err := demo.Show(t.Context(), io.Discard, "demo_test.go", publishing(t, &ran, nil)); err == nil || len(ran) > 0 {
		t.Errorf("it ran %q and ended with %v", ran, err)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
