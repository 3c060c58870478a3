package override

import (
	"fmt"
	"strconv"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Change is a place that an overrider changed. Values are shortened to be read by
// people: of long texts, what surrounds the first difference. Those of a Secret are
// withheld.
type Change struct {
	// Overrider names the entry, as in "imageOverrider[0]".
	Overrider string `json:"overrider"`
	// Path is a JSON pointer into the object; of plaintext, the one in the policy.
	Path string `json:"path"`
	// Old is empty if there was nothing. For plaintext it is what stood there
	// before the first entry.
	Old string `json:"old,omitempty"`
	// New is empty if there is nothing any more.
	New string `json:"new,omitempty"`
}

// Apply changes obj, a decoded manifest of maps, slices, strings, bools, int64,
// float64 and nil, by overriders in Karmada's order (section B.2). It returns the
// changed object, which shares with obj what did not change and is obj itself if
// nothing did, and the changes in the order they were made. It does not modify obj.
//
// An error names the overrider, its index and the path; then there is no object.
func Apply(obj map[string]any, ov *karmada.Overriders) (map[string]any, []Change, error) {
	if ov == nil {
		return obj, nil, nil
	}
	a := applier{draft: newDraft(obj), explains: true}
	if err := a.apply(ov); err != nil {
		return nil, nil, err
	}
	if !a.changed {
		return obj, a.changes, nil
	}
	return a.object(), a.changes, nil
}

// applier carries one object through the overriders of rules.
type applier struct {
	*draft

	explains bool // changes are recorded
	secret   bool // values of the object must not be shown
	entry    string
	index    int // of the entry in hand, in its list
	changes  []Change
	compared int // bytes of the values that changes show
}

// kind returns the object's kind; empty for none.
func (a *applier) kind() string {
	if a.root.open() != mapping {
		return ""
	}
	kind, _ := a.root.fields["kind"].text()
	return kind
}

// apply applies the overriders of one rule.
func (a *applier) apply(ov *karmada.Overriders) error {
	a.secret, a.changes = a.kind() == "Secret", nil
	if err := each(a, "imageOverrider", ov.ImageOverrider, a.image); err != nil {
		return err
	}
	if err := each(a, "commandOverrider", ov.CommandOverrider, a.command); err != nil {
		return err
	}
	if err := each(a, "argsOverrider", ov.ArgsOverrider, a.args); err != nil {
		return err
	}
	if err := each(a, "labelsOverrider", ov.LabelsOverrider, a.labels); err != nil {
		return err
	}
	if err := each(a, "annotationsOverrider", ov.AnnotationsOverrider, a.annotations); err != nil {
		return err
	}
	if err := each(a, "fieldOverrider", ov.FieldOverrider, a.field); err != nil {
		return err
	}
	a.entry, a.index = "plaintext", 0
	if err := a.plaintext(ov.Plaintext); err != nil {
		return a.failed(err)
	}
	return nil
}

// each applies the entries of one kind of overrider.
func each[T any](a *applier, name string, entries []T, apply func(*T) error) error {
	a.entry = name
	for i := range entries {
		a.index = i
		if err := apply(&entries[i]); err != nil {
			return a.failed(err)
		}
	}
	return nil
}

// failed says which entry err is of.
func (a *applier) failed(err error) error {
	return fmt.Errorf("applying %s[%d]: %w", a.entry, a.index, err)
}

// located says where in the object err is.
func located(path string, err error) error {
	if path == "" {
		path = "the whole object"
	}
	return fmt.Errorf("%s: %w", path, err)
}

// mostCompared is how many bytes the values may have together that are compared to be shown.
const mostCompared = 16 << 20

// before returns what a node is before it is changed, for record; absent{} for none.
func (a *applier) before(n *node) any {
	if n == nil || !a.explains || a.compared > mostCompared {
		return absent{}
	}
	return n.current()
}

// after returns what a node is after it was changed, for record.
func (a *applier) after(n *node) any { return a.before(n) }

// record notes that the entry in hand changed what is at path. A value is absent{}
// where there is none.
func (a *applier) record(path string, from, to any) {
	a.changed = true
	if !a.explains {
		return
	}
	c := Change{Overrider: a.entry + "[" + strconv.Itoa(a.index) + "]", Path: path}
	switch {
	case a.secret:
		c.Old, c.New = withheld(from), withheld(to)
	case a.compared > mostCompared:
		c.Old, c.New = "…", "…"
	default:
		var size int
		c.Old, c.New, size = show(from, to)
		a.compared += size
	}
	a.changes = append(a.changes, c)
}
