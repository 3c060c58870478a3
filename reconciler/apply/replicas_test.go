package apply

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
)

// TestBack has replicas go back from an autoscaler to the manifest: what is done, and what is sent.
func TestBack(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	marked := func(key, value string, ours string) *metav1.PartialObjectMetadata {
		return live("u1", func(o *metav1.PartialObjectMetadata) {
			o.Annotations[key] = value
			o.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + key + `":{}}},"f:spec":{` + ours + `}}`)
		})
	}
	says := func(replicas int64, annotations ...string) Object {
		return manifest("apps/v1 Deployment shop/web", map[string]any{"replicas": replicas}, annotations...)
	}
	bare := manifest("apps/v1 Deployment shop/web", map[string]any{}, ScalerAnnotation+"=web")
	plain := says(3)
	scaled := marked(ScalerAnnotation, "web", "")
	lowers := func(at string) *metav1.PartialObjectMetadata { return marked(LowersAnnotation, at, `"f:replicas":{}`) }
	theirs := live("u1", func(o *metav1.PartialObjectMetadata) { o.Annotations[LowersAnnotation] = "2026-11-24T11:00:00Z" })
	foreign := live("u1", func(o *metav1.PartialObjectMetadata) { o.Annotations[ScalerAnnotation] = "web" })
	taken := func(manager string) *metav1.PartialObjectMetadata { // it is adopted, and has the annotation from a manager
		return live("u9", func(o *metav1.PartialObjectMetadata) {
			o.Annotations = map[string]string{ScalerAnnotation: "web"}
			o.ManagedFields = []metav1.ManagedFieldsEntry{fields(manager, metav1.ManagedFieldsOperationApply, `{"f:metadata":{"f:annotations":{"f:`+ScalerAnnotation+`":{}}}}`)}
		})
	}
	adopts := says(3, conflictAnnotation+"=overwrite")
	for _, c := range []struct {
		name    string
		object  Object
		live    *metav1.PartialObjectMetadata
		settled bool
		has     int64 // live replicas
		want    string
	}{
		{"it is the autoscaler's still", bare, scaled, true, 9, "nothing again=never"},
		{"the autoscaler goes first", plain, scaled, true, 9, "delete web, 9 until 12:05:00 again=12:05:00"},
		{"Git says more", says(12), scaled, true, 9, "delete web, 12 again=12:05:00"},
		{"Git says as many", plain, scaled, true, 3, "delete web, 3 again=12:05:00"},
		{"Git says one less", plain, scaled, true, 4, "delete web, 4 until 12:05:00 again=12:05:00"},
		{"nothing is deleted in this round", plain, scaled, false, 9, "left to web again=12:00:01"},
		{"nothing is deleted in this round, and nobody scaled yet", plain, marked(ScalerAnnotation, "web", `"f:replicas":{}`), false, 9, "9, left to web again=12:00:01"},
		{"it waits", plain, lowers("2026-11-24T12:03:00Z"), true, 9, "nothing again=12:03:00"},
		{"it waits, and has another content", says(4), lowers("2026-11-24T12:03:00Z"), true, 9, "9 until 12:03:00 again=12:03:00"},
		{"it is time", plain, lowers("2026-11-24T12:00:00Z"), true, 9, "3 again=never"},
		{"somebody else says when", plain, theirs, true, 9, "nothing again=never"},
		{"somebody else names the autoscaler", plain, foreign, true, 9, "nothing again=never"},
		{"somebody else names the autoscaler of what has another content", says(4), foreign, true, 9, "3 again=never"},
		{"it is adopted from who delivered it", adopts, taken("kustomize-controller"), true, 9, "delete web, 9 until 12:05:00 again=12:05:00"},
		{"it is adopted, and somebody else names the autoscaler", adopts, taken("keda-operator"), true, 9, "3 again=never"},
	} {
		t.Run(c.name, func(t *testing.T) {
			scaler := object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: "shop", Name: "web"}
			in := Input{
				Now: now, Objects: []Object{c.object}, Options: Options{Allowed: true},
				Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}, Settled: c.settled, Entries: map[object.Ref]inventory.Entry{
					c.object.Ref: {Content: plain.Content, UID: "u1", Fields: Digest(c.live)},
				}},
				Facts: Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{c.object.Ref: c.live}},
			}
			if c.object.Manifest["spec"].(map[string]any)["replicas"] == int64(4) {
				in.Inventory.Entries[c.object.Ref] = inventory.Entry{Content: blob("older"), UID: "u1", Fields: Digest(c.live)}
			}
			if c.live == scaled || c.live.Annotations[ScalerAnnotation] != "" {
				in.Inventory.Entries[scaler] = inventory.Entry{Content: blob("hpa"), UID: "u2"}
				in.Facts.Live[scaler] = live("u2")
				if c.object.Manifest["spec"].(map[string]any)["replicas"] == nil {
					in.Objects = append(in.Objects, manifest("autoscaling/v2 HorizontalPodAutoscaler shop/web", nil))
					in.Inventory.Entries[scaler] = inventory.Entry{Content: in.Objects[1].Content, UID: "u2", Fields: Digest(live("u2"))}
				}
			}
			before := fmt.Sprint(c.object.Manifest)
			if got := backTold(Make(in), c.has, c.live); got != c.want {
				t.Errorf("it does %q, want %q", got, c.want)
			}
			if after := fmt.Sprint(c.object.Manifest); after != before {
				t.Errorf("the manifest was %s, and is %s", before, after)
			}
		})
	}
}

