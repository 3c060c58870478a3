package interpret

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// readOnly are the fields of metadata that only a server sets: it refuses or ignores
// what a client says of them.
var readOnly = []string{
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
	"managedFields", "resourceVersion", "selfLink", "uid",
}

// generatedLabels are the labels by which the Job controller knows a Job's pods.
var (
	generatedSelector = []string{"controller-uid", "batch.kubernetes.io/controller-uid"}
	generatedLabels   = append([]string{"job-name", "batch.kubernetes.io/job-name"}, generatedSelector...)
)

var annotations = []string{"metadata", "annotations"}

// Prune returns obj without what no client can set and what holds in one server only:
// the uids of owners and controllers. An object that was exported from a server also
// loses what that server, its controllers and its cluster set there (Karmada section
// D.4, which takes every template for exported). Kinds are told by their name, of any
// group.
func Prune(obj map[string]any) map[string]any {
	p := prune(obj)
	obj = without(p.obj, nil, "status")
	return without(obj, []string{"metadata"}, readOnly...)
}

// Pruned lists what Prune takes from obj although a client can set it. Somebody may
// have meant it.
func Pruned(obj map[string]any) []string { return prune(obj).gone }

// Exported reports that obj was read from a server, and is not as somebody wrote it.
func Exported(obj map[string]any) bool {
	meta := mapAt(obj, "metadata")
	return stringAt(meta, "uid") != "" || stringAt(meta, "resourceVersion") != "" || len(listAt(meta, "managedFields")) > 0
}

func prune(obj map[string]any) pruner {
	p := pruner{obj: obj, exported: Exported(obj)}
	if p.exported || slices.ContainsFunc(listAt(obj, "metadata", "ownerReferences"), hasUID) {
		p.remove([]string{"metadata"}, "ownerReferences")
	}
	if stringAt(obj, "kind") == "Job" {
		p.jobLabels()
	}
	if p.exported {
		p.ofServer()
	}
	return p
}

func hasUID(owner any) bool {
	o, _ := owner.(map[string]any)
	return stringAt(o, "uid") != ""
}

// pruner takes fields away and remembers which.
type pruner struct {
	obj      map[string]any
	exported bool
	gone     []string
}

func (p *pruner) remove(path []string, keys ...string) {
	m := mapAt(p.obj, path...)
	for _, key := range keys {
		if _, ok := m[key]; ok {
			p.gone = append(p.gone, strings.Join(path, ".")+"."+key)
		}
	}
	p.obj = without(p.obj, path, keys...)
}

// jobLabels removes the labels that the Job controller generates: with the uid of the Job
// they select nothing elsewhere.
func (p *pruner) jobLabels() {
	if manual, _ := at(p.obj, "spec", "manualSelector").(bool); manual {
		return
	}
	selector, labels := []string{"spec", "selector", "matchLabels"}, []string{"spec", "template", "metadata", "labels"}
	generated := func(path []string) bool {
		m := mapAt(p.obj, path...)
		return slices.ContainsFunc(generatedSelector, func(key string) bool { return m[key] != nil })
	}
	if p.exported || generated(selector) || generated(labels) {
		p.remove(selector, generatedSelector...)
		p.remove(labels, generatedLabels...)
	}
}

// ofServer removes what the server of an exported object set.
func (p *pruner) ofServer() {
	p.remove([]string{"metadata"}, "finalizers")
	switch stringAt(p.obj, "kind") {
	case "Deployment":
		p.remove(annotations, "deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history")
	case "Job":
		p.remove([]string{"spec"}, "ttlSecondsAfterFinished")
	case "Secret":
		p.secret()
	case "ServiceAccount":
		p.serviceAccount()
	case "Service":
		if stringAt(p.obj, "spec", "clusterIP") != "None" {
			p.remove([]string{"spec"}, "clusterIP", "clusterIPs")
		}
	case "PersistentVolumeClaim":
		p.remove(annotations, "volume.kubernetes.io/selected-node")
	}
}

// secret empties the token that a cluster issues. The data are null rather than
// absent, as in Karmada.
func (p *pruner) secret() {
	if stringAt(p.obj, "type") != serviceAccountToken {
		return
	}
	p.remove(annotations, "kubernetes.io/service-account.uid")
	if p.obj["data"] != nil {
		p.gone = append(p.gone, "data")
	}
	p.obj = with(p.obj, nil, "data")
}

// serviceAccount removes the token secrets that a cluster has named.
func (p *pruner) serviceAccount() {
	secrets := listAt(p.obj, "secrets")
	if secrets == nil {
		return
	}
	prefix := stringAt(p.obj, "metadata", "name") + "-token-"
	kept := make([]any, 0, len(secrets))
	for _, item := range secrets {
		ref, _ := item.(map[string]any)
		if !strings.HasPrefix(stringAt(ref, "name"), prefix) {
			kept = append(kept, item)
		}
	}
	if len(kept) < len(secrets) {
		p.gone = append(p.gone, "secrets")
	}
	p.obj = with(p.obj, kept, "secrets")
}

// LeftOut says what is left out of an object that was exported from a server; nil for
// nothing.
func LeftOut(o *object.Object) *diag.Diagnostic {
	gone := Pruned(o.Content())
	if len(gone) == 0 {
		return nil
	}
	d := &diag.Diagnostic{
		Code: diag.Exported, Severity: diag.Notice, Pos: o.Origin(),
		Message: fmt.Sprintf("%s was exported from a server; what that server set there is left out: %s", o.Ref(), strings.Join(gone, ", ")),
	}
	if Exported(o.Content()) {
		d.Hint = "to deliver it, remove uid, resourceVersion and managedFields from metadata; owners and labels with uids are never delivered"
	}
	return d
}
