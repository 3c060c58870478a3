//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	discovery "k8s.io/api/discovery/v1"

	"github.com/waybill-dev/waybill/test/peers"
)

// apart is an exchange with clusters that only their agents reach, and with repositories that everybody reaches over HTTP: that of the
// branches the controller may write, below /writer, and the agents may write the one of the statuses.
type apart struct {
	*exchange

	statuses string            // path of the repository
	keys     map[string]string // of agents, by cluster
	url      string
	pods     map[string]int // behind the Service api, by cluster that provides it
	trap     trap           // in the way of the controller
}

// newApart registers some of the clusters as such that are pulled to.
func newApart(t *testing.T, p programs, apis map[string]*api, clusters ...string) *apart {
	t.Helper()
	x := &apart{exchange: &exchange{newSite(t, p.waybill, apis)}, keys: map[string]string{}, pods: map[string]int{}}
	dir := filepath.Dir(x.bare)
	x.statuses = filepath.Join(dir, "status.git")
	x.git("", "init", "-q", "--bare", x.statuses)
	for _, name := range clusters {
		x.keys[name] = filepath.Join(dir, "key-"+name)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", x.keys[name]).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		public, err := os.ReadFile(x.keys[name] + ".pub")
		if err == nil {
			err = os.Remove(filepath.Join(x.kubeconfigs, name+".kubeconfig"))
		}
		if err != nil {
			t.Fatal(err)
		}
		x.write("clusters/"+name+".yaml", fmt.Sprintf("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s, annotations: {waybill.dev/agent-key: %q}}\nspec: {syncMode: Pull}\n",
			name, strings.TrimSpace(string(public))))
	}
	backend, err := peers.GitServer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	writer := http.StripPrefix("/writer", backend)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/writer/"):
			x.trap.pass(writer, w, r)
		case strings.HasPrefix(r.URL.Path, "/fleet.git") && (r.URL.Query().Get("service") == "git-receive-pack" || strings.HasSuffix(r.URL.Path, "git-receive-pack")):
			http.Error(w, "this token may only read", http.StatusForbidden)
		default:
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	x.url = server.URL
	return x
}

// control starts a controller, and agent an agent, which goes on at once where one was killed.
func (x *apart) control() *exec.Cmd {
	x.t.Helper()
	return x.started(x.source, "--to", x.url+"/writer/fleet.git")
}

func (x *apart) agent(cluster string, flags ...string) *runningAgent {
	x.t.Helper()
	return x.agentOf(cluster, x.url, x.keys[cluster], append([]string{"--instance", cluster}, flags...)...)
}

const bookRefs = "refs/waybill/endpoints/"

// book is the commit at which the book of a cluster is, in a repository. It has no parent.
func (x *apart) book(repository, cluster string) string {
	x.t.Helper()
	if n := strings.TrimSpace(x.git(repository, "rev-list", "--count", bookRefs+cluster)); n != "1" {
		x.t.Errorf("the book of %s has a history of %s commits", cluster, n)
	}
	return strings.TrimSpace(x.git(repository, "rev-parse", bookRefs+cluster))
}

// written is what a book says of the Service api, as shownSlices shows it; empty while there is none.
func (x *apart) written(repository, cluster string) string {
	x.t.Helper()
	data, err := exec.Command("git", "-C", repository, "show", bookRefs+cluster+":shop/api.json").Output()
	if err != nil {
		return ""
	}
	var has struct {
		Slices []struct {
			Name      string
			Ports     []discovery.EndpointPort
			Endpoints []discovery.Endpoint
		}
	}
	if err := json.Unmarshal(data, &has); err != nil {
		x.t.Fatalf("%v\n%s", err, data)
	}
	all := map[string]discovery.EndpointSlice{}
	for _, s := range has.Slices {
		all[s.Name] = discovery.EndpointSlice{Ports: s.Ports, Endpoints: s.Endpoints}
	}
	return shownSlices(all, "", "http", "admin")
}

// follows waits until a cluster has what those have that it imports from, once these have all their pods, with the port that is exposed;
// and returns how long that took from then.
func (x *apart) follows(what, consumer string, providers ...string) time.Duration {
	x.t.Helper()
	var since time.Time
	var last string
	eventually(x.t, what, func() (bool, string) {
		var want []string
		for _, name := range providers {
			local := x.local(name, "api")
			if n := ready(local); n != x.pods[name] {
				return false, fmt.Sprintf("%s has %d pods, and not %d:\n%s", name, n, x.pods[name], shownSlices(local, "", "http"))
			}
			want = append(want, shownSlices(local, name+"-", "http"))
		}
		if now := strings.Join(want, "\n"); now != last {
			last, since = now, time.Now()
		}
		got := shownSlices(x.brought(consumer), "", "http", "admin")
		return got == last, fmt.Sprintf("%s has\n%s\nand others\n%s", consumer, got, last)
	})
	return time.Since(since)
}

