// Package controlplane runs Kubernetes clusters on this machine, for tests and for the demo:
// real API servers that share one etcd, with the real controllers and scheduler, and with
// nodes that kwok simulates, so that pods become ready though no kubelet runs; Flux's controllers
// for them; and Argo CD's engine. All is built from the modules in servers, flux, notification and argo, once for
// each state of them, and kept in the user's cache.
package controlplane

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill-dev/waybill/test/peers"
)

// parts are the names that the one program goes by.
var parts = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "kwok-stages"}

// version is that of Kubernetes in servers.
const version = "v1.36.3"

// Programs is a folder that has the parts of a cluster, and kubectl, by their names.
type Programs string

// Build builds the parts, which takes twelve minutes of CPU the first time, and puts them into
// a folder.
func Build(dir string) (Programs, error) {
	built, err := installServers()
	if err != nil {
		return "", err
	}
	for _, name := range parts {
		if err := os.Symlink(built, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return Programs(dir), nil
}

// Install builds all that this package can start, or finds it in the user's cache: but for notification-controller, which takes seven
// minutes of a processor and serves one long test, that builds it.
func Install() error {
	if _, err := installServers(); err != nil {
		return err
	}
	for _, name := range []string{SourceController, KustomizeController} {
		if _, err := installFlux(name); err != nil {
			return err
		}
	}
	_, err := InstallArgoCD()
	return err
}

func installServers() (string, error) {
	return install("servers", "servers", ".", "-X", "k8s.io/component-base/version.gitVersion="+version)
}

// InstallArgoCD builds the program that syncs Applications with Argo CD's engine, or finds it in the
// user's cache, and returns its path.
func InstallArgoCD() (string, error) { return install("argo", "argocd-sync", ".") }

// Path returns where a part is.
func (p Programs) Path(part string) string { return filepath.Join(string(p), part) }

// install builds a program of one of the modules here, with flags for the linker, or finds it in
// the user's cache.
func install(module, name, pkg string, link ...string) (string, error) {
	dir, err := folder(module)
	if err != nil {
		return "", err
	}
	return peers.Install(dir, name, "-trimpath", "-ldflags", strings.Join(append([]string{"-s", "-w"}, link...), " "), pkg)
}

// folder returns the folder of one of the modules here.
func folder(name string) (string, error) {
	dir, err := peers.Go(".", "list", "-f", "{{.Dir}}", "github.com/waybill-dev/waybill/test/controlplane")
	return filepath.Join(strings.TrimSpace(dir), name), err
}
