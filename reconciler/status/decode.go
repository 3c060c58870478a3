package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Read reads what a status branch says of its cluster as a whole.
func Read(root *files.Folder) (Summary, error) {
	e, ok := root.Lookup(summaryFile)
	if !ok || e.Blob == nil {
		return Summary{}, fmt.Errorf("it has no file %s; delete the branch, and it is written anew", summaryFile)
	}
	content, err := decode(e.Blob, summaryFile)
	if err != nil {
		return Summary{}, err
	}
	meta, status := content.at("metadata"), content.at("status")
	s := Summary{Name: meta.text("name"), Branch: status.text("branch"), Source: status.text("source"), Expires: status.time("credentialExpires")}
	s.Commit, s.State, s.Edition = status.id("commit"), status.id("state"), status.text("rules")
	for kind := range status.at("healthyByFormerRules") {
		if s.Flipped == nil {
			s.Flipped = map[string]int{}
		}
		s.Flipped[kind] = int(status.at("healthyByFormerRules").number(kind))
	}
	for _, r := range status.list("endpointsRefused") {
		s.Refused = append(s.Refused, Refusal{From: r.text("from"), Service: r.text("service"), Slice: r.text("slice"), Message: r.text("message")})
	}
	s.More = int(status.number("endpointsRefusedMore"))
	for _, c := range status.list("conditions") {
		if c.text("type") == "Applied" {
			s.Verdict, s.Since = Verdict{c.text("reason"), c.text("message")}, c.time("lastTransitionTime")
		}
	}
	n := status.at("objects")
	s.Counts = Counts{
		Objects: int(n.number("objects")), Applied: int(n.number("applied")), Failed: int(n.number("failed")), Pending: int(n.number("pending")), Leaving: int(n.number("leaving")),
		Drifting: int(n.number("drifting")), Healthy: int(n.number("healthy")), Unhealthy: int(n.number("unhealthy")), Unknown: int(n.number("unknown")),
	}
	return s, nil
}

// Objects reads what a status branch says of objects: those of the namespaces that are
// wanted. What has no namespace is in "".
func Objects(root *files.Folder, wanted func(namespace string) bool) (map[object.Ref]*Object, error) {
	objects := map[object.Ref]*Object{}
	dir, ok := root.Lookup(worksDir)
	if !ok || dir.Dir == nil {
		return objects, nil
	}
	for _, e := range dir.Dir.Entries() {
		namespace, isWork := strings.CutSuffix(e.Name, ".yaml")
		if namespace == clusterScope {
			namespace = ""
		}
		if !isWork || e.Blob == nil || !wanted(namespace) {
			continue
		}
		content, err := decode(e.Blob, path.Join(worksDir, e.Name))
		if err != nil {
			return nil, err
		}
		for _, m := range content.at("status").list("manifestStatuses") {
			r, o := decodeObject(m)
			objects[r] = o
		}
	}
	return objects, nil
}

// Everything wants every namespace.
func Everything(string) bool { return true }

// read reads all of a status branch.
func read(root *files.Folder) (Cluster, error) {
	s, err := Read(root)
	if err != nil {
		return Cluster{}, err
	}
	objects, err := Objects(root, Everything)
	return Cluster{s, objects}, err
}

func decodeObject(m mapping) (object.Ref, *Object) {
	id := m.at("identifier")
	r := object.Ref{Group: id.text("group"), Kind: id.text("kind"), Namespace: id.text("namespace"), Name: id.text("name")}
	applied, healthy := m.at("waybill").at("applied"), m.at("waybill").at("healthy")
	o := &Object{Version: id.text("version"), Resource: id.text("resource"), Flaps: int(m.at("waybill").number("flaps"))}
	o.private, _ = m.at("waybill")["private"].(bool)
	o.private = o.private || private(r)
	o.Applied = Application{
		Phase: Phase(applied.text("phase")), Commit: applied.id("commit"), Source: applied.text("source"),
		Message: applied.text("message"), Corrected: int(applied.number("corrected")), Since: applied.time("since"),
	}
	o.Health = Health{
		State: karmada.ResourceHealth(m.text("health")), Reason: healthy.text("reason"), Message: healthy.text("message"), By: healthy.text("by"),
		Generation: healthy.number("generation"), Observed: healthy.number("observedGeneration"), Since: healthy.time("since"),
		KarmadaSince: healthy.time("karmadaSince"), PodsUnknown: healthy.text("podsUnknown"),
	}
	for _, p := range healthy.list("pods") {
		o.Health.Pods = append(o.Health.Pods, health.Pods{Reason: p.text("reason"), Container: p.text("container"), Count: int(p.number("count"))})
	}
	if state := healthy.text("state"); state != "" {
		o.Health.State, o.Health.Karmada = karmada.ResourceHealth(state), o.Health.State
	}
	if status, ok := m["status"]; ok {
		if data, err := json.Marshal(status); err == nil {
			o.Health.Status = data
		}
	}
	return r, o
}

// mapping is a decoded mapping. What is not there, or is something else, is empty.
type mapping map[string]any

func decode(b *files.Blob, name string) (mapping, error) {
	data, err := b.Bytes()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	content, err := object.DecodeCanonical(data)
	if err != nil {
		return nil, errors.New(name + " is not as Waybill writes it; delete the branch, and it is written anew")
	}
	return content, nil
}

func (m mapping) at(key string) mapping {
	below, _ := m[key].(map[string]any)
	return below
}

func (m mapping) list(key string) []mapping {
	items, _ := m[key].([]any)
	list := make([]mapping, 0, len(items))
	for _, item := range items {
		below, _ := item.(map[string]any)
		list = append(list, below)
	}
	return list
}

func (m mapping) text(key string) string {
	s, _ := m[key].(string)
	return s
}

func (m mapping) number(key string) int64 {
	n, _ := m[key].(int64)
	return n
}

func (m mapping) id(key string) files.ID {
	id, _ := files.ParseID(m.text(key))
	return id
}

func (m mapping) time(key string) time.Time {
	t, _ := time.Parse(time.RFC3339, m.text(key))
	return t
}
