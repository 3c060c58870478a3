package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// register has each cluster joined, as a person would.
func (f *fleet) register() error {
	f.title("Register them: a file each, which a person reviews and commits")
	if err := f.repositories(f.bare); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.clusters)) {
		if err := f.show("cluster", "join", name, "-C", f.source, "--kubeconfig-dir", f.kubeconfigs, "--region", name[:2]); err != nil {
			return err
		}
	}
	return nil
}

// deliver starts the controller, which publishes and applies.
func (f *fleet) deliver() error {
	f.title("Commit a Deployment, a HelmRelease and a CRD with its object; the controller plans, publishes and applies")
	if err := f.commit("first version"); err != nil {
		return err
	}
	if err := f.control(); err != nil {
		return err
	}
	if err := f.ready(map[string]int{"eu-1": 4, "us-1": 2, "ap-1": 2}); err != nil {
		return err
	}
	return f.look()
}

// edit changes the source.
func (f *fleet) edit() error {
	f.title("Edit the source: twelve replicas")
	if err := f.replace("web.yaml", "replicas: 8", "replicas: 12"); err != nil {
		return err
	}
	if err := f.differ("diff", "-C", f.source, "--to", f.bare); err != nil {
		return err
	}
	if err := f.commit("more replicas"); err != nil {
		return err
	}
	if err := f.ready(map[string]int{"eu-1": 6, "us-1": 3, "ap-1": 3}); err != nil {
		return err
	}
	return f.look()
}

// drift changes a cluster.
func (f *fleet) drift() error {
	f.title("Somebody scales a Deployment and deletes another, by hand; both are put right")
	if err := f.kubectl("us-1", "-n", "web", "scale", "deployment", "web", "--replicas=1"); err != nil {
		return err
	}
	if err := f.kubectl("ap-1", "-n", "shop", "delete", "deployment", "shop"); err != nil {
		return err
	}
	if err := f.ready(map[string]int{"eu-1": 6, "us-1": 3, "ap-1": 3}); err != nil {
		return err
	}
	return f.look()
}

// remove takes something out of the source.
func (f *fleet) remove() error {
	f.title("Take the object out of the source: it leaves every cluster, and nothing else does")
	if err := f.cut("gadget.yaml", "---\n"); err != nil {
		return err
	}
	if err := f.commit("no gadget"); err != nil {
		return err
	}
	return f.gone("web", "gadget", "one")
}

// look shows the clusters, as they are and as Git says.
func (f *fleet) look() error {
	if err := f.show("get", "deploy", "-A", "--clusters", "-C", f.source, "--kubeconfig-dir", f.kubeconfigs); err != nil {
		return err
	}
	if err := f.show("get", "pods", "-n", "web", "--clusters", "-C", f.source, "--kubeconfig-dir", f.kubeconfigs); err != nil {
		return err
	}
	args := []string{"status", "-C", f.source, "--to", f.bare}
	if err := f.await("waybill status", func() (string, bool) { // who applies says it after a moment
		out, err := f.command("waybill", args...).CombinedOutput()
		return string(out), err == nil
	}); err != nil {
		return err
	}
	return f.show(args...)
}

// ready waits until each cluster has so many replicas of web available, three of shop, and the
// gadget.
func (f *fleet) ready(web map[string]int) error {
	for name, replicas := range web {
		for _, want := range []struct{ namespace, object, path, value string }{
			{"web", "deployment/web", "{.spec.replicas}/{.status.replicas}/{.status.availableReplicas}", fmt.Sprintf("%[1]d/%[1]d/%[1]d", replicas)},
			{"shop", "deployment/shop", "{.metadata.labels.cluster}/{.status.availableReplicas}", name + "/3"},
			{"web", "gadget/one", "{.spec.size}", "3"},
		} {
			if err := f.until(name, func(out string, err error) bool { return err == nil && out == want.value },
				"get", "-n", want.namespace, want.object, "-o", "jsonpath="+want.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// gone waits until no cluster has an object.
func (f *fleet) gone(namespace, kind, name string) error {
	for cluster := range f.clusters {
		if err := f.until(cluster, func(out string, err error) bool { return err != nil && strings.Contains(out, "NotFound") },
			"get", "-n", namespace, kind, name); err != nil {
			return err
		}
	}
	return nil
}
