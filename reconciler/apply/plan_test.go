package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

const source = "git.example.com/fleet"

func blob(s string) files.ID { return files.Sum("blob", []byte(s)) }

// manifest makes an object of a branch: "apps/v1 Deployment shop/web".
func manifest(name string, spec map[string]any, annotations ...string) Object {
	fields := strings.Fields(name)
	version, kind := fields[0], fields[1]
	namespace, short, ok := strings.Cut(fields[2], "/")
	if !ok {
		namespace, short = "", fields[2]
	}
	group, _ := object.GroupVersion(version)
	meta := map[string]any{"name": short, "namespace": namespace}
	all := map[string]any{}
	for _, a := range annotations {
		k, v, _ := strings.Cut(a, "=")
		all[k] = v
	}
	meta["annotations"] = all
	return Object{
		Ref: object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: short}, APIVersion: version, Content: blob(name),
		Manifest: map[string]any{"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec},
	}
}

// live makes what a cluster has: an object that we applied, and whose owner is the source.
func live(uid string, change ...func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		UID: types.UID(uid), Annotations: map[string]string{OwnerAnnotation: source},
		ManagedFields: []metav1.ManagedFieldsEntry{fields(Manager, metav1.ManagedFieldsOperationApply, `{"f:data":{}}`)},
	}}
	for _, c := range change {
		c(o)
	}
	return o
}

func fields(manager string, op metav1.ManagedFieldsOperationType, set string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: op, APIVersion: "v1", FieldsV1: metav1.NewFieldsV1(set)}
}

func theirs(o *metav1.PartialObjectMetadata) {
	o.Annotations = nil
	o.ManagedFields = []metav1.ManagedFieldsEntry{fields("helm", metav1.ManagedFieldsOperationUpdate, `{"f:data":{}}`)}
}

func owner(name string) func(*metav1.PartialObjectMetadata) {
	return func(o *metav1.PartialObjectMetadata) { o.Annotations = map[string]string{OwnerAnnotation: name} }
}

func deleting(o *metav1.PartialObjectMetadata) {
	o.DeletionTimestamp, o.Finalizers = &metav1.Time{Time: time.Unix(0, 0)}, []string{"example.com/hold"}
}

// told says what a plan is, a line an object.
func told(p Plan) string {
	var b strings.Builder
	for n, stage := range p.Apply {
		for _, a := range stage.Actions {
			fmt.Fprintf(&b, "%d %s %s uid=%s take=%d left=%v\n", n, a.Verb, a.Ref, a.UID, a.Take, a.Left)
		}
	}
	for n, stage := range p.Prune {
		for _, a := range stage.Actions {
			fmt.Fprintf(&b, "-%d %s %s uid=%s\n", n, a.Verb, a.Ref, a.UID)
		}
	}
	for _, a := range p.Refused {
		fmt.Fprintf(&b, "refuse %s: %.50s\n", a.Ref, a.Why)
	}
	if p.Hold != nil {
		fmt.Fprintf(&b, "hold: %s\n", p.Hold.Reason)
	}
	return b.String()
}

