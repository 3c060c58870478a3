package notify_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/notify"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources/forge"
)

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// remembered are facts with what is known of some subscriptions of the namespace shop.
func remembered(key string, at time.Time, known map[string]updates.Record) *facts.Facts {
	m := updates.NewMemory()
	for name, r := range known {
		m.Policies[images.Name{Namespace: "shop", Name: name}] = r
	}
	return &facts.Facts{Key: key, At: at, Memory: func() (facts.Memory, error) { return facts.Memory{Memory: *m}, nil }}
}

// pull is a record of a proposal.
func pull(number int, key string) updates.Record {
	return updates.Record{Proposal: &updates.Proposal{Key: key, From: marker.Image{Tag: "1.0"}, PullRequest: number, URL: "https://forge.example/pulls/7"}}
}

func TestUpdatesThatSomebodyShouldKnowOf(t *testing.T) {
	type all map[string]updates.Record
	away := updates.Record{Failure: &updates.Failure{Why: updates.NotAnswered, Message: "it answers 503", Since: began}}
	took := func(number int, key, merged string) updates.Record {
		r := pull(number, key)
		r.Proposal.Branch, r.Proposal.Merged = "image-updates", merged
		r.Last = r.Proposal
		return r
	}
	merged := took(7, "1.1", "abc")
	committed := took(0, "1.1", "0123456789abcdef")
	committed.Last.Parent = "fedc"
	newer := pull(8, "1.2")
	newer.Last = merged.Last
	reverted := updates.Record{Last: merged.Last, KeptBack: map[string]string{"1.1": "it was reverted"}}
	pushed := pull(0, "1.1")
	kept := updates.Record{KeptBack: map[string]string{"1.1": "pull request 7 was closed"}}
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name        string
		after, then time.Duration // since it began
		before, now all
		want        string
	}{
		{"proposed", 0, 1, nil, all{"web": pull(7, "1.1")}, "shop/web has a new version: pull request 7 takes 1.1 in place of 1.0"},
		{"proposed still", 0, 1, all{"web": pull(7, "1.1")}, all{"web": pull(7, "1.1")}, ""},
		{"another one in the same", 0, 1, all{"web": pull(7, "1.1")}, all{"web": pull(7, "1.2")}, "shop/web has a new version: pull request 7 takes 1.2 in place of 1.0"},
		{"the same in another one", 0, 1, all{"web": pull(7, "1.1")}, all{"web": pull(8, "1.1")}, "shop/web has a new version: pull request 8 takes 1.1 in place of 1.0"},
		{"pushed, and not opened", 0, 1, nil, all{"web": pushed}, ""},
		{"merged", 0, 1, all{"web": pull(7, "1.1")}, all{"web": merged}, "shop/web got a new version: pull request 7 was merged and takes 1.1 in place of 1.0"},
		{"merged unseen", 0, 1, nil, all{"web": merged}, "shop/web got a new version: pull request 7 was merged and takes 1.1 in place of 1.0"},
		{"merged still", 0, 1, all{"web": merged}, all{"web": merged}, ""},
		{
			"merged, and something newer is proposed", 0, 1,
			all{"web": pull(7, "1.1")},
			all{"web": newer},
			"shop/web got a new version: pull request 7 was merged and takes 1.1 in place of 1.0\nshop/web has a new version: pull request 8 takes 1.2 in place of 1.0",
		},
		{"merged before, and something newer is proposed", 0, 1, all{"web": merged}, all{"web": newer}, "shop/web has a new version: pull request 8 takes 1.2 in place of 1.0"},
		{"merged, and reverted", 0, 1, all{"web": merged}, all{"web": reverted}, "shop/web keeps a version back: 1.1: it was reverted"},
		{"merged again as another commit", 0, 1, all{"web": merged}, all{"web": took(7, "1.1", "def")}, "shop/web got a new version: pull request 7 was merged and takes 1.1 in place of 1.0"},
		{"committed", 0, 1, nil, all{"web": committed}, "shop/web got a new version: commit 0123456789ab takes 1.1 in place of 1.0"},
		{"committed still", 0, 1, all{"web": committed}, all{"web": committed}, ""},
		{"a branch without a pull request is merged", 0, 1, nil, all{"web": took(0, "1.1", "abc")}, "shop/web got a new version: branch image-updates was merged and takes 1.1 in place of 1.0"},
		{
			"committed together", 0, 1, nil,
			all{"web": committed, "api": committed, "db": took(0, "3", "abc")},
			"shop/api got a new version: commit 0123456789ab takes 1.1 in place of 1.0, and new versions of 1 other\nshop/db got a new version: branch image-updates was merged and takes 3 in place of 1.0",
		},
		{
			"of a group", 0, 1, nil,
			all{"web": pull(7, "1.1"), "api": pull(7, "2.0"), "db": pull(8, "3")},
			"shop/api has a new version: pull request 7 takes 2.0 in place of 1.0, and new versions of 1 other\nshop/db has a new version: pull request 8 takes 3 in place of 1.0",
		},
		{"kept back", 0, 1, all{"web": pull(7, "1.1")}, all{"web": kept}, "shop/web keeps a version back: 1.1: pull request 7 was closed"},
		{"another one is kept back, too", 0, 1, all{"web": kept}, all{"web": {KeptBack: map[string]string{"1.1": "pull request 7 was closed", "1.0": "why"}}}, "shop/web keeps a version back: 1.0: why"},
		{"fails for another reason, and not for long", day, day + 1, all{"web": away}, all{"web": {Failure: &updates.Failure{Why: updates.Unverified, Since: began.Add(day)}}}, ""},
		{"fails for long without a word", day - 1, day, all{"web": {Failure: &updates.Failure{Why: updates.Broken, Since: began}}}, all{"web": {Failure: &updates.Failure{Why: updates.Broken, Since: began}}}, "shop/web cannot be updated: Broken since 2026-11-21 12:00Z"},
		{"is gone, and did not fail for long", 0, 1, all{"web": away}, nil, ""},
		{"kept back still", 0, 1, all{"web": kept}, all{"web": kept}, ""},
		{"fails for a moment", 0, day - 1, nil, all{"web": away}, ""},
		{"fails for long", day - 1, day, all{"web": away}, all{"web": away}, "shop/web cannot be updated: NotAnswered since 2026-11-21 12:00Z: it answers 503"},
		{"fails on", day, day + 1, all{"web": away}, all{"web": away}, ""},
		{"answers soon", 0, 1, all{"web": away}, all{"web": {}}, ""},
		{"answers again", day, day + 1, all{"web": away}, all{"web": {}}, "shop/web is well again"},
		{"answers again, and nothing else is known", day, day + 1, all{"web": away}, nil, "shop/web is well again"},
	} {
		for _, key := range []string{"1", "2"} {
			isMoved := key == "2"
			if !isMoved && cmp.Diff(tt.before, tt.now) != "" {
				continue // it is another branch
			}
			var got []string
			for _, e := range told(remembered("1", began.Add(tt.after), tt.before), remembered(key, began.Add(tt.then), tt.now)) {
				got = append(got, e.String())
			}
			if d := cmp.Diff(tt.want, strings.Join(got, "\n")); d != "" {
				t.Errorf("%s, moved %t: %s", tt.name, isMoved, d)
			}
		}
	}
}

