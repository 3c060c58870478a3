package clusters

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/render/object"
)

// starting is an API server that answers what one was seen to answer while it starts: of what it has, it
// serves what it serves by now.
type starting struct {
	ready, refuses bool
	serves         map[string][]metav1.APIResource // by group version
	definitions    map[string]string               // kinds of CustomResourceDefinitions by their names
	services       []string                        // APIServices
	there          []metav1.PartialObjectMetadata  // ConfigMaps, of all namespaces
}

func (s *starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	refuse := func(status int, reason metav1.StatusReason) {
		answer(status, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: reason, Code: int32(status)})
	}
	list := func(names []string) {
		l := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}}
		for _, n := range names {
			l.Items = append(l.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: n}})
		}
		if s.refuses {
			refuse(http.StatusForbidden, metav1.StatusReasonForbidden)
			return
		}
		answer(http.StatusOK, l)
	}
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	name, isOne := strings.CutPrefix(r.URL.Path, crds+"/")
	switch path := r.URL.Path; {
	case path == "/readyz" && !s.ready:
		w.WriteHeader(http.StatusInternalServerError)
	case path == "/readyz":
		fmt.Fprint(w, "ok")
	case path == "/api":
		answer(http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case path == "/apis":
		groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for gv := range s.serves {
			if group, version, ok := strings.Cut(gv, "/"); ok {
				v := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
				groups.Groups = append(groups.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
			}
		}
		answer(http.StatusOK, groups)
	case path == crds:
		list(slices.Sorted(maps.Keys(s.definitions)))
	case isOne && s.definitions[name] != "":
		answer(http.StatusOK, map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name}, "spec": map[string]any{"names": map[string]any{"kind": s.definitions[name]}}})
	case path == "/apis/apiregistration.k8s.io/v1/apiservices":
		list(s.services)
	case strings.HasSuffix(path, "/configmaps"):
		answer(http.StatusOK, metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}, Items: s.there})
	default:
		gv := strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")
		if resources, ok := s.serves[gv]; ok {
			answer(http.StatusOK, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv, APIResources: resources})
			return
		}
		refuse(http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

// TestNotServedIsNotGone looks at objects whose kinds an API server does not serve. Only what is certain is
// taken for gone; where it is not, it is said why.
func TestNotServedIsNotGone(t *testing.T) {
	widget := object.Ref{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "w"}
	budget := object.Ref{Group: "policy", Kind: "PodDisruptionBudget", Namespace: "shop", Name: "b"}
	for _, tt := range []struct {
		name   string
		server starting
		of     object.Ref
		again  time.Duration // between two looks
		want   string        // why it is not known; empty: it is gone
	}{
		{name: "its definition is gone", server: starting{ready: true}, of: widget},
		{name: "another kind of its group is defined", server: starting{ready: true, definitions: map[string]string{"gadgets.example.com": "Gadget"}, services: []string{"v1.example.com"}}, of: widget},
		{name: "it is defined, and not served yet", server: starting{ready: true, definitions: map[string]string{"widgets.example.com": "Widget"}}, of: widget, want: "there is the CustomResourceDefinition widgets.example.com"},
		{name: "the server starts", server: starting{}, of: widget, want: "it is not ready"},
		{name: "the server of its group is away", server: starting{ready: true, services: []string{"v1.example.com"}}, of: widget, want: "there is the APIService v1.example.com"},
		{name: "definitions may not be read", server: starting{ready: true, refuses: true}, of: widget, want: "may not be looked at"},
		{name: "a built-in kind, seen once", server: starting{ready: true}, of: budget, want: "counts as gone after 30s"},
		{name: "a built-in kind, again too soon", server: starting{ready: true}, of: budget, again: 29 * time.Second, want: "counts as gone after 30s"},
		{name: "a built-in kind, again", server: starting{ready: true}, of: budget, again: 30 * time.Second},
		{name: "a built-in kind, again, while the server is not ready", server: starting{}, of: budget, again: 30 * time.Second, want: "it is not ready"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.server.serves = map[string][]metav1.APIResource{"v1": {{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"list"}}}}
			server := httptest.NewServer(&tt.server)
			defer server.Close()
			now := time.Unix(1_000_000, 0)
			missed := Missed{}
			var is error
			for range 2 {
				c, err := Open("eu-1", "", "", &rest.Config{Host: server.URL})
				if err != nil {
					t.Fatal(err)
				}
				c.Missed, c.Now = missed, func() time.Time { return now }
				facts, err := c.Observe(t.Context(), map[object.Ref]bool{tt.of: true})
				if err != nil {
					t.Fatal(err)
				}
				is = facts.Unknown[schema.GroupKind{Group: tt.of.Group, Kind: tt.of.Kind}]
				now = now.Add(tt.again)
			}
			if tt.want == "" && is != nil || tt.want != "" && (is == nil || !strings.Contains(is.Error(), tt.want)) {
				t.Errorf("it is %v, want %q", is, tt.want)
			}
		})
	}
}

// TestThatFluxIsNotServedIsNotThatItIsGone looks at an object with Flux's labels where its Kustomization cannot be
// read. Only where it is certain that there is no such kind does Flux count as gone.
func TestThatFluxIsNotServedIsNotThatItIsGone(t *testing.T) {
	settings := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}
	labelled := metav1.ObjectMeta{Name: "settings", Namespace: "shop", Labels: map[string]string{fluxName: "shop", fluxNamespace: "flux-system"}}
	const definition = "kustomizations.kustomize.toolkit.fluxcd.io"
	for _, tt := range []struct {
		name   string
		server starting
		plain  bool   // nobody labelled it
		want   string // why it is not known; empty: it is
	}{
		{name: "its definition is gone", server: starting{ready: true}},
		{name: "it is defined, and not served yet", server: starting{ready: true, definitions: map[string]string{definition: "Kustomization"}}, want: "there is the CustomResourceDefinition " + definition},
		{name: "the server starts", server: starting{}, want: "it is not ready"},
		{name: "definitions may not be read", server: starting{ready: true, refuses: true}, want: "may not be looked at"},
		{name: "the server starts, and nothing has Flux's labels", server: starting{}, plain: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.server.serves = map[string][]metav1.APIResource{"v1": {{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"list"}}}}
			tt.server.there = []metav1.PartialObjectMetadata{{ObjectMeta: labelled}}
			if tt.plain {
				tt.server.there = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "shop"}}}
			}
			server := httptest.NewServer(&tt.server)
			defer server.Close()
			c, err := Open("eu-1", "", "", &rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			facts, err := c.Observe(t.Context(), map[object.Ref]bool{settings: true})
			if err != nil || facts.Live[settings] == nil {
				t.Fatalf("%+v, %v", facts, err)
			}
			if is := facts.Unreconciled; tt.want == "" && is != nil || tt.want != "" && (is == nil || !strings.Contains(is.Error(), tt.want)) {
				t.Errorf("it is %v, want %q", is, tt.want)
			}
		})
	}
}
