// Package apiserver answers over HTTPS what a Kubernetes API server was seen to answer, from memory: for tests of
// who asks, where what counts is a refusal, a race or a lost answer. It knows the kinds of its table, versions of objects,
// preconditions, watches, and who applied what; it validates nothing. What a real one does with an object the tests on
// real servers (test/controlplane) hold.
package apiserver

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Object is an object as it is in JSON.
type Object = map[string]any

// Server is an API server in memory.
type Server struct {
	*httptest.Server

	// Conflict says who owns a field that somebody applies; an empty manager: nobody. Nil: nobody does.
	Conflict func(r *http.Request) (manager, field string)

	mu      sync.Mutex
	before  func(*http.Request) int
	after   func(*http.Request) bool
	version int
	objects map[string]Object // by path
	events  []event
	ended   int           // how often all watches were ended
	moved   chan struct{} // closed at the next event
	writes  []string
}

// event is a change of an object.
type event struct {
	version int
	kind    string // ADDED, MODIFIED or DELETED
	path    string
	object  Object
	was     Object // nil: nothing
}

// as is the kind of an event for those who watch what a selector finds: an object that it finds no more is deleted for them. Empty: they
// are told nothing.
func (e *event) as(selected func(Object) bool) string {
	finds, found := selected(e.object), e.was != nil && selected(e.was)
	switch {
	case finds && (found || e.kind == "DELETED"):
		return e.kind
	case finds:
		return "ADDED"
	case found:
		return "DELETED"
	}
	return ""
}

// Lost is what Before says of a request that is lost on its way.
const Lost = -1

// UID is that of the Namespace kube-system of a new server.
const UID = "5f0c"

// kinds are what is served, by group version.
var kinds = map[string][]metav1.APIResource{
	"v1": {
		{Name: "configmaps", Kind: "ConfigMap", Namespaced: true},
		{Name: "secrets", Kind: "Secret", Namespaced: true},
		{Name: "namespaces", Kind: "Namespace"},
		{Name: "pods", Kind: "Pod", Namespaced: true},
	},
	"coordination.k8s.io/v1":         {{Name: "leases", Kind: "Lease", Namespaced: true}},
	"apps/v1":                        {{Name: "deployments", Kind: "Deployment", Namespaced: true}, {Name: "statefulsets", Kind: "StatefulSet", Namespaced: true}},
	"discovery.k8s.io/v1":            {{Name: "endpointslices", Kind: "EndpointSlice", Namespaced: true}},
	"batch/v1":                       {{Name: "jobs", Kind: "Job", Namespaced: true}},
	"kustomize.toolkit.fluxcd.io/v1": {{Name: "kustomizations", Kind: "Kustomization", Namespaced: true}},
	"argoproj.io/v1alpha1":           {{Name: "workflows", Kind: "Workflow", Namespaced: true}},
	"example.com/v1":                 {{Name: "things", Kind: "Thing", Namespaced: true}}, // of which nobody has a rule
}

// New starts a server that ends with the test, and has namespaces, of which one is kube-system.
func New(tb testing.TB, namespaces ...string) *Server {
	tb.Helper()
	s := with(namespaces)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // clients go away
	s.StartTLS()
	tb.Cleanup(func() {
		s.CloseClientConnections() // watches
		s.Close()
	})
	return s
}

// with returns a server that is not started.
func with(namespaces []string) *Server {
	s := &Server{objects: map[string]Object{}, moved: make(chan struct{})}
	s.Put("/api/v1/namespaces/kube-system", Object{"apiVersion": "v1", "kind": "Namespace", "metadata": Object{"name": "kube-system", "uid": UID}})
	for _, name := range namespaces {
		s.Put("/api/v1/namespaces/"+name, Object{"apiVersion": "v1", "kind": "Namespace", "metadata": Object{"name": name}})
	}
	return s
}

// serverName is in the certificate of every httptest.Server.
const serverName = "example.com"

func (s *Server) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// Reach is how a client reaches the server.
func (s *Server) Reach() *rest.Config {
	return &rest.Config{Host: s.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}, TLSClientConfig: rest.TLSClientConfig{CAData: s.authority(), ServerName: serverName}}
}

// Kubeconfigs returns a new folder with the kubeconfigs of clusters, all of which are this server.
func (s *Server) Kubeconfigs(tb testing.TB, clusters ...string) (folder string) {
	tb.Helper()
	folder = tb.TempDir()
	const mode = 0o600
	authority := filepath.Join(folder, "ca.crt")
	err := os.WriteFile(authority, s.authority(), mode)
	for _, c := range clusters {
		text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}], users: [{name: x, user: {}}],
