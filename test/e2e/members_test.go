//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/test/exits"
)

// what the clusters have: both of them a Deployment, a Service and a Pod that runs; eu-1 more
// Pods, and a kind that us-1 does not serve.
const (
	common = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: nginx}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web, tier: front}}
spec: {nodeName: node, containers: [{name: app, image: nginx}, {name: side, image: busybox}]}
`
	more = `apiVersion: v1
kind: Pod
metadata: {name: other-with-a-long-name, namespace: default, labels: {app: other}}
spec: {containers: [{name: app, image: nginx}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget, shortNames: [gg], categories: [toys]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    additionalPrinterColumns:
    - {name: Colour, type: string, jsonPath: .spec.colour}
    - {name: Weight, type: integer, jsonPath: .spec.weight, priority: 1}
`
	gadget = "apiVersion: example.org/v1\nkind: Gadget\nmetadata: {name: spinner, namespace: shop}\nspec: {colour: red, weight: 7}\n"
)

// measures stand for a metrics server.
func measures() string {
	var b strings.Builder
	for _, k := range [][3]string{{"PodMetrics", "pods", "Namespaced"}, {"NodeMetrics", "nodes", "Cluster"}} {
		fmt.Fprintf(&b, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.metrics.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved, for a test"}}
spec:
  group: metrics.k8s.io
  scope: %[3]s
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[2]s, singular: %[4]s}
  versions:
  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, k[0], k[1], k[2], strings.ToLower(k[0]))
	}
	return b.String()
}

const measured = `apiVersion: metrics.k8s.io/v1beta1
kind: PodMetrics
metadata: {name: web, namespace: shop, labels: {app: web}}
timestamp: "2026-01-01T00:00:00Z"
window: 15s
containers: [{name: app, usage: {cpu: 20m, memory: 30Mi}}, {name: side, usage: {cpu: 1m, memory: 2Mi}}]
---
apiVersion: metrics.k8s.io/v1beta1
kind: NodeMetrics
metadata: {name: node}
timestamp: "2026-01-01T00:00:00Z"
window: 15s
usage: {cpu: 400m, memory: 2Gi}
`

// TestMembers looks into two real clusters at once.
func TestMembers(t *testing.T) {
	t.Parallel()
	m := startMembers(t)
	node := startKubelet(t)
	eu, us := m.apis[0], m.apis[1]
	for _, a := range m.apis {
		a.apply(common)
		node.join(a)
		a.kubectl("-n", "shop", "patch", "pod", "web", "--subresource=status", "--type=merge", "-p", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	}
	eu.apply(more + measures())
	eu.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s")
	eu.apply(gadget)
	eu.apply(measured)
	us.kubectl("-n", "shop", "scale", "deployment", "web", "--replicas=5")
	t.Run("as kubectl shows it", m.shown)
	t.Run("objects", m.objects)
	t.Run("clusters that do not answer", m.silent)
	t.Run("another cluster", m.other)
	t.Run("a watch", m.watched)
	t.Run("statuses", m.looks)
}

// see runs waybill get with clusters, which must end with a status.
func (s *site) see(status int, args ...string) (stdout, stderr string) {
	s.t.Helper()
	cmd := s.command(append([]string{"get", "-C", s.source, "--kubeconfig-dir", s.kubeconfigs}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != status || strings.Contains(errs.String(), "\ngoroutine ") {
		s.t.Fatalf("get %v: status %d (%v), want %d\n%s%s", args, cmd.ProcessState.ExitCode(), err, status, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// age is what differs from one look to the next.
var age = regexp.MustCompile(`^([0-9]+[smh])+$`)

// cells are the lines of a table, as fields.
func cells(text string) [][]string {
	var lines [][]string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		for i := range fields {
			if age.MatchString(fields[i]) {
				fields[i] = "AGE"
			}
		}
		if len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	return lines
}

// shown compares what waybill shows of two clusters with what kubectl shows of each.
func (m *members) shown(t *testing.T) {
	s := m.two(t)
	for _, args := range []string{
		"pods -A", "pod -n shop", "po -n shop -o wide", "deploy -n shop", "deploy/web -n shop", "deploy web -n shop -o wide", "nodes",
		"svc -n shop --show-labels", "pods -n shop -L tier,app", "pods -A -l app=web", "pods -A --field-selector metadata.name=web", "namespaces",
	} {
		t.Run(args, func(t *testing.T) {
			asked := strings.Fields(args)
			var want [][]string
			for _, cluster := range []string{"eu-1", "us-1"} {
				for i, line := range cells(s.apis[cluster].with(t).kubectl(append([]string{"get"}, asked...)...)) {
					if i > 0 {
						want = append(want, append([]string{cluster}, line...))
					} else if len(want) == 0 {
						want = append(want, append([]string{"CLUSTER"}, line...))
					}
				}
			}
			out, errs := s.see(0, append(asked, "--clusters", "us-1,eu-1")...)
			if diff := cmp.Diff(want, cells(out)); diff != "" || errs != "" {
				t.Errorf("kubectl (-) and waybill (+) differ:\n%s%s", diff, errs)
			}
		})
	}
	out, _ := s.see(0, "deploy,svc", "-n", "shop", "--clusters=*")
	wantLines(t, out, `CLUSTER +NAME +READY .*`, `eu-1 +deployment.apps/web +0/2 .*`, `us-1 +deployment.apps/web +0/5 .*`, ``, `CLUSTER +NAME +TYPE .*`, `eu-1 +service/web .*`, `us-1 +service/web .*`)
	out, _ = s.see(0, "all", "-n", "shop", "--clusters", "--no-headers")
	for _, name := range []string{"pod/web", "service/web", "deployment.apps/web"} {
		if n := strings.Count(out, name+" "); n != 2 {
			t.Errorf("%s is there %d times, want 2:\n%s", name, n, out)
		}
	}
	if out, errs := s.see(0, "secrets", "-n", "shop", "--clusters", "all"); out != "" || errs != "No resources found\n" {
		t.Errorf("of nothing it says %q and %q", out, errs)
	}
	out, errs := s.see(1, "gg", "-n", "shop", "-o", "wide", "--clusters", "all")
	wantLines(t, out, `CLUSTER +NAME +COLOUR +WEIGHT`, `eu-1 +spinner +red +7`)
	wantLines(t, errs, `us-1: the server doesn't have a resource type "gg"`)
	out, _ = s.see(0, "toys", "-A", "--clusters", "eu-1")
	wantLines(t, out, `CLUSTER +NAMESPACE +NAME +COLOUR`, `eu-1 +shop +spinner +red`)
	out, errs = s.see(1, "pods/other-with-a-long-name", "--clusters", "all")
	wantLines(t, out, `CLUSTER +NAME .*`, `eu-1 +other-with-a-long-name .*`)
	wantLines(t, errs, `us-1: Error from server \(NotFound\): pods "other-with-a-long-name" not found`)
	if _, errs := s.see(0, "pods/other-with-a-long-name", "--ignore-not-found", "--clusters", "all"); errs != "" {
		t.Errorf("it was told to ignore: %s", errs)
	}
}

// wantLines compares lines with patterns.
func wantLines(t *testing.T, text string, patterns ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	same := slices.EqualFunc(lines, patterns, func(line, pattern string) bool {
		return regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimRight(line, " "))
	})
	if !same {
		t.Errorf("want the lines\n%s\ngot\n%s", strings.Join(patterns, "\n"), text)
	}
}

