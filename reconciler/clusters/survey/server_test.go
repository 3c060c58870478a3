package survey_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/reconciler/clusters/survey"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

// What a server lists and tells of.
const (
	nodes       = "/api/v1/nodes"
	pods        = "/api/v1/pods"
	crds        = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	apiservices = "/apis/apiregistration.k8s.io/v1/apiservices"
)

// silent is the status of what is not answered.
const silent = -1

type dict = map[string]any

// server is an API server in a bubble of synctest. It answers lists after a while, and all else at once.
type server struct {
	mu      sync.Mutex
	isOld   bool           // it knows no watch that begins with a list
	status  map[string]int // by path
	version string
	objects map[string]map[string]dict // by path of the list, and name
	events  map[string][]dict          // by path of the list
	moved   chan struct{}
	asked   map[string]int // times, by path
}

func newServer() *server {
	s := &server{
		version: "v1.35.0", status: map[string]int{"/healthz": http.StatusInternalServerError}, asked: map[string]int{},
		objects: map[string]map[string]dict{
			nodes: {}, pods: {}, crds: {}, apiservices: {},
		}, events: map[string][]dict{}, moved: make(chan struct{}),
	}
	s.put(nodes, node("n", "8", "v"))
	s.put(nodes, node("m", "4", "w"))
	s.put(pods, pod("shop-v/a", "n", "1"))
	s.put(pods, pod("shop-v/b", "m", "1"))
	return s
}

// answers sets how a path is answered from now on; zero: as usual.
func (s *server) answers(status int, paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		s.status[path] = status
	}
}

// is sets the version of Kubernetes.
func (s *server) is(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// requests is how often each path was asked for since that was asked last.
func (s *server) requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.asked
	s.asked = map[string]int{}
	return all
}

// times is how often a path was asked for since it was asked last.
func (s *server) times(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.asked[path]
	s.asked[path] = 0
	return n
}

func named(o dict) string {
	meta, _ := o["metadata"].(dict)
	return fmt.Sprint(meta["namespace"], "/", meta["name"])
}

// put writes an object, and tells of it.
func (s *server) put(list string, o dict) {
	kind := "ADDED"
	if s.objects[list][named(o)] != nil {
		kind = "MODIFIED"
	}
	s.happens(list, kind, o)
}

// happens changes what is in a list, and tells of it.
func (s *server) happens(list, kind string, o dict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[list][named(o)] = o; kind == "DELETED" {
		delete(s.objects[list], named(o))
	}
	s.events[list] = append(s.events[list], dict{"type": kind, "object": o})
	close(s.moved)
	s.moved = make(chan struct{})
}

