package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	discovery "k8s.io/api/discovery/v1"
)

// exchange is a fleet whose clusters exchange the Service api.
type exchange struct {
	*fleet

	seen *replicas
}

// The clusters: those that export api, the first of which dies, and the one that imports it.
const (
	dying    = "eu-1"
	steady   = "us-1"
	consumer = "ap-1"
)

// autoscaled is the FederatedHPA of api, whose weights are 2 in eu-1 and 1 in us-1.
const autoscaled = `apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: api, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  minReplicas: 6
  maxReplicas: 18
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`

// servicesStory tells how clusters exchange a Service, and who scales it.
func servicesStory(ctx context.Context, out io.Writer, dir string) error {
	fmt.Fprintln(out, threeClusters)
	f, err := startFleet(ctx, out, dir, services, dying, steady, consumer)
	if f != nil {
		defer f.stop()
	}
	if err != nil {
		return err
	}
	x := &exchange{fleet: f, seen: watchReplicas(ctx, f.clusters)}
	defer x.seen.stop()
	return f.tell(x.begin, x.share, x.renew, x.handOver, x.scale, x.resume, x.lose, x.regain, x.sum)
}

// begin registers the clusters.
func (x *exchange) begin() error {
	x.title("Three clusters: eu-1 and us-1 run api and export it, ap-1 imports it")
	if err := x.repositories(x.bare); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(x.clusters)) {
		if err := x.show("cluster", "join", name, "-C", x.source, "--kubeconfig-dir", x.kubeconfigs); err != nil {
			return err
		}
	}
	return x.commit("six replicas of api, in two clusters, for a third")
}

// share starts the controller.
func (x *exchange) share() error {
	x.title("The controller publishes, applies, and brings endpoints to ap-1, where derived-api leads to the pods of both")
	if err := x.control(); err != nil {
		return err
	}
	if err := x.have(deployment{dying, "shop", "api", 4}, deployment{steady, "shop", "api", 2}, deployment{consumer, "shop", "front", 2}); err != nil {
		return err
	}
	if err := x.arrived(4); err != nil {
		return err
	}
	if err := x.show("explain", "Service/api", "-n", "shop", "-C", x.source, "--to", x.bare); err != nil {
		return err
	}
	return x.look()
}

// renew has new pods in eu-1.
func (x *exchange) renew() error {
	x.title("Every pod of eu-1 is replaced: ap-1 follows, and nobody commits")
	before, err := x.branches()
	if err != nil {
		return err
	}
	names := []string{"get", "pods", "-n", "shop", "-l", "app=api", "-o", "jsonpath={.items[*].metadata.name}"}
	out, err := x.clusters[dying].Kubectl("", names...)
	if err != nil {
		return fmt.Errorf("kubectl: %w\n%s", err, out)
	}
	old := strings.Fields(out)
	if err := x.kubectl(dying, "delete", "pods", "-n", "shop", "-l", "app=api", "--wait=false"); err != nil {
		return err
	}
	if err := x.until(dying, func(out string, err error) bool {
		is := strings.Fields(out)
		return err == nil && len(is) == len(old) && !slices.ContainsFunc(is, func(pod string) bool { return slices.Contains(old, pod) })
	}, names...); err != nil {
		return err
	}
	if err := x.arrived(4); err != nil {
		return err
	}
	if err := x.uncommitted(before); err != nil {
		return err
	}
	return x.look()
}

// lose kills the API server of eu-1.
func (x *exchange) lose() error {
	x.title("The API server of eu-1 is killed: what it exported stays in ap-1, and gets no traffic after the thirty seconds of staleAfter")
	before, err := x.imported()
	if err != nil {
		return err
	}
	x.clusters[dying].APIServer.Stop()
	const quiet = 5 * time.Second
	if err := x.stay(before, quiet); err != nil {
		return err
	}
	x.say("\nFor %s %s keeps\n  %s", quiet, consumer, strings.Join(before, "\n  "))
	var want []string
	for _, address := range before {
		if strings.HasPrefix(address, dying+" ") {
			address = strings.TrimSuffix(address, ready) + unready
		}
		want = append(want, address)
	}
	if err := x.await("the endpoints of "+dying+" are not ready in "+consumer, func() (string, bool) {
		is, err := x.imported()
		return fmt.Sprint(is, err), err == nil && slices.Equal(is, want)
	}); err != nil {
		return err
	}
	return x.look()
}

