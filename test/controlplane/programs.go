// Package controlplane runs Kubernetes clusters on this machine, for tests and for the demo:
// real API servers that share one etcd, with the real controllers and scheduler, and with
// nodes that kwok simulates, so that pods become ready though no kubelet runs. Everything is
// built from the module in servers, once for each state of it, and kept in the user's cache.
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
	built, err := Install("servers", ".", "-X", "k8s.io/component-base/version.gitVersion="+version)
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

// Path returns where a part is.
func (p Programs) Path(part string) string { return filepath.Join(string(p), part) }

// Install builds a program of the module in servers, with flags for the linker, or finds it in
// the user's cache.
func Install(name, pkg string, link ...string) (string, error) {
	module, err := Module()
	if err != nil {
		return "", err
	}
	return peers.Install(module, name, "-trimpath", "-ldflags", strings.Join(append([]string{"-s", "-w"}, link...), " "), pkg)
}

// Module returns the folder of the module in servers.
func Module() (string, error) {
	dir, err := peers.Go(".", "list", "-f", "{{.Dir}}", "github.com/waybill-dev/waybill/test/controlplane")
	return filepath.Join(strings.TrimSpace(dir), "servers"), err
}
