package clusters

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/render/object"
)

// TestAwaitSilence waits for what a server says nothing of: that is not healthy.
func TestAwaitSilence(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	c, err := Open("eu-1", "", "", &rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	v1 := schema.GroupVersion{Group: "batch", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1})
	mapper.Add(v1.WithKind("Job"), meta.RESTScopeNamespace)
	c.mapper = mapper
	job := object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "migrate"}
	left, err := c.Await(t.Context(), []object.Ref{job}, 100*time.Millisecond)
	if err != nil || len(left) != 1 || left[0].Ref != job || left[0].Failed {
		t.Errorf("%v; %v", left, err)
	}
}
