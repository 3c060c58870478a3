package thirdparty_test

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	glua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/waybill-dev/waybill/policies/interpret/thirdparty"
)

// operations are the functions that a file may define, by the letters that the
// table uses for them.
var operations = map[string]string{
	"C": "GetComponents", "R": "GetReplicas", "V": "ReviseReplica", "H": "InterpretHealth",
	"A": "AggregateStatus", "F": "ReflectStatus", "D": "GetDependencies", "T": "Retain",
}

// table is what the module of Karmada does not know: the newer versions of HelmRelease, RayService,
// and Argo Rollouts.
var table = map[string]string{
	"argoproj.io/v1alpha1/Rollout":               "R V A F H D",
	"helm.toolkit.fluxcd.io/v2/HelmRelease":      "H A T F D",
	"helm.toolkit.fluxcd.io/v2beta2/HelmRelease": "H A T F D",
	"ray.io/v1/RayService":                       "R V H A D",
}

// wanted returns the functions that the table gives a kind, sorted.
func wanted(kind string) []string {
	var names []string
	for letter := range strings.FieldsSeq(table[kind]) {
		names = append(names, operations[letter])
	}
	slices.Sort(names)
	return names
}

// sources returns the text of the files by their names without ".lua".
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(thirdparty.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(thirdparty.Files(), name)
		found[strings.TrimSuffix(name, ".lua")] = string(text)
		return err
	})
	if err != nil {
		t.Fatalf("reading the files: %v", err)
	}
	return found
}

func TestEveryKindOfTheTableHasAFile(t *testing.T) {
	t.Parallel()
	files := sources(t)
	for kind := range table {
		if files[kind] == "" {
			t.Errorf("there is no %s.lua", kind)
		}
	}
	for name := range files {
		if _, ok := table[name]; !ok {
			t.Errorf("%s.lua is for no kind of the table", name)
		}
	}
}

func TestAFileDefinesTheFunctionsOfItsKindAndNoOtherGlobals(t *testing.T) {
	t.Parallel()
	for kind, text := range sources(t) {
		set, read := globals(t, kind, text)
		if diff := cmp.Diff(wanted(kind), set); diff != "" {
			t.Errorf("%s.lua defines other globals (-want +got):\n%s", kind, diff)
		}
		for _, name := range read {
			if !slices.Contains(known, name) {
				t.Errorf("%s.lua uses %s, which is neither a local nor of Lua", kind, name)
			}
		}
	}
}

// known are the globals of Lua that the files use.
var known = []string{
	"error", "ipairs", "math", "next", "pairs", "require", "string", "table", "tonumber", "tostring", "type", "unpack",
}

// globals returns the names of the globals that a script sets and reads, sorted.
func globals(t *testing.T, kind, text string) (set, read []string) {
	t.Helper()
	chunk, err := parse.Parse(strings.NewReader(text), kind+".lua")
	if err != nil {
		t.Fatal(err)
	}
	main, err := glua.Compile(chunk, kind+".lua")
	if err != nil {
		t.Fatal(err)
	}
	for functions := []*glua.FunctionProto{main}; len(functions) > 0; {
		f := functions[0]
		functions = append(functions[1:], f.FunctionPrototypes...)
		for _, instruction := range f.Code {
			name := func() string { return f.Constants[instruction&(1<<18-1)].String() } // the operand Bx
			switch int(instruction >> 26) {
			case glua.OP_SETGLOBAL:
				set = append(set, name())
			case glua.OP_GETGLOBAL:
				read = append(read, name())
			}
		}
	}
	slices.Sort(set)
	slices.Sort(read)
	return set, slices.Compact(read)
}

// TestLocalFunctionsOfOneNameAreOneFunction guards the copies that the files have
// of what they share.
func TestLocalFunctionsOfOneNameAreOneFunction(t *testing.T) {
	t.Parallel()
	function := regexp.MustCompile(`(?ms)((?:^--[^\n]*\n)*)^local function (\w+)\(.*?^end\n`)
	type copied struct{ kind, text string }
	first := map[string]copied{}
	files := sources(t)
	for kind := range table {
		for _, m := range function.FindAllStringSubmatch(files[kind], -1) {
			text, name := m[0], m[2]
			switch have, ok := first[name]; {
			case !ok:
				first[name] = copied{kind, text}
			case have.text != text:
				t.Errorf("%s of %s is not that of %s:\n%s", name, kind, have.kind, cmp.Diff(have.text, text))
			}
			if calls := regexp.MustCompile(`\b`+name+`\b[(,]`).FindAllString(files[kind], -1); len(calls) < 2 {
				t.Errorf("%s.lua has %s, and does not use it", kind, name)
			}
		}
	}
	if len(first) < 8 {
		t.Errorf("only %d local functions were found", len(first))
	}
}

// TestFilesAreUniform keeps the files readable as one text.
func TestFilesAreUniform(t *testing.T) {
	t.Parallel()
	for kind, text := range sources(t) {
		if head := "-- " + path.Base(kind) + ", " + path.Dir(kind) + ":"; !strings.HasPrefix(text, head) {
			t.Errorf("%s.lua does not begin with %q and where the API is documented", kind, head)
		}
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			if indent%2 != 0 || strings.Contains(line, "\t") || strings.TrimRight(line, " ") != line || len(line) > 120 {
				t.Errorf("%s.lua:%d is indented by other than two spaces, ends with one or is too long: %q", kind, i+1, line)
			}
		}
	}
}
