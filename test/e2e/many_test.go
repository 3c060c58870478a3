//go:build e2e

package e2e

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The names that a cluster of many has for itself. Each has as many bytes as those by which
// the API server knows them, so that answers can be rewritten in any encoding.
const (
	ownSystem   = "kube-system"
	ownApplier  = "waybill-system"
	ownObjects  = "team-shared"
	suffixWidth = 6 // bytes
)

// many are clusters that share a few API servers: each has namespaces of its own, and a proxy
// under an address of its own lets it see no others.
type many struct {
	t      *testing.T
	apis   []*api
	to     []*httputil.ReverseProxy
	server *httptest.Server

	mu     sync.Mutex
	marked map[int]bool // clusters to which the mark was written
	mark   []byte
	asked  int
}

// suffixOf is what a cluster's own namespaces end with.
func suffixOf(n int) string { return fmt.Sprintf("c%0*d", suffixWidth-1, n) }

// names are pairs: what a cluster calls a namespace, and what the API server does.
func namesOf(n int) [][2]string {
	var pairs [][2]string
	for _, own := range []string{ownSystem, ownApplier, ownObjects} {
		pairs = append(pairs, [2]string{own, own[:len(own)-suffixWidth] + suffixOf(n)})
	}
	return pairs
}

func newMany(t *testing.T, apis []*api) *many {
	t.Helper()
	m := &many{t: t, apis: apis}
	for _, a := range apis {
		target, err := url.Parse(a.url)
		if err != nil {
			t.Fatal(err)
		}
		pem, err := os.ReadFile(a.cluster.Authority)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		p := httputil.NewSingleHostReverseProxy(target)
		p.ErrorLog, p.FlushInterval = log.New(io.Discard, "", 0), -1
		p.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableCompression: true, ForceAttemptHTTP2: true}
		p.ModifyResponse = func(r *http.Response) error {
			n, _ := clusterOf(r.Request.Host)
			r.Body = &renaming{r.Body, namesOf(n)}
			return nil
		}
		m.to = append(m.to, p)
	}
	cert, err := tls.LoadX509KeyPair(apis[0].cluster.Authority, strings.TrimSuffix(apis[0].cluster.Authority, ".crt")+".key")
	if err != nil {
		t.Fatal(err)
	}
	m.server = httptest.NewUnstartedServer(m)
	m.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	m.server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	m.server.EnableHTTP2 = true
	if m.server.Listener, err = net.Listen("tcp", "0.0.0.0:0"); err != nil {
		t.Fatal(err)
	}
	m.server.StartTLS()
	t.Cleanup(m.server.Close)
	return m
}

// host is the address of a cluster: every one that begins with 127 is this machine's.
func host(n int) string { return fmt.Sprintf("127.1.%d.%d", n/200, n%200+1) }

func clusterOf(hostport string) (int, error) {
	h, _, err := net.SplitHostPort(hostport)
	parts := strings.Split(h, ".")
	if err != nil || len(parts) != 4 {
		return 0, fmt.Errorf("%q is no cluster's", hostport)
	}
	high, _ := strconv.Atoi(parts[2])
	low, _ := strconv.Atoi(parts[3])
	return high*200 + low - 1, nil
}

// register makes a cluster's namespaces, and says how it is reached.
func (m *many) register(s *site, n int) {
	m.t.Helper()
	a := m.apis[n%len(m.apis)]
	for _, pair := range namesOf(n) {
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, pair[1])
		if status, answer := a.do(http.MethodPost, "/api/v1/namespaces", "application/json", body); status != http.StatusCreated {
			m.t.Fatalf("POST namespace: %d\n%s", status, answer)
		}
	}
	_, port, err := net.SplitHostPort(m.server.Listener.Addr().String())
	if err != nil {
		m.t.Fatal(err)
	}
	config, err := os.ReadFile(m.apis[0].kubeconfig)
	if err != nil {
		m.t.Fatal(err)
	}
	own := strings.Replace(string(config), fmt.Sprintf("server: %q", m.apis[0].url), fmt.Sprintf(`server: "https://%s:%s", tls-server-name: 127.0.0.1`, host(n), port), 1)
	name := fmt.Sprintf("m-%04d", n)
	if err := os.WriteFile(filepath.Join(s.kubeconfigs, name+".kubeconfig"), []byte(own), 0o600); err != nil {
		m.t.Fatal(err)
	}
	s.write("clusters/"+name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+name+"}\nspec: {syncMode: Push}\n")
}

// ServeHTTP implements http.Handler.
func (m *many) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := clusterOf(r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	m.mu.Lock()
	if r.URL.Path != "/readyz" { // which every cluster is asked every ten seconds
		m.asked++
	}
	if m.mark != nil && r.Method == http.MethodPatch && bytes.Contains(body, m.mark) {
		m.marked[n] = true
	}
	m.mu.Unlock()
	for _, pair := range namesOf(n) {
		body = bytes.ReplaceAll(body, []byte(pair[0]), []byte(pair[1]))
		r.URL.Path = strings.ReplaceAll(r.URL.Path, pair[0], pair[1])
	}
	if r.URL.Path == "/api/v1/configmaps" { // of all namespaces that the cluster has
		r.URL.Path = "/api/v1/namespaces/" + namesOf(n)[2][1] + "/configmaps"
	}
	r.URL.RawPath = ""
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Accept-Encoding")
	m.to[n%len(m.to)].ServeHTTP(w, r)
}

