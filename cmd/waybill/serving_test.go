package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// served is a command that runs until it is told to stop.
type served struct {
	mu    sync.Mutex
	said  bytes.Buffer
	more  chan struct{} // closed when it says more
	stop  func()
	ended chan int
}

// starts runs a command line.
func starts(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &served{more: make(chan struct{}), stop: cancel, ended: make(chan int, 1)}
	go func() { s.ended <- run(ctx, args, s, s) }()
	t.Cleanup(cancel)
	return s
}

func (s *served) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.more)
	s.more = make(chan struct{})
	return s.said.Write(p)
}

// text is what it said until now, and what is closed when it says more.
func (s *served) text() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String(), s.more
}

// says waits until it said something for the nth time.
func (s *served) says(t *testing.T, what string, n int) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		text, more := s.text()
		if len(regexp.MustCompile("(?m)"+what).FindAllString(text, -1)) >= n {
			return
		}
		select {
		case <-more:
		case code := <-s.ended:
			t.Fatalf("it ends with %d before it says %q: %s", code, what, text)
		case <-late:
			t.Fatalf("it does not say %q %d times: %s", what, n, text)
		}
	}
}

// ends tells it to stop, and waits until it did.
func (s *served) ends(t *testing.T) {
	t.Helper()
	s.stop()
	if code := <-s.ended; code != 0 {
		text, _ := s.text()
		t.Errorf("it ends with %d: %s", code, text)
	}
}

// parts are those that were started, in order of their names.
func (s *served) parts() (all []string) {
	text, _ := s.text()
	for _, m := range regexp.MustCompile(`"msg":"started","part":"([^"]*)"`).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return all
}

// free is an address where nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return at
}