func TestOneObject(t *testing.T) {
	const name = "v1 ConfigMap shop/web"
	plain, overwrite := manifest(name, nil), manifest(name, nil, conflictAnnotation+"=overwrite")
	known := inventory.Entry{Content: plain.Content, UID: "u1", Fields: Digest(live("u1"))}
	older := inventory.Entry{Content: blob("older"), UID: "u1", Fields: Digest(live("u1"))}
	began := inventory.Entry{}
	for _, c := range []struct {
		name   string
		object Object
		entry  *inventory.Entry
		live   *metav1.PartialObjectMetadata
		want   string
	}{
		{"is not there", plain, nil, nil, "0 create ConfigMap/shop/web uid= take=0 left=[]\n"},
		{"is as it was applied", plain, &known, live("u1"), ""},
		{"has another content", plain, &older, live("u1"), "0 update ConfigMap/shop/web uid=u1 take=1 left=[]\n"},
		{"was deleted", plain, &known, nil, "0 create ConfigMap/shop/web uid= take=0 left=[]\n"},
		{"was deleted, and somebody made it anew alike", plain, &known, live("u2"), "0 correct ConfigMap/shop/web uid=u2 take=1 left=[]\n"},
		{"lost a field to somebody", plain, &known, live("u1", func(o *metav1.PartialObjectMetadata) {
			o.ManagedFields = []metav1.ManagedFieldsEntry{fields(Manager, metav1.ManagedFieldsOperationApply, `{}`), fields("kubectl-edit", metav1.ManagedFieldsOperationUpdate, `{"f:data":{}}`)}
		}), "0 correct ConfigMap/shop/web uid=u1 take=1 left=[]\n"},
		{"has a field more of somebody", plain, &known, live("u1", func(o *metav1.PartialObjectMetadata) {
			o.ManagedFields = append(o.ManagedFields, fields("kubectl-edit", metav1.ManagedFieldsOperationUpdate, `{"f:other":{}}`))
		}), ""},
		{"lost its owner, and is ours by its UID", plain, &known, live("u1", owner("")), ""},
		{"was about to be applied", plain, &began, live("u1"), "0 update ConfigMap/shop/web uid=u1 take=1 left=[]\n"},
		{"was applied, and the inventory is lost", plain, nil, live("u1"), "0 update ConfigMap/shop/web uid=u1 take=1 left=[]\n"},
		{"carries our owner and was not applied by us", plain, nil, live("u1", func(o *metav1.PartialObjectMetadata) { o.ManagedFields = nil }), "refuse ConfigMap/shop/web: it is there already, and not from here (somebody w\n"},
		{"is somebody's", plain, nil, live("u1", theirs), "refuse ConfigMap/shop/web: it is there already, and not from here (helm wrote\n"},
		{"was made anew by somebody", plain, &known, live("u2", theirs), "refuse ConfigMap/shop/web: it is there already, and not from here (helm wrote\n"},
		{"is somebody's, and to be overwritten", overwrite, nil, live("u1", theirs), "0 adopt ConfigMap/shop/web uid=u1 take=2 left=[]\n"},
		{"is Argo CD's, and to be overwritten", overwrite, nil, live("u1", theirs, func(o *metav1.PartialObjectMetadata) {
			o.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "app:x"}
		}), "refuse ConfigMap/shop/web: it carries the mark of another tool (Argo CD Appli\n"},
		{"is another source's, and to be overwritten", overwrite, nil, live("u1", owner("other")), "refuse ConfigMap/shop/web: the source other owns it, by its annotation waybil\n"},
		{"is ours, and to be overwritten", overwrite, &older, live("u1"), "0 update ConfigMap/shop/web uid=u1 take=2 left=[]\n"},
		{"is being deleted", plain, &known, live("u1", deleting), "refuse ConfigMap/shop/web: it is being deleted, and waits for the finalizers \n"},
		{"is being deleted, and waits for nothing", plain, &known, live("u1", deleting, func(o *metav1.PartialObjectMetadata) { o.Finalizers = nil }), "refuse ConfigMap/shop/web: it is being deleted; it is created anew when it is\n"},
		{"has its fields of another version", plain, &known, live("u1", func(o *metav1.PartialObjectMetadata) { o.ManagedFields[0].APIVersion = "v2" }), "0 correct ConfigMap/shop/web uid=u1 take=1 left=[]\n"},
		{"is unfit", Object{Ref: plain.Ref, Unfit: "it is sealed"}, &known, live("u1"), "refuse ConfigMap/shop/web: it is sealed\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{Objects: []Object{c.object}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}, Entries: map[object.Ref]inventory.Entry{}}}
			if c.entry != nil {
				in.Inventory.Entries[c.object.Ref] = *c.entry
			}
			if c.live != nil {
				in.Facts.Live = map[object.Ref]*metav1.PartialObjectMetadata{c.object.Ref: c.live}
			}
			p := Make(in)
			if diff := cmp.Diff(c.want, told(p)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if same := c.want == ""; same != (p.Same == 1) {
				t.Errorf("%d are the same", p.Same)
			}
			_, noted := in.Inventory.Begin(blob("c"), p.wants, p.leaving).Entries[c.object.Ref]
			if noted != (c.entry != nil || !strings.HasPrefix(c.want, "refuse")) {
				t.Errorf("it is in the inventory: %v", noted)
			}
		})
	}
}

