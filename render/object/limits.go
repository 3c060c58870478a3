package object

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/diag"
)

// The limits that every YAML file is held against before anything expands it.
// The size is checked on the bytes; the others on the parsed node graph, which
// keeps an alias as one node and so costs no more than the file itself.
const (
	MaxFile      = 5 << 20  // bytes of a file, but for its CustomResourceDefinitions
	MaxCRDFile   = 16 << 20 // bytes of a file
	maxAliases   = 100      // aliases a document
	maxExpansion = 10       // times a document may grow when its aliases are expanded
	maxDepth     = 100      // levels of nesting
	maxDocuments = 5000     // documents a file
)

// definition is the kind whose documents may be large.
const definition = "CustomResourceDefinition"

// tooLarge reports a file that is over the size limit. A document that does not so much
// as name a CustomResourceDefinition is none; decoding tells which of the others are.
func tooLarge(file string, data []byte) *diag.Diagnostic {
	if len(data) <= MaxFile {
		return nil
	}
	if len(data) > MaxCRDFile {
		return fileTooLarge(file, 0, fmt.Sprintf("the file has %d bytes", len(data)))
	}
	plain := 0
	for _, p := range Split(data) {
		if !bytes.Contains(p.Data, []byte(definition)) {
			plain += len(p.Data)
		}
	}
	if plain > MaxFile {
		return fileTooLarge(file, 0, fmt.Sprintf("the file has %d bytes that are no %s", plain, definition))
	}
	return nil
}

func fileTooLarge(file string, line int, what string) *diag.Diagnostic {
	return &diag.Diagnostic{
		Code: diag.FileTooLarge, Severity: diag.Error, Pos: diag.Pos{File: file, Line: line},
		Message: fmt.Sprintf("%s; the limit is %d, and %d with its CustomResourceDefinitions", what, MaxFile, MaxCRDFile),
		Hint:    "split it, or name it in .waybillignore if it is no manifest",
	}
}

func tooManyDocuments(file string, line int) *diag.Diagnostic {
	return &diag.Diagnostic{
		Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: file, Line: line},
		Message: fmt.Sprintf("the file has over %d documents, so that none of it is used", maxDocuments),
		Hint:    "split it, or name it in .waybillignore if it is no manifest",
	}
}

// definesKinds reports a document that is a CustomResourceDefinition, or a list of nothing
// else.
func definesKinds(n *yaml.Node) bool {
	kind, isList := strings.CutSuffix(scalar(n, "kind"), "List")
	if !isList {
		return kind == definition
	}
	var pos diag.Pos
	items := child(n, "items", &pos)
	return items != nil && !slices.ContainsFunc(items.Content, func(item *yaml.Node) bool {
		return scalar(item, "kind") != definition && (kind != definition || scalar(item, "kind") != "")
	})
}

// TooLarge reports, from its size alone, a file that no limit allows, so that
// nobody needs to read it.
func TooLarge(file string, size int64) (diag.Diagnostic, bool) {
	if size <= MaxCRDFile {
		return diag.Diagnostic{}, false
	}
	return *fileTooLarge(file, 0, fmt.Sprintf("the file has %d bytes", size)), true
}

// weigher measures a node graph with its aliases expanded.
type weigher struct {
	aliases int
	known   map[*yaml.Node]weight // anchored nodes already measured
	open    map[*yaml.Node]bool   // anchored nodes being measured: a cycle meets one
}

type weight struct{ size, depth int }

// limitError is the reason a document is refused.
type limitError struct {
	code    diag.Code
	message string
	line    int
}

func (e *limitError) Error() string { return e.message }

// checkLimits measures a document.
func checkLimits(doc *yaml.Node) *limitError {
	w := weigher{known: map[*yaml.Node]weight{}, open: map[*yaml.Node]bool{}}
	raw := 0
	if err := w.raw(doc, 0, &raw); err != nil {
		return err
	}
	if w.aliases == 0 {
		return nil
	}
	if w.aliases > maxAliases {
		return &limitError{code: diag.YAMLAliases, line: doc.Line, message: fmt.Sprintf("the document has %d aliases; the limit is %d", w.aliases, maxAliases)}
	}
	total, err := w.expanded(doc)
	if err != nil {
		return err
	}
	if total.size > maxExpansion*raw {
		return &limitError{code: diag.YAMLExpansion, line: doc.Line, message: fmt.Sprintf("the document grows over %d times when its aliases are expanded", maxExpansion)}
	}
	if total.depth > maxDepth {
		return tooDeep(doc.Line)
	}
	return nil
}

func tooDeep(line int) *limitError {
	return &limitError{code: diag.YAMLDepth, line: line, message: fmt.Sprintf("the document is nested over %d levels deep", maxDepth)}
}

// raw adds up the document as written.
func (w *weigher) raw(n *yaml.Node, depth int, size *int) *limitError {
	if depth > maxDepth {
		return tooDeep(n.Line)
	}
	*size += nodeSize(n)
	if n.Kind == yaml.AliasNode {
		w.aliases++
		return nil
	}
	for _, c := range n.Content {
		if err := w.raw(c, depth+1, size); err != nil {
			return err
		}
	}
	return nil
}

// expanded adds up the document with every alias replaced by what it names. An
// anchored node is measured once; a sum stops growing at a size nothing allows.
func (w *weigher) expanded(n *yaml.Node) (weight, *limitError) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if known, ok := w.known[n]; ok {
		return known, nil
	}
	if w.open[n] {
		return weight{}, &limitError{code: diag.YAMLAliases, line: n.Line, message: "the alias of an anchor contains itself"}
	}
	if n.Anchor != "" {
		w.open[n] = true
		defer delete(w.open, n)
	}
	sum := weight{size: nodeSize(n)}
	for _, c := range n.Content {
		cw, err := w.expanded(c)
		if err != nil {
			return weight{}, err
		}
		sum.size = min(sum.size+cw.size, 1<<40)
		sum.depth = max(sum.depth, cw.depth+1)
	}
	if n.Anchor != "" {
		w.known[n] = sum
	}
	return sum, nil
}

func nodeSize(n *yaml.Node) int { return len(n.Value) + 8 }
