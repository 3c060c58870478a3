package object

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/diag"
)

// The limits that every YAML file is held against before anything expands it.
// The size is checked on the bytes; the others on the parsed node graph, which
// keeps an alias as one node and so costs no more than the file itself.
const (
	MaxFile      = 5 << 20  // bytes a file
	MaxCRDFile   = 16 << 20 // bytes a file that holds a CustomResourceDefinition
	maxAliases   = 100      // aliases a document
	maxExpansion = 10       // times a document may grow when its aliases are expanded
	maxDepth     = 100      // levels of nesting
	maxDocuments = 5000     // documents a file
)

// tooLarge reports a file that is over the size limit. Data may be nil where only
// the size is known.
func tooLarge(file string, size int64, data []byte) *diag.Diagnostic {
	limit := int64(MaxFile)
	if data == nil && size <= MaxCRDFile || bytes.Contains(data, []byte("CustomResourceDefinition")) {
		limit = MaxCRDFile
	}
	if size <= limit {
		return nil
	}
	return &diag.Diagnostic{
		Code: "file-too-large", Severity: diag.Error, Pos: diag.Pos{File: file},
		Message: fmt.Sprintf("the file has %d bytes; the limit is %d (%d for a file with a CustomResourceDefinition)", size, MaxFile, MaxCRDFile),
		Hint:    "split it, or name it in .waybillignore if it is no manifest",
	}
}

// TooLarge reports, from its size alone, a file that no limit allows, so that
// nobody needs to read it.
func TooLarge(file string, size int64) (diag.Diagnostic, bool) {
	if d := tooLarge(file, size, nil); d != nil {
		return *d, true
	}
	return diag.Diagnostic{}, false
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
	code, message string
	line          int
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
		return &limitError{code: "yaml-aliases", line: doc.Line, message: fmt.Sprintf("the document has %d aliases; the limit is %d", w.aliases, maxAliases)}
	}
	total, err := w.expanded(doc)
	if err != nil {
		return err
	}
	if total.size > maxExpansion*raw {
		return &limitError{code: "yaml-expansion", line: doc.Line, message: fmt.Sprintf("the document grows over %d times when its aliases are expanded", maxExpansion)}
	}
	if total.depth > maxDepth {
		return tooDeep(doc.Line)
	}
	return nil
}

func tooDeep(line int) *limitError {
	return &limitError{code: "yaml-depth", line: line, message: fmt.Sprintf("the document is nested over %d levels deep", maxDepth)}
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
		return weight{}, &limitError{code: "yaml-aliases", line: n.Line, message: "the alias of an anchor contains itself"}
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
