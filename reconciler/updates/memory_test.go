package updates_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
)

// TestWhatWasMergedLast: what was merged or committed last is remembered when something newer is proposed, and when nothing is any more.
func TestWhatWasMergedLast(t *testing.T) {
	web := images.Name{Namespace: "shop", Name: "web"}
	open := &updates.Proposal{Key: "1.1.0", PullRequest: 7}
	merged := &updates.Proposal{Key: "1.1.0", PullRequest: 7, Merged: "abc"}
	committed := &updates.Proposal{Key: "1.2.0", Parent: "abc", Merged: "def"}
	m := updates.NewMemory()
	for _, step := range []struct {
		name      string
		now, last *updates.Proposal
		committed bool
	}{
		{"proposed", open, nil, false},
		{"merged", merged, merged, false},
		{"something newer is proposed", &updates.Proposal{Key: "1.2.0", PullRequest: 8}, merged, false},
		{"it is about to be committed", &updates.Proposal{Key: "1.2.0", Parent: "abc"}, merged, false},
		{"committed", committed, committed, true},
		{"nothing is proposed", nil, committed, true},
	} {
		m.Propose(web, step.now)
		root, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if m, err = updates.Decode(root); err != nil {
			t.Fatal(err)
		}
		r := m.Policies[web]
		if d := cmp.Diff(step.last, r.Last) + cmp.Diff(step.now, r.Proposal); d != "" || r.Last.IsCommitted() != step.committed {
			t.Errorf("%s: committed is %t: %s", step.name, r.Last.IsCommitted(), d)
		}
	}
}
