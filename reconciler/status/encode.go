package status

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

const (
	summaryFile  = "status.yaml"
	worksDir     = "works"
	clusterScope = "_cluster"

	apiVersion     = "waybill.dev/v1alpha1"
	kind           = "ClusterStatus"
	workAPIVersion = "work.karmada.io/v1alpha1"
)

// Summarize lays out what is known of a cluster. Equal values give equal bytes.
func Summarize(c Cluster) *files.Folder {
	l := ledgerOf(c, time.Time{})
	return l.Layout()
}

// layout lays the cluster out. Files of namespaces in which nothing changed are those of last
// time.
func (l *Ledger) layout() *files.Folder {
	refs := map[string][]object.Ref{}
	for r := range l.cluster.Objects {
		refs[r.Namespace] = append(refs[r.Namespace], r)
	}
	works := make([]files.Entry, 0, len(refs))
	for namespace, list := range refs {
		b := l.works[namespace]
		if b == nil {
			b = files.NewBlob(object.Encode(l.cluster.work(namespace, list)))
			l.works[namespace] = b
		}
		works = append(works, files.FileEntry(fileOf(namespace), b))
	}
	top := []files.Entry{files.FileEntry(summaryFile, files.NewBlob(object.Encode(l.cluster.encode())))}
	if len(works) > 0 {
		top = append(top, files.DirEntry(worksDir, files.NewFolder(works)))
	}
	return files.NewFolder(top)
}

// fileOf is the file of what is in a namespace.
func fileOf(namespace string) string {
	if namespace == "" {
		namespace = clusterScope
	}
	return namespace + ".yaml"
}

// fields are a mapping without what is empty.
type fields map[string]any

func (f fields) text(key, value string) fields {
	if value != "" {
		f[key] = value
	}
	return f
}

func (f fields) id(key string, id files.ID) fields {
	if !id.IsZero() {
		f[key] = id.String()
	}
	return f
}

func (f fields) number(key string, n int64) fields {
	if n != 0 {
		f[key] = n
	}
	return f
}

func (f fields) time(key string, t time.Time) fields {
	if !t.IsZero() {
		f[key] = t.UTC().Format(time.RFC3339)
	}
	return f
}

func (s *Summary) encode() map[string]any {
	var healthy, why string
	switch {
	case !s.Verdict.Looked():
		healthy, why = "Unknown", s.Verdict.Reason
	case s.Counts.Unhealthy > 0:
		healthy, why = "False", "Unhealthy"
	case s.Counts.Unknown > 0:
		healthy, why = "Unknown", "Unknown"
	default:
		healthy, why = "True", "Healthy"
	}
	applied := "False"
	if s.Verdict.Reason == Applied {
		applied = "True"
	}
	status := fields{
		"conditions": []any{
			map[string]any(fields{"type": "Applied", "status": applied, "reason": s.Verdict.Reason, "message": s.Verdict.Message}.time("lastTransitionTime", s.Since)),
			map[string]any{"type": "Healthy", "status": healthy, "reason": why},
		},
		"objects": map[string]any{
			"objects": int64(s.Counts.Objects), "applied": int64(s.Counts.Applied), "failed": int64(s.Counts.Failed), "pending": int64(s.Counts.Pending), "leaving": int64(s.Counts.Leaving),
			"drifting": int64(s.Counts.Drifting), "healthy": int64(s.Counts.Healthy), "unhealthy": int64(s.Counts.Unhealthy), "unknown": int64(s.Counts.Unknown),
		},
	}
	status.text("branch", s.Branch).id("commit", s.Commit).text("source", s.Source).id("state", s.State).time("credentialExpires", s.Expires)
	status.text("rules", s.Edition)
	if len(s.Flipped) > 0 {
		flipped := map[string]any{}
		for kind, n := range s.Flipped {
			flipped[kind] = int64(n)
		}
		status["healthyByFormerRules"] = flipped
	}
	var refused []any
	for _, r := range s.Refused {
		refused = append(refused, map[string]any(fields{"from": r.From, "message": r.Message}.text("service", r.Service).text("slice", r.Slice)))
	}
	if len(refused) > 0 {
		status["endpointsRefused"] = refused
		status.number("endpointsRefusedMore", int64(s.More))
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": s.Name}, "status": map[string]any(status)}
}

// work is the Work of what is in a namespace.
func (c *Cluster) work(namespace string, refs []object.Ref) map[string]any {
	slices.SortFunc(refs, object.Ref.Compare)
	list := make([]any, len(refs))
	failed := ""
	var since time.Time
	for i, r := range refs {
		o := c.Objects[r]
		list[i] = o.encode(r, i)
		since = later(since, o.Applied.Since)
		if failed == "" && o.Applied.Phase == PhaseFailed {
			failed = r.String() + " is not applied"
		}
	}
	applied := fields{"type": "Applied", "status": "True", "reason": "AppliedSuccessful", "message": "the objects are applied"}
	if failed != "" {
		maps.Copy(applied, fields{"status": "False", "reason": "AppliedFailed", "message": failed})
	}
	name := namespace
	if name == "" {
		name = "cluster-scoped"
	}
	return map[string]any{
		"apiVersion": workAPIVersion, "kind": "Work",
		"metadata": map[string]any{"name": name, "namespace": "karmada-es-" + c.Name},
		"spec":     map[string]any{"workload": map[string]any{}},
		"status": map[string]any{
			"conditions":       []any{map[string]any(applied.time("lastTransitionTime", since))},
			"manifestStatuses": list,
		},
	}
}

func encodePods(all []health.Pods) (list []any) {
	for _, p := range all {
		list = append(list, map[string]any(fields{"reason": p.Reason, "count": int64(p.Count)}.text("container", p.Container)))
	}
	return list
}

// encode returns a manifestStatus of a Work, with our evidence beside Karmada's fields.
func (o *Object) encode(r object.Ref, at int) map[string]any {
	id := fields{"ordinal": int64(at), "version": o.Version, "kind": r.Kind, "resource": o.Resource, "name": r.Name}
	id.text("group", r.Group).text("namespace", r.Namespace)
	applied := fields{"phase": string(o.Applied.Phase)}.id("commit", o.Applied.Commit).text("source", o.Applied.Source).
		text("message", o.Applied.Message).number("corrected", int64(o.Applied.Corrected)).time("since", o.Applied.Since)
	healthy := fields{}.text("reason", o.Health.Reason).text("message", o.Health.Message).text("by", o.Health.By).
		number("generation", o.Health.Generation).number("observedGeneration", o.Health.Observed).time("since", o.Health.Since).time("karmadaSince", o.Health.KarmadaSince)
	state, _ := o.Health.ByKarmada()
	if state != o.Health.State {
		healthy.text("state", string(o.Health.State))
	}
	if pods := encodePods(o.Health.Pods); len(pods) > 0 {
		healthy["pods"] = pods
	}
	healthy.text("podsUnknown", o.Health.PodsUnknown)
	evidence := fields{"applied": map[string]any(applied), "healthy": map[string]any(healthy)}.number("flaps", int64(o.Flaps))
	if o.private && !private(r) { // what its kind does not say
		evidence["private"] = true
	}
	m := fields{"identifier": map[string]any(id), "waybill": map[string]any(evidence)}.text("health", string(state))
	var status any
	if len(o.Health.Status) > 0 && json.Unmarshal(o.Health.Status, &status) == nil {
		m["status"] = status
	}
	return m
}
