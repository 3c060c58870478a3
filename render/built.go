package render

import (
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources"
)

// Input is a file that a Kustomize root was built from.
type Input struct {
	Path   string
	Digest string // equal for equal bytes; empty: unknown
}

// builtFrom returns what Kustomize roots are built from, by the file of each one's kustomization: kustomizations, given by their folders,
// and the files among all that these read.
func builtFrom(roots []string, all []sources.File, kustomizations map[string]string, reads map[string][]string) map[string][]Input {
	if len(roots) == 0 {
		return nil
	}
	digests := make(map[string]string, len(all))
	for _, f := range all {
		digests[f.Path] = f.Digest
	}
	built := make(map[string][]Input, len(roots))
	for _, root := range roots {
		var inputs []Input
		seen := map[string]bool{}
		var add func(p string)
		add = func(p string) {
			if p == "." {
				p = ""
			}
			if seen[p] {
				return
			}
			seen[p] = true
			if digest, is := digests[p]; is {
				inputs = append(inputs, Input{p, digest})
			}
			if file, is := kustomizations[p]; is {
				add(file)
			}
			for _, read := range reads[p] {
				add(path.Clean(read))
			}
		}
		add(root)
		slices.SortFunc(inputs, func(a, b Input) int { return strings.Compare(a.Path, b.Path) })
		built[kustomizations[root]] = inputs
	}
	return built
}
