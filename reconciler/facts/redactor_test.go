package facts

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// manifest is a file of a branch.
func manifest(text string) *files.Blob { return files.NewBlob([]byte(text)) }

// holding is what a branch holds that has a Secret.
func holding(secret string) *files.Folder {
	return twin.Tree{tree.ManifestDir + "/shop/secret/login.yaml": twin.File([]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: shop}\n" + secret + "\n"))}.Folder()
}

// shown is what of a change is shown: its fields, with their values.
func shown(c *redactor, registered *karmada.Cluster, old, now string) string {
	ch := &Changed{Path: "manifests/shop/a.yaml", Verb: "changed", old: manifest(old), now: manifest(now)}
	c.of(ch, &reports.Cluster{Registered: registered})
	c.look(ch)
	var all []string
	for _, f := range ch.Fields {
		all = append(all, fmt.Sprint(f.Path, " ", f.From, " ", f.To, " ", f.Lines, " ", f.Hidden))
	}
	return strings.Join(all, "\n")
}

// TestNoValueOfASecretIsShown: a value that a Secret of a branch has, before the change or after it, is not shown where another manifest
// has it too, however it is written there. What is shorter than any secret is.
func TestNoValueOfASecretIsShown(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: %q}\n"
	eu := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	for _, tt := range []struct {
		name, secret, before, after string // the Secret, and a value of the ConfigMap
		hidden                      string // what may not be shown; empty: all is
	}{
		{"a plain value", "stringData: {p: CANARY}", "x", "is CANARY", "CANARY"},
		{"an encoded value, decoded", "data: {p: Q0FOQVJZ}", "x", "is CANARY", "CANARY"},
		{"an encoded value, as it is", "data: {p: Q0FOQVJZ}", "x", "is Q0FOQVJZ", "Q0FOQVJZ"},
		{"one that ends with a line, without it", "data: {p: Q0FOQVJZCg==}", "x", "is CANARY!", "CANARY"},
		{"one that goes", "stringData: {p: CANARY}", "is CANARY", "x", "CANARY"},
		{"another value", "stringData: {p: CANARY}", "x", "is shown", ""},
		{"one of four letters", "stringData: {p: CANA}", "x", "is CANA", "CANA"},
		{"one as short as any word", "stringData: {p: abc}", "x", "is abc", ""},
	} {
		for _, side := range []string{"before", "after"} {
			c := newRedactor(nil)
			if side == "before" {
				c.learn(holding(tt.secret))
				c.learn(nil)
			} else {
				c.learn(twin.Tree{}.Folder())
				c.learn(holding(tt.secret))
			}
			got := shown(c, eu, fmt.Sprintf(config, tt.before), fmt.Sprintf(config, tt.after))
			if !strings.HasPrefix(got, "data.k ") || tt.hidden != "" && strings.Contains(got, tt.hidden) || tt.hidden == "" && !strings.Contains(got, tt.after) {
				t.Errorf("%s, in the tree %s: %s", tt.name, side, got)
			}
		}
	}
}

// TestOfWhatAReleaseRendersLittleIsShown: its values may be taken from Secrets that nobody has here, so that only images and numbers of
// replicas are shown, in a virtual cluster, too, where it has another name.
func TestOfWhatAReleaseRendersLittleIsShown(t *testing.T) {
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: %s}\nspec: {replicas: %d, template: {spec: {containers: [{name: c, image: %q, env: [{name: A, value: %q}]}]}}}\n"
	eu := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	inner := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "inner", Annotations: map[string]string{karmada.VirtualOfAnnotation: "eu"}}}
	for _, tt := range []struct {
		name      string
		cluster   *karmada.Cluster
		namespace string
		rendered  bool
	}{{"of a release", eu, "shop", true}, {"of a release, in a virtual cluster", inner, "shop-inner", true}, {"of nobody", eu, "other", false}} {
		c := newRedactor()
		c.rendered[object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}] = true
		got := shown(c, tt.cluster, fmt.Sprintf(web, tt.namespace, 1, "x:1", "CANARY-1"), fmt.Sprintf(web, tt.namespace, 2, "x:2", "CANARY-2"))
		if strings.Contains(got, "CANARY") == tt.rendered || !strings.Contains(got, "x:2") || !strings.Contains(got, "replicas 1 2") || !strings.Contains(got, ".value") {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// TestWhatAReleaseRenderedIsReadOfEachState: of the one before a change, and of the one after it.
func TestWhatAReleaseRenderedIsReadOfEachState(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: %q}\n"
	eu := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	none, rendered := twin.Tree{}.Folder(), twin.Tree{"releases/shop/a-helmrelease.json": twin.File([]byte(
		`{"release": {"kind": "HelmRelease", "namespace": "shop", "name": "a"}, "objects": [{"kind": "ConfigMap", "namespace": "shop", "name": "a"}]}`))}.Folder()
	for name, states := range map[string][]*files.Folder{"before": {rendered, none}, "after": {none, rendered}, "at the first publication": {nil, rendered}} {
		if got := shown(newRedactor(states...), eu, fmt.Sprintf(config, "x"), fmt.Sprintf(config, "CANARY")); !strings.HasPrefix(got, "data.k ") || strings.Contains(got, "CANARY") {
			t.Errorf("rendered %s: %s", name, got)
		}
	}
	if got := shown(newRedactor(none, nil), eu, fmt.Sprintf(config, "x"), fmt.Sprintf(config, "shown")); !strings.Contains(got, "shown") {
		t.Errorf("rendered by nobody: %s", got)
	}
}

// TestOfWhatCannotBeReadNoFieldIsShown: neither of a manifest that came or went, nor where one of the two is none; and files that are
// where Secrets are not say nothing.
func TestOfWhatCannotBeReadNoFieldIsShown(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: shown}\n"
	eu := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	for name, of := range map[string][2]string{"before": {"hot: [", config}, "after": {config, "hot: ["}} {
		if got := shown(newRedactor(), eu, of[0], of[1]); got != "" {
			t.Errorf("it cannot be read %s: %s", name, got)
		}
	}
	for name, ch := range map[string]*Changed{"added": changed("a.yaml", nil, manifest(config)), "removed": changed("a.yaml", manifest(config), nil)} {
		c := newRedactor()
		c.of(ch, &reports.Cluster{Registered: eu})
		if c.look(ch); ch.Verb != name || len(ch.Fields) > 0 || ch.Ref != (object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}) {
			t.Errorf("%s: %+v", name, ch)
		}
	}
	c := newRedactor()
	for _, odd := range []twin.Tree{
		{tree.ManifestDir: twin.File(nil)},
		{tree.ManifestDir + "/a.yaml": twin.File(nil)},
		{tree.ManifestDir + "/shop/secret": twin.File(nil)},
		{tree.ManifestDir + "/shop/secret/a.yaml": twin.File([]byte("hot: ["))},
	} {
		if c.learn(odd.Folder()); len(c.secrets) > 0 {
			t.Errorf("%v has the secrets %q", odd, c.secrets)
		}
	}
}
