//go:build e2e

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/test/audit"
	"github.com/waybill-dev/waybill/test/controlplane"
)

var (
	stepsFlag = flag.Int("steps", 25, "how many steps TestWalkOfClusters makes")
	killsFlag = flag.Int("kills", 25, "how many times it kills the controller or the agent")
)

// walk is a fleet of three clusters to which a random walk happens: an agent serves eu-1, and a
// controller the other two. What they did is judged by audit.Fleet.
type walk struct {
	*edge
	*wish
	*rand.Rand

	t                 *testing.T
	from, to          string // the source and the branches, as the controller reaches them
	git               *trap  // in the controller's way to them
	proxies           map[string]*proxy
	fleet             audit.Fleet
	running           map[string]*exec.Cmd // the controller and the agent
	foreign           map[string]string    // UIDs of what others made, by cluster and path
	stepsDone         map[string]int       // by kind
	killed            map[string]int       // at which points
	healings          []time.Duration
	lastSteps         []string
	killsMade, number int
	// mayLeave is what of a protected kind may leave, until it has, and allowed the digests of what was allowed.
	mayLeave string
	allowed  []string
}

// TestWalkOfClusters has drawn steps happen to three clusters: the source is edited, somebody edits the
// clusters, API servers die, start slowly, hang and are lost, and at most steps the controller or the
// agent is killed at a drawn request. At its end each cluster is as its branch, and its branch as the
// source; and each deletion is justified.
func TestWalkOfClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	t.Parallel() // it waits for most of its time
	w := newWalk(t)
	w.store("first")
	w.spawn("controller")
	w.spawn("agent")
	w.settle("the first commit")
	began := time.Now()
	for n := range *stepsFlag {
		w.number = n
		kills := *killsFlag*(n+1) / *stepsFlag - *killsFlag*n / *stepsFlag
		w.step(kills)
		if t.Failed() {
			break
		}
	}
	if !t.Failed() {
		w.heal()
	}
	w.verdict(time.Since(began))
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	names := []string{"eu-1", "us-1", "us-2"}
	apis, logs := map[string]*api{}, map[string]string{}
	for _, name := range names {
		flags, log, err := controlplane.Audited(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		apis[name], logs[name] = startCluster(t, p, etcd, filepath.Join(dir, name), 1, flags...), log
		apis[name].http.Timeout = 10 * time.Second
	}
	e := newEdge(t, p, apis["eu-1"])
	w := &walk{
		edge: e, t: t, proxies: map[string]*proxy{}, running: map[string]*exec.Cmd{}, foreign: map[string]string{}, stepsDone: map[string]int{}, killed: map[string]int{},
	}
	for _, name := range names {
		e.apis[name] = apis[name].with(t)
		e.reach(name, apis[name].cluster.Robots)
		w.proxies[name] = e.counting(name)
		w.proxies[name].to.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // as without a proxy
	}
	seed := firstSeed(t)
	t.Logf("seed %d", seed)
	w.Rand = rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // a test that is to be repeated
	w.from, w.to, w.git = e.served()
	public, err := os.ReadFile(e.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	w.wish = newWish(e.site, strings.TrimSpace(string(public)))
	w.fleet = audit.Fleet{
		Source: e.source, Branches: e.bare, Pushes: filepath.Join(dir, "pushes"), Logs: logs, User: controlplane.Robot, Hand: "hand",
	}
	if err := audit.Record(e.bare, w.fleet.Pushes); err != nil {
		t.Fatal(err)
	}
	return w
}

// spawn starts the controller or the agent, as a container that starts anew in its Pod.
func (w *walk) spawn(name string) {
	args := []string{
		"controller", w.from, "--to", w.to, "--plain-http", "--interval", "1s", "--listen", "", "--apply", "--kubeconfig-dir", w.kubeconfigs,
		"--status-repository", strings.TrimSuffix(w.to, "fleet.git") + "status.git",
	}
	if name == "agent" {
		args = []string{
			"agent", "--cluster", "eu-1", "--repository", w.edge.url + "/fleet.git", "--status-repository", w.edge.url + "/status.git", "--key", w.key,
			"--kubeconfig", filepath.Join(w.kubeconfigs, "eu-1.kubeconfig"), "--namespace", "default", "--interval", "1s", "--listen", "", "--instance", "edge",
		}
	}
	cmd := w.edge.command(args...)
	log, err := os.OpenFile(w.logOf(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		cmd.Stdout, cmd.Stderr = log, log
		err = cmd.Start()
		_ = log.Close()
	}
	if err != nil {
		w.t.Error(err)
		return
	}
	if _, again := w.running[name]; !again {
		w.t.Cleanup(func() {
			_ = w.running[name].Process.Kill()
			_ = w.running[name].Wait()
			const most = 40_000
			if said := w.said(name); w.t.Failed() || strings.Contains(said, "\ngoroutine ") {
				w.t.Logf("the %s said at last:\n%s", name, said[max(0, len(said)-most):])
			}
		})
	}
	w.running[name] = cmd
}

func (w *walk) logOf(name string) string { return filepath.Join(filepath.Dir(w.source), name+".log") }

// said is all that the controllers or the agents have said, one after the other.
func (w *walk) said(name string) string {
	data, err := os.ReadFile(w.logOf(name))
	if err != nil {
		w.t.Error(err)
	}
	return string(data)
}

// strike has the controller or the agent die at a request that is drawn, or a little later, if none
// comes, and has it start again. It returns what waits until that happened.
func (w *walk) strike() (over func()) {
	name, on, points := "controller", w.git, gitPoints
	switch w.IntN(6) {
	case 0, 1:
	case 2:
		on, points = &w.proxies["us-1"].trap, apiPoints
	case 3:
		on, points = &w.proxies["us-2"].trap, apiPoints
	case 4:
		name, on, points = "agent", &w.edge.trap, agentGitPoints
	default:
		name, on, points = "agent", &w.proxies["eu-1"].trap, agentAPIPoints
	}
	p, after := points[w.IntN(len(points))], w.IntN(2) == 0
	dies := w.running[name]
	sprung := on.set(p.matches, after, func() { _ = dies.Process.Kill() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		const patience = 6 * time.Second
		at := p.name
		select {
		case <-sprung:
		case <-time.After(patience):
			on.unset()
			at = "no request"
		}
		_ = dies.Process.Kill()
		_ = dies.Wait()
		w.spawn(name)
		w.killed[name+" at "+strconv.Quote(at)]++
		w.killsMade++
	}()
	return func() { <-done }
}

// settle waits until the head of the source is published, and every cluster is as its branch says.
func (w *walk) settle(what string) {
	w.t.Helper()
	const patience = 2 * time.Minute
	begun := time.Now()
	for {
		wrong := w.wrong()
		if wrong == "" {
			break
		}
		w.allowMore()
		if time.Since(begun) > patience {
			w.t.Fatalf("step %d, after %s: this was not put right within %s: %s\nthe last steps: %s", w.number, what, patience, wrong, strings.Join(w.lastSteps, "\n"))
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.mayLeave = ""
	w.healings = append(w.healings, time.Since(begun))
}

// wrong is the first thing that is not as it should be.
func (w *walk) wrong() string {
	head := strings.TrimSpace(w.edge.git(w.edge.source, "rev-parse", "HEAD"))
	out, err := exec.Command("git", "-C", w.bare, "log", "-1", "--format=%(trailers:key=Source-Commit,valueonly)", "waybill/state").Output()
	if published := strings.TrimSpace(string(out)); err != nil || published != head {
		return "the head of the source " + head + " is not published: " + published
	}
	wants := map[string]string{}
	for line := range strings.Lines(w.wanted()) {
		class, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		wants[rest] = class
	}
	replicas := 0
	for _, cluster := range w.clusters {
		manifests := w.manifests(cluster)
		replicas += replicasOf(manifests)
		on := map[string]bool{}
		for where := range manifests {
			on[cluster+" "+where] = true
		}
		for where, class := range wants {
			if class == audit.Must && strings.HasPrefix(where, cluster+" ") && !on[where] {
				return where + " is wanted, and not on the branch"
			}
		}
		for where := range on {
			if wants[where] == "" {
				return where + " is on the branch, and not wanted"
			}
		}
		if wrong := w.unlike(cluster, manifests); wrong != "" && !w.suspended[cluster] {
			return cluster + ": " + wrong
		}
	}
	if replicas < w.replicas {
		return fmt.Sprintf("there are %d replicas on the branches, want %d", replicas, w.replicas)
	}
	return ""
}

// manifests are what a cluster's branch has, by the names that audit.Ref prints.
func (w *walk) manifests(cluster string) map[string]map[string]any {
	w.t.Helper()
	branch := "waybill/cluster/" + cluster
	all := map[string]map[string]any{}
	out, err := exec.Command("git", "-C", w.bare, "archive", "--format=tar", branch, "manifests").Output()
	if err != nil {
		return all // nothing is published yet
	}
	for _, text := range tarred(w.t, out) {
		var m map[string]any
		if err := sigsyaml.Unmarshal(text, &m); err != nil {
			w.t.Fatal(err)
		}
		all[named(m)] = m
	}
	return all
}

// replicasOf are those of the Deployment that a branch has.
func replicasOf(manifests map[string]map[string]any) int {
	spec, _ := manifests["deployments.apps/walk/web"]["spec"].(map[string]any)
	n, _ := spec["replicas"].(float64)
	return int(n)
}

// named is an object's name as audit.Ref prints it.
func named(m map[string]any) string {
	kind, namespace, name := text(m, "kind"), text(m, "metadata", "namespace"), text(m, "metadata", "name")
	path := resources[kind]
	ref := audit.Ref{Resource: path[strings.LastIndexByte(path, '/')+1:], Namespace: namespace, Name: name}
	if group, _, ok := strings.Cut(text(m, "apiVersion"), "/"); ok {
		ref.Group = group
	}
	return ref.String()
}

// unlike says in what a cluster differs from its branch: what it lacks, what is otherwise, and what it
// has of this source beside.
func (w *walk) unlike(cluster string, manifests map[string]map[string]any) string {
	left := maps.Clone(manifests)
	for _, kind := range []string{"Namespace", "ConfigMap", "Deployment", "CustomResourceDefinition", "Widget"} {
		status, body := w.apis[cluster].do(http.MethodGet, resources[kind], "", nil)
		if status == http.StatusNotFound {
			continue
		}
		var l struct {
			APIVersion string
			Items      []map[string]any
		}
		if err := json.Unmarshal(body, &l); status != http.StatusOK || err != nil {
			return fmt.Sprintf("GET %s: %d, %.200s", resources[kind], status, body)
		}
		for _, live := range l.Items {
			live["kind"], live["apiVersion"] = kind, strings.TrimSuffix(l.APIVersion, "List")
			name := named(live)
			if uid := text(live, "metadata", "uid"); slices.Contains(slices.Collect(maps.Values(w.foreign)), uid) {
				continue
			}
			want, isWanted := left[name]
			delete(left, name)
			switch isOurs := text(live, "metadata", "annotations", "waybill.dev/owner") == w.from; {
			case !isWanted && isOurs:
				return name + " is there, and not on the branch"
			case isWanted:
				if d := differs("", want, live); d != "" {
					return name + ": " + d
				}
			}
		}
	}
	for name := range left {
		return name + " is on the branch, and not there"
	}
	return ""
}