// objects come whole, and say where they were found.
func (m *members) objects(t *testing.T) {
	s := m.two(t)
	out, _ := s.see(0, "pods", "-A", "-o", "json", "--clusters", "all")
	var l struct {
		Kind  string
		Items []map[string]any
	}
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var found []string
	for _, o := range l.Items {
		found = append(found, text(o, "metadata", "annotations", "waybill.dev/cluster")+" "+text(o, "kind")+" "+text(o, "metadata", "name"))
		if o["metadata"].(map[string]any)["managedFields"] != nil {
			t.Error("managedFields are printed")
		}
	}
	want := []string{"eu-1 Pod other-with-a-long-name", "eu-1 Pod web", "us-1 Pod web"}
	if diff := cmp.Diff(want, found); diff != "" || l.Kind != "List" {
		t.Errorf("the %s has other objects (-want +got):\n%s", l.Kind, diff)
	}
	out, _ = s.see(0, "pod/web", "-n", "shop", "-o", "yaml", "--clusters", "eu-1")
	if !strings.HasPrefix(out, "apiVersion: v1\nkind: Pod\n") || !strings.Contains(out, "waybill.dev/cluster: eu-1") {
		t.Errorf("one object of one cluster is\n%s", out)
	}
	out, _ = s.see(0, "deploy,pods", "-n", "shop", "-o", "name", "--clusters", "all")
	wantLines(t, out, "eu-1 deployment.apps/web", "eu-1 pod/web", "us-1 deployment.apps/web", "us-1 pod/web")
	out, _ = s.see(0, "deploy/web", "-n", "shop", "-o", "jsonpath={range .items[*]}{.spec.replicas} {end}", "--clusters", "all")
	wantLines(t, out, "2 5")
}

