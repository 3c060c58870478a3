package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	statuses = "statuses.git" // the repository that the agent writes to
	pulled   = "us-1"         // the cluster that the agent is in
	identity = "identity"     // the file with the agent's key
)

// everybody are the clusters, of which two are virtual.
var everybody = []string{"beijing", "edge", "eu-1", "hangzhou", "us-1"}

// gather registers a cluster that is pushed to, one with an agent inside, and one that is two
// virtual clusters.
func (f *fleet) gather() error {
	f.title("Register them: eu-1 is pushed to, us-1 pulls, and the nodes of edge are two virtual clusters")
	if err := f.repositories(f.bare, statuses); err != nil {
		return err
	}
	if err := f.serve(); err != nil {
		return err
	}
	nodes, err := f.clusters["edge"].Kubectl("", "get", "nodes", "-o", "name")
	if err != nil {
		return err
	}
	for i, node := range strings.Fields(nodes) {
		if err := f.kubectl("edge", "label", node, "location="+[]string{"beijing", "hangzhou"}[i]); err != nil {
			return err
		}
	}
	for _, name := range []string{"eu-1", "edge"} {
		if err := f.show("cluster", "join", name, "-C", f.source, "--kubeconfig-dir", f.kubeconfigs); err != nil {
			return err
		}
	}
	if err := f.admit(); err != nil {
		return err
	}
	return f.commit("first version")
}

// admit registers the cluster with an agent, whose manifests it applies there. Nodes are simulated,
// and so is the agent's Pod: the key is taken from its Secret, for an agent beside the cluster.
func (f *fleet) admit() error {
	join := []string{
		"cluster", "join", pulled, "-C", f.source, "--kubeconfig-dir", f.kubeconfigs, "--sync-mode", "Pull", "--agent",
		"--repository", "https://git.example.com/fleet/branches.git", "--status-repository", "https://git.example.com/fleet/statuses.git",
	}
	f.say("\n$ waybill %s | kubectl --kubeconfig %s/%s.kubeconfig apply -f -", strings.Join(join, " "), f.kubeconfigs, pulled)
	cmd := f.command("waybill", join...)
	cmd.Stderr = f.out
	manifests, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("waybill cluster join %s: %w", pulled, err)
	}
	out, err := f.clusters[pulled].Kubectl(string(manifests), "apply", "-f", "-")
	f.say("%s", out)
	if err != nil {
		return err
	}
	key, err := f.clusters[pulled].Kubectl("", "-n", "waybill", "get", "secret", "waybill-agent-key", "-o", "go-template={{.data.identity | base64decode}}")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.dir, identity), []byte(key), 0o600)
}

// spread brings the source to the clusters.
func (f *fleet) spread() error {
	f.title("The controller plans, publishes and applies; the agent of us-1 applies the branch of us-1")
	if err := f.control("--status-repository", f.at(statuses)); err != nil {
		return err
	}
	if err := f.start("agent", "--cluster", pulled, "--repository", f.at(f.bare), "--status-repository", f.at(statuses), "--key", identity,
		"--kubeconfig", f.kubeconfigs+"/"+pulled+".kubeconfig", "--namespace", "waybill", "--interval", "1s", "--listen="); err != nil {
		return err
	}
	if err := f.have(
		deployment{"eu-1", "web", "web", 3}, deployment{"us-1", "web", "web", 3},
		deployment{"eu-1", "web", "page", 1}, deployment{"us-1", "web", "page", 1},
		deployment{"edge", "plant-beijing", "sensor", 1}, deployment{"edge", "plant-hangzhou", "sensor", 1},
	); err != nil {
		return err
	}
	if err := f.show("get", "pods", "-A", "--clusters", "-C", f.source, "--kubeconfig-dir", f.kubeconfigs); err != nil {
		return err
	}
	return f.report(everybody...)
}

// lose kills the API server of eu-1.
func (f *fleet) lose() error {
	f.title("The API server of eu-1 is killed: its three replicas come up in us-1")
	f.clusters["eu-1"].APIServer.Stop()
	if err := f.have(deployment{"us-1", "web", "web", 6}); err != nil {
		return err
	}
	return f.report("beijing", "hangzhou", "us-1")
}

// regain starts it again.
func (f *fleet) regain() error {
	f.title("It runs again: what is in every cluster comes back, what was divided stays in us-1")
	if err := f.clusters["eu-1"].APIServer.Restart(); err != nil {
		return err
	}
	if err := f.until("eu-1", func(out string, err error) bool { return err != nil && strings.Contains(out, "NotFound") },
		"get", "-n", "web", "deployment", "web"); err != nil {
		return err
	}
	if err := f.have(deployment{"eu-1", "web", "page", 1}, deployment{"us-1", "web", "web", 6}); err != nil {
		return err
	}
	return f.report(everybody...)
}

// deployment is a Deployment in a cluster that runs so many replicas, and no others.
type deployment struct {
	cluster, namespace, name string
	replicas                 int
}

// have waits until clusters run what they should.
func (f *fleet) have(all ...deployment) error {
	for _, d := range all {
		want := fmt.Sprintf("%[1]d/%[1]d/%[1]d", d.replicas)
		if err := f.until(d.cluster, func(out string, err error) bool { return err == nil && out == want },
			"get", "-n", d.namespace, "deployment", d.name, "-o", "jsonpath={.spec.replicas}/{.status.replicas}/{.status.availableReplicas}"); err != nil {
			return err
		}
	}
	return nil
}

// report shows what Git says of the fleet, and why. The clusters that are well say so after a
// moment.
func (f *fleet) report(well ...string) error {
	look := []string{"status", "-C", f.source, "--to", f.bare, "--status-repository", f.at(statuses)}
	for _, cluster := range well {
		if err := f.await("waybill status "+cluster, func() (string, bool) {
			out, err := f.command("waybill", append(look, cluster)...).CombinedOutput()
			return string(out), err == nil
		}); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"get", "clusters", "-C", f.source, "--to", f.bare}, {"get", "bindings", "-C", f.source, "--to", f.bare, "--status-repository", f.at(statuses)}} {
		if err := f.show(args...); err != nil {
			return err
		}
	}
	f.say("\n$ waybill %s", strings.Join(look, " "))
	out, err := f.command("waybill", look...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) { // 1: not all is well
		return err
	}
	f.say("%s", out)
	f.say("$ git log -3 waybill/state")
	out, err = f.command("git", "-C", f.bare, "log", "-3", "--format=%h %s%n%w(0,4,4)%b", "waybill/state").CombinedOutput()
	f.say("%s", out)
	return err
}
