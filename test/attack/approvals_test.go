//go:build e2e

package attack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/forges/hub"
)

// A pull request that changes one thing is open while the branch loses all that a cluster has. Its comment
// offers nothing of that, nobody can approve it there, by the digest that the branch is held with or by
// another one, and its own removal, once approved and merged, leaves what else the cluster would lose.
func TestAPullRequestReleasesWhatTheBranchHolds(t *testing.T) {
	t.Parallel()
	const one, two = "manifests/a/configmap/one.yaml", "manifests/a/configmap/two.yaml"
	h := hub.Start(t)
	h.Repository(t, "fleet")
	h.Commit(t, "fleet", "main", "main", "waybill.yaml", configOf("guard: {maxRemoved: 0, maxRemovedPercent: 0}"))
	h.Commit(t, "fleet", "main", "main", "fleet.yaml", fleetOf)
	for _, name := range []string{"one", "two", "three"} {
		h.Commit(t, "fleet", "main", "main", name+".yaml", fmt.Sprintf(configMapNamed, name))
	}
	h.Hook(t, h.Controls(t, "--previews", "--orders", "--commit-statuses"))
	h.Until(t, "it is published", func() bool { return h.Published(t, one) && h.Published(t, two) })
	held := h.Delete(t, "main", "main", "one.yaml")
	h.Until(t, "it is held", func() bool { return h.Shown(t, "fleet", held, "waybill/published").State == forge.Failure })
	digest := h.Held(t)

	bump := h.Commit(t, "fleet", "main", "bump", "four.yaml", fmt.Sprintf(configMapNamed, "four"))
	number := h.Pull(t, "bump")
	h.Until(t, "it is shown", func() bool { return h.Says(t, number) != "" })
	if said := h.Says(t, number); strings.Contains(said, "approve-prune") || strings.Contains(said, "Allow-Prune") || strings.Contains(said, "allow-prune") ||
		strings.Contains(said, "ConfigMap/a/one") || !strings.Contains(said, "Held without this change, too") {
		t.Errorf("of what the branch holds it says\n%s", said)
	}
	if s := h.Shown(t, "fleet", bump, "waybill/preview"); s.State != forge.Success {
		t.Errorf("what the branch holds turns it red: %+v", s)
	}
	for _, digest := range []string{digest, strings.Repeat(digest, 3)[:40]} {
		h.Comment(t, "wendy", number, "/waybill approve-prune "+digest+" "+bump)
		h.Until(t, "it is refused", func() bool {
			return strings.HasPrefix(h.Shown(t, "fleet", bump, "waybill/orders").Description, "refused: ")
		})
	}

	number, head := h.Removes(t, "gone", "two.yaml")
	h.Until(t, "it is shown", func() bool { return strings.HasSuffix(h.Offered(t, number), head) })
	if said := h.Says(t, number); !strings.Contains(said, "ConfigMap/a/two") || strings.Contains(said, "ConfigMap/a/one") {
		t.Errorf("of its own removal and the other it says\n%s", said)
	}
	h.Comment(t, "wendy", number, h.Offered(t, number))
	h.Until(t, "it is taken", func() bool { return h.Shown(t, "fleet", head, "waybill/orders").State == forge.Success })
	merged := h.Merge(t, "fleet", number)
	h.Until(t, "it is looked at", func() bool { return h.Shown(t, "fleet", merged, "waybill/published").State == forge.Failure })
	h.Until(t, "the approval counts", func() bool { return strings.HasPrefix(h.Message(t, "waybill/orders"), "merged as "+merged) })
	if !h.Published(t, one) || !h.Published(t, two) {
		t.Error("an approval of one thing let another go")
	}
	h.Commit(t, "fleet", "main", "main", "one.yaml", fmt.Sprintf(configMapNamed, "one"))
	h.Until(t, "what was approved goes once the rest is back", func() bool { return !h.Published(t, two) })
	if !h.Published(t, one) {
		t.Error("what was not approved is gone")
	}
	h.Until(t, "the approval is used up", func() bool { return strings.HasPrefix(h.Message(t, "waybill/orders"), "void: ") })
}
