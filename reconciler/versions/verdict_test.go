package versions_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/preview/markdown"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/test/twin"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// answered is how many bytes of a comment somebody reads.
const answered = 300

const (
	policyForm  = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: %s, namespace: shop}\nspec:\n  resourceSelectors: [{apiVersion: %s, kind: %s, labelSelector: {matchLabels: {in: %[1]s}}}]\n  placement: {clusterAffinity: {labelSelector: {matchLabels: {zone: %[4]s}}}}\n"
	releaseText = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: stack, namespace: shop}\nspec:\n  chart: {spec: {chart: ./charts/stack}}\n"
)

func deployment(name, in, image string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: shop, labels: {in: %s}}\nspec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: %q}]}}}\n", name, in, image)
}

// grand is a fleet of 200 clusters in two zones, with apps everywhere, apps in a zone, and a release of 486 objects.
func grand() map[string]string {
	texts := map[string]string{"charts/stack/Chart.yaml": chart("1.0.0"), "stack.yaml": releaseText}
	var clusters strings.Builder
	for i := range 200 {
		fmt.Fprintf(&clusters, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%03d, labels: {zone: %s}}\nspec: {syncMode: Pull}\n---\n", i, []string{"a", "b"}[i%2])
	}
	texts["clusters.yaml"] = clusters.String()
	everywhere := strings.Replace(fmt.Sprintf(policyForm, "everywhere", "apps/v1", "Deployment", "a"), "clusterAffinity: {labelSelector: {matchLabels: {zone: a}}}", "", 1)
	texts["policies/everywhere.yaml"] = everywhere
	texts["policies/zone.yaml"] = fmt.Sprintf(policyForm, "zone", "apps/v1", "Deployment", "a")
	texts["policies/release.yaml"] = strings.Replace(fmt.Sprintf(policyForm, "release", "helm.toolkit.fluxcd.io/v2", "HelmRelease", "a"), ", labelSelector: {matchLabels: {in: release}}", "", 1)
	texts["apps/api.yaml"] = deployment("api", "everywhere", "registry.example.com/api:1.1.0")
	texts["apps/payments.yaml"] = deployment("payments", "everywhere", "registry.example.com/payments:3.0.1")
	for i := range 45 {
		texts[fmt.Sprintf("apps/zone-%02d.yaml", i)] = deployment(fmt.Sprintf("zone-%02d", i), "zone", "registry.example.com/zone:1")
	}
	texts["charts/stack/templates/all.yaml"] = "{{ range $i := until 486 }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: part-{{ $i }}, labels: {helm.sh/chart: stack-{{ $.Chart.Version }}}}\ndata: {version: {{ $.Chart.Version | quote }}}\n{{ end }}"
	return texts
}

func chart(version string) string {
	return "apiVersion: v2\nname: stack\nversion: " + version + "\n"
}

// claims adds 40 overlays that take the size of their PersistentVolumeClaim from a component.
func claims(size int) func(map[string]string) {
	return func(texts map[string]string) {
		texts["components/size/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{target: {kind: PersistentVolumeClaim}, path: size.yaml}]\n"
		texts["components/size/size.yaml"] = fmt.Sprintf("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: any}\nspec: {resources: {requests: {storage: %dGi}}}\n", size)
		texts["policies/claims.yaml"] = strings.Replace(fmt.Sprintf(policyForm, "claims", "v1", "PersistentVolumeClaim", "a"), ", labelSelector: {matchLabels: {in: claims}}", "", 1)
		for i := range 40 {
			dir := fmt.Sprintf("claims/%02d/", i)
			texts[dir+"kustomization.yaml"] = "resources: [claim.yaml]\ncomponents: [../../components/size]\n"
			texts[dir+"claim.yaml"] = fmt.Sprintf("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data-%02d, namespace: shop}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n", i)
		}
	}
}

func folderOf(texts map[string]string) twin.Tree {
	tree := twin.Tree{}
	for name, text := range texts {
		tree[name] = twin.File([]byte(text))
	}
	return tree
}

// A comment begins with the answer: what somebody who is about to merge has to know, for six kinds of change.
func TestACommentBeginsWithTheAnswer(t *testing.T) {
	t.Parallel()
	const shared = "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: size, namespace: shop}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {in: zone}}}]\n  overrideRules: [{overriders: {plaintext: [{path: /spec/replicas, operator: replace, value: %d}]}}]\n"
	for _, tt := range []struct {
		name string
		base func(map[string]string)
		head func(map[string]string)
	}{
		{"an-image", nil, func(s map[string]string) {
			s["apps/api.yaml"] = strings.Replace(s["apps/api.yaml"], "1.1.0", "9.9.9", 1)
		}},
		{"a-move", nil, func(s map[string]string) {
			s["policies/zone.yaml"] = strings.Replace(s["policies/zone.yaml"], "zone: a}", "zone: b}", 1)
		}},
		{"a-chart", nil, func(s map[string]string) { s["charts/stack/Chart.yaml"] = chart("1.1.0") }},
		{"a-delete", nil, func(s map[string]string) { delete(s, "apps/payments.yaml"); delete(s, "apps/api.yaml") }},
		{"a-delete-that-nothing-holds", nil, func(s map[string]string) { delete(s, "apps/zone-00.yaml") }},
		{"a-shared-default", func(s map[string]string) { s["size.yaml"] = fmt.Sprintf(shared, 5) }, func(s map[string]string) { s["size.yaml"] = fmt.Sprintf(shared, 7) }},
		{"a-shared-file", claims(5), claims(7)},
		{"a-red-main", func(s map[string]string) { s["apps/broken.yaml"] = "apiVersion: v1\nkind: [\n" }, func(s map[string]string) {
			s["apps/api.yaml"] = strings.Replace(s["apps/api.yaml"], "1.1.0", "1.2.0", 1)
		}},
		{"an-error", nil, func(s map[string]string) {
			s["policies/zone.yaml"] = strings.Replace(s["policies/zone.yaml"], "placement:", "placementt:", 1)
		}},
		{"nothing", nil, func(s map[string]string) { s["README.md"] = "words" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			texts := grand()
			if tt.base != nil {
				tt.base(texts)
			}
			repo := twin.New("fleet")
			repo.Write("main", "base", folderOf(texts).Folder())
			now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
			r := &reconciler.Reconciler{
				Seen: reconciler.NewCache(), Source: repo, Target: repo, Cache: cache.Memory(), Now: func() time.Time { return now },
				Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil),
			}
			if _, err := r.Publish(t.Context(), "main"); err != nil {
				t.Fatal(err)
			}
			tt.head(texts)
			repo.Write("change", "change", folderOf(texts).Folder())
			head, err := repo.Snapshot(t.Context(), "change", "")
			if err != nil {
				t.Fatal(err)
			}
			c, err := versions.Compare(t.Context(), r, "main", head)
			if err != nil {
				t.Fatal(err)
			}
			got := markdown.Comment(&c, markdown.Limit)
			got = got[:min(answered, len(got))] + "\n"
			golden := "testdata/" + tt.name + ".md"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("it begins\n%s\nwant\n%s", got, want)
			}
		})
	}
}
