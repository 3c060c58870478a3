package helm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
)

// Problem is what is wrong with a field of a HelmRelease.
type Problem struct {
	Path     []any // names and indices from the root of the object, as spec, valuesFrom, 0, name
	Severity diag.Severity
	Message  string // names the field, and its value unless it may be secret
	Hint     string // what to do about it; may be empty
}

// reader collects the problems of an object.
type reader struct{ problems []Problem }

// node is a value of an object and where it stands. Nil is a field that is left out.
// What has another type than asked for is a problem and reads as if left out.
type node struct {
	r    *reader
	path []any
	v    any
}

// name is the path as people write it: spec.valuesFrom[0].name.
func (n node) name() string {
	var b strings.Builder
	for _, step := range n.path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

// fail reports an error; the message follows the name of the field.
func (n node) fail(hint, format string, args ...any) {
	n.r.problems = append(n.r.problems, Problem{
		Path: n.path, Severity: diag.Error, Hint: hint,
		Message: n.name() + " " + fmt.Sprintf(format, args...),
	})
}

// read returns the value of n as a T, or reports that it is none.
func read[T any](n node, what string) T {
	t, ok := n.v.(T)
	if !ok && n.v != nil {
		n.fail("", "is no %s", what)
	}
	return t
}

func (n node) text() string            { return read[string](n, "string: put it in quotes") }
func (n node) flag() bool              { return read[bool](n, "boolean") }
func (n node) mapping() map[string]any { return read[map[string]any](n, "mapping") }

// at returns a field of a mapping.
func (n node) at(field string) node {
	fields, _ := n.v.(map[string]any)
	return node{r: n.r, path: append(slices.Clip(n.path), field), v: fields[field]}
}

// set reports whether the field is there.
func (n node) set() bool { return n.v != nil }

func (n node) items() []node {
	list := read[[]any](n, "list")
	items := make([]node, len(list))
	for i, v := range list {
		items[i] = node{r: n.r, path: append(slices.Clip(n.path), i), v: v}
	}
	return items
}

func (n node) texts() []string {
	var all []string
	for _, item := range n.items() {
		all = append(all, item.text())
	}
	return all
}

func (n node) textMap() map[string]string {
	fields := n.mapping()
	if fields == nil {
		return nil
	}
	out := make(map[string]string, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		out[key] = n.at(key).text()
	}
	return out
}

// required returns a string that has to be there.
func (n node) required() string {
	text := n.text()
	if text == "" && (n.v == nil || n.v == "") {
		n.fail("", "is missing")
	}
	return text
}

// oneOf returns a string that is one of some, or left out.
func (n node) oneOf(allowed ...string) string {
	text := n.text()
	if text != "" && !slices.Contains(allowed, text) {
		n.fail("", "is %q; it must be %s", text, strings.Join(allowed, " or "))
		return ""
	}
	return text
}

// known reports the fields of a mapping that are not among names. They do nothing.
func (n node) known(names ...string) {
	for _, field := range slices.Sorted(maps.Keys(n.mapping())) {
		if !slices.Contains(names, field) {
			f := n.at(field)
			f.r.problems = append(f.r.problems, Problem{
				Path: f.path, Severity: diag.Warning, Message: f.name() + " is no field that is known here; it does nothing",
			})
		}
	}
}
