package ui_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/shown"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestValuesOfSecretsAreNotShown changes a Secret that is plain on branches, and texts that repeat it.
func TestValuesOfSecretsAreNotShown(t *testing.T) {
	const before, after = "hunter2-before", "hunter2-after"
	f := newFleet(t)
	f.put("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {secrets: allow}\n")
	f.put("secrets.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: secrets, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: Secret}], placement: {}}\n")
	write := func(value string) {
		f.put("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: password, namespace: shop}\nstringData: {a: "+value+"}\ndata: {b: "+base64.StdEncoding.EncodeToString([]byte(value+"-b"))+"}\n")
		f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\ndata: {url: 'https://root:"+value+"@db, and "+value+"-b'}\n")
		f.publish("another password")
	}
	write(before)
	write(after)
	page := f.get(http.MethodGet, "/changes/"+f.head("waybill/state").Commit.String()).Body.String()
	for _, value := range []string{before, after} {
		for _, text := range []string{value, base64.StdEncoding.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value + "-b"))} {
			if strings.Contains(page, text) {
				t.Errorf("%q is in the page", text)
			}
		}
	}
	if text := shown.Words(page); !strings.Contains(text, "Secret/shop/password 2 clusters") && !strings.Contains(text, "Secret/shop/password 3 clusters") || !strings.Contains(text, "its value is not shown") {
		t.Error(text)
	}
}

// TestWhatAReleaseRendersIsNotShown has a release take a value from where nobody looks.
func TestWhatAReleaseRendersIsNotShown(t *testing.T) {
	f := published(t)
	state, eu := f.head("waybill/state"), f.head("waybill/cluster/eu")
	files := twin.Of(state.Tree)
	files["releases/shop/web-helmrelease.json"] = twin.File([]byte(`{"release": {"kind": "HelmRelease", "namespace": "shop", "name": "web"}, "objects": [{"kind": "ConfigMap", "namespace": "shop", "name": "conf"}, {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"}]}`))
	trailers := "deadbeef: next\n\nSource-Commit: " + f.head("main").Commit.String() + "\nState-Commit: " + state.Commit.String() + "\n"
	tree := twin.Of(eu.Tree)
	for path, e := range tree {
		data, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		tree[path] = twin.File([]byte(strings.NewReplacer("hello", "taken-from-a-secret", "web:2", "web:3").Replace(string(data))))
	}
	f.repo.twin.Write("waybill/cluster/eu", trailers+"Cluster: eu\n", tree.Folder())
	f.repo.twin.Write("waybill/state", trailers, files.Folder())
	page := f.get(http.MethodGet, "/changes/"+f.head("waybill/state").Commit.String()).Body.String()
	if strings.Contains(page, "taken-from-a-secret") || strings.Contains(page, "hello") {
		t.Error("a value of what a release renders is shown")
	}
	if text := shown.Words(page); !strings.Contains(text, "image was web:2 → is web:3") || !strings.Contains(text, "data.greeting changes; its value is not shown") {
		t.Error(text)
	}
}
