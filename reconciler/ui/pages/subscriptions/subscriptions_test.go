package subscriptions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/subscriptions"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/forge"
)

// TestTheLastUpdate: what was committed or merged last leads to its commit and its pull request, and says when and by whom as far as
// that is known.
func TestTheLastUpdate(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	known, forgotten := strings.Repeat("ab", 20), strings.Repeat("cd", 20)
	threeHours := pages.MomentOf(now.Add(-3*time.Hour), now)
	commit := func(id string) pages.Link {
		return pages.Link{Text: id[:12], URL: "https://git.example.com/acme/fleet/commit/" + id}
	}
	for _, tt := range []struct {
		name string
		last *updates.Proposal
		want *subscriptions.Last
	}{
		{"nothing", nil, nil},
		{
			"a commit", &updates.Proposal{Key: "1.1.0", Parent: forgotten, Merged: known},
			&subscriptions.Last{Version: "1.1.0", Did: "committed", When: &threeHours, By: "Ann", Commit: commit(known)},
		},
		{
			"a pull request", &updates.Proposal{Key: "1.1.0", PullRequest: 7, URL: "https://git.example.com/acme/fleet/pulls/7", Merged: known},
			&subscriptions.Last{
				Version: "1.1.0", Did: "merged", When: &threeHours, By: "Ann", Commit: commit(known),
				Request: pages.Link{Text: "#7", URL: "https://git.example.com/acme/fleet/pulls/7"},
			},
		},
		{
			"a commit that is not known any longer", &updates.Proposal{Key: "latest@sha256:0123456789abcdef", Merged: forgotten},
			&subscriptions.Last{Version: "latest@sha256:01234567", Did: "merged", Commit: commit(forgotten)},
		},
		{
			"no commit", &updates.Proposal{Key: "1.1.0", PullRequest: 7, URL: "javascript:alert(1)", Merged: "abc"},
			&subscriptions.Last{Version: "1.1.0", Did: "merged", Request: pages.Link{Text: "#7"}},
		},
	} {
		web := images.Name{Namespace: "shop", Name: "web"}
		m := facts.Memory{Memory: *updates.NewMemory()}
		m.Policies[web] = updates.Record{Last: tt.last}
		page := subscriptions.Of(subscriptions.Known{
			Subscribed: &facts.Subscribed{Source: updates.Source{Broken: map[images.Name]bool{web: true}}}, Memory: &m,
			Site: forge.SiteOf(forge.Gitea, "https://git.example.com/acme/fleet.git", ""),
			Author: func(commit string) *facts.Author {
				if commit != known {
					return nil
				}
				return &facts.Author{Name: "Ann", When: now.Add(-3 * time.Hour)}
			},
		}, nil, now)
		if d := cmp.Diff(tt.want, page.Rows[0].Last); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestWhenAPullRequestIsOpen: a proposal without a pull request, which is still to be opened, is shown as none.
func TestWhenAPullRequestIsOpen(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	web := images.Name{Namespace: "shop", Name: "web"}
	for _, tt := range []struct {
		name            string
		proposal        *updates.Proposal
		status, request string
	}{
		{"nothing is proposed", nil, "Not looked at yet", ""},
		{"it is still to be opened", &updates.Proposal{Key: "1.1.0"}, "Not looked at yet", ""},
		{"it is open", &updates.Proposal{Key: "1.1.0", PullRequest: 7}, "Pull request open", "#7"},
		{"it is merged", &updates.Proposal{Key: "1.1.0", PullRequest: 7, Merged: "abc"}, "Not looked at yet", ""},
	} {
		m := facts.Memory{Memory: *updates.NewMemory()}
		m.Policies[web] = updates.Record{Proposal: tt.proposal}
		subscribed := facts.Subscribed{Source: updates.Source{Subscriptions: []updates.Subscription{{
			Policy: &images.Policy{Name: web}, Repository: "registry.example.com/web", Rule: &imagepolicy.Rule{},
		}}}}
		page := subscriptions.Of(subscriptions.Known{Subscribed: &subscribed, Memory: &m}, nil, now)
		if row := &page.Rows[0]; row.Mark.Word != tt.status || row.Request.Text != tt.request {
			t.Errorf("%s: it is %q with %q, want %q with %q", tt.name, row.Mark.Word, row.Request.Text, tt.status, tt.request)
		}
	}
}
