// Package fields says in which fields two manifests differ. Items of a list are matched as
// Kubernetes merges them, by the key that its types name, and by a name where a kind has no
// known type, so that an item which moves, or has a new neighbour, does not differ.
//
// Values of Secrets are never in a result: that a field of a Secret changes is told without
// them. So is a field that another manifest takes from a Secret.
package fields

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Op is what happens to a field; the words are those of JSON Patch (RFC 6902).
type Op string

// The operations. Reorder is a list that has the same items in another order.
const (
	Add     Op = "add"
	Remove  Op = "remove"
	Replace Op = "replace"
	Reorder Op = "reorder"
)

// Field is a field that differs.
type Field struct {
	// Path is written as kubectl does, with what an item of a list is matched by:
	// spec.template.spec.containers[name=web].image.
	Path string `json:"path"`
	Op   Op     `json:"op"`
	// From and To are nil where Op says that there is no such value, where Lines tells the
	// difference, and where it is Hidden.
	From any `json:"from,omitempty"`
	To   any `json:"to,omitempty"`
	// Lines is the difference of two texts of several lines, as a unified diff.
	Lines string `json:"lines,omitempty"`
	// Hidden reports that the values are, or hold, those of a Secret.
	Hidden bool `json:"hidden,omitempty"`
	// Routine reports a label or a checksum that follows from another change, as the version
	// in the labels of a chart does.
	Routine bool `json:"routine,omitempty"`
	// Steps is Path for object.FieldPos: keys, and indexes into the lists of the manifest
	// that has the field; the newer one if both have.
	Steps []any `json:"-"`
}

// Diff returns the fields in which two manifests of one object differ, in the order of paths. Secrets
// are values that they were rendered with.
func Diff(from, to map[string]any, secrets []string) []Field {
	kind, _ := to["kind"].(string)
	apiVersion, _ := to["apiVersion"].(string)
	d := differ{redactor: newRedactor(secrets)}
	d.values(place{of: typeOf(apiVersion, kind)}, from, to)
	return withoutSeal(d.found)
}

// Shown says whether a field may be shown without the routine ones being asked for: all are if
// nothing else differs.
func Shown(all []Field) (shown []Field, routine int) {
	for _, f := range all {
		if f.Routine {
			routine++
		}
	}
	if routine == 0 || routine == len(all) {
		return all, 0
	}
	return slices.DeleteFunc(slices.Clone(all), func(f Field) bool { return f.Routine }), routine
}

// Follow says of so many routine fields that they are not shown.
func Follow(n int) string {
	if n == 1 {
		return "1 label or checksum that follows"
	}
	return strconv.Itoa(n) + " labels or checksums that follow"
}

// differ collects fields.
type differ struct {
	redactor

	found []Field
}

// values compares two values of one field.
func (d *differ) values(at place, from, to any) {
	at.secret = at.secret || isSecret(from) || isSecret(to)
	switch a := from.(type) {
	case map[string]any:
		if b, ok := to.(map[string]any); ok {
			d.maps(at, a, b)
			return
		}
	case []any:
		if b, ok := to.([]any); ok {
			d.lists(at, a, b)
			return
		}
	}
	if !reflect.DeepEqual(from, to) {
		d.note(at, Replace, from, to)
	}
}

func (d *differ) maps(at place, from, to map[string]any) {
	keys := maps.Clone(from)
	maps.Copy(keys, to)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		a, had := from[key]
		b, has := to[key]
		switch next := at.key(key, either(b, a)); {
		case !had:
			d.note(next, Add, nil, b)
		case !has:
			d.note(next, Remove, a, nil)
		default:
			d.values(next, a, b)
		}
	}
}

// note notes that a field differs, without what may not be shown.
func (d *differ) note(at place, op Op, from, to any) {
	f := Field{Path: d.redacted(at.path), Op: op, Steps: at.steps, Routine: isRoutine(at)}
	a, b := d.shown(at, from), d.shown(at, to)
	if f.Hidden = reflect.DeepEqual(a, b) && (from != nil || to != nil); !f.Hidden { // what differs and is shown alike
		f.From, f.To = a, b
	}
	x, isText := f.From.(string)
	y, areTexts := f.To.(string)
	if isText && areTexts && (strings.Contains(x, "\n") || strings.Contains(y, "\n")) {
		f.From, f.To, f.Lines = nil, nil, lines(x, y)
	}
	d.found = append(d.found, f)
}

// withoutSeal leaves out what SOPS writes beside what it encrypts, if anything else differs.
func withoutSeal(all []Field) []Field {
	seal := func(f Field) bool { return len(f.Steps) > 0 && f.Steps[0] == "sops" }
	if !slices.ContainsFunc(all, func(f Field) bool { return !seal(f) }) {
		return all
	}
	return slices.DeleteFunc(all, seal)
}

// routine are the annotations and labels that charts derive from their version and their files.
var routine = []string{"helm.sh/chart", "app.kubernetes.io/version", "chart"}

func isRoutine(at place) bool {
	n := len(at.steps)
	if n < 2 {
		return false
	}
	under, key := at.steps[n-2], at.steps[n-1]
	name, _ := key.(string)
	switch under {
	case "labels":
		return slices.Contains(routine, name)
	case "annotations":
		return strings.HasPrefix(name, "checksum/") || slices.Contains(routine, name)
	}
	return false
}

// isSecret reports a manifest of a Secret, be it alone or within another one.
func isSecret(v any) bool {
	m, ok := v.(map[string]any)
	return ok && m["kind"] == "Secret"
}

// either is the first value that there is.
func either(a, b any) any {
	if a != nil {
		return a
	}
	return b
}