func TestAdoption(t *testing.T) {
	a, b := manifest("v1 ConfigMap shop/a", nil), manifest("v1 ConfigMap shop/b", nil)
	in := Input{
		Objects: []Object{a, b}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}},
		Facts: Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{a.Ref: live("u1", theirs), b.Ref: live("u2", owner("other"))}},
	}
	first := Make(in).Adoption
	if len(first.Objects) != 1 || first.Objects[0].Object != a.Ref || first.Digest == "" {
		t.Fatalf("%+v", first)
	}
	in.Options.Adopt = []string{first.Digest}
	want := "0 adopt ConfigMap/shop/a uid=u1 take=2 left=[]\nrefuse ConfigMap/shop/b: the source other owns it, by its annotation waybil\n"
	if diff := cmp.Diff(want, told(Make(in))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	in.Facts.Reconciled = map[object.Ref]string{a.Ref: "Flux Kustomization flux-system/apps"}
	if got := told(Make(in)); !strings.Contains(got, "refuse ConfigMap/shop/a: Flux Kustomization flux-system/apps applies it") {
		t.Errorf("what Flux applies is adopted: %s", got)
	}
	in.Facts.Reconciled, in.Facts.Unreconciled = nil, errors.New("it is not ready")
	in.Facts.Live[a.Ref].Labels = map[string]string{fluxLabel: "apps"}
	if got := told(Make(in)); !strings.Contains(got, "refuse ConfigMap/shop/a: whether Flux applies it") {
		t.Errorf("what Flux may apply is adopted: %s", got)
	}
	in.Facts.Unreconciled = nil
	if diff := cmp.Diff(want, told(Make(in))); diff != "" {
		t.Errorf("without Flux -want +got:\n%s", diff)
	}
	in.Facts.Live[a.Ref] = live("u3", theirs) // made anew since somebody saw the list
	if got := told(Make(in)); strings.Contains(got, "adopt") && !strings.Contains(got, "refuse ConfigMap/shop/a") {
		t.Errorf("the digest of another list adopts: %s", got)
	}
}