// TestTheNextTimeIsTheSooner of those at which something is to be done about replicas.
func TestTheNextTimeIsTheSooner(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	in := Input{Now: now, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}}, Facts: Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{}}}
	for i, minutes := range []int{4, 2, 3} {
		o := manifest(fmt.Sprintf("apps/v1 Deployment shop/web-%d", i), map[string]any{"replicas": int64(3)})
		in.Objects = append(in.Objects, o)
		in.Facts.Live[o.Ref] = live("u1", func(o *metav1.PartialObjectMetadata) {
			o.Annotations[LowersAnnotation] = now.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339)
			o.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + LowersAnnotation + `":{}}}}`)
		})
	}
	p := Make(in)
	if want := now.Add(2 * time.Minute); !p.Again.Equal(want) {
		t.Errorf("it is %s, want %s", p.Again, want)
	}
	for _, a := range p.Actions() {
		if a.Back == nil || !a.Reads() {
			t.Errorf("%s is changed without a look at its replicas: %+v", a.Ref, a)
		}
	}
}

// backTold says what a plan does first, and what is sent of a Deployment that has so many replicas.
func backTold(p Plan, has int64, live *metav1.PartialObjectMetadata) string {
	var told strings.Builder
	for _, s := range p.First {
		for _, a := range s.Actions {
			fmt.Fprintf(&told, "%s %s, ", a.Verb, a.Ref.Name)
		}
	}
	sent := "nothing"
	for _, s := range p.Apply {
		for _, a := range s.Actions {
			sent = "3"
			if a.Back == nil {
				continue
			}
			m := a.Back.Returned(a.Object.Manifest, map[string]any{"spec": map[string]any{"replicas": has}}, live.ManagedFields)
			n, said := number(m)
			sent = "left"
			if said {
				sent = strconv.FormatInt(n, 10)
			}
			if at, err := time.Parse(time.RFC3339, annotation(m, LowersAnnotation)); err == nil {
				sent += " until " + at.Format("15:04:05")
			}
			switch by := annotation(m, ScalerAnnotation); {
			case by != "" && said:
				sent += ", left to " + by
			case by != "":
				sent += " to " + by
			}
		}
	}
	again := "never"
	if !p.Again.IsZero() {
		again = p.Again.Format("15:04:05")
	}
	return told.String() + sent + " again=" + again
}
