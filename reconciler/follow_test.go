package reconciler

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/suspend"
)

// TestARoundBeginsWithTheNewestOrder has a cluster wait for its turn, and suspends it meanwhile.
func TestARoundBeginsWithTheNewestOrder(t *testing.T) {
	asked := make(chan struct{}, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"kube-system","uid":"k"}}`))
		asked <- struct{}{}
	}))
	defer server.Close()
	dir := t.TempDir()
	text, err := clientcmd.Write(api.Config{
		Clusters: map[string]*api.Cluster{"eu": {
			Server: server.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		}},
		AuthInfos: map[string]*api.AuthInfo{"eu": {Token: "t"}}, Contexts: map[string]*api.Context{"eu": {Cluster: "eu", AuthInfo: "eu"}}, CurrentContext: "eu",
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "eu.kubeconfig"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &Follower{Applier: Applier{Reconciler: &Reconciler{Now: func() time.Time { return time.Unix(0, 0) }}, Access: clusters.Access{Folder: dir}}}
	cluster := func(annotations map[string]string) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu", Annotations: annotations}}
	}
	orders, slots, ended := make(chan order, 1), make(chan struct{}, 1), make(chan Application, 1)
	slots <- struct{}{} // another cluster's round
	in := inbox{orders: orders, order: order{cluster: cluster(nil)}}
	go func() {
		app, _ := f.round(t.Context(), &in, slots)
		ended <- app
	}()
	<-asked
	orders <- order{cluster: cluster(map[string]string{suspend.Suspended: "the disks are replaced"})}
	<-slots
	if app := <-ended; !strings.Contains(app.Suspension.Why, "the disks are replaced") || in.fresh {
		t.Errorf("%+v", app)
	}
}
