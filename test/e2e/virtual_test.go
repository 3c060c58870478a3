//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestVirtualClusters runs examples/kubeedge: one API server with nodes at two locations, each of
// which is a virtual cluster that only the credential of their host reaches.
func TestVirtualClusters(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	host := startCluster(t, p, startEtcd(t, p, dir), filepath.Join(dir, "kubeedge"), 4)
	nodes := strings.Fields(host.kubectl("get", "nodes", "-o", "name"))
	for i, node := range nodes {
		host.kubectl("label", node, "location="+[]string{"beijing", "hangzhou"}[i%2])
	}
	host.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: edge}\n---\n" + configMap("edge", "foreign", "stays"))
	s := newSite(t, p.waybill, map[string]*api{"kubeedge": host})
	s.remove("clusters/kubeedge.yaml")
	s.remove("policy.yaml")
	if err := os.CopyFS(s.source, os.DirFS("../../examples/kubeedge")); err != nil {
		t.Fatal(err)
	}
	// the kind of an object in a virtual cluster is defined at the host
	s.write("widget.yaml", widgets+"---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: edge}\nspec: {size: 3}\n")
	s.write("widgets.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: widgets}\nspec:\n"+
		"  resourceSelectors: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}, {apiVersion: example.com/v1, kind: Widget}]\n"+
		"  placement: {clusterAffinity: {labelSelector: {matchLabels: {at: edge}}}}\n")
	s.commit()
	s.controller()

	const beijing, hangzhou = "ke-beijing-cluster", "ke-hangzhou-cluster"
	for _, c := range []struct {
		name, location string
		replicas       int
	}{{beijing, "beijing", 1}, {hangzhou, "hangzhou", 3}} {
		s.runsAt("edge-"+c.name, c.location, c.replicas)
		eventually(t, c.name+" is healthy", func() (bool, string) {
			status, out := s.run("status", c.name, "-C", s.source, "--to", s.bare)
			return status == 0 && strings.Contains(out, "Healthy"), out
		})
		if status, out := s.run("verify", "waybill/cluster/"+c.name, "-C", s.source, "--to", s.bare); status != 0 {
			t.Errorf("verify: status %d\n%s", status, out)
		}
		eventually(t, "the Widget is in "+c.name, func() (bool, string) {
			status, body := host.do("GET", "/apis/example.com/v1/namespaces/edge-"+c.name+"/widgets/w", "", nil)
			return status == 200, string(body)
		})
	}
	s.inventories(3)
	s.shown(beijing, hangzhou)
	eventually(t, "the room of two nodes is recorded", func() (bool, string) {
		seen := s.observed(beijing)
		return strings.Contains(seen, "totalNum: 2"), seen
	})

	// what leaves one of them stays in the other, and at the host
	s.write("policies.yaml", strings.Replace(s.read("policies.yaml"), "matchLabels: {at: edge}", "matchLabels: {at: edge}\n      clusterNames: ["+beijing+"]", 1))
	s.commit()
	eventually(t, "the sensor has left "+hangzhou, func() (bool, string) {
		status, body := host.do("GET", at("Service", "edge-"+hangzhou, "broker"), "", nil)
		return status == 404, string(body)
	})
	s.runsAt("edge-"+beijing, "beijing", 1)
	host.kubectl("get", "clusterrole", "device-reader")
	if value := text(s.get("kubeedge", at("ConfigMap", "edge", "foreign")), "data", "value"); value != "stays" {
		t.Errorf("the namespace of nobody's holds %q", value)
	}
	for _, name := range []string{"kubeedge", beijing, hangzhou} {
		if d := s.applied(0, name); len(d.Actions) > 0 {
			t.Errorf("%s is as it should be, and this was done: %v", name, d.Actions)
		}
	}
}

// runsAt waits until the sensor of a namespace runs at a location, and nowhere else.
func (s *site) runsAt(namespace, location string, replicas int) {
	s.t.Helper()
	host := s.apis["kubeedge"]
	there := strings.Fields(host.kubectl("get", "nodes", "-l", "location="+location, "-o", "jsonpath={.items[*].metadata.name}"))
	eventually(s.t, namespace+" runs at "+location, func() (bool, string) {
		out := host.kubectl("-n", namespace, "get", "pods", "--field-selector=status.phase=Running", "-o", "jsonpath={.items[*].spec.nodeName}")
		on := strings.Fields(out)
		return len(on) == replicas && !slices.ContainsFunc(on, func(n string) bool { return !slices.Contains(there, n) }), out
	})
}

// inventories holds that there are so many, each of an owner of its own.
func (s *site) inventories(want int) {
	s.t.Helper()
	var l struct {
		Items []struct {
			Metadata struct {
				Name        string
				Annotations map[string]string
			}
		}
	}
	out := s.apis["kubeedge"].kubectl("-n", "waybill-system", "get", "secrets", "-o", "json")
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		s.t.Fatal(err)
	}
	owners := map[string]bool{}
	for _, i := range l.Items {
		owners[i.Metadata.Annotations["waybill.dev/owner"]] = true
	}
	if len(owners) != want {
		s.t.Errorf("there are inventories of %v, want %d", owners, want)
	}
}

// shown holds that people see virtual clusters by the names that templates have.
func (s *site) shown(beijing, hangzhou string) {
	s.t.Helper()
	for _, tt := range []struct {
		args  []string
		lines int
		has   string
	}{
		{[]string{"pods", "-n", "edge", "--clusters", hangzhou, "--no-headers"}, 3, "sensor-"},
		{[]string{"pods", "-A", "--clusters", beijing, "--no-headers"}, 1, beijing + "   edge "},
		{[]string{"deployments", "-n", "edge", "--clusters", beijing + "," + hangzhou, "--no-headers"}, 2, "sensor"},
		{[]string{"namespaces", "--clusters", beijing, "--no-headers"}, 1, beijing + "   edge "},
		{[]string{"nodes", "--clusters", beijing, "--no-headers"}, 2, beijing},
		{[]string{"deployments", "-A", "-o", "name", "--clusters", beijing}, 1, "deployment.apps/sensor"},
	} {
		out, _ := s.see(0, tt.args...)
		if strings.Count(out, "\n") != tt.lines || !strings.Contains(out, tt.has) || strings.Contains(out, "edge-") {
			s.t.Errorf("get %v printed\n%s", tt.args, out)
		}
	}
	eventually(s.t, "all bindings are applied in both", func() (bool, string) {
		status, out := s.run("get", "bindings", "-C", s.source, "--to", s.bare)
		return status == 0 && strings.Count(out, "2/2") >= 8 && !strings.Contains(out, "1/2"), out
	})
}

// read reads a file of the source.
func (s *site) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.source, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}
