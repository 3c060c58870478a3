package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Before has the server ask before each request is answered, from now on: a status other than zero refuses it, and Lost loses it on its way.
// Who is asked may change what there is, as somebody else would. Nil: nobody is asked.
func (s *Server) Before(ask func(*http.Request) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = ask
}

// After has the server ask when a request was carried out, from now on: false loses the answer on its way. Nil: none is.
func (s *Server) After(ask func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = ask
}

// asks are who is asked now.
func (s *Server) asks() (before func(*http.Request) int, after func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.before, s.after
}

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	before, after := s.asks()
	if before != nil {
		switch status := before(r); status {
		case 0:
		case Lost:
			panic(http.ErrAbortHandler)
		default:
			refuse(w, status, "")
			return
		}
	}
	if r.URL.Path == "/readyz" {
		_, _ = io.WriteString(w, "ok")
		return
	}
	if said, ok := discovery(r.URL.Path); ok {
		answer(w, http.StatusOK, said)
		return
	}
	if r.Method == http.MethodGet && r.URL.Query().Get("watch") != "" {
		s.watch(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // who asked is gone
	}
	buffer := &recorded{header: http.Header{}}
	s.mu.Lock()
	s.handle(buffer, r, body)
	s.mu.Unlock()
	if after != nil && !after(r) {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), buffer.header)
	w.WriteHeader(buffer.status)
	_, _ = w.Write(buffer.body.Bytes())
}

// recorded is an answer that is not sent yet.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorded) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorded) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorded) Write(p []byte) (int, error) { return r.body.Write(p) }

// handle answers a request for objects. The lock is held.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, body []byte) {
	at := r.URL.Path
	_, _, isList := collection(at)
	switch {
	case r.Method == http.MethodGet && isList:
		s.list(w, r)
	case r.Method == http.MethodGet:
		s.get(w, r)
	case r.Method == http.MethodPost && isList:
		s.create(w, r, body)
	case r.Method == http.MethodPut:
		s.update(w, r, body)
	case r.Method == http.MethodPatch:
		s.patch(w, r, body)
	case r.Method == http.MethodDelete:
		s.delete(w, r, body)
	default:
		refuse(w, http.StatusMethodNotAllowed, "")
	}
}