func TestStages(t *testing.T) {
	var in Input
	for _, name := range []string{
		"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration w", "v1 ConfigMap shop/a", "example.com/v1 Widget shop/w", "v1 ServiceAccount shop/sa",
		"storage.k8s.io/v1 StorageClass fast", "v1 Namespace shop", "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", "apps/v1 Deployment shop/web",
	} {
		in.Objects = append(in.Objects, manifest(name, nil))
	}
	in.Inventory = inventory.Inventory{Identity: inventory.Identity{Owner: source}}
	p := Make(in)
	want := []string{"CustomResourceDefinition Namespace", "StorageClass ServiceAccount", "ConfigMap Deployment Widget", "ValidatingWebhookConfiguration"}
	if diff := cmp.Diff(want, kindsOf(p.Apply)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// and the other way round when all of it leaves
	in.Inventory = in.Inventory.Begin(blob("c"), p.wants, nil).Ended()
	in.Objects, in.Options.Allowed = nil, true
	want = []string{"ValidatingWebhookConfiguration", "Widget Deployment ConfigMap", "ServiceAccount StorageClass", "Namespace CustomResourceDefinition"}
	if diff := cmp.Diff(want, kindsOf(Make(in).Prune)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func kindsOf(stages []Stage) []string {
	var out []string
	for _, stage := range stages {
		var kinds []string
		for _, a := range stage.Actions {
			kinds = append(kinds, a.Ref.Kind)
		}
		out = append(out, strings.Join(kinds, " "))
	}
	return out
}

func TestWhatLeaves(t *testing.T) {
	entries := map[object.Ref]inventory.Entry{}
	var objects []Object
	for n := range 20 {
		o := manifest(fmt.Sprintf("v1 ConfigMap shop/c%02d", n), nil)
		objects, entries[o.Ref] = append(objects, o), inventory.Entry{Content: o.Content, UID: fmt.Sprint("u", n)}
	}
	protected := manifest("v1 Namespace shop", nil)
	entries[protected.Ref] = inventory.Entry{UID: "n"}
	entries[object.Ref{Kind: "Namespace", Name: "kube-system"}] = inventory.Entry{UID: "k"}
	for _, c := range []struct {
		name    string
		keep    int // of the ConfigMaps
		objects []Object
		change  func(*Input)
		want    string // how the plan begins
	}{
		{"two of them", 18, []Object{protected}, nil, "-0 delete ConfigMap/shop/c19 uid=u19\n-0 delete ConfigMap/shop/c18 uid=u18\n-1 release Namespace/kube-system uid=k\n"},
		{"before a round came to its end", 18, []Object{protected}, func(in *Input) { in.Inventory.Settled = false }, ""},
		{"as many as the guard allows", 10, []Object{protected}, nil, "-0 delete"},
		{"more than that", 9, []Object{protected}, nil, "hold: it would lose 11 of 21 objects; the guard allows 10"},
		{"more than that, which was allowed", 9, []Object{protected}, func(in *Input) { in.Options.Allowed = true }, "-0 delete"},
		{"more than that, of which one failed over", 9, []Object{protected}, func(in *Input) {
			in.Options.FailedOver = map[string]bool{tree.Path(objects[19].Ref): true}
		}, "-0 delete"},
		{"all of it, and it failed over", 0, nil, func(in *Input) {
			in.Options.FailedOver = map[string]bool{tree.Path(protected.Ref): true}
			for _, o := range objects {
				in.Options.FailedOver[tree.Path(o.Ref)] = true
			}
		}, "-0 delete"},
		{"more than that, which was judged before", 9, []Object{protected}, func(in *Input) {
			for r, e := range in.Inventory.Entries {
				e.Leaving = r.Name > "c1" && r.Name < "c2"
				in.Inventory.Entries[r] = e
			}
		}, "-0 delete"},
		{"more than the guard allows of what does not leave already", 12, []Object{protected}, func(in *Input) {
			in.Options.Guard.MaxRemoved = 0
			for r, e := range in.Inventory.Entries {
				e.Leaving = r.Name >= "c16" && r.Name <= "c19"
				in.Inventory.Entries[r] = e
			}
		}, "hold: it would lose 4 of 17 objects; the guard allows 3"},
		{"more than that, which stays in the cluster", 9, []Object{protected}, func(in *Input) {
			for r, e := range in.Inventory.Entries {
				e.Keeps = true
				in.Inventory.Entries[r] = e
			}
		}, "-0 release ConfigMap/shop/c19"},
		{"one of a protected kind", 20, nil, nil, "hold: it would lose Namespace/shop, of a protected kind"},
		{"all of it", 0, nil, nil, "hold: it would lose all it holds, 21 of 21 objects"},
		{"of a kind that is not known", 19, []Object{protected}, func(in *Input) {
			in.Facts.Unknown = map[schema.GroupKind]error{{Kind: "ConfigMap"}: errors.New("forbidden")}
		}, "-0 release Namespace/kube-system uid=k\nrefuse ConfigMap/shop/c00: what the cluster has of its kind is not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{Objects: append(append([]Object(nil), objects[:c.keep]...), c.objects...)}
			in.Options.Guard = render.DefaultConfig().Guard
			in.Inventory = inventory.Inventory{Identity: inventory.Identity{Owner: source}, Settled: true, Entries: entries}.Begin(blob("c"), nil, nil)
			in.Facts.Live = map[object.Ref]*metav1.PartialObjectMetadata{}
			for r, e := range entries {
				in.Facts.Live[r] = live(e.UID)
				e.Fields = Digest(in.Facts.Live[r])
				if r.Kind == "Namespace" {
					e.Content = protected.Content
				}
				in.Inventory.Entries[r] = e
			}
			if c.change != nil {
				c.change(&in)
			}
			p := Make(in)
			if got := told(p); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("want %q, got:\n%s", c.want, got)
			}
			if p.Hold != nil && p.Requests() != 0 {
				t.Errorf("it is held, and %d requests are planned", p.Requests())
			}
		})
	}
}

// TestOneObjectByTwoNames: what leaves by one name and is on the branch by another is one object: an OpenShift Project is its Namespace.
// It is neither deleted nor released, and the inventory has it by one name then, if that is applied.
func TestOneObjectByTwoNames(t *testing.T) {
	project, namespace, other := object.Ref{Kind: "Project", Group: "project.openshift.io", Name: "shop"}, manifest("v1 Namespace shop", nil), manifest("v1 ConfigMap shop/c", nil)
	for _, tt := range []struct {
		name      string
		left      inventory.Entry
		namespace string // its UID; another one if it is another object
		owner     string
		want      string
		knows     bool // by its name of before
	}{
		{"the same object", inventory.Entry{UID: "same"}, "same", source, "Namespace/shop update", false},
		{"the same object, which is to stay when it leaves", inventory.Entry{UID: "same", Keeps: true}, "same", source, "Namespace/shop update", false},
		{"the same object, which is another source's", inventory.Entry{UID: "same"}, "same", "git.example.com/others", "", true},
		{"another one", inventory.Entry{UID: "another"}, "same", source, "Namespace/shop update, Project.project.openshift.io/shop delete", false},
		{"one of which no UID is known", inventory.Entry{}, "", source, "Namespace/shop update, Project.project.openshift.io/shop delete", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel()
			m.things = map[object.Ref]thing{
				project: {uid: tt.left.UID, owner: source, ours: 1}, namespace.Ref: {uid: tt.namespace, owner: tt.owner, ours: 1}, other.Ref: {uid: "c", owner: source, ours: 1},
			}
			known := inventory.Inventory{Identity: inventory.Identity{Owner: source, Cluster: "eu"}, Settled: true, Entries: map[object.Ref]inventory.Entry{project: tt.left, other.Ref: {UID: "c"}}}
			m.put(known)
			objects := []Object{namespace, other}
			r := Round{Cluster: m, Name: "eu", Owner: source, Commit: blob("c"), Objects: objects, Admit: func(context.Context, inventory.Inventory) (Options, error) {
				return Options{Guard: render.DefaultConfig().Guard}, nil
			}}
			report, err := r.Do(t.Context())
			if err != nil || report.Plan.Hold != nil {
				t.Fatalf("%v, %+v", err, report.Plan.Hold)
			}
			var got []string
			for _, o := range report.Outcomes {
				if o.Ref != other.Ref {
					got = append(got, o.Ref.String()+" "+string(o.Verb))
				}
			}
			if is := strings.Join(got, ", "); is != tt.want {
				t.Errorf("it comes to %s, want %s", is, tt.want)
			}
			if _, knows := m.stored.Inventory.Entries[project]; knows != tt.knows {
				t.Errorf("the inventory has %+v", m.stored.Inventory.Entries)
			}
		})
	}
}

