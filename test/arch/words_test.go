package arch

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The words that identifiers do not have, because the field has others for what they mean:
// command handler and commands, StatusWriter and StatusReader, BranchPoller, fingerprint,
// HeartbeatReceiver, drift, backoff, workqueue, PreviewStore, debouncer, evictor, eviction
// queue, scheduling item, render class, restorer, interpreter, redactor, registration, whatif,
// lint, folder log, leadership.
//
// None is in any name that is declared or of a file, in none of its parts. Those of common are words of
// every day, so that a variable may have them, and no type and no package has.
var (
	never = []string{
		"clerk", "teller", "hearsay", "office", "desk", "lookout", "beacon", "gist", "knock", "ward",
		"strays", "inbox", "shelf", "exodus", "thaw", "kin", "likeness", "doubt", "astray", "mender",
		"curtain", "enrol", "suppose", "trail", "tenure", "taught",
	}
	common = []string{
		"orders", "order", "news", "told", "word", "words", "standing", "sight", "monitor", "pace", "bell",
		"turn", "being", "due", "matter", "own", "ground", "strange", "stranger", "unsure", "law", "idle",
	}
)

// metaphors finds what is declared with such words, by package.
func metaphors(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	for dir, files := range sources(t) {
		n := 0
		if own := dir[strings.LastIndexByte(dir, '/')+1:]; odd(own, never) || odd(own, common) {
			n++
		}
		for _, s := range files {
			if odd(strings.TrimSuffix(path.Base(filepath.ToSlash(s.name)), ".go"), never) {
				n++
			}
			eachDeclared(s.file, func(name string, isType bool) {
				if odd(name, never) || isType && slices.Contains(common, strings.ToLower(name)) {
					n++
				}
			})
		}
		if n > 0 {
			count[dir] = n
		}
	}
	return count
}

// odd reports a name of which a part is among words.
func odd(name string, words []string) bool {
	return slices.ContainsFunc(parts(name), func(p string) bool {
		return slices.Contains(words, p) || slices.Contains(words, strings.TrimSuffix(p, "s"))
	})
}

// parts are the words of a name in CamelCase, in small letters.
func parts(name string) []string {
	var all []string
	letters := []rune(name)
	for i, r := range letters {
		begins := unicode.IsUpper(r) && (i == 0 || !unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if i == 0 || begins || !unicode.IsLetter(r) {
			all = append(all, "")
		}
		all[len(all)-1] += string(unicode.ToLower(r))
	}
	return all
}

// eachDeclared visits the names of types, functions, methods, fields, constants and variables
// that a file declares outside of functions.
func eachDeclared(f *ast.File, visit func(name string, isType bool)) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			visit(d.Name.Name, false)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					visit(s.Name.Name, true)
					eachField(s.Type, visit)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						visit(name.Name, false)
					}
				}
			}
		}
	}
}

// eachField visits the fields of a struct, and the methods of an interface.
func eachField(x ast.Expr, visit func(name string, isType bool)) {
	var list *ast.FieldList
	switch x := x.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			visit(name.Name, false)
		}
	}
}

// called matches what a comment names: in brackets, as a selector, or in CamelCase.
var called = regexp.MustCompile(`\[\*?([A-Za-z]\w*(?:\.\w+)*)\]|\b([a-z]\w*\.[A-Z]\w*(?:\.[A-Z]\w*)?)\b|\b([A-Za-z]+[a-z0-9][A-Z]\w*)\b`)

// elsewhere are names of other projects, and of what others' kinds have.
var elsewhere = []string{"GitOps", "KubeEdge", "C2SP", "azureDisk", "ipFamilies"}

// named finds what package comments name and no code has, by package.
func named(t *testing.T) map[string]int {
	t.Helper()
	all := sources(t)
	known := map[string]bool{}
	for _, s := range everything(t) { // the tests, too, for a comment may name one
		eachWordOfCode(s, known)
	}
	count := map[string]int{}
	for dir, files := range all {
		for _, s := range files {
			if s.file.Doc == nil {
				continue
			}
			for _, name := range namesIn(s.file.Doc.Text()) {
				if !known[name] && !known[strings.TrimSuffix(name, "s")] && !slices.Contains(elsewhere, name) {
					count[dir]++
					t.Logf("%s: the package comment names %s, which no code has", dir, name)
				}
			}
		}
	}
	return count
}

// namesIn returns what a comment names, without what qualifies it.
func namesIn(text string) []string {
	var names []string
	for _, m := range called.FindAllStringSubmatch(text, -1) {
		name := m[1] + m[2] + m[3]
		names = append(names, name[strings.LastIndexByte(name, '.')+1:])
	}
	return names
}

var word = regexp.MustCompile(`\w+`)

// eachWordOfCode notes the identifiers of a file, and the words of its strings, which name fields of
// documents.
func eachWordOfCode(s source, known map[string]bool) {
	for n := range ast.Preorder(s.file) {
		switch n := n.(type) {
		case *ast.Ident:
			known[n.Name] = true
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				continue
			}
			for _, w := range word.FindAllString(n.Value, -1) {
				known[w] = true
			}
		}
	}
}

func TestParts(t *testing.T) {
	for name, want := range map[string]string{
		"StatusClerk": "status clerk", "clerkOf": "clerk of", "Shelf": "shelf", "forward": "forward", "HTTPDesk": "http desk",
		"gistID": "gist id", "x1Gist": "x 1 gist", "SSHKeys": "ssh keys",
	} {
		if got := strings.Join(parts(name), " "); got != want {
			t.Errorf("the parts of %s are %q, want %q", name, got, want)
		}
	}
}

func TestNamesIn(t *testing.T) {
	got := namesIn("Package x has [Reader], [*plan.Plan] and karmada.Decode; FuzzPatch and Repo, a .git, GitHub's rules, e.g. this.")
	if want := []string{"Reader", "Plan", "Decode", "FuzzPatch", "GitHub"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", mostColumns)
	for text, want := range map[string]int{
		"package x\n// " + long + "\n":                     1,
		"package x\n// " + long[3:] + "\n":                 0,
		"package x\nvar a = \"" + long + "\"\n":            0,
		"package x\nvar " + long + " = \"" + long + "\"\n": 1,
		"package x\nvar a = `\n" + long + "xyz\n`\n":       0,
		"package x\n// see https://" + long + "\n":         0,
	} {
		if got := longLines(text); got != want {
			t.Errorf("%q has %d long lines, want %d", text, got, want)
		}
	}
}

func TestTurnedOff(t *testing.T) {
	for comment, want := range map[string]string{
		"//nolint:wrapcheck // it says what": "wrapcheck", "// nolint:a,b": "a b", "// about nolint:a": "", "//nolint:gosec,noctx": "gosec noctx",
	} {
		if got := strings.Join(turnedOff(comment), " "); got != want {
			t.Errorf("%s turns off %q, want %q", comment, got, want)
		}
	}
}