// gain makes one more pod that is behind the Service api.
func (x *apart) gain(cluster string) {
	x.t.Helper()
	x.pods[cluster]++
	name := fmt.Sprintf("more-%d", x.pods[cluster])
	x.apis[cluster].apply("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: shop, labels: {app: api}}\nspec: {containers: [{name: api, image: nginx}]}\n")
}

// lose deletes a pod of a cluster, in whose place another one comes, which may have its address; and waits until it is gone.
func (x *apart) lose(cluster string) {
	x.t.Helper()
	pods := x.apis[cluster].list("/api/v1/namespaces/shop/pods?labelSelector=app%3Dapi")
	if len(pods) == 0 {
		return
	}
	where := "/api/v1/namespaces/shop/pods/" + pods[0].Metadata.Name
	if status, body := x.apis[cluster].do(http.MethodDelete, where, "", nil); status != http.StatusOK && status != http.StatusNotFound {
		x.t.Fatalf("%d: %.300s", status, body)
	}
	eventually(x.t, "it is gone", func() (bool, string) {
		status, body := x.apis[cluster].do(http.MethodGet, where, "", nil)
		return status == http.StatusNotFound, string(body)
	})
}

// forge has a book say something else than its cluster has, signed by the key of the cluster's agent: of the Service api an address of a
// node's own, and a Service that the cluster does not export.
func (x *apart) forge(cluster string) {
	x.t.Helper()
	dir := x.t.TempDir()
	x.git("", "init", "-q", "-b", "main", dir)
	x.git(dir, "fetch", "-q", x.statuses, bookRefs+cluster)
	x.git(dir, "read-tree", "-u", "--reset", "FETCH_HEAD")
	change := func(from, to string, replace func(string) string) {
		data, err := os.ReadFile(filepath.Join(dir, from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), []byte(replace(string(data))), 0o600)
		}
		if err != nil {
			x.t.Fatal(err)
		}
	}
	change("_meta", "_meta", func(text string) string {
		var is struct{ Number uint64 }
		if err := json.Unmarshal([]byte(text), &is); err != nil {
			x.t.Fatal(err)
		}
		return strings.Replace(text, fmt.Sprint(is.Number), fmt.Sprint(is.Number+1), 1)
	})
	change("shop/api.json", "shop/secret.json", func(text string) string { return strings.Replace(text, `"name":"api-`, `"name":"secret-`, 1) })
	change("shop/api.json", "shop/api.json", func(text string) string {
		_, rest, _ := strings.Cut(text, `"addresses":["`)
		address, _, _ := strings.Cut(rest, `"`)
		return strings.Replace(text, `["`+address+`"]`, `["127.0.0.1"]`, 1)
	})
	x.git(dir, "add", "-A")
	x.git(dir, "-c", "gpg.format=ssh", "-c", "user.signingKey="+x.keys[cluster], "commit", "-q", "-S", "-m", cluster+": endpoints")
	x.git(dir, "push", "-q", "-f", x.statuses, "HEAD:"+bookRefs+cluster)
}

// writesBook matches the push of a cluster's book.
func writesBook(cluster string) func(*http.Request, []byte) bool {
	return func(r *http.Request, body []byte) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") && strings.Contains(string(body), bookRefs+cluster)
	}
}

