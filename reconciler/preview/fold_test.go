package preview_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// appears is a ConfigMap that appears in clusters because of what is in a file.
func appears(name, message, file string, clusters ...string) preview.Change {
	return preview.Change{
		Verb: preview.Appears, Objects: []object.Ref{{Kind: "ConfigMap", Namespace: "shop", Name: name}}, Added: clusters,
		Causes: []preview.Cause{{Message: message, Pos: diag.Pos{File: file, Line: 1}}},
	}
}

// TestFoldTakesTogetherWhatIsAlike: what differs in nothing but the files that it comes from is read
// as one change, and what it was folded from stays as it is.
func TestFoldTakesTogetherWhatIsAlike(t *testing.T) {
	all := []preview.Change{
		appears("d", "new", "d.yaml", "eu"),
		appears("a", "new", "a.yaml", "eu"),
		appears("elsewhere", "new", "e.yaml", "us"),
		appears("c", "new", "c.yaml", "eu"),
		appears("b", "new", "c.yaml", "eu"),
		appears("otherwise", "renamed", "a.yaml", "eu"),
		appears("e", "new", "e.yaml", "eu"),
	}
	all[0].Replicas, all[1].Replicas = &preview.Span{After: 1}, &preview.Span{After: 2}
	type folded struct {
		Title, Cause string
		Replicas     *preview.Span
	}
	var got []folded
	for _, c := range preview.Fold(all) {
		got = append(got, folded{c.Title(), c.Causes[0].String(), c.Replicas})
	}
	want := []folded{
		{"ConfigMap/shop/a and 4 more", "new: d.yaml:1, a.yaml:1, c.yaml:1 and 1 more", nil},
		{"ConfigMap/shop/elsewhere", "new (e.yaml:1)", nil},
		{"ConfigMap/shop/otherwise", "renamed (a.yaml:1)", nil},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	changes := func(name string, edit func(*preview.Change)) preview.Change {
		c := appears(name, "new", "a.yaml", "eu")
		edit(&c)
		return c
	}
	for what, edit := range map[string]func(*preview.Change){
		"another verb":              func(c *preview.Change) { c.Verb = preview.Changes },
		"it is removed":             func(c *preview.Change) { c.Removed = []string{"us"} },
		"it is detached":            func(c *preview.Change) { c.Detached = []string{"us"} },
		"it is scaled":              func(c *preview.Change) { c.Scaled = []preview.Scale{{}} },
		"other fields change":       func(c *preview.Change) { c.Changed = []preview.Content{{}} },
		"it is left":                func(c *preview.Change) { c.Left = []preview.Left{{}} },
		"it moves":                  func(c *preview.Change) { c.Moves = []preview.Move{{}} },
		"a cause is of no file":     func(c *preview.Change) { c.Causes = []preview.Cause{{Message: "new"}} },
		"there is one cause more":   func(c *preview.Change) { c.Causes = append(c.Causes, preview.Cause{Message: "newer"}) },
		"another cause is given":    func(c *preview.Change) { c.Causes[0].Message = "newer" },
		"it is there by others now": func(c *preview.Change) { c.Elsewhere = 1 },
	} {
		if got := preview.Fold([]preview.Change{appears("a", "new", "a.yaml", "eu"), changes("b", edit)}); len(got) != 2 {
			t.Errorf("%s, and it is taken together with one of which that is not so: %+v", what, got)
		}
	}
	if all[0].Title() != "ConfigMap/shop/d" || len(all[0].Objects) != 1 || all[0].Causes[0].Message != "new" {
		t.Errorf("what was folded is changed: %+v", all[0])
	}
}
