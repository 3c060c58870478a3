package versions_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/draw"
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

// What a release draws is the same in both versions, and not shown; both draw from the key of the question, and with none neither does.
func TestAReleaseThatDraws(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"clusters.yaml": "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n",
		"policy.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\n" +
			"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}, {apiVersion: v1, kind: ConfigMap}], placement: {}}\n",
		"plain.yaml":              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain, namespace: shop}\ndata: {k: one}\n",
		"release.yaml":            strings.Replace(releaseText, "namespace: shop", "namespace: shop, annotations: {waybill.dev/allow-functions: randAlphaNum}", 1),
		"charts/stack/Chart.yaml": chart("1.0.0"),
		"charts/stack/templates/made.yaml": "{{ range until 12 }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ printf \"%s%d\" $.Values.prefix . }}}\n" +
			"data: {drawn: {{ printf \"drawn%s\" (randAlphaNum 20) | quote }}, version: {{ $.Chart.Version | quote }}}\n{{ end }}",
		"charts/stack/values.yaml": "prefix: made-\n",
	}
	key, err := draw.NewKey([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := draw.Throwaway(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	repo := twin.New("fleet")
	repo.Write("main", "base", folderOf(texts).Folder())
	r := &reconciler.Reconciler{
		Seen: reconciler.NewCache(), Source: repo, Target: repo, Cache: cache.Memory(), Random: plan.Random{Key: key},
		Now:    func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) },
		Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil),
	}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	texts["charts/stack/Chart.yaml"] = chart("1.1.0")
	repo.Write("change", "change", folderOf(texts).Folder())
	head, err := repo.Snapshot(t.Context(), "change", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]draw.Key{"its own key": key, "one that is thrown away": other, "none": {}} {
		c, err := versions.Preview(t.Context(), r, versions.Question{Base: "main", Head: head, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, change := range c.Changes {
			for _, content := range change.Changed {
				for _, f := range content.Fields {
					paths = append(paths, f.Path)
				}
			}
		}
		isDrawn, errors := !key.IsZero(), c.Errors()+len(preview.Mistakes(c.Already))
		if isDrawn != (errors == 0) || isDrawn != slices.Equal(slices.Compact(paths), []string{"data.version"}) {
			t.Errorf("with %s it changes %q, with %d errors: %v %v", name, paths, errors, c.Diags, c.Already)
		}
	}
	// what has a drawn name is another object for a twin, whose clusters the guard holds: what they hold is not shown either, and what
	// else the release renders is
	template := texts["charts/stack/templates/made.yaml"]
	texts["charts/stack/templates/made.yaml"] = strings.Replace(template, "$.Values.prefix .", `(randAlphaNum 9 | lower | printf "made-%s-") .`, 1) +
		"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\ndata: {chart: {{ .Chart.Version | quote }}}\n"
	repo = twin.New("fleet")
	repo.Write("main", "base", folderOf(texts).Folder())
	r.Seen, r.Source, r.Target = reconciler.NewCache(), repo, repo
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	texts["charts/stack/Chart.yaml"] = chart("1.2.0")
	texts["plain.yaml"] = strings.Replace(texts["plain.yaml"], "one", "two", 1)
	repo.Write("change", "change", folderOf(texts).Folder())
	if head, err = repo.Snapshot(t.Context(), "change", ""); err != nil {
		t.Fatal(err)
	}
	shows := func(from, to, fixed string) {
		t.Helper()
		c, err := versions.Preview(t.Context(), r, versions.Question{Base: "main", Head: head, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		if c.Totals.Changed != 14 || c.Totals.Added+c.Totals.Removed > 0 || c.Guard != nil ||
			strings.Contains(string(shown), "made-") || strings.Contains(string(shown), "drawn") ||
			!strings.Contains(string(shown), fmt.Sprintf(`"path":"data.k","op":"replace","from":%q,"to":%q`, from, to)) ||
			!strings.Contains(string(shown), fixed) {
			t.Errorf("it shows %s", shown)
		}
	}
	shows("one", "two", `"path":"data.chart","op":"replace","from":"1.1.0","to":"1.2.0"`)
	// where the base leaves such objects as they are, as its release is suspended, only the twin of the head is held
	active := texts["release.yaml"]
	texts["release.yaml"] = active + "  suspend: true\n"
	repo.Write("main", "suspended", folderOf(texts).Folder())
	texts["release.yaml"], texts["plain.yaml"] = active, strings.Replace(texts["plain.yaml"], "two", "three", 1)
	repo.Write("change", "active again", folderOf(texts).Folder())
	if head, err = repo.Snapshot(t.Context(), "change", ""); err != nil {
		t.Fatal(err)
	}
	shows("two", "three", `"path":"data","op":"replace","from":"(not shown)","to":{"chart":"1.2.0"}`)
}