// TestBooks has pods of a cluster that is pulled to, and of one that is pushed to, be called in one that is pulled to: agents and the
// controller write and read books in repositories over HTTP, and nothing else connects the clusters.
func TestBooks(t *testing.T) {
	besideOthers(t)
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	apis := map[string]*api{}
	for _, name := range []string{"eu-1", "us-1", "us-2"} {
		apis[name] = startCluster(t, p, etcd, filepath.Join(dir, name), 1)
	}
	x := newApart(t, p, apis, "eu-1", "us-1")
	config := func(staleAfter string) {
		x.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {appliedBy: waybill}, services: {endpoints: apply, minInterval: 1s, staleAfter: "+staleAfter+"}}\n")
	}
	config("0s")
	x.write("policy.yaml", `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: ConfigMap}]
  placement: {}
`)
	x.exportsAPI(3, "eu-1", "us-2")
	x.consumedBy("us-1")
	x.commit()
	controller := x.control()
	eu, us := x.agent("eu-1"), x.agent("us-1")

	// what others have is there, by one commit each, and no branch moves
	took := x.follows("us-1 has the pods of both", "us-1", "eu-1", "us-2")
	t.Logf("after pods are ready it took %s until they were elsewhere", took.Round(time.Millisecond))
	if most := 30 * time.Second; took > most && !testing.Short() {
		t.Errorf("want at most %s", most)
	}
	if len(x.brought("eu-1"))+len(x.brought("us-2")) > 0 {
		t.Errorf("eu-1 has %v, us-2 %v", x.brought("eu-1"), x.brought("us-2"))
	}
	before := x.branches()
	x.book(x.bare, "us-2")

	// pods come and go
	n := 50
	if testing.Short() {
		n = 10 // more books than these would wait for the next minute
	}
	for range n {
		x.lose("eu-1")
	}
	x.follows("us-1 has the pods that there are now", "us-1", "eu-1", "us-2")
	old := x.book(x.statuses, "eu-1")
	x.gain("eu-1")
	x.follows("and one more", "us-1", "eu-1", "us-2")
	if got, want := x.written(x.statuses, "eu-1"), shownSlices(x.local("eu-1", "api"), "", "http", "admin"); got != want {
		t.Errorf("the book says\n%s\nand eu-1 has\n%s", got, want)
	}
	if x.book(x.statuses, "eu-1") == old {
		t.Error("a pod came, and the book is what it was")
	}
	if after := x.branches(); after != before {
		t.Errorf("pods came and went, and somebody committed: before\n%s\nand after\n%s", before, after)
	}

	// somebody puts an older book in its place, and then one of eu-1's own key that says what is not so
	eu.kill()
	is, last := shownSlices(x.brought("us-1"), "", "http"), x.book(x.statuses, "eu-1")
	refused := func(why string) {
		t.Helper()
		eventually(t, why, func() (bool, string) { said := us.said(); return strings.Contains(said, why), said })
		if now := shownSlices(x.brought("us-1"), "", "http"); now != is {
			t.Errorf("%s: us-1 has\n%s\nwhere it had\n%s", why, now, is)
		}
	}
	x.git(x.statuses, "update-ref", bookRefs+"eu-1", old)
	refused("somebody has put an older one there")
	x.git(x.statuses, "update-ref", bookRefs+"eu-1", last)
	x.forge("eu-1")
	refused("127.0.0.1 is a loopback address")
	refused("by what is published that cluster does not export it")
	if !testing.Short() {
		x.tells("us-1", "endpointsRefused: - from: eu-1 message: 127.0.0.1 is a loopback address service: shop/api slice: api-")
	}
	eu = x.agent("eu-1")
	x.gain("eu-1")
	x.follows("what eu-1 writes counts again", "us-1", "eu-1", "us-2")

	// the controller is killed when it pushes a book: before the server has it, and when the answer is lost
	for _, after := range []bool{false, true} {
		us.kill() // so that nobody applies what came of it
		sprung := x.trap.set(writesBook("us-2"), after, func() { _ = controller.Process.Kill() })
		x.gain("us-2")
		<-sprung
		controller, us = x.control(), x.agent("us-1")
		x.follows("nothing is lost by it", "us-1", "eu-1", "us-2")
	}
	if !testing.Short() {
		x.dies("eu-1", config)
	}
	x.byOthers(eu)
}

