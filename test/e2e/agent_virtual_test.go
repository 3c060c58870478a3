//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentOfVirtualClusters has one agent serve a host and two virtual clusters of it. Each has its
// own status, observations and heartbeats. One that is on another API server it does not serve.
func TestAgentOfVirtualClusters(t *testing.T) {
	t.Parallel() // it waits for most of its time
	p := build(t)
	dir := t.TempDir()
	e := newEdge(t, p, startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu")))
	public, err := os.ReadFile(e.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	for name, more := range map[string]string{
		"north": "    waybill.dev/virtual-of: eu-1\n    waybill.dev/node-selector: at=north\n", "south": "    waybill.dev/virtual-of: eu-1\n", "elsewhere": "",
	} {
		e.write("clusters/"+name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: "+name+"\n  annotations:\n"+more+
			"    waybill.dev/agent-key: "+strings.TrimSpace(string(public))+"\nspec: {syncMode: Pull}\n")
	}
	e.namespace("follow", "one", 5)
	e.commit()
	e.hears()
	e.apis["eu-1"].apply("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {at: north}}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n2, labels: {at: south}}\n")
	a := e.agent("--cluster", "north", "--cluster", "south", "--cluster", "elsewhere")
	has := func(value string) {
		t.Helper()
		for _, suffix := range []string{"", "-north", "-south"} {
			eventually(t, "follow"+suffix+" has "+value, func() (bool, string) {
				_, body := e.apis["eu-1"].do("GET", at("ConfigMap", "follow"+suffix, "c0004"), "", nil)
				return strings.Contains(string(body), fmt.Sprintf(`"value":%q`, value)), string(body)
			})
		}
	}
	has("one")
	served := map[string]string{"eu-1": "totalNum: 2", "north": "totalNum: 1", "south": "totalNum: 2"}
	for name, nodes := range served {
		e.tells(name+" is applied", "waybill/status/"+name, "status.yaml", "reason: Applied")
		e.tells("its nodes are counted", "waybill/observed/"+name, "observed/"+name+".yaml", nodes)
		eventually(t, name+" is heard", func() (bool, string) {
			seen := e.observed(name)
			return strings.Contains(seen, "reason: HeartbeatsCome") && strings.Contains(seen, "reason: ClusterReady"), seen
		})
	}
	e.namespace("follow", "two", 5)
	e.commit()
	has("two")
	eventually(t, "the status says that they are well", func() (bool, string) {
		code, out := e.run("status", "eu-1", "north", "south", "-C", e.source, "--to", e.bare, "--status-repository", e.url+"/status.git")
		return code == 0, out
	})
	if said := a.said(); !strings.Contains(said, "not on the API server") || strings.Contains(said, `"level":"ERROR"`) {
		t.Errorf("it said\n%s", said)
	}
	if refs := e.git(e.statuses, "for-each-ref"); strings.Contains(refs, "status/elsewhere") || strings.Contains(refs, "observed/elsewhere") || strings.Contains(refs, "heartbeat/elsewhere") {
		t.Errorf("it tells of a cluster that it does not serve:\n%s", refs)
	}
	commits := e.commits()
	a.kill()
	for name := range served {
		eventually(t, name+" is missed", func() (bool, string) {
			seen := e.observed(name)
			return strings.Contains(seen, "reason: ClusterStatusUnknown"), seen
		})
	}
	if n := e.commits() - commits; n > 2 {
		t.Errorf("that made %d commits", n)
	}
}
