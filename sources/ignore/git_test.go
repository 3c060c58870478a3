package ignore_test

import (
	"testing"

	"github.com/waybill-dev/waybill/sources/ignore"
)

// Package git holds whole work trees against git itself.
func TestPatternsMatchAsGits(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		match   []string
		not     []string
	}{
		{pattern: "a", match: []string{"a", "x/a"}, not: []string{"A", "ab", "a/x"}},
		{pattern: "/a", match: []string{"a"}, not: []string{"x/a"}},
		{pattern: "a/b", match: []string{"a/b"}, not: []string{"x/a/b", "a/x/b"}},
		{pattern: "*.yaml", match: []string{"a.yaml", "x/.yaml"}, not: []string{"a.yaml/b"}},
		{pattern: "a/*", match: []string{"a/b"}, not: []string{"a/b/c", "a"}},
		{pattern: "a/**", match: []string{"a/b", "a/b/c"}, not: []string{"a"}},
		{pattern: "**/b/c", match: []string{"b/c", "a/b/c", "b/b/c"}, not: []string{"xb/c"}},
		{pattern: "a/**/b", match: []string{"a/b", "a/x/b", "a/x/b/y/b"}, not: []string{"a/xb"}},
		{pattern: "a/**/*b*/**/c", match: []string{"a/xbx/c", "a/1/2b/3/4/c"}, not: []string{"a/x/c"}},
		{pattern: "?**/b", match: []string{"ax/b", "a/b"}, not: []string{"a/x/b"}},
		{pattern: "a**/b/c", match: []string{"ab/c", "ax/b/c"}},
		{pattern: "[a]/**/", not: []string{"a/b", "a/b/c"}},
		{pattern: "****/b/c", match: []string{"b/c", "x/y/b/c"}},
		{pattern: "x/?", match: []string{"x/\xff"}, not: []string{"x/é", "x/", "x//"}},
		{pattern: "x[/]y", not: []string{"x/y"}},
		{pattern: "[!a-c]x", match: []string{"dx"}, not: []string{"ax", "bx", "x"}},
		{pattern: "[^a]x", match: []string{"bx"}, not: []string{"ax"}},
		{pattern: "[]a]", match: []string{"]", "a"}, not: []string{"b"}},
		{pattern: "[!]a]", match: []string{"b"}, not: []string{"]"}},
		{pattern: "[a-]", match: []string{"-", "a"}},
		{pattern: "[a-c-e]", match: []string{"b", "-", "e"}, not: []string{"d"}},
		{pattern: `[\]]`, match: []string{"]"}, not: []string{`\`}},
		{pattern: "[[:digit:][:upper:]-]", match: []string{"1", "A", "-"}, not: []string{"a"}},
		{pattern: "[[:none:]]", not: []string{"a", ":"}},
		{pattern: "[a", not: []string{"a", "[a"}},
		{pattern: `\*`, match: []string{"*"}, not: []string{"a"}},
		{pattern: `a\`, not: []string{"a", `a\`}},
		{pattern: "*a*b*c", match: []string{"abc", "xaxbxcabc"}, not: []string{"acb"}},
	} {
		p := ignore.NewPattern(tt.pattern, ignore.Cased)
		for _, path := range tt.match {
			if !p.Matches(path) {
				t.Errorf("%q does not match %q", tt.pattern, path)
			}
		}
		for _, path := range tt.not {
			if p.Matches(path) {
				t.Errorf("%q matches %q", tt.pattern, path)
			}
		}
	}
	if folded := ignore.NewPattern("A[B-C]*", ignore.Folded); !folded.Matches("x/aBx") || folded.Matches("ad") {
		t.Error("it does not fold letters")
	}
}
