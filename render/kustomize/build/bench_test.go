package build

import "testing"

// BenchmarkBuild is a folder with one object and a patch that asks the schema, built again in one process.
func BenchmarkBuild(b *testing.B) {
	files := sourceOf(farm(""))
	for b.Loop() {
		if _, err := Kustomization(files, Options{Dir: "app"}); err != nil {
			b.Fatal(err)
		}
	}
}
