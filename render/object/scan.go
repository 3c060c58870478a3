package object

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/diag"
)

// Scan holds YAML of any content against the limits without decoding it: its size,
// its documents, and the aliases, expansion and depth of each. It is for files that
// a library is about to read; Decode scans what it reads itself. JSON is YAML here.
// What is no valid YAML is reported as malformed, for its limits cannot be told.
func Scan(file string, data []byte) []diag.Diagnostic {
	d := decoder{file: file}
	if big := tooLarge(file, data); big != nil {
		d.fail(*big)
		return d.out.Diags
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for range maxDocuments + 1 {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			return d.out.Diags
		} else if err != nil {
			d.malformed(0, "the file is no valid YAML: "+said(err))
			return d.out.Diags
		}
		if over := checkLimits(&doc); over != nil {
			d.fail(diag.Diagnostic{
				Code: over.code, Severity: diag.Error, Pos: diag.Pos{File: file, Line: over.line},
				Message: over.message,
				Hint:    "write the values out; Waybill expands no more than that",
			})
			return d.out.Diags
		}
	}
	d.fail(*tooManyDocuments(file, 0))
	return d.out.Diags
}
