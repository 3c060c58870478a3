package clusters

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// TestAnInventoryWithoutLabels reads an inventory from whose Secrets somebody took the labels: it is found by
// their names, with all that it holds.
func TestAnInventoryWithoutLabels(t *testing.T) {
	const owner = "https://example.com/fleet"
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	stored := inventory.Inventory{Identity: inventory.Identity{Owner: owner, Cluster: "eu", UID: "u"}, Commit: files.ID{1}, Entries: map[object.Ref]inventory.Entry{web: {UID: "1"}}}
	encoded, err := inventory.Encode(stored)
	if err != nil {
		t.Fatal(err)
	}
	head, err := json.Marshal(encoded.Head)
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{headName(owner): secret(headName(owner), headKey, head)}
	for at, data := range encoded.Shards {
		name := shardName(owner, encoded.Head.Shards, at)
		secrets[name] = secret(name, entriesKey, data)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		const in = "/api/v1/namespaces/" + Namespace + "/secrets"
		switch name, isOne := strings.CutPrefix(r.URL.Path, in+"/"); {
		case r.URL.Path == in: // with the label there is none
			fmt.Fprint(w, `{"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[]}`)
		case isOne && secrets[name] != "":
			fmt.Fprint(w, secrets[name])
		case isOne:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		default:
			fmt.Fprint(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"kube-system","uid":"u"}}`)
		}
	}))
	defer server.Close()
	c, err := Open("eu", "", "", &rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	read, err := c.Inventory(t.Context(), owner)
	if err != nil || read.Inventory.Entries[web].UID != "1" || len(read.Versions) != len(secrets) {
		t.Errorf("it is %+v; %v", read, err)
	}
	if none, err := c.Inventory(t.Context(), "another"); err != nil || len(none.Versions) > 0 {
		t.Errorf("of another source there is %+v; %v", none, err)
	}
}

// TestAnInventoryOfAnotherSource: what stands under the name of a source's inventory and is that of another one counts for neither.
func TestAnInventoryOfAnotherSource(t *testing.T) {
	for _, other := range []string{"https://example.com/other", ""} {
		encoded, err := inventory.Encode(inventory.Inventory{Identity: inventory.Identity{Owner: other, Cluster: "eu", UID: "u"}})
		if err != nil {
			t.Fatal(err)
		}
		head, err := json.Marshal(encoded.Head)
		if err != nil {
			t.Fatal(err)
		}
		var u unstructured.Unstructured
		if err := u.UnmarshalJSON([]byte(secret(headName("mine"), headKey, head))); err != nil {
			t.Fatal(err)
		}
		if got, err := decode("mine", map[string]*unstructured.Unstructured{headName("mine"): &u}); err == nil || !strings.Contains(err.Error(), "it is that of "+other) {
			t.Errorf("of %q there is %+v; %v", other, got, err)
		}
	}
}

func secret(name, key string, data []byte) string {
	return fmt.Sprintf(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":%q,"namespace":%q,"resourceVersion":"7"},"data":{%q:%q}}`,
		name, Namespace, key, base64.StdEncoding.EncodeToString(data))
}
