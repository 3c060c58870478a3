package management_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/management"
)

// kubeconfig writes one that leads to an address, with a namespace; empty for none.
func kubeconfig(t *testing.T, server, namespace string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x, namespace: %q}}], users: [{name: x, user: {}}], clusters: [{name: x, cluster: {server: %q}}]}`, namespace, server)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// server is an API server that has the Secret waybill/eu, and hands over the Events that it gets.
func server(t *testing.T) (string, <-chan corev1.Event) {
	t.Helper()
	told := make(chan corev1.Event, 10)
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, o any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o)
	}
	mux.HandleFunc("GET /api/v1/namespaces/waybill/secrets/eu", func(w http.ResponseWriter, r *http.Request) {
		if by := r.UserAgent(); by != "waybill/test" {
			t.Errorf("it asks as %q", by)
		}
		answer(w, corev1.Secret{TypeMeta: metav1.TypeMeta{Kind: "Secret", APIVersion: "v1"}, Data: map[string][]byte{"token": []byte("t")}})
	})
	mux.HandleFunc("POST /api/v1/namespaces/waybill/events", func(w http.ResponseWriter, r *http.Request) {
		var e corev1.Event
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		told <- e
		answer(w, e)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, told
}

func TestOpen(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBECONFIG", kubeconfig(t, "https://127.0.0.1:1", "elsewhere")) // somebody's own, which is not meant
	if _, err := management.Open("", "", "waybill/test"); !errors.Is(err, management.ErrNone) {
		t.Errorf("in no cluster, and with no kubeconfig, it ended with %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"is not there": filepath.Join(t.TempDir(), "none"), "is no kubeconfig": "management_test.go", "is empty": empty} {
		if _, err := management.Open(path, "waybill", "waybill/test"); err == nil || errors.Is(err, management.ErrNone) {
			t.Errorf("a kubeconfig that %s: it ended with %v", name, err)
		}
	}
	for _, test := range []struct{ context, asked, want string }{{"waybill", "", "waybill"}, {"waybill", "other", "other"}, {"", "", "default"}} {
		c, err := management.Open(kubeconfig(t, "https://127.0.0.1:1", test.context), test.asked, "waybill/test")
		if err != nil || c.In() != test.want {
			t.Errorf("with the namespaces %q of the context and %q it ended with %v, want %s", test.context, test.asked, err, test.want)
		}
	}
}

func TestSecret(t *testing.T) {
	address, _ := server(t)
	c, err := management.Open(kubeconfig(t, address, ""), "waybill", "waybill/test")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := c.Secret(t.Context(), "eu"); string(data["token"]) != "t" || err != nil {
		t.Errorf("the Secret has %q (%v)", data, err)
	}
	if data, err := c.Secret(t.Context(), "us"); !apierrors.IsNotFound(err) || data != nil {
		t.Errorf("a Secret that is not there has %q (%v)", data, err)
	}
}

func TestEventsRegardTheirCluster(t *testing.T) {
	address, told := server(t)
	c, err := management.Open(kubeconfig(t, address, "waybill"), "", "waybill/test")
	if err != nil {
		t.Fatal(err)
	}
	tells := c.Events("waybill-controller")
	defer tells.Stop()
	tells.Tell(events.Normal("eu", "Applied", "all of it"), events.Warning("us", "Refused", "no room"))
	want := map[string]string{"eu": "Normal Applied: all of it", "us": "Warning Refused: no room"}
	for range want {
		select {
		case e := <-told:
			is := e.InvolvedObject
			if text := e.Type + " " + e.Reason + ": " + e.Message; text != want[is.Name] || is.Kind != "Cluster" || is.Namespace != "waybill" || e.Source.Component != "waybill-controller" {
				t.Errorf("%s of %+v by %+v", text, is, e.Source)
			}
		case <-time.After(time.Minute):
			t.Fatal("an Event is not told")
		}
	}
}