// TestAnObjectIsKnownByOneName although nothing is to be done about it: it was applied by its other name before what left the branch was
// looked at.
func TestAnObjectIsKnownByOneName(t *testing.T) {
	project, namespace := object.Ref{Kind: "Project", Group: "project.openshift.io", Name: "shop"}, manifest("v1 Namespace shop", nil)
	m := newModel()
	m.things = map[object.Ref]thing{project: {uid: "u", owner: source, ours: 1}, namespace.Ref: {uid: "u", owner: source, ours: 1}}
	m.put(inventory.Inventory{Identity: inventory.Identity{Owner: source, Cluster: "eu-1"}, Entries: map[object.Ref]inventory.Entry{project: {UID: "u"}}})
	for n := range 3 { // the first round deletes nothing
		if err := m.round(t, []Object{namespace}, blob("c")); err != nil {
			t.Fatal(err)
		}
		if _, knows := m.stored.Inventory.Entries[project]; knows != (n == 0) || len(m.took) > 0 {
			t.Errorf("after the round %d the inventory has %+v, and %v was deleted", n, m.stored.Inventory.Entries, m.took)
		}
	}
}

func leftOut(a Action) string {
	if len(a.Filled) > 0 {
		return fmt.Sprintf("%v and %v as they are", a.Left, a.Filled)
	}
	return fmt.Sprint(a.Left)
}

