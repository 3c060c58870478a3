package versions_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/test/twin"
)

// What a release made of a Secret is not shown, whichever of two versions has the release: here a file takes its place.
func TestAReleaseThatReadsASecretOfOneVersion(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"waybill.yaml":  "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {secrets: allow}\n",
		"clusters.yaml": "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n",
		"policy.yaml": `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}, {apiVersion: v1, kind: ConfigMap}]
  placement: {}
`,
		"secret.yaml":             "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {password: hunter2}\n",
		"charts/stack/Chart.yaml": chart("1.0.0"),
		"charts/stack/templates/made.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: made}
data: {v: {{ .Values.password | replace "t" "-" }}}
`,
	}
	const (
		made    = "hun-er2" // of the password, which whoever looks for that does not find in it
		release = releaseText + "  valuesFrom: [{kind: Secret, name: s, valuesKey: password, targetPath: password}]\n"
		plain   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: shop}\ndata: {v: written}\n"
	)
	for _, tt := range []struct{ name, base, head string }{{"it goes", release, plain}, {"it comes", plain, release}} {
		repo := twin.New("fleet")
		texts["made.yaml"] = tt.base
		repo.Write("main", "base", folderOf(texts).Folder())
		r := &reconciler.Reconciler{
			Seen: reconciler.NewCache(), Source: repo, Target: repo, Cache: cache.Memory(),
			Now:    func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) },
			Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil),
		}
		if _, err := r.Publish(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
		texts["made.yaml"] = tt.head
		repo.Write("change", "change", folderOf(texts).Folder())
		head, err := repo.Snapshot(t.Context(), "change", "")
		if err != nil {
			t.Fatal(err)
		}
		c, err := versions.Compare(t.Context(), r, "main", head)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(shown), `"made"`) || strings.Contains(string(shown), made) {
			t.Errorf("%s: it shows %s", tt.name, shown)
		}
	}
}
