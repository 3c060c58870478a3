package ignore_test

import (
	"slices"
	"strings"
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
		{pattern: "[[:alnum:]]", match: []string{"a", "Z", "0"}, not: []string{"-", "_"}},
		{pattern: "[[:alpha:]]", match: []string{"a", "Z"}, not: []string{"0", "["}},
		{pattern: "[[:blank:]]", match: []string{" ", "\t"}, not: []string{"\n", "a"}},
		{pattern: "[[:cntrl:]]", match: []string{"\x01", "\x7f"}, not: []string{" ", "~"}},
		{pattern: "[[:graph:]]", match: []string{"!", "~"}, not: []string{" ", "\x7f"}},
		{pattern: "[[:lower:]]", match: []string{"a", "z"}, not: []string{"A", "{", "`"}},
		{pattern: "[[:print:]]", match: []string{" ", "~"}, not: []string{"\x1f", "\x7f"}},
		{pattern: "[[:punct:]]", match: []string{"!", "~", "-"}, not: []string{" ", "a", "0"}},
		{pattern: "[[:xdigit:]]", match: []string{"0", "a", "F"}, not: []string{"g", "G", "-"}},
		{pattern: "[[:none:]]", not: []string{"a", ":"}},
		{pattern: "[a", not: []string{"a", "[a"}},
		{pattern: `\*`, match: []string{"*"}, not: []string{"a"}},
		{pattern: `a\`, not: []string{"a", `a\`}},
		{pattern: "*a*b*c", match: []string{"abc", "xaxbxcabc"}, not: []string{"acb"}},
		{pattern: "Ab*", match: []string{"Abc"}, not: []string{"abc", "AB"}},
		{pattern: "Ab", match: []string{"Ab"}, not: []string{"ab"}},
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
	for name, want := range map[string]string{"AZaz": "azaz", "Z": "z", "@[`{": "@[`{", "aB[Z": "ab[z", "Ä": "Ä"} {
		if got := ignore.Fold(name); got != want {
			t.Errorf("%q is folded to %q, want %q", name, got, want)
		}
	}
}

// TestIgnoredAsByGit holds what files that Git reads say of a path: the last rule of the innermost one counts.
func TestIgnoredAsByGit(t *testing.T) {
	for _, tt := range []struct {
		name         string
		root, folder string // of the root, and of the folder a
		ignored      []string
		not          []string
	}{
		{"names anywhere", "x\n", "", []string{"x", "a/x", "a/b/x"}, []string{"xy", "a"}},
		{"a path from the root", "/x\na/y\n", "", []string{"x", "a/y"}, []string{"a/x", "b/a/y"}},
		{"the last rule", "x*\n!xy\n", "", []string{"x", "xz"}, []string{"xy", "a/xy"}},
		{"the last rule, the other way round", "!xy\nx*\n", "", []string{"x", "xy"}, nil},
		{"the last of equal names", "x\n!x\n", "", nil, []string{"x"}},
		{"a path after a name", "x\n!/a/x\n", "", []string{"x", "b/x"}, []string{"a/x"}},
		{"a name after a path", "!/a/x\nx\n", "", []string{"a/x"}, nil},
		{"folders alone", "x/\nz*/\n", "", []string{"x/", "a/x/", "zz/"}, []string{"x", "zz"}},
		{"a file after a folder of its name", "x\n!x/\n", "", []string{"x"}, []string{"x/"}},
		{"comments, and what begins like one", "# x\n\\#y\n", "", []string{"#y"}, []string{"# x", "y"}},
		{"what begins like a negation", "\\!x\n", "", []string{"!x"}, []string{"x"}},
		{"spaces at the end", "x  \ny\\ \n", "", []string{"x", "y "}, []string{"x  ", "y"}},
		{"lines of Windows, and a mark at the beginning", "\ufeffx\r\ny\r\n", "", []string{"x", "y"}, nil},
		{"nothing but signs", "!\n/\n!/\n", "", nil, []string{"x", "x/"}},
		{"letters of either case", "X\n/Y\nZ*\n", "", []string{"X", "a/X", "Y", "Zz"}, []string{"x", "y", "zz"}},
		{"the folder's own", "", "/x\ny\n", []string{"a/x", "a/y", "a/b/y"}, []string{"x", "y", "a/b/x"}},
		{"the folder's counts more", "x\n", "!x\n", []string{"x"}, []string{"a/x"}},
		{"the folder's says nothing of it", "x\n", "y\n", []string{"a/x"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := []*ignore.File{ignore.ParseFile("", []byte(tt.root), ignore.Cased)}
			for _, want := range []bool{true, false} {
				for _, name := range map[bool][]string{true: tt.ignored, false: tt.not}[want] {
					files, kind := all, ignore.NoFolder
					if strings.HasPrefix(name, "a/") {
						files = append(slices.Clone(all), ignore.ParseFile("a", []byte(tt.folder), ignore.Cased))
					}
					at, isFolder := strings.CutSuffix(name, "/")
					if isFolder {
						kind = ignore.Folder
					}
					if got := ignore.Ignored(files, at, kind); got != want {
						t.Errorf("%q is ignored: %v", name, got)
					}
				}
			}
		})
	}
	folded := []*ignore.File{ignore.ParseFile("", []byte("Build\n/A/Out\n*.TMP\n"), ignore.Folded)}
	for _, name := range []string{"build", "x/BUILD", "a/out", "x.tmp"} {
		if !ignore.Ignored(folded, name, ignore.NoFolder) {
			t.Errorf("where letters are folded %q is not ignored", name)
		}
	}
}