// get asks an address for a path.
func get(t *testing.T, at, path string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// metrics are those lines that begin with one of some words.
func metrics(t *testing.T, at string, of ...string) (all []string) {
	t.Helper()
	_, text := get(t, at, "/metrics")
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(of, func(word string) bool { return strings.HasPrefix(line, word) }) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// managedBy returns a kubeconfig of a cluster, with the namespace waybill, for clients that send what only real API servers read: told is
// each object that is written there.
func managedBy(t *testing.T, server *apiserver.Server, told func(runtime.Object)) (kubeconfig string) {
	t.Helper()
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // who asked is gone
		}
		if o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil); err == nil && r.Method != http.MethodPatch {
			told(o)
			if body, err = json.Marshal(o); err != nil {
				t.Error(err)
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		server.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	return inFile(t, fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x, namespace: waybill}}],
users: [{name: x, user: {}}], clusters: [{name: x, cluster: {server: %q, certificate-authority-data: %s}}]}`, front.URL, base64.StdEncoding.EncodeToString(authority)))
}

// TestAControllerAppliesAndTells: what is published already is applied at once, told as Events, observed and written to status branches,
// by the replica that leads and has the clusters.
func TestAControllerAppliesAndTells(t *testing.T) {
	server := apiserver.New(t, "shop", "waybill")
	var mu sync.Mutex
	var events []string
	leases := map[string]int32{}
	all := make(chan struct{})
	home := managedBy(t, server, func(o runtime.Object) {
		mu.Lock()
		defer mu.Unlock()
		switch o := o.(type) {
		case *corev1.Event:
			if events = append(events, o.InvolvedObject.Name+" "+o.Reason+" by "+o.Source.Component); len(events) == 2 {
				close(all)
			}
		case *coordinationv1.Lease:
			leases[o.Name] = max(leases[o.Name], *o.Spec.LeaseDurationSeconds)
		}
	})
	contexts := server.Kubeconfigs(t, "eu")
	source, git := workTree(t)
	hold(t, map[string]string{"SRC": source}, []saying{{"publish SRC", 0, nil}})
	at := free(t)
	s := starts(t, "controller", source, "--interval", "1h", "--listen", at, "--verbose", "--apply", "--events", "--kubeconfig-dir", contexts,
		"--leader-elect", "--management-kubeconfig", home)
	s.says(t, `"msg":"applied","cluster":"eu"`, 1)
	s.says(t, `"msg":"synced"`, 1)
	select {
	case <-all:
	case <-time.After(20 * time.Second):
	}
	counted := metrics(t, at, "waybill_leader ", "waybill_cluster_behind{")
	s.ends(t)
	slices.Sort(events)
	settings, _ := server.Get("/api/v1/namespaces/shop/configmaps/settings")["data"].(apiserver.Object)
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"parts", s.parts(), []string{
			"books of endpoints", "branch poller", "clusters", "health and metrics", "loop", "observer", "share of the clusters", "status writer",
		}},
		{"metrics", counted, []string{`waybill_cluster_behind{cluster="eu"} 0`, `waybill_cluster_behind{cluster="us"} 1`, "waybill_leader 1"}},
		{"Events", events, []string{"eu Applied by waybill", "us NoCredential by waybill"}},
		{"the Lease of who leads, and that of the replica", slices.Sorted(maps.Values(leases)), []int32{15, 15}},
		{"what is there", settings, apiserver.Object{"a": "b"}},
		{"status branches", strings.Fields(git("branch", "--list", "waybill/status/*")), []string{"waybill/status/eu", "waybill/status/us"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestAnAgentServesItsCluster: it has the Lease in the namespace that is named, applies what is published, signs what it writes, and looks
// again when somebody hangs up.
func TestAnAgentServesItsCluster(t *testing.T) {
	server := apiserver.New(t, "shop", "waybill")
	source, git := workTree(t)
	_, private, err := signing.NewKey(rand.Reader, "eu")
	if err != nil {
		t.Fatal(err)
	}
	git("init", "--quiet", "--bare", "statuses")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n")
	git("commit", "--quiet", "--all", "--message=pull")
	hub, signs, err := signing.NewKey(rand.Reader, "hub")
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"SRC": source, "SIGNS": inFile(t, string(signs))}
	publish := func() { hold(t, places, []saying{{"publish SRC --signing-key SIGNS", 0, nil}}) }
	publish()
	var leases []string
	home := managedBy(t, server, func(o runtime.Object) {
		if o, ok := o.(*coordinationv1.Lease); ok {
			leases = append(leases, fmt.Sprintf("%s/%s of %s for %d", o.Namespace, o.Name, *o.Spec.HolderIdentity, *o.Spec.LeaseDurationSeconds))
		}
	})
	at := free(t)
	s := starts(t, "agent", "--cluster", "eu", "--repository", source, "--status-repository", filepath.Join(source, "statuses"), "--verbose",
		"--key", inFile(t, string(private)), "--kubeconfig", home, "--listen", at,
		"--interval", "1h", "--instance", "one",
		"--allowed-signers", inFile(t, "hub "+hub.Public().String()+"\n"))
	s.says(t, `"msg":"applied","cluster":"eu"`, 1)
	write("shop.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {a: c}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\n"+
		"spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n")
	git("commit", "--quiet", "--all", "--message=next")
	publish()
	me, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := me.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.says(t, `"msg":"applied","cluster":"eu"`, 2)
	counted := metrics(t, at, "waybill_leader ", "waybill_cluster_behind{")
	ready, _ := get(t, at, "/readyz")
	s.ends(t)
	var head []string
	for line := range strings.Lines(git("-C", filepath.Join(source, "statuses"), "cat-file", "commit", "waybill/status/eu")) {
		if key, _, _ := strings.Cut(line, " "); key == "gpgsig" || key == "eu:" {
			head = append(head, strings.TrimSpace(line))
		}
	}
	settings, _ := server.Get("/api/v1/namespaces/shop/configmaps/settings")["data"].(apiserver.Object)
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"parts", s.parts(), []string{"agent", "health and metrics"}},
		{"metrics", counted, []string{`waybill_cluster_behind{cluster="eu"} 0`, "waybill_leader 1"}},
		{"readiness", ready, http.StatusOK},
		{"its Lease", leases[0], "waybill/waybill-agent-eu of one for 15"},
		{"what is there", settings, apiserver.Object{"a": "c"}},
		{"what it writes", head, []string{"gpgsig -----BEGIN SSH SIGNATURE-----", "eu: Applied, 1 of 1 objects applied, 1 healthy"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestWhatAnAgentIsCalled: as is said, else as its Pod, and outside of one as no other.
func TestWhatAnAgentIsCalled(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const own = `^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?-[a-z2-7]{8}$`
	for _, tt := range []struct {
		name, pod string
		flags     agentFlags
		want      string
	}{
		{"it is said", "10.0.0.1", agentFlags{instance: "one"}, "^one$"},
		{"in a Pod", "10.0.0.1", agentFlags{}, "^" + regexp.QuoteMeta(host) + "$"},
		{"in a Pod, for another cluster", "10.0.0.1", agentFlags{kubeconfig: "k"}, own},
		{"in no Pod", "", agentFlags{}, own},
	} {
		t.Setenv("KUBERNETES_SERVICE_HOST", tt.pod)
		got, err := tt.flags.name()
		if again, _ := tt.flags.name(); err != nil || !regexp.MustCompile(tt.want).MatchString(got) || (again == got) != (tt.want != own) {
			t.Errorf("%s: %q, and then %q, want %q: %v", tt.name, got, again, tt.want, err)
		}
	}
}

// TestWhatALibraryLogs: errors, at any level that is asked for, and nothing else.
func TestWhatALibraryLogs(t *testing.T) {
	for _, least := range []slog.Level{slog.LevelDebug, slog.LevelError, slog.LevelError + 4} {
		h := errorsOnly{slog.NewTextHandler(&strings.Builder{}, &slog.HandlerOptions{Level: least})}
		for _, l := range []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelError, slog.LevelError + 4} {
			if got, want := h.Enabled(t.Context(), l), l >= slog.LevelError && l >= least; got != want {
				t.Errorf("at %s it logs %s: %t", least, l, got)
			}
		}
	}
}