clusters: [{name: x, cluster: {server: %q, tls-server-name: %s, certificate-authority: ca.crt}}]}`, s.URL, serverName)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, c+".kubeconfig"), []byte(text), mode)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	return folder
}

// Put writes an object, as somebody else would. One without a UID has that of the one that is there, or else a new one.
func (s *Server) Put(at string, o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(at, clone(o))
}

// Get returns an object; nil if it is not there.
func (s *Server) Get(at string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.objects[at]; ok {
		return clone(o)
	}
	return nil
}

// Remove deletes an object, as somebody else would.
func (s *Server) Remove(at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(at)
}

// Forget forgets what happened until now: a watch that asks for it is told that it expired.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.events = []event{{version: s.version}}
}

// EndWatches ends all watches, as servers do after some minutes.
func (s *Server) EndWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
	s.wake()
}

// Writes lists the requests to change something that were carried out, as METHOD PATH, in their order.
func (s *Server) Writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

// Paths lists the paths of what there is below one, sorted.
func (s *Server) Paths(below string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths(below)
}

func (s *Server) paths(below string) (all []string) {
	for at := range s.objects {
		if strings.HasPrefix(at, below) {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return all
}

// put writes an object, with a new version.
func (s *Server) put(at string, o Object) {
	was, there := s.objects[at]
	meta := metaOf(o)
	s.version++
	meta["resourceVersion"] = strconv.Itoa(s.version)
	if meta["uid"] == nil {
		meta["uid"] = fmt.Sprintf("uid-%d", s.version)
		if there {
			meta["uid"] = metaOf(was)["uid"]
		}
	}
	s.objects[at] = o
	kind := "ADDED"
	if there {
		kind = "MODIFIED"
	}
	s.happened(event{kind: kind, path: at, object: o, was: was})
}

func (s *Server) remove(at string) {
	o, there := s.objects[at]
	if !there {
		return
	}
	delete(s.objects, at)
	s.version++
	o = clone(o)
	metaOf(o)["resourceVersion"] = strconv.Itoa(s.version)
	s.happened(event{kind: "DELETED", path: at, object: o, was: o})
}

func (s *Server) happened(e event) {
	e.version, e.object = s.version, clone(e.object)
	s.events = append(s.events, e)
	s.wake()
}

// wake has watches look at what happened.
func (s *Server) wake() {
	close(s.moved)
	s.moved = make(chan struct{})
}

// metaOf is the metadata of an object, which it gets where it has none.
func metaOf(o Object) Object {
	meta, _ := o["metadata"].(Object)
	if meta == nil {
		meta = Object{}
		o["metadata"] = meta
	}
	return meta
}

// clone copies an object.
func clone(o Object) (copied Object) {
	data, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(data, &copied)
	}
	if err != nil {
		panic(err) // a test wrote what is no JSON
	}
	return copied
}

// collection reports the path of a list of one of the kinds, with its group version.
func collection(at string) (groupVersion string, of metav1.APIResource, ok bool) {
	for gv, resources := range kinds {
		for _, r := range resources {
			if strings.HasPrefix(at, root(gv)) && path.Base(at) == r.Name {
				return gv, r, true
			}
		}
	}
	return "", of, false
}

// root is where a group version is served.
func root(gv string) string {
	if strings.Contains(gv, "/") {
		return "/apis/" + gv + "/"
	}
	return "/api/" + gv + "/"
}

// discovery answers which kinds there are; false for any other path.
func discovery(at string) (answer any, ok bool) {
	switch at {
	case "/api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, true
	case "/apis":
		groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, gv := range slices.Sorted(maps.Keys(kinds)) {
			if group, version, ok := strings.Cut(gv, "/"); ok {
				v := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
				groups.Groups = append(groups.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
			}
		}
		return groups, true
	case "/version":
		return Object{"major": "1", "minor": "35", "gitVersion": "v1.35.0"}, true
	}
	for gv, resources := range kinds {
		if at+"/" == root(gv) {
			l := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv}
			for _, r := range resources {
				r.Verbs = metav1.Verbs{"get", "list", "watch", "create", "update", "patch", "delete"}
				l.APIResources = append(l.APIResources, r)
			}
			return l, true
		}
	}
	return nil, false
}
