// Package rendering compares what Waybill renders with what the programs give that
// people use: helm template and kustomize build. They are built from the module in
// tools, in the versions of the libraries that Waybill uses, and run as programs, so
// that nothing of Waybill, nor of the way it calls those libraries, is in them.
//
// Charts and kustomizations are those of testdata, one txtar file each, and those that
// other people wrote: the latter lie beside the checkout, in ../shared/corpus, or where
// WAYBILL_CORPUS says; without them their tests are skipped, and say so.
package rendering

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// programs are the paths of what Waybill is compared with.
type programs struct{ helm, kustomize string }

// build builds the programs once for each state of their module. The first time takes
// minutes, so they are kept in the user's cache.
var build = sync.OnceValues(func() (programs, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return programs{}, err
	}
	flags, err := helmFlags()
	if err != nil {
		return programs{}, err
	}
	digest := sha256.New()
	fmt.Fprintln(digest, runtime.Version(), runtime.GOOS, runtime.GOARCH, flags)
	for _, name := range []string{"tools/go.mod", "tools/go.sum"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return programs{}, err
		}
		fmt.Fprintf(digest, "%d\n%s", len(data), data)
	}
	dir := filepath.Join(cache, "waybill-test-tools", hex.EncodeToString(digest.Sum(nil)[:16]))
	p := programs{helm: filepath.Join(dir, "helm"), kustomize: filepath.Join(dir, "kustomize")}
	if err := install(p.helm, "-ldflags", flags, "helm.sh/helm/v3/cmd/helm"); err != nil {
		return programs{}, err
	}
	return p, install(p.kustomize, "sigs.k8s.io/kustomize/kustomize/v5")
})

// tools returns the programs. That they cannot be built fails the test, for without
// them nothing is compared.
func tools(tb testing.TB) programs {
	tb.Helper()
	p, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// helmFlags returns what a release of Helm is linked with: its version, and that of
// Kubernetes, which templates see.
func helmFlags() (string, error) {
	out, err := goTool("tools", "list", "-m", "-f", "{{.Version}}", "helm.sh/helm/v3", "k8s.io/client-go")
	if err != nil {
		return "", err
	}
	var version string
	var minor, patch int
	if _, err := fmt.Sscanf(out, "%s\nv0.%d.%d", &version, &minor, &patch); err != nil {
		return "", fmt.Errorf("reading the versions %q: %w", out, err)
	}
	const pkg = "helm.sh/helm/v3/"
	return fmt.Sprintf("-X %sinternal/version.version=%s -X %sinternal/version.metadata= -X %spkg/chartutil.k8sVersionMinor=%d",
		pkg, version, pkg, pkg, minor), nil
}

// install builds a program where there is none yet. It appears as a whole, however
// many tests build it at once.
func install(path string, args ...string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built := filepath.Join(dir, filepath.Base(path))
	if _, err := goTool("tools", append([]string{"build", "-o", built}, args...)...); err != nil {
		return err
	}
	return os.Rename(built, path)
}

// goTool runs go in a folder. The user's own flags are for Waybill's module.
func goTool(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	return output(cmd)
}

// output runs a command. The error has what it wrote to the standard error.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// TestTheProgramsAreOfTheVersionsThatWaybillUses fails when only one of the two modules
// is updated.
func TestTheProgramsAreOfTheVersionsThatWaybillUses(t *testing.T) {
	t.Parallel()
	list := []string{"list", "-m", "helm.sh/helm/v3", "sigs.k8s.io/kustomize/api", "sigs.k8s.io/kustomize/kyaml"}
	want, err := goTool(".", list...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := goTool("tools", list...)
	if err != nil {
		t.Fatal(err)
	}
	if want != got {
		t.Errorf("Waybill uses\n%sand is compared with\n%s", want, got)
	}
}
