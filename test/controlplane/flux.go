package controlplane

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/waybill-dev/waybill/test/peers"
)

// Flux's controllers.
const (
	SourceController       = "source-controller"       // fetches what a GitRepository names
	KustomizeController    = "kustomize-controller"    // applies what a Kustomization names
	NotificationController = "notification-controller" // tells others what the controllers that start after it do
)

// fluxControllers come from modules of their own, and run beside the cluster, with its kubeconfig.
// The flags are for where they run: on this machine's loopback, and looking often.
var fluxControllers = map[string]struct {
	module string
	flags  func(dir string, serve [2]string) []string
}{
	SourceController: {"flux", func(dir string, serve [2]string) []string {
		return []string{"--storage-path=" + dir, "--storage-addr=" + serve[0], "--storage-adv-addr=" + serve[0]}
	}},
	KustomizeController: {"servers", func(string, [2]string) []string { return []string{"--requeue-dependency=2s"} }},
	NotificationController: {"notification", func(_ string, serve [2]string) []string {
		return []string{"--events-addr=" + serve[0], "--receiverAddr=" + serve[1]}
	}},
}

const fluxPackages = "github.com/fluxcd/"

func installFlux(name string) (string, error) {
	return install(fluxControllers[name].module, name, fluxPackages+name)
}

// StartFlux starts controllers of Flux for a cluster, one after the other, with the definitions of
// what they watch.
func (c *Cluster) StartFlux(controllers ...string) error {
	if out, err := c.Kubectl("apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n", "apply", "--server-side", "-f", "-"); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for _, name := range controllers {
		if err := c.startController(name); err != nil {
			return fmt.Errorf("starting %s: %w", name, err)
		}
	}
	return nil
}

func (c *Cluster) startController(name string) error {
	controller, pkg := fluxControllers[name], fluxPackages+name
	module, err := folder(controller.module)
	if err != nil {
		return err
	}
	fetched, err := peers.Go(module, "mod", "download", "-json", pkg) // go list gives no folder before that
	var flux struct{ Dir string }
	if err == nil {
		err = json.Unmarshal([]byte(fetched), &flux)
	}
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"apply", "--server-side", "-f", filepath.Join(flux.Dir, "config", "crd", "bases")},
		{"wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"},
	} {
		if out, err := c.Kubectl("", args...); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	binary, err := installFlux(name)
	if err != nil {
		return err
	}
	dir := filepath.Join(c.dir, name) // kustomize-controller clears its folder for temporary files when it starts
	if err := os.Mkdir(dir, privateFolder); err != nil {
		return err
	}
	var serve [4]string
	for i := range serve {
		port, err := Port()
		if err != nil {
			return err
		}
		serve[i] = "127.0.0.1:" + port
	}
	flags := append([]string{"--watch-all-namespaces", "--log-encoding=json", "--metrics-addr=" + serve[0], "--health-addr=" + serve[1]}, controller.flags(dir, [2]string(serve[2:]))...)
	switch {
	case name == NotificationController:
		c.events = "http://" + serve[2] + "/"
	case c.events != "":
		flags = append(flags, "--events-addr="+c.events)
	}
	process, err := Run(c.dir, binary, []string{"RUNTIME_NAMESPACE=flux-system", "KUBECONFIG=" + c.Kubeconfig, "TMPDIR=" + dir}, flags...)
	if err == nil {
		c.parts = append(c.parts, process)
	}
	return err
}
