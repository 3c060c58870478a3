//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// kubelet stands for the kubelet of a node, as far as an API server asks one for the logs of a
// container, or has it run a command there. No container runs.
type kubelet struct {
	t    *testing.T
	port string
}

func startKubelet(t *testing.T) *kubelet {
	t.Helper()
	k := &kubelet{t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.logs)
	mux.HandleFunc("POST /exec/{namespace}/{pod}/{container}", k.exec)
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	k.port = at.Port()
	return k
}

// node is the manifest of the node, without its status.
const node = "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n"

// join says to an API server where the kubelet of the node is.
func (k *kubelet) join(a *api) {
	k.t.Helper()
	a.apply(node)
	status := fmt.Sprintf(`{"status":{"capacity":{"cpu":"4","memory":"8Gi"},"allocatable":{"cpu":"4","memory":"8Gi"},"addresses":[{"type":"InternalIP","address":"127.0.0.1"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":%s}}}}`, k.port)
	a.kubectl("patch", "node", "node", "--subresource=status", "--type=merge", "-p", status)
}

func (*kubelet) logs(w http.ResponseWriter, r *http.Request) {
	for n := range 3 {
		fmt.Fprintf(w, "%s of %s says %d, tail %q\n", r.PathValue("container"), r.PathValue("pod"), n, r.URL.Query().Get("tailLines"))
	}
}

// exec runs one of three commands: "echo WORD...", "cat" and "exit STATUS".
func (k *kubelet) exec(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	wanted := 1 // for errors
	for _, name := range []string{"input", "output", "error"} {
		if query.Get(name) == "1" {
			wanted++
		}
	}
	if _, err := httpstream.Handshake(r, w, []string{"v5.channel.k8s.io", "v4.channel.k8s.io"}); err != nil {
		return
	}
	opened := make(chan httpstream.Stream, wanted)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		opened <- s
		return nil
	})
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }() // the API server may have done so
	streams := map[string]httpstream.Stream{}
	for range wanted {
		select {
		case s := <-opened:
			streams[s.Headers().Get(corev1.StreamType)] = s
		case <-conn.CloseChan():
			return
		}
	}
	result := ran(query["command"], streams)
	if err := json.NewEncoder(streams[corev1.StreamTypeError]).Encode(result); err != nil {
		k.t.Logf("telling how a command ended: %v", err)
	}
	for _, s := range streams {
		_ = s.Close()
	}
	<-conn.CloseChan()
}

// ran runs a command, and says how it ended, as a kubelet does.
func ran(command []string, streams map[string]httpstream.Stream) metav1.Status {
	out := streams[corev1.StreamTypeStdout]
	switch command[0] {
	case "echo":
		for _, word := range command[1:] {
			fmt.Fprintln(out, word)
		}
	case "cat":
		_, _ = io.Copy(out, streams[corev1.StreamTypeStdin])
	case "exit":
		if n, err := strconv.Atoi(command[1]); err == nil && n != 0 {
			return metav1.Status{
				Status: metav1.StatusFailure, Reason: "NonZeroExitCode", Message: "command terminated with non-zero exit code",
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: strconv.Itoa(n)}}},
			}
		}
	}
	return metav1.Status{Status: metav1.StatusSuccess}
}
