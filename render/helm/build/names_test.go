package build_test

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/waybill-dev/waybill/render/helm"
)

// What a HelmRelease may be called is what Helm says of it.
func TestReleaseNamesAreHelms(t *testing.T) {
	for _, name := range []string{
		"a", "web", "web-1", "1web", "a.b", "a-b.c-d", "a--b", "web_1", "Web", "-web", "web-", ".a", "a.", "a..b", "a.-b", "ä", "a b", "a\n",
		strings.Repeat("a", 53), strings.Repeat("a", 54), strings.Repeat("a.", 26) + "a",
	} {
		_, problems := helm.ReadRelease(map[string]any{
			"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": map[string]any{"name": "n", "namespace": "ns"},
			"spec": map[string]any{"releaseName": name, "chart": map[string]any{"spec": map[string]any{"chart": "./c"}}},
		})
		said, want := "", ""
		if len(problems) > 0 {
			said = problems[0].Message
		}
		if err := chartutil.ValidateReleaseName(name); err != nil {
			want = err.Error()
		}
		if (want == "") != (said == "") || !strings.HasSuffix(said, want) {
			t.Errorf("%q: %q, and Helm says %q", name, said, want)
		}
	}
}