// Where what is remembered cannot be read nothing is told: neither that all of it is new, nor that all is well again.
func TestUpdatesThatCannotBeRead(t *testing.T) {
	known := map[string]updates.Record{"web": {KeptBack: map[string]string{"1": "it was closed"}, Failure: &updates.Failure{Why: updates.NotAnswered, Since: began}}}
	broken := &facts.Facts{Key: "2", At: began.Add(48 * time.Hour), Memory: func() (facts.Memory, error) { return facts.Memory{}, errors.New("another format") }}
	fine := remembered("3", began.Add(48*time.Hour), known)
	for name, pair := range map[string][2]*facts.Facts{"before": {broken, fine}, "now": {fine, broken}, "nobody looked before": {{Key: "1"}, fine}, "nobody looks now": {fine, {Key: "4"}}} {
		if all := told(pair[0], pair[1]); len(all) > 0 {
			t.Errorf("%s: it tells %v", name, all)
		}
	}
}

// A receiver gets the address of a pull request, if it is one.
func TestTheAddressOfAPullRequest(t *testing.T) {
	for address, want := range map[string]string{"https://forge.example/7": "https://forge.example/7", "http://forge.example/7": "http://forge.example/7", "javascript:alert(1)": "", "ftp://forge.example/7": "", "https:///7": "", "": ""} {
		r := pull(7, "1.1")
		r.Proposal.URL = address
		data, err := json.Marshal(told(remembered("1", began, nil), remembered("2", began, map[string]updates.Record{"web": r})))
		if err != nil {
			t.Fatal(err)
		}
		var got []struct{ Kind, Update, PullRequest string }
		if err := json.Unmarshal(data, &got); err != nil || len(got) != 1 || got[0].PullRequest != want || got[0].Kind != "update-proposed" || got[0].Update != "shop/web" {
			t.Errorf("%q: it tells %s", address, data)
		}
	}
}

// A receiver gets the commit, and its address where the forge is known.
func TestTheCommitOfAnUpdate(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef01234567"
	for repository, want := range map[string]string{"https://gitea.example.com/acme/fleet.git": "https://gitea.example.com/acme/fleet/commit/" + id, "/srv/fleet.git": ""} {
		now := remembered("2", began, map[string]updates.Record{"web": {Last: &updates.Proposal{Key: "1.1", From: marker.Image{Tag: "1.0"}, Parent: "fedc", Merged: id}}})
		now.Site = forge.SiteOf("", repository, "")
		got := told(remembered("1", began, nil), now)
		is := notify.Event{Kind: notify.UpdateCommitted, Update: "shop/web", Commit: id, CommitURL: want, Message: "commit 0123456789ab takes 1.1 in place of 1.0"}
		if d := cmp.Diff([]notify.Event{is}, got); d != "" {
			t.Errorf("%s: %s", repository, d)
		}
	}
}
