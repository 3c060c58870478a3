package update

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources/lock"
)

// TestWhatBecomesOfASubscription: what is newer, which of it is taken, and else why not, in words; of who subscribes to nothing newer the
// reason that it has itself.
func TestWhatBecomesOfASubscription(t *testing.T) {
	seen := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	const digest = "sha256:0123456789abcdef"
	newer := func(why imagepolicy.Reason, message string) imagepolicy.Choice {
		return imagepolicy.Choice{Unfit: 3, Newer: []imagepolicy.Newer{{Tag: "2.0", Since: seen, Why: why, Until: seen.Add(time.Hour), Message: message}, {Tag: "1.9", Since: seen}}}
	}
	image := func() *updates.Subscription {
		return &updates.Subscription{Policy: &images.Policy{Name: images.Name{Namespace: "shop", Name: "web"}}, Repository: "ghcr.io/acme/web", Current: marker.Image{Tag: "1.0"}}
	}
	base := func(edit func(*Update)) Update {
		u := Update{Name: "shop/web", Image: "ghcr.io/acme/web", Current: "1.0"}
		edit(&u)
		return u
	}
	found := func(why, message string) Update {
		return base(func(u *Update) { u.Newest, u.FirstSeen, u.Unfit, u.Why, u.Message = "2.0", seen, 3, why, message })
	}
	for _, tt := range []struct {
		name string
		v    updates.Verdict
		want Update
	}{
		{"nothing is newer", updates.Verdict{Why: updates.UpToDate}, base(func(u *Update) { u.Why = string(updates.UpToDate) })},
		{"one is taken", updates.Verdict{Next: marker.Image{Tag: "2.0", Digest: digest}, Choice: newer("", "")}, func() Update {
			u := found("", "")
			u.Next = "2.0@sha256:01234567"
			return u
		}()},
		{"it is too young", updates.Verdict{Choice: newer(imagepolicy.TooYoung, "")}, found(string(imagepolicy.TooYoung), "too young until 2026-11-21 13:00Z")},
		{"it is another major", updates.Verdict{Choice: newer(imagepolicy.Major, "")}, found(string(imagepolicy.Major), "another major, and updates.major is false")},
		{"it is kept back", updates.Verdict{Choice: newer(imagepolicy.KeptBack, "it was closed")}, found(string(imagepolicy.KeptBack), "kept back: it was closed")},
		{"what is the newest that is wanted is not the newest", updates.Verdict{Why: updates.UpToDate, Choice: newer(imagepolicy.Major, "")}, found(string(imagepolicy.Major), "another major, and updates.major is false")},
		{"it is suspended", updates.Verdict{Why: updates.Suspended, Choice: newer(imagepolicy.Major, "")}, found(string(updates.Suspended), "suspended")},
		{"it says more", updates.Verdict{Why: updates.Suspended, Message: "by anna", Choice: newer("", "")}, found(string(updates.Suspended), "by anna")},
		{"one was merged", updates.Verdict{Last: &updates.Proposal{To: marker.Image{Tag: "1.0"}, From: marker.Image{Tag: "0.9"}, Merged: "abc", URL: "https://forge.example/7"}}, base(func(u *Update) {
			u.Last = &Last{Version: "1.0", From: "0.9", Commit: "abc", PullRequest: "https://forge.example/7"}
		})},
		{"one was committed", updates.Verdict{Last: &updates.Proposal{To: marker.Image{Tag: "1.0"}, Merged: "abc", Parent: "abb"}}, base(func(u *Update) {
			u.Last = &Last{Version: "1.0", Commit: "abc", Committed: true}
		})},
	} {
		tt.v.Subscription = image()
		if d := cmp.Diff(tt.want, Of(&tt.v)); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	for constraint, want := range map[string]string{"1.x": "1.0", "latest": "1.0@sha256:01234567"} {
		chart := &updates.Chart{ChartUse: planner.ChartUse{Ref: lock.Ref{Kind: lock.OCI, Constraint: constraint}}}
		u := Of(&updates.Verdict{Subscription: &updates.Subscription{Chart: chart, Repository: "oci://ghcr.io/acme/web", Current: marker.Image{Tag: "1.0", Digest: digest}}})
		if u.Current != want || u.Range != constraint || u.Chart != "oci://ghcr.io/acme/web" || u.Image != "" {
			t.Errorf("of a chart %s it is %+v", constraint, u)
		}
	}
}

// TestTheLastVersionInATable is the version and the beginning of a commit; what somebody else named moves no terminal.
func TestTheLastVersionInATable(t *testing.T) {
	for want, l := range map[string]*Last{"": nil, `1.0\x1b[1m by 0123456789ab`: {Version: "1.0\x1b[1m", Commit: "0123456789abcdef"}} {
		if got := l.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
