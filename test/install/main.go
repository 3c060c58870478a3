// Install builds the programs of others that tests and demos run, so that they are there when they are
// asked for: helm, kustomize, control planes, Flux's controllers, Argo CD's engine, Gitea, a registry and cosign. What is in
// the user's cache already takes no time.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/forges"
	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/registries"
)

func main() {
	status := 0
	for _, p := range []struct {
		name    string
		install func() error
	}{
		{"helm and kustomize", func() error { _, err := peers.Built(); return err }},
		{"control planes, Flux's controllers and Argo CD's engine", controlplane.Install},
		{"Gitea", func() error { _, _, err := forges.Install(); return err }},
		{"distribution", func() error { _, err := registries.Install(); return err }},
		{"cosign", func() error { _, err := registries.Cosign(); return err }},
	} {
		began := time.Now()
		if err := p.install(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", p.name, err)
			status = 1
			continue
		}
		fmt.Fprintf(os.Stdout, "%s: %.1f minutes\n", p.name, time.Since(began).Minutes())
	}
	os.Exit(status)
}
