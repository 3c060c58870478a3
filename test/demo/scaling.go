package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// handOver has autoscalers decide how many replicas there are.
func (x *exchange) handOver() error {
	x.title("A FederatedHPA: each cluster gets an autoscaler with its part of the bounds, and Git says no more how many replicas there are")
	if err := x.write("hpa.yaml", autoscaled); err != nil {
		return err
	}
	if err := x.commit("api is scaled by what it uses"); err != nil {
		return err
	}
	for cluster, bounds := range map[string]string{dying: "4/12", steady: "2/6"} {
		if err := x.until(cluster, func(out string, err error) bool { return err == nil && out == bounds },
			"get", "hpa", "-n", "shop", "api", "-o", "jsonpath={.spec.minReplicas}/{.spec.maxReplicas}"); err != nil {
			return err
		}
	}
	if err := x.show("explain", "HorizontalPodAutoscaler.autoscaling/api", "-n", "shop", "-C", x.source, "--to", x.bare); err != nil {
		return err
	}
	out, err := x.command("git", "-C", x.bare, "grep", "-n", "replicas:", "waybill/cluster/"+dying, "--", "*/deployment.apps/api.yaml").Output()
	if err == nil {
		return fmt.Errorf("the branch of %s says how many replicas there are: %s", dying, out)
	}
	return x.have(deployment{dying, "shop", "api", 4}, deployment{steady, "shop", "api", 2})
}

// scale stops the controller, and has the pods of eu-1 use twice what they should.
func (x *exchange) scale() error {
	x.title("The controller is stopped; then the load on eu-1 doubles: its own autoscaler raises its part from four to eight")
	if err := x.halt(); err != nil {
		return err
	}
	if err := x.load(dying, "160m", 8); err != nil {
		return err
	}
	if err := x.have(deployment{dying, "shop", "api", 8}, deployment{steady, "shop", "api", 2}); err != nil {
		return err
	}
	return x.kubectl(dying, "get", "hpa", "-n", "shop", "api")
}

// measures is the kind in which a metrics server says what pods use. There are no containers here that could be measured: what
// each pod uses is written as an object, and the autoscaler reads it as it would read it from a metrics server.
const measures = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pods.metrics.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved, for a demo"}}
spec:
  group: metrics.k8s.io
  scope: Namespaced
  names: {kind: PodMetrics, plural: pods}
  versions:
  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// load has each pod of api in a cluster use so much of a processor until there are to be so many. As by a metrics server it is measured
// again and again: what was measured within ten seconds of when a pod became ready does not count until the pod is five minutes old.
func (x *exchange) load(cluster, each string, replicas int) error {
	c := x.clusters[cluster]
	if out, err := c.Kubectl(measures, "apply", "-f", "-"); err != nil {
		return fmt.Errorf("kubectl: %w\n%s", err, out)
	}
	pods, err := c.Kubectl("", "get", "pods", "-n", "shop", "-l", "app=api", "-o", "jsonpath={.items[*].metadata.name}")
	if err != nil {
		return fmt.Errorf("kubectl: %w\n%s", err, pods)
	}
	x.say("\nEach pod of %s uses %s, where it should use 80m: %s", cluster, each, pods)
	const pause = 5 * time.Second
	var last time.Time
	return x.await("the autoscaler of "+cluster, func() (string, bool) {
		if time.Since(last) > pause {
			last = time.Now()
			if out, err := c.Kubectl(measured(strings.Fields(pods), each, last), "apply", "-f", "-"); err != nil {
				return out, false
			}
		}
		out, err := c.Kubectl("", "get", "deployment", "-n", "shop", "api", "-o", "jsonpath={.spec.replicas}")
		return out, err == nil && out == strconv.Itoa(replicas)
	})
}

// measured is what was measured of pods.
func measured(pods []string, each string, at time.Time) string {
	var b strings.Builder
	for _, name := range pods {
		fmt.Fprintf(&b, "---\napiVersion: metrics.k8s.io/v1beta1\nkind: PodMetrics\nmetadata: {name: %s, namespace: shop, labels: {app: api}}\n"+
			"timestamp: %q\nwindow: 10s\ncontainers: [{name: api, usage: {cpu: %s, memory: 10Mi}}]\n", name, at.UTC().Format(time.RFC3339), each)
	}
	return b.String()
}

// resume starts the controller again, with something to apply.
func (x *exchange) resume() error {
	x.title("The controller runs again, with another image to apply: nobody takes replicas away, and ap-1 gets the new pods")
	if err := x.replace("api.yaml", "api:1.0", "api:1.1"); err != nil {
		return err
	}
	if err := x.commit("api 1.1"); err != nil {
		return err
	}
	if err := x.control(); err != nil {
		return err
	}
	for cluster, replicas := range map[string]int{dying: 8, steady: 2} {
		want := fmt.Sprintf("registry.example.com/api:1.1 %[1]d/%[1]d/%[1]d", replicas)
		if err := x.until(cluster, func(out string, err error) bool { return err == nil && out == want }, "get", "-n", "shop", "deployment", "api", "-o",
			"jsonpath={.spec.template.spec.containers[0].image} {.spec.replicas}/{.status.updatedReplicas}/{.status.availableReplicas}"); err != nil {
			return err
		}
	}
	if err := x.arrived(8); err != nil {
		return err
	}
	return x.look()
}

// sum shows what the watch saw.
func (x *exchange) sum() error {
	x.title("What a watch saw of every Deployment, from before it was there until now")
	time.Sleep(time.Second) // for what is on its way
	return x.seen.told(x.say, map[string]int{dying + " shop/api": 8, steady + " shop/api": 2, consumer + " shop/front": 2})
}
