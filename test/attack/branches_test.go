//go:build e2e

package attack

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// observation is what an agent writes of its cluster, whose readiness is as is said.
func observation(cluster, ready string) map[string]string {
	return map[string]string{"observed/" + cluster + ".yaml": fmt.Sprintf(
		"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: %s\nstatus:\n  kubernetesVersion: v1.35.0\n  conditions:\n"+
			"  - {type: Ready, status: %q, reason: ClusterReady, message: it says so, lastTransitionTime: \"2026-01-01T00:00:00Z\"}\n", cluster, ready)}
}

// numbered is the message of an observation with a sequence number.
func numbered(sequence uint64) string {
	return fmt.Sprintf("observed: x\n\nObserved-Sequence: %d\n", sequence)
}

// TestOneObservationThatCannotBeReadBlindsTheController pushes 65 folders inside each other as what us
// observes. What eu observes has to count all the same, and the page of us says what is wrong.
func TestOneObservationThatCannotBeReadBlindsTheController(t *testing.T) {
	t.Parallel()
	p := newPulled(t, nil, "ap", "eu", "us")
	p.nests("waybill/observed/us")
	p.nests("waybill/observed/ap")
	p.says("waybill/observed/eu", numbered(now()), "eu", observation("eu", "True"))
	p.controller()
	p.becomes("eu", "reason: ClusterReady")
	p.becomes("us", "type: waybill.dev/Observation", "it is not signed")
	p.says("waybill/observed/us", numbered(now()), "us", observation("us", "True"))
	until(t, "what us observes counts again", func() (bool, string) {
		now := p.observed("us")
		return strings.Contains(now, "reason: ClusterReady") && !strings.Contains(now, "waybill.dev/Observation"), now
	})
}

// moving is the source of a workload, and of a policy by which it is elsewhere before it leaves a cluster.
func moving() map[string]string {
	return map[string]string{
		"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {failover: {enabled: true}}\n",
		"web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: a}\n" +
			"spec: {replicas: 4, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n",
		"policy.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec:\n" +
			"  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n  placement: {clusterAffinity: {clusterNames: [eu, us]}, spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}\n",
	}
}

// TestOneStatusThatCannotBeReadStopsAll pushes 65 folders inside each other as the status of us, while work
// moves away from eu: publishing, `waybill status` and the web UI go on.
func TestOneStatusThatCannotBeReadStopsAll(t *testing.T) {
	t.Parallel()
	p := newPulled(t, moving(), "eu", "us")
	p.register("eu", p.keys["eu"], ", taints: [{key: down, effect: NoExecute}]")
	p.publishes()
	p.nests("waybill/status/us")
	p.write(map[string]string{"more.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"})
	p.publishes()

	out, code := p.run("status", "-C", p.source, "--to", p.branches, "--status-repository", p.url)
	if code != 1 || !strings.Contains(out, "eu") || !strings.Contains(out, "is ignored: it is not signed") {
		t.Errorf("waybill status ends with %d:\n%s", code, out)
	}
	at := p.free()
	p.controller("--ui-listen", at)
	until(t, "the start page of the web UI", func() (bool, string) {
		page, status := get(t, "http://"+at+"/")
		return status == http.StatusOK && strings.Contains(page, "eu") && strings.Contains(page, "us"), page
	})
}

// get asks for a page.
func get(t *testing.T, url string) (page string, status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error(), 0
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error(), 0
	}
	return string(data), res.StatusCode
}

// TestAnObservationIsRepeated sets the branch of eu back to a commit that its agent signed before, in which it
// was not ready.
func TestAnObservationIsRepeated(t *testing.T) {
	t.Parallel()
	p := newPulled(t, nil, "eu", "us")
	begun := now()
	old := p.says("waybill/observed/eu", numbered(begun), "eu", observation("eu", "False"))
	p.controller()
	p.becomes("eu", "status: 'False'")
	newer := p.says("waybill/observed/eu", numbered(begun+1000), "eu", observation("eu", "True"))
	p.becomes("eu", "status: 'True'")

	p.git(p.statuses, "update-ref", "refs/heads/waybill/observed/eu", old.String())
	p.becomes("eu", "reason: ClusterReady", "status: 'True'", "type: waybill.dev/Observation", "set the branch back", fmt.Sprint("observation: ", begun+1000))
	p.git(p.statuses, "update-ref", "refs/heads/waybill/observed/eu", newer.String())
	until(t, "what eu observes counts again", func() (bool, string) {
		now := p.observed("eu")
		return !strings.Contains(now, "waybill.dev/Observation"), now
	})

	// one that is not of now is refused, and so is one without a number, after one that had one
	p.says("waybill/observed/eu", numbered(now()+uint64(time.Hour.Milliseconds())), "eu", observation("eu", "False"))
	p.becomes("eu", "reason: ClusterReady", "status: 'True'", "is a time more than 5m")
	p.says("waybill/observed/us", "observed: x\n", "us", observation("us", "True")) // by an agent of the release before
	p.becomes("us", "reason: ClusterReady", "status: 'True'")
}

// TestAReplayAfterARestart repeats an observation to a controller that started anew.
func TestAReplayAfterARestart(t *testing.T) {
	t.Parallel()
	p := newPulled(t, nil, "eu", "us")
	begun := now()
	old := p.says("waybill/observed/eu", numbered(begun), "eu", observation("eu", "False"))
	p.says("waybill/observed/eu", numbered(begun+1000), "eu", observation("eu", "True"))
	_, _, end := p.starts()
	p.becomes("eu", "status: 'True'")
	end()
	p.git(p.statuses, "update-ref", "refs/heads/waybill/observed/eu", old.String())
	p.controller()
	p.becomes("eu", "status: 'True'", "type: waybill.dev/Observation", "set the branch back")
}

// TestAnAgentFillsTheState writes 3.4 MB as what is observed.
func TestAnAgentFillsTheState(t *testing.T) {
	t.Parallel()
	p := newPulled(t, nil, "eu")
	texts := observation("eu", "True")
	var kinds strings.Builder
	kinds.WriteString("  apiEnablements:\n  - groupVersion: example.com/v1\n    resources:\n")
	for n := range 34_000 {
		fmt.Fprintf(&kinds, "    - {kind: Kind%06d, name: %060d}\n", n, n)
	}
	texts["observed/eu.yaml"] += kinds.String()
	p.says("waybill/observed/eu", numbered(now()), "eu", texts)
	p.controller()
	p.becomes("eu", "type: waybill.dev/Observation", "want at most 1048576")
	if size := len(p.observed("eu")); size > 10_000 {
		t.Errorf("%d bytes are recorded", size)
	}
}