// silent clusters are lines, and the others are shown.
func (m *members) silent(t *testing.T) {
	s := m.two(t)
	l, err := net.Listen("tcp", "127.0.0.1:0") // it accepts connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for _, name := range []string{"hangs", "unknown", "down"} {
		s.write("clusters/"+name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+name+"}\nspec: {syncMode: Pull}\n")
	}
	config, err := os.ReadFile(filepath.Join(s.kubeconfigs, "us-1.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{"hangs": l.Addr().String(), "down": "127.0.0.1:1"} {
		there := regexp.MustCompile(`https://[^"]*`).ReplaceAll(config, []byte("https://"+at))
		if err := os.WriteFile(filepath.Join(s.kubeconfigs, name+".kubeconfig"), there, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs := s.see(1, "pods", "-n", "shop", "--clusters", "--request-timeout", "15s")
	wantLines(t, out, `CLUSTER +NAME .*`, `eu-1 +web .*`, `us-1 +web .*`)
	wantLines(t, errs, `down: The connection to the server 127.0.0.1:1 was refused - .*`, `hangs: (no answer in 15s; --request-timeout .*|Unable to connect to the server: net/http: TLS handshake timeout)`,
		`unknown: there is no credential for it: there is no file .*/unknown.kubeconfig`)
	out, errs = s.see(2, "pods", "-n", "shop", "--clusters", "hangs", "-o", "json", "--request-timeout", "1s")
	wantLines(t, out, "")
	wantLines(t, errs, `hangs: no answer in 1s; --request-timeout says how long to wait`)
}

// other is a kubeconfig that answers for another cluster.
func (m *members) other(t *testing.T) {
	s := m.two(t)
	id := s.apis["us-1"].uids("kube-system")["kube-system"]
	register := func(id string) {
		s.write("clusters/us-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us-1}\nspec: {syncMode: Push, id: \""+id+"\"}\n")
	}
	register(id)
	s.see(0, "pods", "-n", "shop", "--clusters", "us-1")
	s.reach("us-1", s.apis["eu-1"].kubeconfig)
	out, errs := s.see(2, "pods", "-n", "shop", "--clusters", "us-1")
	wantLines(t, out, "")
	wantLines(t, errs, `us-1: this is not us-1: its Cluster has the id `+id+`, .*`)
	status, said := s.run("exec", "web", "-n", "shop", "-C", s.source, "--kubeconfig-dir", s.kubeconfigs, "--cluster", "us-1", "--", "echo", "here")
	if status != 2 || !strings.Contains(said, "this is not us-1") {
		t.Errorf("a command was run in another cluster: %d\n%s", status, said)
	}
}

// watched tells changes of both clusters until it is told to stop.
func (m *members) watched(t *testing.T) {
	s := m.two(t)
	for _, a := range s.apis {
		a.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: watched}\n---\n" + configMap("watched", "first", "one"))
	}
	_, errs := s.see(2, "cm/nosuch", "-n", "watched", "--watch", "--clusters")
	wantLines(t, strings.Join(slices.Sorted(strings.Lines(errs)), ""), `eu-1: Error from server \(NotFound\): configmaps "nosuch" not found`, `us-1: Error from server \(NotFound\): configmaps "nosuch" not found`)
	s.see(0, "cm/nosuch", "-n", "watched", "--watch", "--ignore-not-found", "--clusters")
	cmd := s.command("get", "cm", "-n", "watched", "--watch", "--clusters", "-C", s.source, "--kubeconfig-dir", s.kubeconfigs)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	next := func(pattern string) {
		t.Helper()
		select {
		case line := <-lines:
			wantLines(t, line, pattern)
		case <-time.After(5 * time.Minute):
			t.Fatalf("never: a line %s", pattern)
		}
	}
	next(`CLUSTER +NAME +DATA +AGE`)
	next(`(eu|us)-1 +first +1 .*`)
	next(`(eu|us)-1 +first +1 .*`)
	for _, cluster := range []string{"us-1", "eu-1"} {
		s.apis[cluster].apply(configMap("watched", "second", "two"))
		next(cluster + ` +second +1 .*`)
		s.apis[cluster].kubectl("-n", "watched", "delete", "cm", "first")
		next(cluster + ` +first +1 .*`)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for range lines { // until it ends
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("told to stop, it ended with %v", err)
	}
}

// looks runs the scripts of the commands that look into clusters.
func (m *members) looks(t *testing.T) {
	s := m.two(t)
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/exit-members.txt"},
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"exits": exits.With},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(m.waybill)+string(os.PathListSeparator)+filepath.Dir(kubectl)+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("KUBECONFIGS", s.kubeconfigs)
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
	})
}
