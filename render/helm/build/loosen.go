package build

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// loosened is what was left out of a schema, so that it can be followed without the network.
type loosened struct {
	inside map[string]bool // the addresses that the schema itself has
	left   []string        // the references that lead elsewhere
	old    bool            // of draft 7 or before: a reference hides what stands beside it
}

// loosen leaves out of a schema each reference to another document, and with it every check
// that could fail because of that: what the loosened schema refuses the whole one refuses,
// too. It changes the document, and returns the references, sorted.
func loosen(document any) []string {
	l := loosened{inside: map[string]bool{schemaURL: true}}
	if root, ok := document.(map[string]any); ok {
		dialect, _ := root["$schema"].(string)
		l.old = strings.Contains(dialect, "/draft-0")
	}
	base, _ := url.Parse(schemaURL)
	l.addresses(document, base)
	l.references(document, base)
	if len(l.left) > 0 {
		weaken(document)
	}
	slices.Sort(l.left)
	return slices.Compact(l.left)
}

var (
	// literal are the keywords whose values are data and no schemas.
	literal = []string{"const", "enum", "default", "examples", "required"}
	// named are the keywords whose values are schemas by names, which are no keywords.
	named = []string{"properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies"}
)

// leftOut marks where a reference was left out.
const leftOut = "a reference was left out here"

// each calls f for what stands directly below a part of a schema.
func each(part any, f func(any)) {
	switch part := part.(type) {
	case map[string]any:
		for key, below := range part {
			byName, _ := below.(map[string]any)
			switch {
			case slices.Contains(literal, key):
			case byName != nil && slices.Contains(named, key):
				for _, schema := range byName {
					f(schema)
				}
			default:
				f(below)
			}
		}
	case []any:
		for _, below := range part {
			f(below)
		}
	}
}

// addresses collects the addresses at which the schema and its parts are.
func (l *loosened) addresses(part any, base *url.URL) {
	if at := moved(part, base); at != base {
		base = at
		l.inside[document(at)] = true
	}
	each(part, func(below any) { l.addresses(below, base) })
}

// references takes the references out that lead to no address of the schema.
func (l *loosened) references(part any, base *url.URL) {
	base = moved(part, base)
	if schema, ok := part.(map[string]any); ok {
		for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			ref, ok := schema[key].(string)
			if !ok || l.leads(ref, base) {
				continue
			}
			l.left = append(l.left, ref)
			delete(schema, key)
			if l.old {
				maps.DeleteFunc(schema, func(beside string, _ any) bool { return beside != "definitions" && beside != "$schema" })
			}
			schema["$comment"] = leftOut
		}
	}
	each(part, func(below any) { l.references(below, base) })
}

// leads reports that a reference leads to a part of the schema, or to a dialect, all of which
// the validator knows.
func (l *loosened) leads(ref string, base *url.URL) bool {
	to, err := base.Parse(ref)
	if err != nil {
		return false
	}
	return l.inside[document(to)] || to.Host == "json-schema.org"
}

// moved is the address of a part of a schema.
func moved(part any, base *url.URL) *url.URL {
	schema, _ := part.(map[string]any)
	for _, key := range []string{"$id", "id"} {
		id, ok := schema[key].(string)
		if !ok || strings.HasPrefix(id, "#") {
			continue
		}
		if to, err := base.Parse(id); err == nil {
			return to
		}
	}
	return base
}

// document is an address without the place in the document.
func document(u *url.URL) string {
	text, _, _ := strings.Cut(u.String(), "#")
	return text
}

// weaken takes out the keywords that refuse because something below them is met, where that
// may be so only because a reference was left out: below them, or behind a reference that
// stays.
func weaken(part any) {
	if schema, ok := part.(map[string]any); ok {
		for _, key := range []string{"unevaluatedProperties", "unevaluatedItems"} {
			delete(schema, key)
		}
		for _, key := range []string{"not", "oneOf", "if", "contains"} {
			if below, has := schema[key]; has && unsure(below) {
				delete(schema, key)
			}
		}
		if _, has := schema["if"]; !has {
			delete(schema, "then")
			delete(schema, "else")
		}
	}
	each(part, weaken)
}

// unsure reports that a reference was left out of a part of a schema, or that one stays there:
// it may lead to where one was left out.
func unsure(part any) bool {
	if schema, ok := part.(map[string]any); ok {
		if schema["$comment"] == leftOut || schema["$ref"] != nil || schema["$dynamicRef"] != nil || schema["$recursiveRef"] != nil {
			return true
		}
	}
	found := false
	each(part, func(below any) { found = found || unsure(below) })
	return found
}
