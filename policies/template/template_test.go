package template_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/render/object"
)

func decoded(t *testing.T, text string) *object.Object {
	t.Helper()
	objs := object.Decode("x.yaml", []byte(text)).Objects
	if len(objs) != 1 {
		t.Fatalf("%s is no object", text)
	}
	return objs[0]
}

const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: a}\nspec: {ports: [{port: 80}], selector: {app: x}}\n"

var (
	clusters = fleet.New([]karmada.Cluster{named("us"), named("eu"), named("za"), named("ap")})
	alone    = fleet.New([]karmada.Cluster{named("eu")})
)

func named(cluster string) karmada.Cluster {
	return karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
}

func TestATemplateThatStandsForItselfSaysTheSameEverywhere(t *testing.T) {
	var m template.Memo
	o := decoded(t, service)
	tm := template.New(o, &m)
	if v := tm.In(0); v == nil || v != tm.In(1) || tm.Number(0) != 0 || tm.IsRelease() || tm.Subject.Ref != o.Ref() {
		t.Errorf("it says %+v", v)
	}
	if len(tm.Added) == 0 || tm.Content["spec"].(map[string]any)["type"] != "ClusterIP" || o.Content()["spec"].(map[string]any)["type"] != nil {
		t.Errorf("the API server's defaults are %v", tm.Added)
	}
	m.Turn()
	if again := template.New(o, &m); again.Digest(alone) != tm.Digest(alone) || template.New(o, &template.Memo{}).Digest(alone) != tm.Digest(alone) {
		t.Error("a memo changes it")
	}
	digests := map[string]bool{}
	for _, scaled := range []string{"", "3", "5"} { // what a schedule asks for is not in the object
		of := *tm
		of.Scaled = scaled
		digests[of.Digest(alone)] = true
	}
	if len(digests) != 3 {
		t.Error("other replicas by a schedule make no other digest")
	}
}

func TestAPartSaysWhatItsReleaseRenders(t *testing.T) {
	var m template.Memo
	one, two := decoded(t, service), decoded(t, strings.Replace(service, "spec: {", "spec: {type: NodePort, ", 1))
	release := decoded(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: a}\n")
	if !template.New(release, &m).IsRelease() {
		t.Error("a HelmRelease is no release")
	}
	// part is one that the release renders, in the clusters ap, eu, us and za, as given; nil
	// for one that it does not go to.
	part := func(in ...*object.Object) *template.Template {
		tm := template.New(one, &m)
		tm.Part = &template.Part{Release: release, Groups: slices.Repeat([]int{template.NoGroup}, len(clusters.Clusters()))}
		for i, o := range in {
			if o != nil {
				tm.Part.Groups[i] = i
				tm.Part.Add(o, i, &m)
			}
		}
		return tm
	}
	tm := part(one, one, two, nil)
	for i, want := range []*object.Object{one, one, two, nil} {
		v := tm.In(i)
		if (v == nil) != (want == nil) || v != nil && v.Object != want || v != nil && tm.Part.Variants[tm.Number(i)].Object != want {
			t.Errorf("in %s it says %+v", clusters.Clusters()[i].Name, v)
		}
	}
	if len(tm.Part.Variants) != 2 {
		t.Errorf("there are %d variants", len(tm.Part.Variants))
	}
	digests := map[string]bool{template.New(one, &m).Digest(clusters): true, tm.Digest(clusters): true}
	digests[part(nil, one, one).Digest(clusters)] = true
	digests[part(nil, one).Digest(clusters)] = true
	scaled := *template.New(one, &m)
	scaled.Scaled = "3"
	digests[scaled.Digest(clusters)] = true
	digests[part(two, two, one, nil).Digest(clusters)] = true // in the same clusters
	if len(digests) != 6 {
		t.Errorf("six contents have %d digests", len(digests))
	}
	last := part(one)
	if last.In(3) != nil || last.In(1) != nil {
		t.Error("a cluster that the release does not go to has what it renders")
	}
	last.Part.Groups[1], last.Part.Groups[2] = 1, 2
	if last.In(0) == nil || last.In(1) != nil || last.In(2) != nil {
		t.Error("a cluster of a later group has what the release renders for the first alone")
	}
}

// TestWhatIsDelivered: no release, and nothing that releases alone use; and policies select a template by what it is made of.
func TestWhatIsDelivered(t *testing.T) {
	var m template.Memo
	tm := template.New(decoded(t, service), &m)
	release := template.New(decoded(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: a}\n"), &m)
	if used := *tm; !tm.IsDelivered() || release.IsDelivered() {
		t.Error("a template is not delivered, or a release is")
	} else if used.UsedUp = true; used.IsDelivered() {
		t.Error("what releases alone use is delivered")
	}
	made := *tm
	made.MadeOf = decoded(t, "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: web, namespace: a}\n")
	if tm.Selected().Ref.Kind != "Service" || made.Selected().Ref.Kind != "ServiceImport" || made.Ref().Kind != "Service" {
		t.Errorf("policies see %v, and of what is made of something %v", tm.Selected().Ref, made.Selected().Ref)
	}
}
