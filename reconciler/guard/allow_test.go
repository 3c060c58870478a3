package guard

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

func configMaps(names ...string) (refs []object.Ref) {
	for _, name := range names {
		refs = append(refs, object.Ref{Kind: "ConfigMap", Namespace: "a", Name: name})
	}
	return refs
}

// TestExceeded: the larger of a number and a part of what a cluster holds may go, but never all of it, and nothing of a protected kind.
func TestExceeded(t *testing.T) {
	many := strings.Fields(strings.Repeat("x ", 21))
	claim := object.Ref{Kind: "PersistentVolumeClaim", Namespace: "a", Name: "data"}
	for name, tt := range map[string]struct {
		lost []object.Ref
		of   int
		want string // empty: it may
	}{
		"nothing":                      {nil, 0, ""},
		"as many as the number":        {configMaps(many[:5]...), 10, ""},
		"more than the number":         {configMaps(many[:6]...), 10, "it would lose 6 of 10 objects; the guard allows 5"},
		"as many as the part":          {configMaps(many[:20]...), 100, ""},
		"more than the part":           {configMaps(many...), 100, "it would lose 21 of 100 objects; the guard allows 20"},
		"all of a few":                 {configMaps("x"), 1, "it would lose all it holds, 1 of 1 object"},
		"one of a protected kind":      {append(configMaps("x"), claim), 100, "it would lose PersistentVolumeClaim/a/data, of a protected kind"},
		"all, also of protected kinds": {[]object.Ref{claim}, 1, "it would lose all it holds, 1 of 1 object"},
	} {
		rules := render.Guard{MaxRemoved: 5, MaxRemovedPercent: 20, Protect: []string{"PersistentVolumeClaim"}}
		if got := Exceeded(rules, tt.lost, tt.of); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestAHoldForAnUnknownTree: what cannot be told is not published, and what nobody knows goes before the rules, but for an edit.
func TestAHoldForAnUnknownTree(t *testing.T) {
	one := treeOf(t, "ConfigMap/a")
	g := Guard{HoldReason: "nobody knows", InSource: func(object.Ref) bool { return false }, Cause: func(object.Ref, string) string { return "" }, Nowhere: func(object.Ref) bool { return true }}
	for name, tt := range map[string]struct {
		next Next
		want string
	}{
		"it cannot be told":          {Next{Tree: one, Err: errors.New("gone")}, "what the branch holds cannot be read: gone"},
		"all goes, and nobody knows": {Next{Tree: treeOf(t, ""), Flux: tree.Flux{Before: tree.Published{Built: one}}}, "nobody knows"},
		"edited, and nobody knows":   {Next{Tree: one, Objects: 1, Flux: tree.Flux{Before: tree.Published{Built: one, Edited: true, Edit: ": a"}}}, "somebody else edited files of the branch: a; publishing would undo that"},
	} {
		if hold := g.Judge(tt.next); hold == nil || hold.Reason != tt.want {
			t.Errorf("%s: it is held: %+v, want %q", name, hold, tt.want)
		}
	}
}

// TestWhoAllowed: who allowed the removals of held clusters, how, and when, which is read again.
func TestWhoAllowed(t *testing.T) {
	const digest = "0123456789abcdef"
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	approval := Approval{By: "wendy", PullRequest: 7, Comment: 9, At: now, Digest: digest}
	for name, tt := range map[string]struct {
		by   Allowance
		want string
		at   time.Time
	}{
		"everything, by name":       {Allowance{Named: AllowAll, Publisher: "Ann <ann@example.com>"}, "Ann <ann@example.com> by publish --allow-prune, at 2026-11-28T12:00:00Z", now},
		"by one with a place":       {Allowance{Named: digest, Publisher: "Ann, at home"}, "Ann, at home by publish --allow-prune, at 2026-11-28T12:00:00Z", now},
		"this, by nobody known":     {Allowance{Named: "x " + digest}, "whoever ran publish --allow-prune, at 2026-11-28T12:00:00Z", now},
		"by name, and by a comment": {Allowance{Named: digest, Approved: []Approval{approval}}, "whoever ran publish --allow-prune, at 2026-11-28T12:00:00Z", now},
		"by a comment":              {Allowance{Approved: []Approval{{Digest: "x"}, approval}}, "wendy on pull request 7, comment 9, at 2026-11-28T12:00:00Z", now},
		"by a comment of before":    {Allowance{Approved: []Approval{{By: "wendy", PullRequest: 7, Digest: digest}}}, "wendy on pull request 7", time.Time{}},
		"by a trailer":              {Allowance{Approved: []Approval{{Digest: "x"}}}, "the trailer of commit abc", time.Time{}},
	} {
		held := []Held{{Cluster: "eu"}, {Cluster: "us"}}
		tt.by.Credit(held, sources.Revision{Commit: "abc"}, digest, now)
		by := Approvers(held)
		if !slices.Equal(by["eu"], []string{tt.want}) || !slices.Equal(by["us"], []string{tt.want}) {
			t.Errorf("%s: %q, want %q", name, by, tt.want)
		}
		if at := AllowedAt(tt.want); !at.Equal(tt.at) {
			t.Errorf("%s: at %s, want %s", name, at, tt.at)
		}
	}
	if by := Approvers([]Held{{Cluster: "eu"}, {Cluster: "us", By: []string{"ann", "bob"}, Way: "by hand"}}); len(by) != 1 || !slices.Equal(by["us"], []string{"ann", "bob", "by hand"}) {
		t.Errorf("allowed by %q", by)
	}
	for _, none := range []string{"", "ann, at noon", "ann, at ", "2026-11-28T12:00:00Z"} {
		if at := AllowedAt(none); !at.IsZero() {
			t.Errorf("%q is at %s", none, at)
		}
	}
	if said := (&Allowance{Publisher: "An\x1bn"}).ByName(time.Time{}); strings.Contains(said, "\x1b") || strings.Contains(said, "at") && strings.HasSuffix(said, "Z") {
		t.Errorf("it says %q", said)
	}
}

// TestAClusterIsAllowedByItsName: one by its own, and everything by that alone.
func TestAClusterIsAllowedByItsName(t *testing.T) {
	by := Allowance{Named: OfCluster("eu") + " 0123456789abcdef " + OfCluster("ap")}
	for name, want := range map[string]bool{"eu": true, "ap": true, "us": false, "e": false, "eu ": false, "": false} {
		if by.AllowsCluster(name) != want {
			t.Errorf("all removals of %q are allowed: %t", name, !want)
		}
	}
	if by.All() || !(&Allowance{Named: AllowAll}).All() || (&Allowance{Named: AllowAll + " x"}).All() {
		t.Error("everything is allowed by the word for it, and by nothing else")
	}
	if by.Allows(sources.Revision{}, "cluster/us") || by.Allows(sources.Revision{}, "") || (&Allowance{Approved: []Approval{{By: "wendy"}}}).Allows(sources.Revision{}, "") {
		t.Error("a digest that is none is allowed")
	}
}

// TestADigestOfRemovalsIsOfPairs: however they are grouped, and however often they are said.
func TestADigestOfRemovalsIsOfPairs(t *testing.T) {
	eu, us := []string{"eu"}, []string{"us"}
	known := Removals{{[]string{"eu", "us"}, configMaps("a", "b")}}.Digest()
	for name, tt := range map[string]struct {
		of   Removals
		same bool
	}{
		"other groups":               {Removals{{us, configMaps("b", "a")}, {eu, configMaps("a")}, {eu, configMaps("b", "a")}}, true},
		"one less":                   {Removals{{us, configMaps("b", "a")}, {eu, configMaps("a")}}, false},
		"another one":                {Removals{{[]string{"eu", "us"}, configMaps("a", "c")}}, false},
		"another kind":               {Removals{{[]string{"eu", "us"}, []object.Ref{configMaps("a")[0], {Kind: "Secret", Namespace: "a", Name: "b"}}}}, false},
		"a name that looks like two": {Removals{{[]string{"eu", "us"}, configMaps(`a" "b`)}}, false},
		"none":                       {Removals{{nil, configMaps("a")}, {eu, nil}}, false},
	} {
		if got := tt.of.Digest(); (got == known) != tt.same || (got == "") != (name == "none") || got != "" && len(got) != 40 {
			t.Errorf("%s: %q, and it was %q", name, got, known)
		}
	}
}

// TestWhatIsSaidOfHeldClusters: why, some of what they would lose, and how to let it happen, which is not by a trailer where comments do.
func TestWhatIsSaidOfHeldClusters(t *testing.T) {
	hold := func(isEdited bool, names ...string) *Hold {
		h := &Hold{Reason: "it is much", isEdited: isEdited}
		for _, r := range configMaps(names...) {
			h.Removals = append(h.Removals, Removal{r, "it left"})
		}
		return h
	}
	for name, tt := range map[string]struct {
		held Held
		by   Allowance
		want string
		hint string
	}{
		"a few":             {Held{Cluster: "eu", Hold: hold(false, "x", "y")}, Allowance{}, "cluster eu is held: it is much: ConfigMap/a/x (it left); ConfigMap/a/y (it left)", `put the trailer "Waybill-Allow-Prune: d1" on a commit, or publish with --allow-prune`},
		"three":             {Held{Cluster: "eu", Hold: hold(false, "x", "y", "z")}, Allowance{}, "cluster eu is held: it is much: ConfigMap/a/x (it left); ConfigMap/a/y (it left); ConfigMap/a/z (it left)", ""},
		"many, by comments": {Held{Cluster: "eu", Hold: hold(false, "w", "x", "y", "z")}, Allowance{ByComment: true}, "cluster eu is held: it is much: ConfigMap/a/w (it left); ConfigMap/a/x (it left); ConfigMap/a/y (it left); and 1 more", "/waybill approve-prune DIGEST HEAD"},
		"an edit":           {Held{Cluster: "eu", Hold: hold(true, "x")}, Allowance{}, "cluster eu is held: it is much; it would lose ConfigMap/a/x (it left)", ""},
		"nothing is named":  {Held{Cluster: "eu", Hold: hold(false)}, Allowance{}, "cluster eu is held: it is much", ""},
	} {
		said := tt.by.Said([]Held{tt.held}, "d1")
		if len(said) != 1 || said[0].Message != tt.want || !strings.Contains(said[0].Hint, tt.hint) || tt.by.ByComment && strings.Contains(said[0].Hint, AllowTrailer) {
			t.Errorf("%s: %v", name, said)
		}
	}
	released := Released([]Held{{Cluster: "eu", Hold: hold(false, "x"), By: []string{"ann", "bob"}}, {Cluster: "us", Hold: hold(false)}})
	if len(released) != 2 || released[0].Message != "cluster eu was held and is released, approved by ann, bob: it is much: ConfigMap/a/x (it left)" || released[1].Message != "cluster us was held and is released: it is much" {
		t.Errorf("released: %v", released)
	}
	if by := (&Allowance{ByComment: true}).ToForget("d1"); by != "publish with --allow-prune" {
		t.Errorf("what no pull request shows is forgotten by: %s", by)
	}
}

// TestWhatAlikeClustersLoseIsJudgedForEach: it is told once from trees, and the names and allowances are those of each.
func TestWhatAlikeClustersLoseIsJudgedForEach(t *testing.T) {
	before, after := treeOf(t, "ConfigMap/a ConfigMap/b"), treeOf(t, "ConfigMap/a")
	g := Guard{
		InSource: func(object.Ref) bool { return false }, Nowhere: func(object.Ref) bool { return true }, Cause: func(_ object.Ref, cluster string) string { return "it left " + cluster },
		Approved: func(_ object.Ref, cluster string) bool { return cluster == "us" },
	}
	next := func(cluster string, from, to *files.Folder) Next {
		return Next{Cluster: cluster, Tree: to, Objects: 1, Flux: tree.Flux{Before: tree.Published{Built: from}}}
	}
	for _, cluster := range []string{"eu", "us", "ap"} {
		hold := g.Judge(next(cluster, before, after))
		if (hold == nil) != (cluster == "us") || hold != nil && (len(hold.Removals) != 1 || hold.Removals[0].Cause != "it left "+cluster) {
			t.Errorf("%s is held: %+v", cluster, hold)
		}
	}
	if hold := g.Judge(next("eu", before, treeOf(t, "ConfigMap/b"))); hold == nil || hold.Removals[0].Object.Name != "a" {
		t.Errorf("what loses something else is held: %+v", hold)
	}
	if hold := g.Judge(next("eu", after, before)); hold != nil {
		t.Errorf("what comes is held: %+v", hold)
	}
}
