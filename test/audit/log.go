package audit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// Ref names an object as a request does.
type Ref struct{ Group, Resource, Namespace, Name string }

// String is the form that Wanted has, too.
func (r Ref) String() string {
	resource := r.Resource
	if r.Group != "" {
		resource += "." + r.Group
	}
	if r.Namespace == "" {
		return resource + "/" + r.Name
	}
	return resource + "/" + r.Namespace + "/" + r.Name
}

// event is a line of an audit log, as far as it is looked at.
type event struct {
	AuditID, Stage, Verb, RequestURI string
	User                             struct{ Username string }
	ObjectRef                        struct{ APIGroup, Resource, Namespace, Name, Subresource string }
	ResponseStatus                   struct{ Code int }
	RequestObject, ResponseObject    json.RawMessage
	RequestReceivedTimestamp         time.Time
	StageTimestamp                   time.Time
}

// request is one that changes something, or may have.
type request struct {
	Ref

	user, verb   string
	from, to     time.Time // when it was received, and answered
	unanswered   bool      // nobody knows what came of it
	precondition string    // UID that a deletion asks for
	named        bool      // what a deletion asks for is known
	object       object    // the answer
	created      bool
}

// object is as much of an object as is looked at.
type object struct {
	Metadata struct {
		UID           string
		ManagedFields []struct {
			Manager, Subresource string
			FieldsV1             map[string]any
		}
	}
	Data map[string]any
}

// stageComplete is that of an event whose request came to its end.
const stageComplete = "ResponseComplete"

// mostLine bounds a line of a log: an object twice.
const mostLine = 16 << 20

// readLog returns the requests of a log that changed something, or may have: those that succeeded, and
// those that the server did not live to answer.
func readLog(path string) ([]*request, error) {
	file, err := os.Open(path) //nolint:gosec // the caller's
	if err != nil {
		return nil, err
	}
	defer file.Close()
	received, complete := map[string]event{}, map[string]event{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s:%d is no event: %w", path, n, err)
		}
		switch {
		case e.ObjectRef.Subresource != "" || strings.Contains(e.RequestURI, "dryRun=All"):
		case e.Stage == stageComplete:
			complete[e.AuditID] = e
		default:
			received[e.AuditID] = e
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	var all []*request
	for id, e := range received {
		if _, ok := complete[id]; !ok {
			r := e.request()
			r.unanswered = true
			all = append(all, r)
		}
	}
	for _, e := range complete {
		if e.ResponseStatus.Code < http.StatusMultipleChoices {
			all = append(all, e.request())
		} else if e.ResponseStatus.Code >= http.StatusInternalServerError {
			r := e.request()
			r.unanswered = true
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *request) int { return a.from.Compare(b.from) })
	return all, nil
}

func (e *event) request() *request {
	at := e.ObjectRef
	r := &request{
		Ref:  Ref{at.APIGroup, at.Resource, at.Namespace, at.Name},
		user: e.User.Username, verb: e.Verb, from: e.RequestReceivedTimestamp, to: e.StageTimestamp,
		created: e.ResponseStatus.Code == http.StatusCreated,
	}
	if r.Resource == "namespaces" {
		r.Namespace = "" // a request names it twice
	}
	if e.Verb == "delete" {
		var options struct{ Preconditions struct{ UID string } }
		r.named = json.Unmarshal(e.RequestObject, &options) == nil && len(e.RequestObject) > 0
		r.precondition = options.Preconditions.UID
		return r
	}
	if len(e.ResponseObject) > 0 {
		_ = json.Unmarshal(e.ResponseObject, &r.object) // another answer than an object is none
	}
	if r.Name == "" { // that of a creation is in its body
		var named struct{ Metadata struct{ Name string } }
		_ = json.Unmarshal(e.ResponseObject, &named)
		r.Name = named.Metadata.Name
	}
	return r
}

// owned are the fields that other managers than some have, as paths.
func (o *object) owned(isOne func(manager string) bool) map[string]bool {
	paths := map[string]bool{}
	for _, m := range o.Metadata.ManagedFields {
		if m.Subresource == "" && isOne(m.Manager) {
			leaves("", m.FieldsV1, paths)
		}
	}
	return paths
}

func leaves(path string, fields map[string]any, into map[string]bool) {
	inner := 0
	for name, value := range fields {
		if name == "." {
			continue
		}
		inner++
		below, _ := value.(map[string]any)
		leaves(path+"/"+name, below, into)
	}
	if inner == 0 && path != "" {
		into[path] = true
	}
}
