package fluxsync

import (
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/object"
)

// TestObjectsAreFluxs reads all that is written for Flux into Flux's own types, which know no other
// field: what they do not know its API server would drop, in silence.
func TestObjectsAreFluxs(t *testing.T) {
	s := of("eu-1")
	s.ServiceAccountName, s.DecryptionSecret, s.Folder = "fleet", "keys", "clusters/eu-1"
	source := s.GitRepository("https://git.example.com/fleet.git", "waybill/cluster/eu-1", "git-read")
	var repository sourcev1.GitRepository
	if err := yaml.UnmarshalStrict(object.Encode(source), &repository); err != nil {
		t.Errorf("the source: %v", err)
	}
	if repository.APIVersion != sourcev1.GroupVersion.String() || repository.Spec.Reference.Branch != "waybill/cluster/eu-1" ||
		repository.Spec.SecretRef.Name != "git-read" || repository.Spec.Interval.Minutes() != 1 {
		t.Errorf("the source is %+v", repository)
	}
	for name, k := range map[string]map[string]any{
		"root":         s.Root(),
		"child":        s.Child(Child{Part: "part.1", Path: "parts/1", Namespace: "team", Orphan: true}),
		"folder":       s.FolderOf("shop", "flux/shop", "_cluster"),
		"awaited":      s.Awaited(s.Root()),
		"awaited root": s.AwaitedRoot([]map[string]any{{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"}}),
	} {
		var kustomization kustomizev1.Kustomization
		if err := yaml.UnmarshalStrict(object.Encode(k), &kustomization); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		spec := kustomization.Spec
		if kustomization.APIVersion != kustomizev1.GroupVersion.String() || !spec.Prune || spec.Decryption.SecretRef.Name != "keys" ||
			spec.ServiceAccountName != "fleet" || spec.SourceRef.Kind != sourcev1.GitRepositoryKind || spec.Interval.Minutes() != 10 {
			t.Errorf("%s is %+v", name, kustomization)
		}
		if isAwaited := name == "awaited"; spec.Wait != isAwaited {
			t.Errorf("%s waits: %v", name, spec.Wait)
		}
		if name == "awaited root" && (len(spec.HealthChecks) != 1 || spec.HealthChecks[0].Name != "web" || spec.Patches[0].Target.Group != kustomizev1.GroupVersion.Group) {
			t.Errorf("%s is %+v", name, kustomization)
		}
		if name == "child" && (spec.DeletionPolicy != kustomizev1.DeletionPolicyOrphan || spec.DependsOn[0].Namespace != s.Namespace) {
			t.Errorf("%s is %+v", name, kustomization)
		}
	}
}

// TestWaitIsTwiceWhatIsLookedAfter holds what is recommended to what is printed.
func TestWaitIsTwiceWhatIsLookedAfter(t *testing.T) {
	var sum time.Duration
	for _, interval := range []string{SourceInterval, Interval, Wait} {
		d, err := time.ParseDuration(interval)
		if err != nil {
			t.Fatal(err)
		}
		if interval == Wait && d != 2*sum {
			t.Errorf("the wait is %s, want twice %s", d, sum)
		}
		sum += d
	}
}
