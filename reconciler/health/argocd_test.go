package health_test

import (
	"io/fs"
	"path"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
)

// otherwise are kinds whose objects Argo CD does not judge alone.
var otherwise = []string{
	"CustomResourceDefinition.apiextensions.k8s.io", // kstatus, as for all of Kubernetes' own kinds
}

// TestCasesOfArgoCD judges the objects of Argo CD's own cases. Where Argo CD's rules are preferred
// they are what Argo CD says, but for kinds that are listed. Where both count, no object is done that
// is not healthy by Argo CD.
func TestCasesOfArgoCD(t *testing.T) {
	t.Parallel()
	words := map[argocd.Status]string{
		argocd.Progressing: health.InProgress, argocd.Degraded: health.Failed, argocd.Suspended: health.Suspended,
		argocd.Missing: health.NotFound, argocd.Unknown: health.Unknown,
	}
	argo := &health.Judge{Kinds: interpret.New(), Prefer: health.PreferArgoCD}
	both := &health.Judge{Kinds: interpret.New()}
	var right, all, others, stricter, karmadas int
	eachCase(t, func(name string, live map[string]any, want argocd.Verdict) {
		u := unstructured.Unstructured{Object: live}
		if all++; slices.Contains(otherwise, u.GroupVersionKind().GroupKind().String()) || u.GetDeletionTimestamp() != nil {
			others++
			return
		}
		h := argo.Of(live, health.Moment{})
		if h.Reason != words[want.Status] || h.Message != want.Message || (want.Status == argocd.Healthy) != (h.State == karmada.ResourceHealthy) ||
			(want.Status == argocd.Unknown) != (h.State == karmada.ResourceUnknown) {
			t.Errorf("%s: it is %s, %q %q by %s, want %s %q", name, h.State, h.Reason, h.Message, h.By, want.Status, want.Message)
			return
		}
		right++
		switch joint := both.Of(live, health.Moment{}); {
		case joint.State == karmada.ResourceHealthy && want.Status != argocd.Healthy:
			t.Errorf("%s: it is done by %s, and %s by Argo CD", name, joint.By, want.Status)
		case joint.State != karmada.ResourceHealthy && want.Status == argocd.Healthy:
			stricter++
		}
		if h.State != karmada.ResourceHealthy && h.Karmada == karmada.ResourceHealthy {
			karmadas++
		}
	})
	t.Logf("counted: objects of %s's cases judged as by Argo CD: %d of %d; being deleted, or of Kubernetes' own kinds: %d", argocd.Source, right, all, others)
	t.Logf("counted: healthy by Argo CD, and not by Karmada's rule: %d; not healthy by Argo CD, and healthy by Karmada: %d", stricter, karmadas)
}

func eachCase(tb testing.TB, check func(name string, live map[string]any, want argocd.Verdict)) {
	tb.Helper()
	suites, err := fs.Glob(argocd.Files(), "*/*/health_test.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	read := func(name string, out any) {
		data, err := fs.ReadFile(argocd.Files(), name)
		if err == nil {
			err = yaml.Unmarshal(data, out)
		}
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
	}
	for _, name := range suites {
		var suite struct {
			Tests []struct {
				InputPath    string         `json:"inputPath"`
				HealthStatus argocd.Verdict `json:"healthStatus"`
			} `json:"tests"`
		}
		read(name, &suite)
		for _, c := range suite.Tests {
			var live map[string]any
			read(path.Join(path.Dir(name), c.InputPath), &live)
			whole(live)
			check(path.Join(path.Dir(name), c.InputPath), live, c.HealthStatus)
		}
	}
}
