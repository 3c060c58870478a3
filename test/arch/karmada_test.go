package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const karmadaDoc = "../../docs/karmada.md"

var (
	heading  = regexp.MustCompile(`(?m)^###? ([A-Z][0-9]*(?:\.[0-9]+)?)\.? `)
	citation = regexp.MustCompile(`\b([A-Z][0-9]*)\.([0-9]+)(?:\s+to\s+([A-Z][0-9]*)\.([0-9]+))?\b`)
	chapter  = regexp.MustCompile(`\b[Ss]ections?\s+([A-Z])\b(?:[^.]|\.?$|\.\D)`)
	rooms    = regexp.MustCompile(`(?m)^Code: ((?:.+\n?)+)`)
	quoted   = regexp.MustCompile("`([^`]+)`")
)

// TestCitationsOfKarmadaLeadSomewhere holds the sections of docs/karmada.md against the
// comments of the code, both ways.
func TestCitationsOfKarmadaLeadSomewhere(t *testing.T) {
	data, err := os.ReadFile(karmadaDoc)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	var sections []string
	for _, m := range heading.FindAllStringSubmatch(doc, -1) {
		if slices.Contains(sections, m[1]) {
			t.Errorf("docs/karmada.md has two sections %s", m[1])
		}
		sections = append(sections, m[1])
	}
	cited := map[string]bool{}
	eachComment(t, func(pos token.Position, text string) {
		for _, number := range citations(text) {
			cited[number] = true
			if !slices.Contains(sections, number) {
				t.Errorf("%s: the comment cites section %s, which docs/karmada.md does not have", pos, number)
			}
		}
	})
	for _, number := range sections {
		parent := slices.ContainsFunc(sections, func(s string) bool { return strings.HasPrefix(s, number+".") })
		if !cited[number] && !parent {
			t.Errorf("docs/karmada.md has a section %s, which no comment cites", number)
		}
	}
	if len(cited) < 30 {
		t.Errorf("only %d citations were found", len(cited))
	}
}

// TestSectionsOfKarmadaNamePackages holds that the packages are there in which
// docs/karmada.md says the code is.
func TestSectionsOfKarmadaNamePackages(t *testing.T) {
	data, err := os.ReadFile(karmadaDoc)
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range regexp.MustCompile(`(?m)^### `).Split(string(data), -1)[1:] {
		number, _, _ := strings.Cut(section, " ")
		m := rooms.FindStringSubmatch(section)
		if m == nil {
			t.Errorf(`section %s of docs/karmada.md has no line "Code: "`, number)
			continue
		}
		for _, dir := range quoted.FindAllStringSubmatch(m[1], -1) {
			if found, err := filepath.Glob("../../" + dir[1] + "/*.go"); err != nil || len(found) == 0 {
				t.Errorf("section %s of docs/karmada.md names %s, which is no package", number, dir[1])
			}
		}
	}
}

func TestCitations(t *testing.T) {
	for text, want := range map[string]string{
		"by section A.10, steps 0 and 1":                 "A.10",
		"Karmada sections A.3 and A.4":                   "A.3 A.4",
		"(sections B.2 to B.4) and\nE.1":                 "B.2 B.3 B.4 E.1",
		"Karmada section\nD.4":                           "D.4",
		"section A.2, and the default columns of A.1":    "A.2 A.1",
		"what a cluster reports (Karmada\nsection D).":   "D",
		"the names of section D.":                        "D",
		"a cluster passes the filters (A.9). They are":   "A.9",
		"the sections of the first step begin with 1/":   "",
		"section D. What follows is more":                "D",
		"RFC 6902, Go 1.26, kind v1.2, Lua 5.1, T0.1 is": "T0.1",
	} {
		if got := strings.Join(citations(text), " "); got != want {
			t.Errorf("citations in %q are %q, want %q", text, got, want)
		}
	}
}

// citations lists the sections that a comment cites: "A.3", each of "B.2 to B.7", and the
// chapter of "section D".
func citations(text string) []string {
	var numbers []string
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[3] == m[1] {
			last, _ = strconv.Atoi(m[4])
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, m[1]+"."+strconv.Itoa(n))
		}
	}
	for _, m := range chapter.FindAllStringSubmatch(text, -1) {
		numbers = append(numbers, m[1])
	}
	return numbers
}

// eachComment visits the comments of all Go files.
func eachComment(t *testing.T, visit func(pos token.Position, text string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) == "karmada_test.go" {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range f.Comments {
			visit(fset.Position(group.Pos()), group.Text())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
