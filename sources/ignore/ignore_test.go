package ignore

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheLastPatternDecides(t *testing.T) {
	for _, tt := range []struct {
		lines      string
		match, not []string
	}{
		{"a\n!b\n", []string{"a", "a/x", "x/a/y"}, []string{"b", "a/b", "ab"}},
		{"*.tmp\n!keep.tmp\n", []string{"x.tmp", "d/y.tmp"}, []string{"keep.tmp", "d/keep.tmp"}},
		{"!keep.tmp\n*.tmp\n", []string{"keep.tmp"}, []string{"keep"}},
		{"build/\n", []string{"build/x", "a/build/x"}, []string{"build", "a/build"}},
		{"/a/b\n", []string{"a/b", "a/b/c"}, []string{"x/a/b", "a"}},
		{"a/b/\n", []string{"a/b/c"}, []string{"a/b"}},
		{"a/**\n!a/*.yaml\n", []string{"a/b", "a/b/c.yaml"}, []string{"a/c.yaml"}},
		{"x*\n!xy*\n*z\n", []string{"xa", "xyz"}, []string{"xy", "xya"}},
		{"**\n!*.yaml", []string{"a", "b/c"}, []string{"a.yaml", "b/c.yaml"}},
		{"# x\n\n  \na  \n", []string{"a"}, []string{"# x"}},
		{"x\\#*\n", []string{"x#", "a/x#y", "x#/y"}, []string{`x\#`, "x"}},
		{"*a?b*\n", []string{"xaxbx", "axb", "a.b/x"}, []string{"ab", "xaxc"}},
		{"*ab*\n", []string{"ab", "xaby", "xab", "abx/y"}, []string{"a", "b", "axb"}},
		{"x*\n", []string{"x", "xy", "x/y"}, []string{"yx"}},
		{"*.x\n", []string{".x", "a.x"}, []string{"x", ".xy"}},
		{"/**\n!/a/\n", []string{"x", "x/a"}, []string{"a/x", "a/x/y"}},
		{"/**/\n", []string{"a/x"}, []string{"a"}},
		{"*.yaml\n!/**  \n", nil, []string{"a.yaml", "a/b.yaml"}},
		{"a?c/d\n!abc/d/e\n", []string{"abc/d", "axc/d/e"}, []string{"abc/d/e"}},
	} {
		m := Parse(tt.lines)
		for _, name := range tt.match {
			if !m.Matches(name, NoFolder) {
				t.Errorf("%q does not match %q", tt.lines, name)
			}
		}
		for _, name := range tt.not {
			if m.Matches(name, NoFolder) {
				t.Errorf("%q matches %q", tt.lines, name)
			}
		}
	}
	if m := Parse("sub/"); m.Matches("sub", NoFolder) || !m.Matches("sub", Folder) {
		t.Error("a pattern for folders does not tell them from files")
	}
}

// Of a long list only what may match is tried.
func TestALongListIsNotTried(t *testing.T) {
	for _, pattern := range []string{"name-%d.yaml\n", "/apps/%d/x.yaml\n", "apps/%d/\n", "*-%d.yaml\n", "name-%d*\n", "apps/%d/**\n", "apps/%d/*/x?.yaml\n"} {
		var lines strings.Builder
		for i := range 200_000 {
			fmt.Fprintf(&lines, pattern, i)
		}
		m := Parse(lines.String())
		for i := range 300 {
			m.Matches(fmt.Sprintf("apps/n%d/deployment.yaml", i), NoFolder)
		}
		if m.work > 0 {
			t.Errorf("%q took %d tries", pattern, m.work)
		}
		for _, name := range []string{"name-7.yaml", "apps/7/x.yaml", "apps/7/y/xy.yaml"} {
			if m.Matches(name, NoFolder) && m.work < 100 {
				m.work = -1
				break
			}
		}
		if m.work != -1 {
			t.Errorf("%q does not match", pattern)
		}
	}
}

// Patterns that have to be tried are tried so often and no more.
func TestPatternsAreBounded(t *testing.T) {
	m := Parse(strings.Repeat("b?"+strings.Repeat("[a]", 1<<18)+"\n", 8))
	name := strings.Repeat("b", 256)
	for range 5 {
		m.Matches(name, NoFolder)
	}
	if before := m.work; !m.Exhausted() || m.Matches(name, NoFolder) || m.work != before {
		t.Errorf("it went on after %d tries", m.work)
	}
}

func TestList(t *testing.T) {
	l := ParseList("# what is monitored\n\napps/monitoring/\n!apps/monitoring/drafts/**\n*.prod.yaml\n/top.yaml\n")
	if l.Len() != 4 {
		t.Errorf("there are %d patterns", l.Len())
	}
	for path, want := range map[string]bool{
		"apps/monitoring/a.yaml": true, "apps/monitoring/deep/a.yaml": true, "apps/monitoring/drafts/a.yaml": false,
		"apps/other/a.yaml": false, "x/apps/monitoring/a.yaml": false, "x/a.prod.yaml": true, "top.yaml": true, "x/top.yaml": false,
	} {
		if got := l.Has(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	for path, want := range map[string]bool{"apps/monitoring": true, "top.yaml": true, "apps/monitoring/drafts": false, "apps": false, "": false} {
		if got := l.Names(path); got != want {
			t.Errorf("%q is named: %v", path, got)
		}
	}
	if l.Names("*.prod.yaml") || l.Names("# what is monitored") {
		t.Error("a pattern is a path")
	}
	if all := ParseList("/**\n!/a/**\n"); !all.Has("x") || !all.Has("x/a") || all.Has("a/x") {
		t.Error("everything from the root is not everything")
	}
	if (List{}).Has("a") {
		t.Error("an empty list has something")
	}
}
