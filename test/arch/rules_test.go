package arch

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	kyaml "sigs.k8s.io/yaml"
)

// The bounds of types, packages and lines.
const (
	mostMethods = 20
	mostFiles   = 4
	mostLines   = 3000
	mostColumns = 140
)

// source is a Go file.
type source struct {
	name, text string
	file       *ast.File
}

// parsed reads all Go files, those of tests, too.
var parsed = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{path, string(text), f})
		return err
	})
	return all, err
})

func everything(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sources are the files of the product, that is all but the tests, by the paths of their packages within
// the module.
func sources(t *testing.T) map[string][]source {
	t.Helper()
	all := map[string][]source{}
	for _, s := range everything(t) {
		rel := filepath.ToSlash(strings.TrimPrefix(s.name, "../../"))
		if strings.HasSuffix(rel, "_test.go") || below(rel, "test") {
			continue
		}
		dir := path.Dir(rel)
		all[dir] = append(all[dir], s)
	}
	if len(all) < 50 {
		t.Fatalf("only %d packages were found", len(all))
	}
	return all
}

// eachMethod visits the methods of a package with the name of their type.
func eachMethod(files []source, visit func(of string, in source)) {
	for _, s := range files {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || len(fn.Recv.List) == 0 {
				continue
			}
			if name := receiver(fn.Recv.List[0].Type); name != "" {
				visit(name, s)
			}
		}
	}
}

// receiver is the name of the type of a receiver.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// methods finds types with too many methods.
func methods(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	for dir, files := range sources(t) {
		eachMethod(files, func(of string, _ source) { count[dir+"."+of]++ })
	}
	return above(count, mostMethods)
}

// spread finds types whose methods are in too many files.
func spread(t *testing.T) map[string]int {
	t.Helper()
	in := map[string]map[string]bool{}
	for dir, files := range sources(t) {
		eachMethod(files, func(of string, s source) {
			if in[dir+"."+of] == nil {
				in[dir+"."+of] = map[string]bool{}
			}
			in[dir+"."+of][s.name] = true
		})
	}
	count := map[string]int{}
	for of, files := range in {
		count[of] = len(files)
	}
	return above(count, mostFiles)
}

func above(count map[string]int, most int) map[string]int {
	over := map[string]int{}
	for place, n := range count {
		if n > most {
			over[place] = n
		}
	}
	return over
}

// lines finds packages with too many lines. It counts by the hundred, so that not every edit
// of such a package changes debts.txt.
func lines(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	for dir, files := range sources(t) {
		for _, s := range files {
			count[dir] += strings.Count(s.text, "\n")
		}
		if count[dir] > mostLines {
			count[dir] = (count[dir] + 99) / 100 * 100
		}
	}
	return above(count, mostLines)
}

// columns finds lines that are too long. What is said to people, which is in string literals,
// and URLs do not count.
func columns(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	for dir, files := range sources(t) {
		for _, s := range files {
			if n := longLines(s.text); n > 0 {
				count[dir] += n
			}
		}
	}
	return count
}

var address = regexp.MustCompile(`\w+://\S+`)

// longLines counts the lines of a file that are too long.
func longLines(text string) (n int) {
	said := saidInLines(text)
	for i, line := range strings.Split(text, "\n") {
		line = address.ReplaceAllString(line, "")
		if utf8.RuneCountInString(line)-said[i] > mostColumns {
			n++
		}
	}
	return n
}

// saidInLines is how many characters of string literals each line has, from the first as 0.
func saidInLines(text string) map[int]int {
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(text))
	var sc scanner.Scanner
	sc.Init(f, []byte(text), nil, 0)
	said := map[int]int{}
	for {
		pos, tok, literal := sc.Scan()
		if tok == token.EOF {
			return said
		}
		if tok != token.STRING {
			continue
		}
		for i, part := range strings.Split(literal, "\n") {
			said[f.Line(pos)-1+i] += utf8.RuneCountInString(address.ReplaceAllString(part, ""))
		}
	}
}

// nolints finds comments that turn off linters which are not on, in the tests, too.
func nolints(t *testing.T) map[string]int {
	t.Helper()
	enabled := linters(t)
	count := map[string]int{}
	for _, s := range everything(t) {
		dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(s.name, "../../")))
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				for _, name := range turnedOff(c.Text) {
					if !slices.Contains(enabled, name) {
						count[dir]++
					}
				}
			}
		}
	}
	return count
}

var nolint = regexp.MustCompile(`^//\s*nolint:([a-z0-9,]+)`)

// turnedOff returns the linters that a comment turns off.
func turnedOff(comment string) []string {
	m := nolint.FindStringSubmatch(comment)
	if m == nil {
		return nil
	}
	return strings.Split(m[1], ",")
}

// linters are those that .golangci.yml enables.
func linters(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters    struct{ Enable []string }
		Formatters struct{ Enable []string }
	}
	if err := kyaml.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Linters.Enable) == 0 {
		t.Fatal(".golangci.yml enables no linter")
	}
	return append(config.Linters.Enable, config.Formatters.Enable...)
}
