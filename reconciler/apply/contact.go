package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/render/object"
)

const (
	// Manager is the field manager that we apply as.
	Manager = "waybill"
	// OwnerAnnotation names the source that an object comes from.
	OwnerAnnotation = "waybill.dev/owner"
	// PreserveAnnotation says that an object stays when it leaves the branch.
	PreserveAnnotation = "waybill.dev/preserve-resources-on-deletion"
	// ManagedLabel is on whatever is delivered, as in Karmada. It proves nothing.
	ManagedLabel = "karmada.io/managed"

	conflictAnnotation = "work.karmada.io/conflict-resolution"
)

// Adoption is what is there, is not ours, and is on the branch. Whoever adopts it names the
// digest, so that what is taken over is what was seen.
type Adoption struct {
	Objects []Adopted `json:"objects"`
	Digest  string    `json:"digest"`
}

// Adopted is one object of an Adoption.
type Adopted struct {
	Object   object.Ref `json:"object"`
	UID      string     `json:"uid"`
	Managers []string   `json:"managers"`
	// Marks are the traces of another tool that may apply the object still.
	Marks []string `json:"marks,omitempty"`
}

// adoption lists what could be adopted.
func (m *maker) adoption() Adoption {
	var a Adoption
	sum := sha256.New()
	for i := range m.in.Objects {
		o := &m.in.Objects[i]
		live := m.in.Facts.Live[o.Ref]
		if live == nil || live.DeletionTimestamp != nil || o.Unfit != "" {
			continue
		}
		if ours, theirs := m.owned(m.in.Inventory.Entries[o.Ref], live); ours || theirs != "" {
			continue
		}
		a.Objects = append(a.Objects, Adopted{o.Ref, string(live.UID), managers(live), marks(live)})
		fmt.Fprintf(sum, "%s\n%s\n", o.Ref, live.UID)
	}
	if len(a.Objects) > 0 {
		a.Digest = hex.EncodeToString(sum.Sum(nil))[:12]
	}
	return a
}

// contact decides about an object that is there, is nobody's, and is on the branch: it stays
// as it is and that is an error, as Karmada's Abort; or it is taken over, if its manifest says
// Overwrite or a person adopts it.
func (m *maker) contact(a Action, live *metav1.PartialObjectMetadata) Action {
	a.Live = live
	adopts := slices.Contains(m.in.Options.Adopt, m.plan.Adoption.Digest)
	traces := marks(live)
	switch by := m.in.Facts.Reconciled[a.Ref]; {
	case by != "" && (adopts || overwrites(a.Object)):
		return refused(a, by+" applies it, too; suspend that first (flux suspend kustomization), then apply again")
	case adopts && m.in.Facts.Unreconciled != nil && live.Labels[fluxLabel] != "":
		return refused(a, fmt.Sprintf("whether Flux applies it, too, is not known: %v; apply again when the cluster answers", m.in.Facts.Unreconciled))
	case adopts:
	case overwrites(a.Object) && len(traces) > 0:
		return refused(a, fmt.Sprintf("it carries the mark of another tool (%s), which may still apply it; when it no longer does, waybill apply --adopt takes it over", strings.Join(traces, ", ")))
	case !overwrites(a.Object):
		a.Foreign = true
		return refused(a, fmt.Sprintf("it is there already, and not from here (%s wrote it); conflictResolution: Overwrite in its policy, or waybill apply --adopt, takes it over", list(managers(live))))
	}
	a.Verb, a.Take = Adopt, TakeAll
	a.Left, a.Filled = m.toCluster(a.Object, live, Delivers)
	a.Back = backOf(m.in, a.Object, live, Delivers)
	m.plan.looksAgain(a.Back, m.in.Now)
	return a
}

// overwrites reports a manifest that takes over what is there.
func overwrites(o *Object) bool { return annotation(o.Manifest, conflictAnnotation) == "overwrite" }

// preserved reports a manifest whose object stays in the cluster when it leaves the branch.
func preserved(manifest map[string]any) bool {
	return annotation(manifest, PreserveAnnotation) == "true"
}

func annotation(manifest map[string]any, key string) string {
	meta, _ := manifest["metadata"].(map[string]any)
	all, _ := meta["annotations"].(map[string]any)
	value, _ := all[key].(string)
	return value
}

// fluxLabel names the Kustomization by which Flux applies an object.
const fluxLabel = "kustomize.toolkit.fluxcd.io/name"

// marks are the traces that other tools leave on what they apply.
func marks(live *metav1.PartialObjectMetadata) []string {
	var traces []string
	if name := live.Labels[fluxLabel]; name != "" {
		traces = append(traces, "Flux Kustomization "+live.Labels["kustomize.toolkit.fluxcd.io/namespace"]+"/"+name)
	}
	if id := live.Annotations["argocd.argoproj.io/tracking-id"]; id != "" {
		app, _, _ := strings.Cut(id, ":")
		traces = append(traces, "Argo CD Application "+app)
	}
	if work := live.Annotations["work.karmada.io/name"]; work != "" {
		traces = append(traces, "Karmada Work "+live.Annotations["work.karmada.io/namespace"]+"/"+work)
	}
	return traces
}

// managers lists who wrote an object, sorted.
func managers(live *metav1.PartialObjectMetadata) []string {
	var names []string
	for _, e := range live.ManagedFields {
		names = append(names, e.Manager)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func list(names []string) string {
	if len(names) == 0 {
		return "somebody"
	}
	return strings.Join(names, ", ")
}

// finalizers says what an object that is being deleted waits for.
func finalizers(live *metav1.PartialObjectMetadata) string {
	if len(live.Finalizers) == 0 {
		return ""
	}
	return ", and waits for the finalizers " + strings.Join(live.Finalizers, ", ")
}