// renaming gives an answer the names that a cluster has for its namespaces. What an API server
// writes at once is read at once.
type renaming struct {
	io.ReadCloser

	pairs [][2]string
}

func (r *renaming) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	for _, pair := range r.pairs {
		copy(p[:n], bytes.ReplaceAll(p[:n], []byte(pair[1]), []byte(pair[0])))
	}
	return n, err
}

// watchFor counts to how many clusters a value is written from now on.
func (m *many) watchFor(value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mark, m.marked, m.asked = []byte(value), map[int]bool{}, 0
}

func (m *many) reached() (clusters, requests int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.marked), m.asked
}

// all waits until a value was written to so many clusters, and returns how long that took.
func (m *many) all(n int, most time.Duration) time.Duration {
	m.t.Helper()
	start := time.Now()
	for {
		got, requests := m.reached()
		took := time.Since(start)
		if got >= n {
			m.t.Logf("%d clusters in %.1f s, with %d requests", n, took.Seconds(), requests)
			return took
		}
		if took > most {
			m.t.Fatalf("only %d of %d clusters have it after %v", got, n, most)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestManyClusters has one controller serve a thousand clusters.
func TestManyClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("measures cost, for minutes")
	}
	const clusters, objects, servers = 1000, 10, 6
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	var apis []*api
	for i := range servers {
		apis = append(apis, startAPI(t, p, etcd, filepath.Join(dir, fmt.Sprint("s", i))))
	}
	m := newMany(t, apis)
	s := newSite(t, p.waybill, nil)
	for n := range clusters {
		m.register(s, n)
	}
	write := func(value string) {
		var b strings.Builder
		for i := range objects {
			fmt.Fprintf(&b, "---\n%s", configMap(ownObjects, fmt.Sprintf("c%04d", i), "as ever"))
		}
		fmt.Fprintf(&b, "---\n%s", configMap(ownObjects, "changing", value))
		s.write("team.yaml", b.String())
	}
	write("the-first-value")
	s.commit()
	m.watchFor("the-first-value")
	controller := s.started(s.source, "--to", s.bare)
	m.all(clusters, 9*time.Minute)
	t.Logf("first apply: %s", usage(t, controller))
	m.quiet()
	for _, value := range []string{"second-value", "third-value"} {
		write(value)
		m.watchFor(value)
		before := cpuOf(t, controller)
		s.commit()
		const most = time.Minute
		took := m.all(clusters, 3*most)
		t.Logf("a line: %.2f CPU s of the controller; %s", (cpuOf(t, controller) - before).Seconds(), usage(t, controller))
		if took > most {
			t.Errorf("a line took %v to %d clusters, and %v is the limit", took, clusters, most)
		}
		m.quiet()
	}
	// a change for one cluster asks nothing of the others
	s.write("clusters/m-0007.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: m-0007, labels: {alone: \"true\"}}\nspec: {syncMode: Push}\n")
	s.write("alone.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: alone, namespace: "+ownObjects+"}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: c0000}]\n  overrideRules:\n"+
		"  - targetCluster: {labelSelector: {matchLabels: {alone: \"true\"}}}\n    overriders: {plaintext: [{path: /data/value, operator: replace, value: for-one-alone}]}\n")
	m.watchFor("for-one-alone")
	s.commit()
	m.all(1, time.Minute)
	m.quiet()
	const most = 100
	if _, requests := m.reached(); requests > most {
		t.Errorf("a change for one cluster took %d requests, and %d is the limit", requests, most)
	}
	before, asked := cpuOf(t, controller), 0
	m.watchFor("nothing")
	const idle = 20 * time.Second
	time.Sleep(idle)
	_, asked = m.reached()
	t.Logf("idle: %.1f %% of a core, %d requests in %v", float64(cpuOf(t, controller)-before)/float64(idle)*100, asked, idle)
	if memory := memoryOf(t, controller); memory > 2<<30 {
		t.Errorf("the controller took %d MiB, and 2 GiB is the limit", memory>>20)
	}
	end(t, controller)

	// two replicas take over, and divide the clusters
	flags := []string{"--kubeconfig-dir", s.kubeconfigs, "--management-kubeconfig", apis[0].kubeconfig, "--cluster-secrets-namespace", "default"}
	replicas := []*replica{s.replica(flags...), s.replica(flags...)}
	for _, value := range []string{"fourth-value", "fifth-value"} {
		write(value)
		m.watchFor(value)
		s.commit()
		m.all(clusters, 5*time.Minute)
		m.quiet()
		t.Logf("two replicas, of which one has taken %s, the other %s", usage(t, replicas[0].Cmd), usage(t, replicas[1].Cmd))
	}
	for _, r := range replicas {
		r.stop()
	}
}

// quiet waits until nothing is asked for a while.
func (m *many) quiet() {
	m.t.Helper()
	const most = 200
	for range most {
		_, before := m.reached()
		time.Sleep(time.Second)
		if _, now := m.reached(); now == before {
			return
		}
	}
	m.t.Error("it never becomes quiet")
}

func usage(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	return fmt.Sprintf("%.1f CPU s so far, %d MiB at most", cpuOf(t, cmd).Seconds(), memoryOf(t, cmd)>>20)
}

// cpuOf is the CPU time that a process has taken so far.
func cpuOf(t *testing.T, cmd *exec.Cmd) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	const tick = 10 * time.Millisecond
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// memoryOf is the most memory that a process has held so far, in bytes.
func memoryOf(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