// exportsAPI writes the Service api, which some clusters provide, and a Deployment with so many pods behind it.
func (x *apart) exportsAPI(pods int, providers ...string) {
	for _, name := range providers {
		x.pods[name] = pods
	}
	x.write("shop.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
	x.write("api.yaml", strings.NewReplacer("replicas: 2", fmt.Sprintf("replicas: %d", pods), "name: web", "name: api").Replace(web("shop", "api", "api", "")))
	x.write("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: shop}\n"+
		"spec: {selector: {app: api}, ports: [{name: http, port: 80, targetPort: 8080}, {name: admin, port: 81, targetPort: 8081}]}\n")
}

// consumedBy writes which clusters consume it.
func (x *apart) consumedBy(consumers ...string) {
	names := func(list []string) string { return "[{name: " + strings.Join(list, "}, {name: ") + "}]" }
	x.write("mcs.yaml", "apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: api, namespace: shop}\n"+
		"spec: {types: [CrossCluster], ports: [{name: http, port: 80}], providerClusters: "+names(slices.Sorted(maps.Keys(x.pods)))+", consumerClusters: "+names(consumers)+"}\n")
}

// tells waits until the status of a cluster has a text, whatever lines it is in.
func (x *apart) tells(cluster, text string) {
	x.t.Helper()
	eventually(x.t, cluster+" tells: "+text, func() (bool, string) {
		out, err := exec.Command("git", "-C", x.statuses, "show", "waybill/status/"+cluster+":status.yaml").CombinedOutput()
		return err == nil && strings.Contains(strings.Join(strings.Fields(string(out)), " "), text), string(out)
	})
}

// dies has the API server of a provider die and return: its endpoints stay in us-1, and are not ready after staleAfter.
func (x *apart) dies(provider string, config func(staleAfter string)) {
	x.t.Helper()
	config("30s")
	x.commit()
	last := shownSlices(x.brought("us-1"), "", "http")
	x.apis[provider].process.Stop()
	for range 100 {
		if is := shownSlices(x.brought("us-1"), "", "http"); is != last {
			x.t.Fatalf("%s died, and us-1 has\n%s\nwhere it had\n%s", provider, is, last)
		}
		time.Sleep(100 * time.Millisecond)
	}
	var want []string
	for line := range strings.SplitSeq(last, "\n") {
		if strings.HasPrefix(line, provider+"-") {
			line = strings.ReplaceAll(line, "ready=true", "ready=false")
		}
		want = append(want, line)
	}
	eventually(x.t, "its endpoints are not ready", func() (bool, string) {
		is := shownSlices(x.brought("us-1"), "", "http")
		return is == strings.Join(want, "\n"), is
	})
	if err := x.apis[provider].process.Restart(); err != nil {
		x.t.Fatal(err)
	}
	x.follows("they are ready again", "us-1", "eu-1", "us-2")
	config("0s")
	x.commit()
}

// byOthers has something else than Waybill apply to eu-1: its agent exchanges services only, by an account that may do no more, and goes on
// with the book where the one before was.
func (x *apart) byOthers(before *runningAgent) {
	t := x.t
	before.stop()
	status := x.git(x.statuses, "rev-parse", "waybill/status/eu-1")
	eu := x.apis["eu-1"]
	eu.kubectl("create", "namespace", "waybill")
	eu.kubectl("-n", "waybill", "create", "serviceaccount", "waybill-agent")
	a := x.agent("eu-1", "--services-only", "--kubeconfig", eu.account(t, "services.yaml"), "--namespace", "waybill", "--sops-secret", "")
	x.consumedBy("us-1", "eu-1")
	x.write("later.yaml", configMap("shop", "later", "x"))
	x.commit()
	eventually(t, "us-2 has what was added", func() (bool, string) {
		status, body := x.apis["us-2"].do(http.MethodGet, at("ConfigMap", "shop", "later"), "", nil)
		return status == http.StatusOK, string(body)
	})
	x.follows("eu-1 has the pods of us-2", "eu-1", "us-2")
	x.gain("eu-1")
	x.follows("us-1 has the pods of eu-1 that there are now", "us-1", "eu-1", "us-2")
	if status, _ := eu.do(http.MethodGet, at("ConfigMap", "shop", "later"), "", nil); status != http.StatusNotFound {
		t.Errorf("what was added is in eu-1: %d", status)
	}
	if now := x.git(x.statuses, "rev-parse", "waybill/status/eu-1"); now != status {
		t.Errorf("it tells how the branch is:\n%s", x.git(x.statuses, "log", "-1", "-p", "waybill/status/eu-1"))
	}
	// of a Service without slices there is one without endpoints, which says which book counted
	x.write("bare.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: bare, namespace: shop}\nspec: {ports: [{name: http, port: 80}]}\n"+
		"---\napiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: bare, namespace: shop}\n"+
		"spec: {types: [CrossCluster], providerClusters: [{name: eu-1}], consumerClusters: [{name: us-1}]}\n")
	x.commit()
	eventually(t, "us-1 has a slice that says of bare which book counted", func() (bool, string) {
		all := x.slices("us-1", "kubernetes.io/service-name=bare")
		s, ok := all["eu-1-bare"]
		return ok && len(all) == 1 && len(s.Endpoints) == 0 && s.Annotations["waybill.dev/book"] != "", fmt.Sprint(all)
	})
	if said := a.said(); strings.Contains(said, "forbidden") {
		t.Errorf("something is forbidden to it:\n%s", said)
	}
	a.stop()
}