func TestFieldsLeftToTheCluster(t *testing.T) {
	web := manifest("apps/v1 Deployment shop/web", map[string]any{"replicas": int64(3)})
	bare := manifest("apps/v1 Deployment shop/web", map[string]any{})
	hpa := manifest("autoscaling/v2 HorizontalPodAutoscaler shop/web", map[string]any{"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}})
	other := manifest("example.com/v1 Watcher shop/web", hpa.Manifest["spec"].(map[string]any))
	service := manifest("v1 Service shop/web", map[string]any{"clusterIP": "10.0.0.1"})
	scaled := live("u1", func(o *metav1.PartialObjectMetadata) {
		o.ManagedFields = append(o.ManagedFields, fields("kube-controller-manager", metav1.ManagedFieldsOperationUpdate, `{"f:spec":{"f:replicas":{}}}`))
	})
	unscaled := live("u1", func(o *metav1.PartialObjectMetadata) {
		o.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)
	})
	helms := live("u1", theirs, func(o *metav1.PartialObjectMetadata) {
		o.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)
	})
	overwrite := manifest("apps/v1 Deployment shop/web", web.Manifest["spec"].(map[string]any), conflictAnnotation+"=overwrite")
	retaining := manifest("apps/v1 Deployment shop/web", web.Manifest["spec"].(map[string]any))
	retaining.Manifest["metadata"].(map[string]any)["labels"] = map[string]any{"resourcetemplate.karmada.io/retain-replicas": "true"}
	for _, c := range []struct {
		name    string
		objects []Object
		live    *metav1.PartialObjectMetadata
		want    string
	}{
		{"nothing scales it", []Object{web}, scaled, "[]"},
		{"what is no autoscaler names it", []Object{web, other}, scaled, "[]"},
		{"an autoscaler scaled it", []Object{web, hpa}, scaled, "[[spec replicas]]"},
		{"an autoscaler has not scaled it yet", []Object{web, hpa}, unscaled, "[]"},
		{"it is new", []Object{web, hpa}, nil, "[]"},
		{"its label says so", []Object{retaining}, scaled, "[[spec replicas]]"},
		{"it is adopted with its replicas", []Object{overwrite, hpa}, helms, "[]"},
		{"the server gave it an address", []Object{service}, live("u1"), "[[spec clusterIP]]"},
		{"its replicas left the branch, and somebody scaled it", []Object{bare, hpa}, scaled, "[]"},
		{"its replicas left the branch, and nobody scaled it", []Object{bare, hpa}, unscaled, "[] and [[spec replicas]] as they are"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{Objects: c.objects, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}}}
			if c.live != nil {
				in.Facts.Live = map[object.Ref]*metav1.PartialObjectMetadata{c.objects[0].Ref: c.live}
			}
			for _, stage := range Make(in).Apply {
				for _, a := range stage.Actions {
					if got := leftOut(a); a.Ref == c.objects[0].Ref && got != c.want {
						t.Errorf("%s is left out, want %s", got, c.want)
					}
				}
			}
		})
	}
}