// stay fails if ap-1 has anything else for some time. What it took longer to ask than staleAfter is no answer.
func (x *exchange) stay(before []string, during time.Duration) error {
	const staleAfter = 30 * time.Second // as waybill.yaml says
	for died := time.Now(); time.Since(died) < during; {
		switch is, err := x.imported(); {
		case err != nil:
			return err
		case !slices.Equal(is, before) && time.Since(died) < staleAfter:
			return fmt.Errorf("%s died, and %s has %v, where it had %v", dying, consumer, is, before)
		}
		select {
		case <-x.ctx.Done():
			return x.ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return nil
}

// regain starts it again.
func (x *exchange) regain() error {
	x.title("It runs again, and gets traffic again")
	if err := x.clusters[dying].APIServer.Restart(); err != nil {
		return err
	}
	if err := x.arrived(8); err != nil {
		return err
	}
	return x.look()
}

// arrived waits until eu-1 has so many pods that are ready, and us-1 two, and ap-1 has just these.
func (x *exchange) arrived(inDying int) error {
	const inSteady = 2
	return x.await("the endpoints in "+consumer, func() (string, bool) {
		first, err := x.exported(dying)
		if err != nil {
			return err.Error(), false
		}
		second, err := x.exported(steady)
		if err != nil {
			return err.Error(), false
		}
		is, err := x.imported()
		if err != nil {
			return err.Error(), false
		}
		want := slices.Concat(first, second)
		slices.Sort(want)
		return fmt.Sprintf("%v, and not %v", is, want), len(first) == inDying && len(second) == inSteady && slices.Equal(is, want)
	})
}

// How an address ends to which traffic goes, and one to which none does.
const (
	ready   = " ready"
	unready = " not ready"
)

// exported are the addresses of api in a cluster that exports it, each as "CLUSTER ADDRESS ready".
func (x *exchange) exported(cluster string) ([]string, error) {
	return x.addresses(cluster, "kubernetes.io/service-name=api", func(discovery.EndpointSlice) string { return cluster })
}

// imported are those that Waybill brought to ap-1, with the cluster that each is of.
func (x *exchange) imported() ([]string, error) {
	return x.addresses(consumer, "kubernetes.io/service-name=derived-api", func(s discovery.EndpointSlice) string {
		return s.Annotations["endpointslice.karmada.io/provision-cluster"]
	})
}

func (x *exchange) addresses(cluster, selector string, of func(discovery.EndpointSlice) string) ([]string, error) {
	out, err := x.clusters[cluster].Kubectl("", "get", "endpointslices", "-n", "shop", "-l", selector, "-o", "json")
	if err != nil {
		return nil, fmt.Errorf("endpoints of %s: %w\n%s", cluster, err, out)
	}
	var list discovery.EndpointSliceList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("endpoints of %s: %w", cluster, err)
	}
	var all []string
	for _, s := range list.Items {
		for _, e := range s.Endpoints {
			end := ready
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				end = unready
			}
			all = append(all, of(s)+" "+e.Addresses[0]+end)
		}
	}
	slices.Sort(all)
	return all, nil
}

// look shows what ap-1 has of api.
func (x *exchange) look() error {
	return x.kubectl(consumer, "get", "endpointslices", "-n", "shop", "-o",
		"custom-columns=NAME:.metadata.name,SERVICE:.metadata.labels.kubernetes\\.io/service-name,ADDRESSES:.endpoints[*].addresses[0],READY:.endpoints[*].conditions.ready")
}

// branches are where the branches of clusters are.
func (x *exchange) branches() (string, error) {
	out, err := x.command("git", "-C", x.bare, "for-each-ref", "--format=%(refname:short) %(objectname:short)", "refs/heads/waybill/cluster/").Output()
	return string(out), err
}

// uncommitted fails if branches of clusters are not where they were.
func (x *exchange) uncommitted(before string) error {
	after, err := x.branches()
	if err == nil && after != before {
		err = fmt.Errorf("somebody committed: the branches were\n%s\nand are\n%s", before, after)
	}
	return err
}

// write writes a file of the source, and shows it.
func (x *exchange) write(name, content string) error {
	x.say("\n%s:\n%s", name, content)
	return os.WriteFile(filepath.Join(x.dir, x.source, name), []byte(content), 0o600)
}