// wantsMetadata reports a request that asks for metadata only.
func wantsMetadata(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// shown is an object as it is asked for.
func shown(r *http.Request, o Object) Object {
	if !wantsMetadata(r) {
		return o
	}
	return Object{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": o["metadata"]}
}

// isIn reports that an object is in a collection: of its namespace, or of all.
func isIn(at, list string) bool {
	plural := path.Base(list)
	if path.Dir(at) == list {
		return true
	}
	group, inNamespaces := strings.CutSuffix(list, "/"+plural)
	return inNamespaces && strings.HasPrefix(at, group+"/namespaces/") && path.Base(path.Dir(at)) == plural && path.Dir(path.Dir(path.Dir(at))) == group+"/namespaces"
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	items, meta := []Object{}, Object{"resourceVersion": strconv.Itoa(s.version)}
	asked := r.URL.Query()
	selected := selector(r)
	limit, _ := strconv.Atoi(asked.Get("limit")) // none is none
	last := asked.Get("continue")                // path that a page ended with
	for _, at := range s.paths("/") {
		o := s.objects[at]
		if !isIn(at, r.URL.Path) || !selected(o) || at <= last {
			continue
		}
		if limit > 0 && len(items) == limit {
			meta["continue"] = last
			break
		}
		items, last = append(items, shown(r, o)), at
	}
	gv, resource, _ := collection(r.URL.Path)
	kind := resource.Kind + "List"
	if wantsMetadata(r) {
		gv, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	answer(w, http.StatusOK, Object{"apiVersion": gv, "kind": kind, "metadata": meta, "items": items})
}

// selector says which objects have the labels that a request asks for.
func selector(r *http.Request) func(Object) bool {
	asked, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return func(Object) bool { return false }
	}
	return func(o Object) bool {
		of := labels.Set{}
		written, _ := metaOf(o)["labels"].(Object)
		for key, value := range written {
			of[key], _ = value.(string)
		}
		return asked.Matches(of)
	}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	o, ok := s.objects[r.URL.Path]
	if !ok {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	answer(w, http.StatusOK, shown(r, o))
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, body []byte) {
	o := decoded(body)
	name, _ := metaOf(o)["name"].(string)
	at := r.URL.Path + "/" + name
	if _, there := s.objects[at]; there {
		refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
		return
	}
	_, in, _ := strings.Cut(r.URL.Path, "/namespaces/")
	if namespace, _, ok := strings.Cut(in, "/"); ok && s.objects["/api/v1/namespaces/"+namespace] == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	s.wrote(w, r, at, o, http.StatusCreated)
}

// wrote writes an object, unless it is a dry run, and answers it.
func (s *Server) wrote(w http.ResponseWriter, r *http.Request, at string, o Object, status int) {
	if r.URL.Query().Get("dryRun") == "" {
		s.put(at, o)
		s.writes = append(s.writes, r.Method+" "+at)
	}
	answer(w, status, shown(r, o))
}

// update is one without a condition where the object names no version.
func (s *Server) update(w http.ResponseWriter, r *http.Request, body []byte) {
	o, was := decoded(body), s.objects[r.URL.Path]
	switch version := metaOf(o)["resourceVersion"]; {
	case was == nil:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case version != nil && version != "" && version != metaOf(was)["resourceVersion"]:
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict)
	default:
		s.wrote(w, r, r.URL.Path, o, http.StatusOK)
	}
}

func (s *Server) patch(w http.ResponseWriter, r *http.Request, body []byte) {
	at, was := r.URL.Path, s.objects[r.URL.Path]
	switch r.Header.Get("Content-Type") {
	case "application/json-patch+json":
		s.patchFields(w, r, was, body)
		return
	case "application/merge-patch+json":
		if was == nil {
			refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
	}
	o := decoded(body)
	meta := metaOf(o)
	for _, key := range []string{"uid", "resourceVersion"} {
		if wants := meta[key]; wants != nil && wants != "" && (was == nil || wants != metaOf(was)[key]) {
			refuse(w, http.StatusConflict, metav1.StatusReasonConflict)
			return
		}
	}
	if r.Header.Get("Content-Type") == "application/merge-patch+json" {
		s.wrote(w, r, at, merged(clone(was), o).(Object), http.StatusOK)
		return
	}
	if s.Conflict != nil {
		if manager, field := s.Conflict(r); manager != "" {
			answer(w, http.StatusConflict, conflict(manager, field))
			return
		}
	}
	manager := r.URL.Query().Get("fieldManager")
	if was != nil {
		o = merged(without(clone(was), manager), o).(Object)
	}
	s.wrote(w, r, at, applied(o, was, decoded(body), manager), http.StatusOK)
}

// patchFields carries out a JSON patch of managed fields: its tests of the version, and nothing but that.
func (s *Server) patchFields(w http.ResponseWriter, r *http.Request, was Object, body []byte) {
	var ops []struct {
		Op, Path string
		Value    any
	}
	if json.Unmarshal(body, &ops) != nil || was == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	o := clone(was)
	for _, op := range ops {
		switch {
		case op.Op == "test" && op.Path == "/metadata/resourceVersion" && op.Value != metaOf(was)["resourceVersion"]:
			refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
			return
		case op.Path == "/metadata/managedFields":
			metaOf(o)["managedFields"] = op.Value
		}
	}
	s.wrote(w, r, r.URL.Path, o, http.StatusOK)
}

// conflict is what is answered where somebody else owns a field.
func conflict(manager, field string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonConflict, Code: http.StatusConflict,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: fmt.Sprintf("conflict with %q", manager), Field: field}}},
	}
}

