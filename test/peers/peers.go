// Package peers builds the programs that people use where they have no Waybill, to
// compare it with them: helm and kustomize, from the module in tools, in the versions
// of the libraries that Waybill uses.
package peers

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

// Programs are the paths of what Waybill is compared with.
type Programs struct{ Helm, Kustomize string }

// build builds the programs.
var build = sync.OnceValues(func() (Programs, error) {
	module, err := folder()
	if err != nil {
		return Programs{}, err
	}
	flags, err := helmFlags(module)
	if err != nil {
		return Programs{}, err
	}
	var p Programs
	if p.Helm, err = Install(module, "helm", "-ldflags", flags, "helm.sh/helm/v3/cmd/helm"); err != nil {
		return Programs{}, err
	}
	p.Kustomize, err = Install(module, "kustomize", "sigs.k8s.io/kustomize/kustomize/v5")
	return p, err
})

// Built returns the programs, which it builds where it must.
func Built() (Programs, error) { return build() }

// Build returns the programs. That they cannot be built fails the test, for without
// them nothing is compared.
func Build(tb testing.TB) Programs {
	tb.Helper()
	p, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// helmFlags returns what a release of Helm is linked with: its version, and that of
// Kubernetes, which templates see.
func helmFlags(module string) (string, error) {
	out, err := Go(module, "list", "-m", "-f", "{{.Version}}", "helm.sh/helm/v3", "k8s.io/client-go")
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

// Install builds a program of a module, by the arguments of go build, and returns its path.
// The first time takes minutes, so programs are kept in the user's cache, one for each state
// of their module. They appear as a whole. Of several processes that want the same program one
// builds it, and the others wait.
func Install(module, name string, args ...string) (path string, err error) {
	return install(module, name, Go, args)
}

// InstallC is Install for a program that has parts in C, for which a compiler is needed.
func InstallC(module, name string, args ...string) (path string, err error) {
	return install(module, name, func(dir string, args ...string) (string, error) { return run(dir, "1", args) }, args)
}

func install(module, name string, build func(dir string, args ...string) (string, error), args []string) (path string, err error) {
	if path, err = cached(module, name, args); err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	unlock, err := Lock(filepath.Dir(path) + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), privateFolder); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	built := filepath.Join(dir, name)
	if _, err := build(module, append([]string{"build", "-o", built}, args...)...); err != nil {
		return "", err
	}
	return path, os.Rename(built, path)
}

const privateFolder os.FileMode = 0o750

// cache returns the folder of the user's cache in which programs are kept.
func cache() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(user, "waybill-test-tools")
	return dir, os.MkdirAll(dir, privateFolder)
}

// cached returns where a program of a module is kept.
func cached(module, name string, args []string) (string, error) {
	all, err := cache()
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	fmt.Fprintln(digest, runtime.Version(), runtime.GOOS, runtime.GOARCH, args)
	programs, err := filepath.Glob(filepath.Join(module, "*.go"))
	if err != nil {
		return "", err
	}
	for _, file := range append(programs, filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum")) {
		data, err := os.ReadFile(file) //nolint:gosec // of this repository
		if err != nil {
			return "", err
		}
		fmt.Fprintf(digest, "%d\n%s", len(data), data)
	}
	return filepath.Join(all, hex.EncodeToString(digest.Sum(nil)[:16]), name), nil
}

// folder is where the module of the programs is.
func folder() (string, error) {
	dir, err := Go(".", "list", "-f", "{{.Dir}}", "github.com/waybill-dev/waybill/test/peers")
	return filepath.Join(strings.TrimSpace(dir), "tools"), err
}

// Go runs go in a folder. The user's own flags are for Waybill's module. Paths are trimmed as the
// Makefile has it, so that what both need of the standard library is compiled once.
func Go(dir string, args ...string) (string, error) { return run(dir, "0", args) }

// run runs go with or without C.
func run(dir, cgo string, args []string) (string, error) {
	cmd := exec.Command("go", args...) //nolint:gosec,noctx // as the callers say; a build is worth finishing
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED="+cgo, "GOFLAGS=-mod=readonly -trimpath")
	return Output(cmd)
}

// Output runs a command and returns what it prints. The error has what it wrote to the standard error.
func Output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}
