package apply

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
)

// mine returns the entry of the fields that we applied; nil where there is none.
func mine(live *metav1.PartialObjectMetadata) *metav1.ManagedFieldsEntry {
	for i, e := range live.ManagedFields {
		if e.Manager == Manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return &live.ManagedFields[i]
		}
	}
	return nil
}

// Digest sums up the fields of a live object that are ours; zero for none.
func Digest(live *metav1.PartialObjectMetadata) uint64 {
	e := mine(live)
	if e == nil || e.FieldsV1 == nil {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(e.APIVersion))
	_, _ = h.Write(e.FieldsV1.GetRawBytes())
	return h.Sum64()
}

// Owned reports a live object that names a source as its owner, and that we applied.
func Owned(live *metav1.PartialObjectMetadata, owner string) bool {
	return live.Annotations[OwnerAnnotation] == owner && mine(live) != nil
}

// Drifted reports whether what is live of an object, nil for nothing, is another thing than what
// a round left, so that a next one has something to do. E is its entry; zero for what has none.
func Drifted(e inventory.Entry, live *metav1.PartialObjectMetadata) bool {
	switch {
	case live == nil:
		return true // it is gone: ours, or what was in our way
	case e.Leaving, e.Content.IsZero():
		return false // it is not ours, or its round is still to come
	}
	return e.UID != string(live.UID) || e.Fields != Digest(live)
}

// Delivers reports the field managers of people and tools who deliver manifests: what they
// wrote becomes ours when an object is adopted, so that what leaves Git later leaves the
// cluster. Controllers stay the owners of what they decide.
func Delivers(e metav1.ManagedFieldsEntry) bool {
	if e.Subresource != "" {
		return false
	}
	return strings.HasPrefix(e.Manager, "kubectl") || slices.Contains(deliverers, e.Manager)
}

// deliverers are the field managers of tools that deliver manifests, but for kubectl's many.
var deliverers = []string{
	"kustomize-controller", "helm-controller", "helm", "argocd-controller", "argocd-application-controller",
	"karmada-agent", "karmada-controller-manager", "before-first-apply",
}

// fieldsOf returns the fields that are ours, or will be once those of the former managers
// are, as the server writes them: a tree of names with a prefix.
func fieldsOf(live *metav1.PartialObjectMetadata, former func(metav1.ManagedFieldsEntry) bool) fieldSets {
	var sets fieldSets
	own := mine(live)
	for i, e := range live.ManagedFields {
		if e.FieldsV1 == nil || own != &live.ManagedFields[i] && (former == nil || !former(e)) {
			continue
		}
		var set map[string]any
		if json.Unmarshal(e.FieldsV1.GetRawBytes(), &set) == nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// replicas are decided by an autoscaler, where there is one.
var replicas = []string{"spec", "replicas"}

// retained are the fields that a cluster decides once the object is there, as in Karmada
// (section D.5). What server-side apply retains by itself is not among them.
var retained = map[schema.GroupKind][][]string{
	{Kind: "Service"}:               {{"spec", "clusterIP"}, {"spec", "clusterIPs"}, {"spec", "healthCheckNodePort"}},
	{Kind: "PersistentVolumeClaim"}: {{"spec", "volumeName"}},
	{Kind: "PersistentVolume"}:      {{"spec", "claimRef"}},
	{Kind: "ServiceAccount"}:        {{"imagePullSecrets"}},
	{Kind: "Pod"}:                   {{"spec", "nodeName"}, {"spec", "serviceAccountName"}, {"spec", "volumes"}},
}

// toCluster returns the fields of a live object that are left out of its manifest, and those
// that are sent as they are. Former are the managers whose fields become ours; nil: nobody's.
func (m *maker) toCluster(o *Object, live *metav1.PartialObjectMetadata, former func(metav1.ManagedFieldsEntry) bool) (out, asIs [][]string) {
	fields, decided := fieldsOf(live, former), m.decided(o, live)
	return left(o.Manifest, fields, decided), filled(o.Manifest, fields, decided)
}

// left lists those of the fields that a cluster decides which are left out of a manifest,
// because the object is there and they are not ours there: somebody took them, or the server
// decided them. What is ours is never left out: the server would take that for its removal.
func left(manifest map[string]any, ours fieldSets, decided [][]string) [][]string {
	var out [][]string
	for _, path := range decided {
		if has(manifest, path) && !ours.own(manifest, path) {
			out = append(out, path)
		}
	}
	return out
}

// filled lists fields that a manifest lacks, that the cluster decides, and that are ours as long
// as nobody changed them: as when somebody adds an autoscaler and takes spec.replicas out. To
// apply without them would set them to their default, so that they are sent as they are live.
func filled(manifest map[string]any, ours fieldSets, decided [][]string) [][]string {
	var out [][]string
	for _, path := range decided {
		if !has(manifest, path) && ours.own(manifest, path) {
			out = append(out, path)
		}
	}
	return out
}

// decided lists the fields of an object that its cluster decides once it is there.
func (m *maker) decided(o *Object, live *metav1.PartialObjectMetadata) [][]string {
	paths := slices.Clone(retained[o.Kind()])
	isDeployment := o.Kind() == schema.GroupKind{Group: "apps", Kind: "Deployment"}
	isRetained := isDeployment && label(o.Manifest, karmada.RetainReplicasLabel) == "true"
	if m.scaled[o.Ref] || isRetained || annotation(o.Manifest, ScalerAnnotation) != "" {
		paths = append(paths, replicas)
	}
	if o.Kind() == (schema.GroupKind{Kind: "Secret"}) && o.Manifest["type"] == "kubernetes.io/service-account-token" {
		paths = append(paths, []string{"data"})
	}
	return append(paths, m.ignored(o, live)...)
}

func label(manifest map[string]any, key string) string {
	meta, _ := manifest["metadata"].(map[string]any)
	all, _ := meta["labels"].(map[string]any)
	value, _ := all[key].(string)
	return value
}

// scaleTargets are the workloads that a HorizontalPodAutoscaler among the objects scales.
func scaleTargets(objects []Object) map[object.Ref]bool {
	targets := map[object.Ref]bool{}
	for i := range objects {
		o := &objects[i]
		if o.Kind() != (schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}) {
			continue
		}
		targets[object.ScaleTarget(o.Ref.Namespace, o.Manifest)] = true
	}
	return targets
}
