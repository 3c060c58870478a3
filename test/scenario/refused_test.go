package scenario

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// stricter reads another source than the one that was published, in all commits.
type stricter struct {
	*twin.Repo

	reads *twin.Repo
}

func (s stricter) Snapshot(ctx context.Context, _, subdir string) (sources.Snapshot, error) {
	return s.reads.Snapshot(ctx, "main", subdir)
}

// TestARuleThatIsNewTakesNothingAway plans a source of which an earlier version published a
// policy that this one refuses: it looks as if it never had been sound.
func TestARuleThatIsNewTakesNothingAway(t *testing.T) {
	const policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: %s, namespace: shop}\nspec:\n" +
		"  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: %[1]s}]\n  placement: {}\n"
	source := twin.Tree{
		"clusters.yaml": twin.File([]byte("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n")),
		"a.yaml":        twin.File(fmt.Appendf(nil, policy, "a")), "b.yaml": twin.File(fmt.Appendf(nil, policy, "b")),
		"objects.yaml": twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop}\n")),
	}
	then, now := twin.New("scenario"), twin.New("scenario")
	then.Write("main", "head", source.Folder())
	if _, err := reconcilerOver(then, nil, start).Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	source["a.yaml"] = twin.File([]byte(strings.Replace(fmt.Sprintf(policy, "a"), "spec:", "spec:\n  refused: by this version", 1)))
	now.Write("main", "head", source.Folder())
	res, err := reconcilerOver(stricter{then, now}, nil, start).DryRun(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	if c := res.Plan.Clusters[0]; c.Held == nil || !strings.Contains(c.Held.Reason, "had it when it was published last") {
		t.Errorf("cluster %s is held for %v", c.Name, c.Held)
	}
}
