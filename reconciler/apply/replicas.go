package apply

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/render/object"
)

const (
	// ScalerAnnotation names the HorizontalPodAutoscaler that decides how many replicas a workload has, so that its manifest
	// says none: by the live object it is known that they are to be taken back when the manifest says some again.
	ScalerAnnotation = "waybill.dev/autoscaler"
	// LowersAnnotation is on a workload that has more replicas than its manifest says, since a HorizontalPodAutoscaler decided
	// that: from this time on it has those of the manifest (RFC 3339).
	LowersAnnotation = "waybill.dev/lowers-replicas-at"
	// lowersAfter is how long replicas stay that a HorizontalPodAutoscaler decided, as Kubernetes' own waits with scaling down.
	lowersAfter = 5 * time.Minute
)

// Back is how the replicas of a workload go from a HorizontalPodAutoscaler back to its manifest.
type Back struct {
	// Scaler is the HorizontalPodAutoscaler while it still exists; replicas are then left to it. Once it is gone Scaler is empty, and the
	// workload has the larger of its live replicas and its manifest's until Until.
	Scaler string
	Until  time.Time

	by object.Ref // the HorizontalPodAutoscaler that decided them, whether it exists or not; zero once they are to be lowered
}

// backOf says how the replicas of a workload go back to its manifest; nil where they do not. Former are the managers whose
// fields become ours; nil: nobody's.
func backOf(in *Input, o *Object, live *metav1.PartialObjectMetadata, former func(metav1.ManagedFieldsEntry) bool) *Back {
	if !has(o.Manifest, replicas) || annotation(o.Manifest, ScalerAnnotation) != "" {
		return nil
	}
	if at, ok := lowersAt(live); ok {
		if !in.Now.Before(at) {
			return nil // it is time, and the manifest says all
		}
		return &Back{Until: at}
	}
	name := ours(live, ScalerAnnotation, former)
	if name == "" {
		return nil
	}
	b := &Back{Until: in.Now.Add(lowersAfter).UTC().Truncate(time.Second), by: scalerOf(o.Ref, name)}
	if _, isOurs := in.Inventory.Entries[b.by]; isOurs && in.Facts.Live[b.by] != nil && !in.Inventory.Settled {
		b.Scaler = name // nothing is deleted in this round
	}
	return b
}

// ours is an annotation of a live object, if we wrote it or a former manager did: what somebody else wrote counts for nothing.
func ours(live *metav1.PartialObjectMetadata, key string, former func(metav1.ManagedFieldsEntry) bool) string {
	value := live.Annotations[key]
	if value == "" || !fieldsOf(live, former).own(nil, []string{"metadata", "annotations", key}) {
		return ""
	}
	return value
}

// lowersAt is when replicas of a live object are to be lowered; false if they are not.
func lowersAt(live *metav1.PartialObjectMetadata) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, ours(live, LowersAnnotation, nil))
	return at, err == nil
}

func scalerOf(r object.Ref, name string) object.Ref {
	return object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: r.Namespace, Name: name}
}

// isDue reports a live object of which something is to be done although it is as it was left: its replicas are to be
// lowered now, or to be taken back.
func isDue(in *Input, o *Object, live *metav1.PartialObjectMetadata) bool {
	at, lowers := lowersAt(live)
	if lowers && !in.Now.Before(at) {
		return true
	}
	return ours(live, ScalerAnnotation, nil) != "" && annotation(o.Manifest, ScalerAnnotation) == "" && has(o.Manifest, replicas)
}

// looksAgain notes when there is something to do about replicas, if that is the next thing that time brings: they are lowered
// or, in the next round, taken back.
func (p *Plan) looksAgain(b *Back, now time.Time) {
	if b == nil {
		return
	}
	at := b.Until
	if b.Scaler != "" {
		at = now.Add(time.Second)
	}
	if p.Again.IsZero() || at.Before(p.Again) {
		p.Again = at
	}
}

// goesFirst takes out of what is to be deleted the HorizontalPodAutoscalers that decide replicas which are taken back: they go before
// that.
func goesFirst(apply, prune []Action) (first, rest []Action) {
	gone := map[object.Ref]bool{}
	for i := range apply {
		if b := apply[i].Back; b != nil {
			gone[b.by] = true
		}
	}
	for _, a := range prune {
		if gone[a.Ref] {
			first = append(first, a)
		} else {
			rest = append(rest, a)
		}
	}
	return first, rest
}

// Returned is the manifest of a workload whose replicas go back to it, by the object that is live, and whose fields are
// managed so.
func (b *Back) Returned(manifest, live map[string]any, managed []metav1.ManagedFieldsEntry) map[string]any {
	fields := fieldsOf(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: managed}}, nil)
	n, known := number(live)
	ours := fields.own(manifest, replicas)
	wants, _ := number(manifest)
	switch {
	case b.Scaler != "" && ours && known:
		return object.Annotate(with(manifest, n), ScalerAnnotation, b.Scaler)
	case b.Scaler != "":
		return object.Annotate(Without(manifest, [][]string{replicas}), ScalerAnnotation, b.Scaler)
	case known && n > wants:
		return object.Annotate(with(manifest, n), LowersAnnotation, b.Until.Format(time.RFC3339))
	}
	return manifest
}

// number is how many replicas a manifest says.
func number(manifest map[string]any) (int64, bool) {
	spec, _ := manifest["spec"].(map[string]any)
	n, ok := spec["replicas"].(int64)
	return n, ok
}

// Reads reports an action for which the live object is read before.
func (a *Action) Reads() bool { return len(a.Filled) > 0 || a.Back != nil }

// with is a manifest with other replicas.
func with(manifest map[string]any, n int64) map[string]any {
	manifest = maps.Clone(manifest)
	spec, _ := manifest["spec"].(map[string]any)
	spec = maps.Clone(spec)
	spec["replicas"], manifest["spec"] = n, spec
	return manifest
}