// applied notes in an object who applied what of it.
func applied(o, was, patch Object, manager string) Object {
	fields := Object{}
	for key, value := range patch {
		if sub, ok := value.(Object); ok && key != "metadata" {
			fields["f:"+key] = keysOf(sub)
		}
	}
	words := Object{}
	for _, key := range []string{"labels", "annotations"} {
		if sub, ok := metaOf(patch)[key].(Object); ok {
			words["f:"+key] = keysOf(sub)
		}
	}
	fields["f:metadata"] = words
	entry := Object{"manager": manager, "operation": "Apply", "apiVersion": o["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": fields}
	all := []any{entry}
	if was != nil {
		others, _ := metaOf(was)["managedFields"].([]any)
		for _, other := range others {
			if e, _ := other.(Object); e["manager"] != manager || e["operation"] != "Apply" {
				all = append(all, other)
			}
		}
	}
	metaOf(o)["managedFields"] = all
	return o
}

// keysOf are the keys of an object as managed fields name them.
func keysOf(o Object) Object {
	keys := Object{}
	for name := range o {
		keys["f:"+name] = Object{}
	}
	return keys
}

// without takes from an object the labels and annotations that a manager applied: those that it does not apply again are gone.
func without(o Object, manager string) Object {
	all, _ := metaOf(o)["managedFields"].([]any)
	for _, one := range all {
		entry, _ := one.(Object)
		fields, _ := entry["fieldsV1"].(Object)
		words, _ := fields["f:metadata"].(Object)
		if entry["manager"] != manager || entry["operation"] != "Apply" {
			continue
		}
		for _, key := range []string{"labels", "annotations"} {
			owned, _ := words["f:"+key].(Object)
			there, _ := metaOf(o)[key].(Object)
			for name := range owned {
				delete(there, strings.TrimPrefix(name, "f:"))
			}
		}
	}
	return o
}

// merged is a value with a JSON merge patch (RFC 7386).
func merged(was, patch any) any {
	changes, isObject := patch.(Object)
	if !isObject {
		return patch
	}
	o, _ := was.(Object)
	if o == nil {
		o = Object{}
	}
	for key, value := range changes {
		if value == nil {
			delete(o, key)
			continue
		}
		o[key] = merged(o[key], value)
	}
	return o
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request, body []byte) {
	was := s.objects[r.URL.Path]
	if was == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	conditions, _ := decoded(body)["preconditions"].(Object)
	for _, key := range []string{"uid", "resourceVersion"} {
		if wants := conditions[key]; wants != nil && wants != metaOf(was)[key] {
			refuse(w, http.StatusConflict, metav1.StatusReasonConflict)
			return
		}
	}
	s.writes = append(s.writes, r.Method+" "+r.URL.Path)
	if finalizers, _ := metaOf(was)["finalizers"].([]any); len(finalizers) > 0 {
		o := clone(was)
		metaOf(o)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		s.put(r.URL.Path, o)
	} else {
		s.remove(r.URL.Path)
	}
	answer(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Success"})
}

// watch tells of what happens in a collection until who watches is gone.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	version, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	s.mu.Lock()
	expired, ended := len(s.events) > 0 && version < s.events[0].version, s.ended
	s.mu.Unlock()
	if expired && version > 0 {
		refuse(w, http.StatusGone, metav1.StatusReasonExpired)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	control, selected := http.NewResponseController(w), selector(r)
	for {
		s.mu.Lock()
		var news []event
		for _, e := range s.events {
			if e.version <= version || !isIn(e.path, r.URL.Path) {
				continue
			}
			if e.kind = e.as(selected); e.kind != "" {
				news = append(news, e)
			}
		}
		moved, isOver := s.moved, s.ended > ended
		s.mu.Unlock()
		for _, e := range news {
			version = e.version
			_ = json.NewEncoder(w).Encode(Object{"type": e.kind, "object": shown(r, e.object)}) // who asked may be gone
		}
		_ = control.Flush()
		if isOver {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-moved:
		}
	}
}

func decoded(body []byte) Object {
	o := Object{}
	_ = json.Unmarshal(body, &o) // an empty body says nothing
	return o
}

func answer(w http.ResponseWriter, status int, said any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said) // who asked may be gone
}

// refuse answers a Status, as API servers do.
func refuse(w http.ResponseWriter, status int, reason metav1.StatusReason) {
	if reason == "" {
		reason = map[int]metav1.StatusReason{
			http.StatusUnauthorized: metav1.StatusReasonUnauthorized, http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusGone: metav1.StatusReasonExpired, http.StatusConflict: metav1.StatusReasonConflict,
			http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusInternalServerError: metav1.StatusReasonInternalError,
		}[status]
	}
	answer(w, status, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: reason, Message: http.StatusText(status), Code: int32(status), //nolint:gosec // three digits
	})
}
