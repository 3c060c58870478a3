package upgrade

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
)

// commit changes files of the source; the empty text deletes one.
func commit(t *testing.T, dir, message string, files map[string]string) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	run(t, ".", nil, "git", "clone", "-q", "-b", "main", dir, work)
	for name, text := range files {
		file := filepath.Join(work, name)
		if text == "" {
			run(t, work, nil, "git", "rm", "-q", "-r", name)
		} else if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, work, nil, "git", "add", "-A")
	run(t, work, nil, "git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com", "commit", "-q", "--allow-empty", "-m", message)
	run(t, work, nil, "git", "push", "-q", "origin", "main")
}

// manifests lists what a cluster holds, without its folders.
func manifests(t *testing.T, dir, cluster string) (names []string) {
	t.Helper()
	for file := range strings.FieldsSeq(run(t, dir, nil, "git", "ls-tree", "-r", "--name-only", "waybill/cluster/"+cluster, "manifests/")) {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	return names
}

// stays returns what a publication says of what is not listed.
func stays(res *reconciler.Result) *diag.Diagnostic {
	i := slices.IndexFunc(res.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.UnlistedStays })
	if i < 0 {
		return nil
	}
	return &res.Diags[i]
}

// TestWhatIsNotListedStays publishes with this version what the last one published that read
// what kustomizations do not list. Nothing leaves until somebody says so.
func TestWhatIsNotListedStays(t *testing.T) {
	dir := imported(t, "unlisted.export")
	before := branches(t, dir)
	first := publish(t, dir)
	if len(first.Updates) != 1 || first.Updates[0].Branch != state.Branch || branches(t, dir) != before {
		t.Errorf("the first plan writes %+v, want the state alone", first.Updates)
	}
	for _, c := range first.Plan.Clusters {
		if c.Held != nil {
			t.Errorf("cluster %s is held: %s", c.Name, c.Held.Reason)
		}
	}
	if stays(&first) == nil {
		t.Errorf("nothing is said of what stays: %v", first.Diags)
	}
	if again := publish(t, dir); len(again.Updates) != 0 {
		t.Errorf("the second plan writes %+v, want nothing", again.Updates)
	}

	held := manifests(t, dir, "eu")
	commit(t, dir, "list one, delete another, mend a third", map[string]string{
		"clusters/eu/kustomization.yaml": "resources: [listed.yaml, alone.yaml]\n",
		"clusters/eu/apps":               "",
		"clusters/eu/broken.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: broken, namespace: shop}\n",
	})
	next := publish(t, dir)
	want := slices.DeleteFunc(slices.Clone(held), func(name string) bool { return name == "pre-app" })
	if got := manifests(t, dir, "eu"); !slices.Equal(got, want) {
		t.Errorf("once a file is deleted eu has\n%v, want\n%v", got, want)
	}

	_, digest, _ := strings.Cut(stays(&next).Hint, "Waybill-Allow-Prune: ")
	digest, _, _ = strings.Cut(digest, "\"")
	commit(t, dir, "let them go\n\nWaybill-Allow-Prune: "+digest+"\n", nil)
	last := publish(t, dir)
	if got, want := manifests(t, dir, "eu"), []string{"lone", "alone", "listed", "web"}; !slices.Equal(got, want) {
		t.Errorf("once it is allowed eu has %v, want %v; %v", got, want, last.Diags)
	}
	if stays(&last) != nil || strings.Contains(run(t, dir, nil, "git", "ls-tree", "--name-only", "waybill/state"), "unlisted.json") {
		t.Errorf("it is said still, or remembered: %v", last.Diags)
	}

	commit(t, dir, "comment one out", map[string]string{"clusters/eu/kustomization.yaml": "resources: [listed.yaml]\n"})
	publish(t, dir)
	if got := manifests(t, dir, "eu"); slices.Contains(got, "alone") {
		t.Errorf("what is commented out stays: %v", got)
	}
}
