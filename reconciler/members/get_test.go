package members

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// asked is a fleet: eu, of whose API server eu-a is a virtual cluster; us, which is another one; one that hangs; and one that is not what its
// Cluster says.
type asked struct {
	Fleet

	eu, us *apiserver.Server
}

func newAsked(t *testing.T) *asked {
	t.Helper()
	a := &asked{eu: apiserver.New(t, "shop", "shop-eu-a"), us: apiserver.New(t, "shop")}
	hangs := apiserver.New(t)
	hangs.Before(func(r *http.Request) int {
		<-r.Context().Done()
		return apiserver.Lost
	})
	folder := a.eu.Kubeconfigs(t, "eu", "eu-a", "other")
	for name, s := range map[string]*apiserver.Server{"us": a.us, "hangs": hangs} {
		text, err := os.ReadFile(filepath.Join(s.Kubeconfigs(t, name), name+".kubeconfig"))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+".kubeconfig"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, s := range map[string]*apiserver.Server{"shop/configmaps/settings": a.eu, "shop/configmaps/more": a.eu, "shop-eu-a/configmaps/settings": a.eu, "kube-system/configmaps/roots": a.us, "shop/configmaps/us": a.us} {
		namespace, rest, _ := strings.Cut(path, "/")
		s.Put("/api/v1/namespaces/"+path, apiserver.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": apiserver.Object{"namespace": namespace, "name": filepath.Base(rest)}})
	}
	cluster := func(name, host, id string) *karmada.Cluster {
		c := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: karmada.ClusterSpec{ID: id}}
		if host != "" {
			c.Annotations = map[string]string{karmada.VirtualOfAnnotation: host}
		}
		return c
	}
	a.Fleet = Fleet{
		Way: Way{Access: clusters.Access{Folder: folder}}, Deadline: time.Minute, // which no test waits for
		Clusters: []*karmada.Cluster{cluster("eu", "", apiserver.UID), cluster("eu-a", "eu", ""), cluster("hangs", "", ""), cluster("other", "", "another"), cluster("us", "", ""), cluster("unknown", "", "")},
	}
	return a
}

// said is an answer in a line: what was found, by names, and what is in the way.
func said(a *Answer) string {
	var all []string
	for _, f := range a.Found {
		name := func(o runtime.Object) error {
			u, err := meta.Accessor(o)
			if err == nil {
				all = append(all, strings.TrimPrefix(u.GetNamespace()+"/"+u.GetName(), "/"))
			}
			return err
		}
		err := meta.EachListItem(asList(f.Object), name)
		if t, ok := f.Object.(*metav1.Table); ok {
			for i := range t.Rows {
				err = errors.Join(err, name(t.Rows[i].Object.Object))
			}
		}
		if err != nil {
			all = append(all, err.Error())
		}
	}
	slices.Sort(all)
	for _, err := range a.Errs {
		all = append(all, "! "+Message(err))
	}
	return strings.Join(all, ", ")
}

// TestGet asks all clusters at once: each says what it has, by the names that templates have, and who does not answer, or is not who it should
// be, says that alone.
func TestGet(t *testing.T) {
	a := newAsked(t)
	for _, tt := range []struct {
		name      string
		query     Query
		namespace string
		want      map[string]string // what each answers, or begins with
	}{
		{"of all namespaces", Query{Args: []string{"configmaps"}, AllNamespaces: true}, "", map[string]string{
			"eu": "shop-eu-a/settings, shop/more, shop/settings", "eu-a": "shop/settings", "us": "kube-system/roots, shop/us", "other": "! ", "unknown": "! ",
		}},
		{"one that does not answer", Query{Args: []string{"configmaps"}, AllNamespaces: true}, "", map[string]string{"hangs": "! no answer in 2s"}},
		{"of one namespace", Query{Args: []string{"configmaps"}}, "shop", map[string]string{"eu": "shop/more, shop/settings", "eu-a": "shop/settings", "us": "shop/us"}},
		{"of the namespace of a context", Query{Args: []string{"configmaps"}}, "", map[string]string{"eu": "", "eu-a": "", "us": ""}},
		{"one by its name", Query{Args: []string{"configmap/more"}}, "shop", map[string]string{"eu": "shop/more", "eu-a": `! Error from server (NotFound)`, "us": `! Error from server (NotFound)`}},
		{"one that may be absent", Query{Args: []string{"configmap", "more"}, Absent: true}, "shop", map[string]string{"eu": "shop/more", "eu-a": "", "us": ""}},
		{"namespaces", Query{Args: []string{"namespaces"}}, "", map[string]string{"eu": "kube-system, shop, shop-eu-a", "eu-a": "shop", "us": "kube-system, shop"}},
		{"a kind that nobody has", Query{Args: []string{"nothings"}}, "", map[string]string{"eu": "! the server doesn't have a resource type", "us": "! the server doesn't have a resource type"}},
	} {
		f := a.Fleet
		f.Way.Namespace, tt.query.Whole = tt.namespace, true
		asksHanging := tt.want["hangs"] != ""
		if asksHanging {
			f.Deadline = 2 * time.Second
		}
		f.Clusters = slices.DeleteFunc(slices.Clone(f.Clusters), func(c *karmada.Cluster) bool { return (c.Name == "hangs") != asksHanging })
		answers := f.Get(t.Context(), tt.query)
		if len(answers) != len(f.Clusters) {
			t.Fatalf("%s: %d answers", tt.name, len(answers))
		}
		for i := range answers {
			got, name := said(&answers[i]), f.Clusters[i].Name
			want, is := tt.want[name]
			if strings.HasPrefix(want, "! ") && strings.HasPrefix(got, want) {
				got = want // how kubectl words the rest is its own
			}
			if answers[i].Cluster != name || is && got != want {
				t.Errorf("%s: %s, at the place of %s, answers %q, want %q", tt.name, answers[i].Cluster, name, got, want)
			}
		}
	}
}

// TestWatch: what there is, and then what changes, by the names that templates have, as objects and as tables; who cannot be watched says so,
// and the others go on.
func TestWatch(t *testing.T) {
	for _, tt := range []struct {
		name      string
		query     Query
		namespace string
		want      string
	}{
		{"of one namespace", Query{Whole: true}, "shop", "eu-a: first shop/settings; eu-a: shop/late; eu: first shop/more, shop/settings; us: first shop/us; us: shop/late"},
		{"of all namespaces", Query{Whole: true, AllNamespaces: true}, "", "eu-a: first shop/settings; eu-a: shop/late; eu: first shop-eu-a/settings, shop/more, shop/settings; eu: shop-eu-a/late; us: first kube-system/roots, shop/us; us: shop/late"},
	} {
		a := newAsked(t)
		a.Way.Namespace, a.Deadline, tt.query.Args = tt.namespace, soon, []string{"configmaps"}
		a.Clusters = slices.DeleteFunc(a.Clusters, func(c *karmada.Cluster) bool { return c.Name == "hangs" || c.Name == "other" })
		ctx, stop := context.WithTimeout(t.Context(), soon)
		var all []string
		began := 0
		err := a.Watch(ctx, tt.query, func(answer Answer) error {
			word := said(&answer)
			if answer.First {
				word = "first " + word
			}
			if answer.Cluster == "unknown" {
				word = "fails"
			}
			all = append(all, strings.TrimSpace(answer.Cluster+": "+word))
			if answer.First || len(answer.Errs) > 0 {
				began++
			}
			if began == 4 {
				began = 0
				for s, namespace := range map[*apiserver.Server]string{a.eu: "shop-eu-a", a.us: "shop"} {
					s.Put("/api/v1/namespaces/"+namespace+"/configmaps/late", apiserver.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": apiserver.Object{"namespace": namespace, "name": "late"}})
				}
			}
			if len(all) == strings.Count(tt.want, ";")+2 {
				stop()
			}
			return nil
		})
		stop()
		slices.Sort(all)
		if got := strings.Replace(strings.Join(all, "; "), "unknown: fails; ", "", 1); err != nil || got != tt.want || len(all) != strings.Count(got, ";")+2 {
			t.Errorf("%s: told is %q, want %q; %v", tt.name, all, tt.want, err)
		}
	}
}

// soon is how long a test waits for what comes at once.
const soon = time.Minute

// TestWhatIsAVirtualClusters: what is in its namespaces, these themselves, its nodes, and what has no namespace; nothing of its host, nor of
// another one there.
func TestWhatIsAVirtualClusters(t *testing.T) {
	m := &virtual.Mapping{Cluster: "a", Host: "eu", Suffix: "-a", Selector: map[string]string{"pool": "a"}}
	for _, tt := range []struct {
		kind, namespace, name string
		labels                map[string]any
		want                  string
	}{
		{"Pod", "shop-a", "web", nil, "shop/web"},
		{"Pod", "shop", "web", nil, ""},
		{"Pod", "shop-b", "web", nil, ""},
		{"Namespace", "", "shop-a", nil, "shop"},
		{"Namespace", "", "shop", nil, ""},
		{"Node", "", "n", map[string]any{"pool": "a"}, "n"},
		{"Node", "", "n", map[string]any{"pool": "b"}, ""},
		{"Node", "", "n-a", nil, ""},
		{"ClusterRole", "", "reader", nil, "reader"},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": tt.kind, "metadata": map[string]any{"name": tt.name, "namespace": tt.namespace, "labels": tt.labels}}}
		before := o.DeepCopy()
		got := said(&Answer{Found: Query{Whole: true}.own(m, Found{mapping("", tt.kind, meta.RESTScopeNamespace), o})})
		if got != tt.want || !reflect.DeepEqual(o, before) {
			t.Errorf("of %s %s/%s a virtual cluster has %q, want %q", tt.kind, tt.namespace, tt.name, got, tt.want)
		}
	}
	spaces := served([]string{"Name", "Status"}, []string{"", "shop-a", "Active"}, []string{"", "shop", "Active"}, []string{"", "shop-b", "Active"})
	found := Query{}.own(m, Found{mapping("", "Namespace", meta.RESTScopeRoot), spaces})
	if table := decoded(found[0].Object); len(table.Rows) != 1 || table.Rows[0].Cells[0] != "shop" || table.Rows[0].Cells[1] != "Active" {
		t.Errorf("the table has %v", table.Rows)
	}
	if found := (Query{}).own(nil, Found{mapping("", "Namespace", meta.RESTScopeRoot), spaces}); len(decoded(found[0].Object).Rows) != 3 {
		t.Error("a cluster of its own lacks something")
	}
}
