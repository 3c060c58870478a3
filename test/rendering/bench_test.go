package rendering

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/helm/build"
	"github.com/waybill-dev/waybill/test/corpus"
)

// BenchmarkFiftyClusters renders a real chart for fifty clusters that have ten sets of
// values: as a pipeline does, with a run of helm template for each cluster, and as
// Waybill does, with one reading of the chart and one rendering for each set.
func BenchmarkFiftyClusters(b *testing.B) {
	const clusters, sets = 50, 10
	chart := filepath.Join(corpus.Dir(b), "ingress-nginx/charts/ingress-nginx")
	files, err := filepath.Glob(filepath.Join(chart, "ci/*.yaml"))
	if err != nil || len(files) < sets {
		b.Fatalf("there are %d files of values: %v", len(files), err)
	}
	b.Run("helm template", func(b *testing.B) {
		for b.Loop() {
			for i := range clusters {
				if _, err := template(b, release{chart: chart, values: files[i%sets], crds: helm.Create}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("waybill", func(b *testing.B) {
		for b.Loop() {
			loaded, err := build.Load(os.DirFS(chart))
			if err != nil {
				b.Fatal(err)
			}
			for _, file := range files[:sets] {
				r := helm.Release{Name: releaseName, Namespace: namespace, Values: values(b, file)}
				if _, err := loaded.Template(r); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
