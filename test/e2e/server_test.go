//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/program"
)

// programs are what the test runs.
type programs struct {
	controlplane.Programs

	waybill string
}

// build builds the programs, or finds that they are built, once for all tests.
func build(t *testing.T) programs {
	t.Helper()
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var built = sync.OnceValues(func() (programs, error) {
	servers, err := controlplane.Build(programsFolder)
	if err != nil {
		return programs{}, err
	}
	waybill, err := program.Link(context.Background(), programsFolder)
	return programs{servers, waybill}, err
})

// programsFolder is there while the tests run.
var programsFolder string

// attend stops a server when the test ends, and logs what it said if the test failed.
func attend(t *testing.T, p *controlplane.Process) {
	t.Helper()
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s", p.Log())
		}
	})
}

// port returns a port that is free.
func port(t *testing.T) string {
	t.Helper()
	p, err := controlplane.Port()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startEtcd starts etcd, and returns where it is.
func startEtcd(t *testing.T, p programs, dir string) string {
	t.Helper()
	process, url, err := p.StartEtcd(dir)
	if err != nil {
		t.Fatal(err)
	}
	attend(t, process)
	return url
}

// startAPI starts an API server with a part of an etcd, and returns a client of it. What the
// server is started with lies in a folder of its own.
func startAPI(t *testing.T, p programs, etcd, dir string) *api {
	t.Helper()
	return startCluster(t, p, etcd, dir, 0)
}

// startCluster starts an API server, and with it, if it is to have nodes, all that makes a
// cluster of it.
func startCluster(t *testing.T, p programs, etcd, dir string, nodes int, flags ...string) *api {
	t.Helper()
	c, err := p.Start(t.Context(), etcd, dir, nodes, flags...)
	if c != nil {
		for _, part := range c.Processes() {
			attend(t, part)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	a := newAPI(t, c.URL, c.Authority, c.Kubeconfig, p.Path("kubectl"))
	a.cluster, a.process = c, c.APIServer
	return a
}

// definitions are the kinds of source-controller that kustomize-controller watches, as far
// as it looks at them.
func definitions() string {
	var b bytes.Buffer
	for _, k := range [][2]string{{"GitRepository", "gitrepositories"}, {"OCIRepository", "ocirepositories"}, {"Bucket", "buckets"}, {"ExternalArtifact", "externalartifacts"}} {
		fmt.Fprintf(&b, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.source.toolkit.fluxcd.io}
spec:
  group: source.toolkit.fluxcd.io
  scope: Namespaced
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, k[0], k[1])
	}
	return b.String()
}

// startFlux starts kustomize-controller, for a test that stands for source-controller.
func startFlux(t *testing.T, a *api) {
	t.Helper()
	a.apply(definitions())
	startControllers(t, a, controlplane.KustomizeController)
}

// startControllers starts controllers of Flux.
func startControllers(t *testing.T, a *api, names ...string) {
	t.Helper()
	before := len(a.cluster.Processes())
	err := a.cluster.StartFlux(names...)
	for _, p := range a.cluster.Processes()[before:] {
		attend(t, p)
	}
	if err != nil {
		t.Fatal(err)
	}
}
