package reconciler_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatIsNotPublishedForAClusterIsNotApplied: a head of its branch that is another cluster's, another source's, edited, or not
// Waybill's.
func TestWhatIsNotPublishedForAClusterIsNotApplied(t *testing.T) {
	const branch = "waybill/cluster/us"
	for name, tt := range map[string]struct {
		put  func(f *twin.Repo, of twin.Tree, message string)
		want string // empty: it is applied
	}{
		"as it is published": {func(*twin.Repo, twin.Tree, string) {}, ""},
		"another cluster's": {func(f *twin.Repo, of twin.Tree, message string) {
			f.Write(branch, strings.ReplaceAll(message, "Cluster: us", "Cluster: eu"), of.Folder())
		}, "was published for the cluster eu"},
		"another source's": {func(f *twin.Repo, of twin.Tree, message string) {
			f.Write(branch, strings.ReplaceAll(message, f.Name(), "https://example.com/other"), of.Folder())
		}, "published from"},
		"of no source commit": {func(f *twin.Repo, of twin.Tree, _ string) { f.Write(branch, "by hand", of.Folder()) }, "was not written by Waybill"},
		"with a file edited": {func(f *twin.Repo, of twin.Tree, message string) {
			of["manifests/shop/configmap/us.yaml"] = twin.File([]byte("kind: ConfigMap\n"))
			f.Write(branch, message, of.Folder())
		}, "somebody edited its files"},
		"without its metadata": {func(f *twin.Repo, of twin.Tree, message string) {
			delete(of, "waybill.metadata")
			f.Write(branch, message, of.Folder())
		}, "somebody edited its files"},
	} {
		f := newFolders(t)
		f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {}\n")
		f.published()
		h, ok, err := f.repo.Branch(t.Context(), branch)
		if err != nil || !ok {
			t.Fatal(err)
		}
		tt.put(f.repo, twin.Of(h.Tree), h.Message)
		r := &published.Reader{Branches: published.At(f.target)}
		in, err := r.Desired(t.Context(), "", files.ID{})
		if err != nil {
			t.Fatal(err)
		}
		switch d, err := r.Artifact(t.Context(), &in, "us"); {
		case tt.want == "" && (err != nil || len(d.Objects) != 1):
			t.Errorf("%s: %d objects, %v", name, len(d.Objects), err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.Artifact(t.Context(), &in, "eu"); err != nil {
			t.Errorf("%s: what is published for eu is not applied: %v", name, err)
		}
	}
}