// RoundTrip implements http.RoundTripper.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	_, isList := s.objects[r.URL.Path]
	s.mu.Lock()
	s.asked[r.URL.Path]++
	status := s.status[r.URL.Path]
	if s.isOld && r.URL.Query().Get("sendInitialEvents") != "" {
		status = http.StatusBadRequest
	}
	s.mu.Unlock()
	if isList {
		time.Sleep(100 * time.Millisecond)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case status == silent:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case status != 0:
		reason := map[int]string{http.StatusForbidden: "Forbidden", http.StatusUnauthorized: "Unauthorized"}[status]
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(dict{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": status, "reason": reason})
	case isList && r.URL.Query().Get("watch") != "":
		from, to := io.Pipe()
		go s.watch(r, to)
		return &http.Response{StatusCode: http.StatusOK, Header: w.Header(), Body: from, Request: r}, nil
	default:
		_ = json.NewEncoder(w).Encode(s.said(r.URL.Path))
	}
	return w.Result(), nil
}

// said is what is answered to a request that is no watch.
func (s *server) said(path string) dict {
	s.mu.Lock()
	defer s.mu.Unlock()
	group := func(name string) dict {
		v := dict{"groupVersion": name + "/v1", "version": "v1"}
		return dict{"name": name, "versions": []dict{v}, "preferredVersion": v}
	}
	kinds := func(gv, name, kind string) dict {
		return dict{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": []dict{
			{"name": name, "kind": kind, "verbs": []string{"get"}},
		}}
	}
	switch path {
	case nodes, pods, crds, apiservices:
		kind := map[string]string{nodes: "NodeList", pods: "PodList"}[path]
		list := dict{
			"apiVersion": "v1", "kind": kind, "metadata": dict{"resourceVersion": "1"}, "items": slices.Collect(maps.Values(s.objects[path])),
		}
		if kind == "" {
			list["apiVersion"], list["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
		}
		return list
	case "/api":
		return dict{"kind": "APIVersions", "versions": []string{"v1"}}
	case "/apis":
		return dict{"kind": "APIGroupList", "apiVersion": "v1", "groups": []dict{group("apps"), group("example.com")}}
	case "/api/v1":
		return kinds("v1", "pods", "Pod")
	case "/apis/apps/v1":
		return kinds("apps/v1", "deployments", "Deployment")
	case "/apis/example.com/v1":
		return kinds("example.com/v1", "things", "Thing")
	case "/version":
		return dict{"gitVersion": s.version}
	case "/api/v1/namespaces/kube-system":
		return dict{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": dict{"name": "kube-system", "uid": "5f0c"}}
	}
	return dict{}
}

// watch tells of a list until who asked is gone: of what there is, where it is asked for, and of what happens.
func (s *server) watch(r *http.Request, to *io.PipeWriter) {
	list := r.URL.Path
	var news []dict
	s.mu.Lock()
	told := len(s.events[list])
	if r.URL.Query().Get("sendInitialEvents") != "" {
		for _, o := range s.objects[list] {
			news = append(news, dict{"type": "ADDED", "object": o})
		}
		end := dict{"apiVersion": "v1", "kind": map[string]string{nodes: "Node", pods: "Pod"}[list], "metadata": dict{
			"resourceVersion": "1", "annotations": dict{"k8s.io/initial-events-end": "true"},
		}}
		if end["kind"] == "" {
			end["apiVersion"], end["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
		}
		news = append(news, dict{"type": "BOOKMARK", "object": end})
	}
	s.mu.Unlock()
	for {
		for _, e := range news {
			_ = json.NewEncoder(to).Encode(e) // who asked may be gone
		}
		s.mu.Lock()
		news, told = s.events[list][told:], len(s.events[list])
		moved := s.moved
		s.mu.Unlock()
		if len(news) > 0 {
			continue
		}
		select {
		case <-r.Context().Done():
			_ = to.CloseWithError(io.ErrUnexpectedEOF)
			return
		case <-moved:
		}
	}
}

// node is one with so much CPU, and a label.
func node(name, cpu, at string) dict {
	return dict{
		"apiVersion": "v1", "kind": "Node", "metadata": dict{"name": name, "resourceVersion": "1", "labels": dict{"at": at}},
		"status": dict{"allocatable": dict{"cpu": cpu}, "conditions": []dict{{"type": "Ready", "status": "True"}}},
	}
}

// unready is a node that takes no pods now.
func unready(o dict) dict {
	o["status"].(dict)["conditions"] = nil
	return o
}

// pod is one of the Deployment web of its namespace, which waits for a node unless it has one, and requests so much CPU.
func pod(name, on, cpu string) dict {
	namespace, name, _ := strings.Cut(name, "/")
	o := dict{
		"apiVersion": "v1", "kind": "Pod", "metadata": dict{
			"namespace": namespace, "name": name, "resourceVersion": "1", "labels": dict{"pod-template-hash": "1"},
			"ownerReferences": []dict{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "r", "controller": true}},
		},
		"spec": dict{"nodeName": on}, "status": dict{"phase": "Running", "conditions": []dict{{"type": "Ready", "status": "True"}}},
	}
	if cpu != "" {
		o["spec"] = dict{"nodeName": on, "containers": []dict{{"name": "c", "resources": dict{"requests": dict{"cpu": cpu}}}}}
	}
	if on == "" {
		o["status"] = dict{"phase": "Pending", "conditions": []dict{{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}}}
	}
	return o
}

// ended is a pod that has ended.
func ended(o dict) dict {
	o["status"] = dict{"phase": "Succeeded"}
	return o
}

// crd is a CustomResourceDefinition, of which its metadata is told.
func crd() dict {
	return dict{
		"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": dict{"name": "things.example.com", "resourceVersion": "1"},
	}
}

// watching notes what is told of clusters.
type watching struct {
	*testing.T
	survey.Pool

	began time.Time
	mu    sync.Mutex
	told  map[string][]string // by cluster
	last  map[string]noted    // by cluster
	ends  map[string]context.CancelFunc
}

func newWatching(t *testing.T) *watching {
	t.Helper()
	w := &watching{T: t, began: time.Now(), told: map[string][]string{}, last: map[string]noted{}, ends: map[string]context.CancelFunc{}}
	t.Cleanup(func() {
		for _, end := range w.ends {
			end()
		}
		synctest.Wait()
	})
	return w
}

// note notes something of a cluster, with the time. Of what is noted again only the first and the last time are, and how often.
func (w *watching) note(cluster, words string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Since(w.began).Truncate(time.Second / 10).String()
	if l := w.last[cluster]; l.words == words {
		l.times++
		w.told[cluster][len(w.told[cluster])-1] = fmt.Sprintf("%s-%s %dx: %s", l.at, at, l.times, words)
		w.last[cluster] = l
		return
	}
	w.last[cluster] = noted{at, words, 1}
	w.told[cluster] = append(w.told[cluster], at+": "+words)
}

// noted is what was noted last.
type noted struct {
	at, words string
	times     int
}

// watch watches a cluster that is reached at a server until its watch is ended.
func (w *watching) watch(s *server, c *survey.Cluster) {
	if c.Config == nil {
		c.Config = &rest.Config{Host: "https://example.com", QPS: -1, Transport: s}
	}
	ctx, cancel := context.WithCancel(w.Context())
	w.ends[c.Name] = cancel
	go func() {
		err := w.Watch(ctx, *c, func(f observation.Facts) { w.note(c.Name, worded(&f)) })
		w.note(c.Name, fmt.Sprintf("ended, %v", err))
	}()
}

// until lets time pass until so much is over since the beginning.
func (w *watching) until(at time.Duration) {
	time.Sleep(at - time.Since(w.began))
	synctest.Wait()
}

// worded is what was seen: CPU that is offered, and what pods take, or wait for, of it.
func worded(f *observation.Facts) string {
	words := []string{map[observation.Health]string{
		observation.Healthy: "healthy", observation.Unhealthy: "unhealthy", observation.Unreachable: "unreachable",
	}[f.Health]}
	if s := f.Served; s != nil {
		for _, e := range s.APIs {
			words = append(words, e.GroupVersion+"="+e.Resources[0].Name)
		}
		words = append(words, s.Version)
		for _, failed := range s.Failed {
			words = append(words, "without "+failed)
		}
	}
	if r := f.Room; r != nil {
		of := r.Resources
		words = append(words,
			fmt.Sprintf("nodes %d/%d", r.Nodes.ReadyNum, r.Nodes.TotalNum),
			fmt.Sprintf("cpu %s %s %s", of.Allocatable.Cpu(), of.Allocated.Cpu(), of.Allocating.Cpu()),
			fmt.Sprintf("pods %s %s", of.Allocated.Pods(), of.Allocating.Pods()),
		)
	}
	if f.Refused != "" {
		words = append(words, f.Refused)
	}
	if f.Waiting == nil {
		words = append(words, "waiting unknown")
	} else {
		for ref, n := range f.Waiting.Workloads {
			words = append(words, fmt.Sprintf("%s: of %d ready %d waiting %v", ref.Name, n.Pods, n.Ready, n.Waiting))
		}
	}
	return strings.Join(words, ", ")
}

// took is what was noted since it was asked last.
func (w *watching) took() map[string][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	told := w.told
	w.told, w.last = map[string][]string{}, map[string]noted{}
	return told
}
