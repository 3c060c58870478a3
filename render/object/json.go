package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// json reads concatenated JSON values.
func (d *decoder) json(data []byte) {
	for dec, n := json.NewDecoder(bytes.NewReader(data)), 0; !d.refused; n++ {
		start := dec.InputOffset()
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			at := start
			if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
				at = syntax.Offset
			}
			d.malformed(lineAt(data, at), "the file is no valid JSON: "+err.Error())
			return
		}
		if n == maxDocuments {
			d.refuse(*tooManyDocuments(d.file, lineAt(data, dec.InputOffset()-int64(len(raw)))))
			return
		}
		root, err := jsonNodes(raw, lineAt(data, dec.InputOffset()-int64(len(raw))))
		if err != nil {
			d.malformed(lineAt(data, start), err.Error())
			return
		}
		doc := yaml.Node{Kind: yaml.DocumentNode, Line: root.Line, Content: []*yaml.Node{root}}
		d.document(&doc, raw, func() (content map[string]any, err error) {
			err = utiljson.Unmarshal(raw, &content)
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				err = errors.New("a number is beyond all that can be read") // the error shows it
			}
			return content, err
		})
	}
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

// jsonNodes returns the nodes of a JSON value that begins at a line. They give
// structure and lines; values come from the JSON itself.
func jsonNodes(raw []byte, line int) (*yaml.Node, error) {
	r := jsonReader{raw: raw, tokens: json.NewDecoder(bytes.NewReader(raw)), line: line}
	r.tokens.UseNumber()
	return r.node()
}

// jsonReader knows the line that its last token stands in.
type jsonReader struct {
	raw    []byte
	tokens *json.Decoder
	at     int64 // the offset up to which lines are counted
	line   int
}

// token reads the next token. No token of JSON goes over the end of a line.
func (r *jsonReader) token() (json.Token, error) {
	t, err := r.tokens.Token()
	if err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	end := r.tokens.InputOffset()
	r.line += bytes.Count(r.raw[r.at:end], []byte("\n"))
	r.at = end
	return t, nil
}

// node reads a value; nil where a list or an object ends.
func (r *jsonReader) node() (*yaml.Node, error) {
	t, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line}
	switch t := t.(type) {
	case json.Delim:
		switch t {
		case '{':
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		case '[':
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		default:
			return nil, nil // the end of a list or an object
		}
		n.Content, err = r.children()
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case string:
		n.Tag, n.Value = "!!str", t
	default:
		n.Value = fmt.Sprint(t)
	}
	return n, err
}

// children reads values up to the end of the list or object that holds them.
func (r *jsonReader) children() ([]*yaml.Node, error) {
	var all []*yaml.Node
	for {
		n, err := r.node()
		if n == nil || err != nil {
			return all, err
		}
		all = append(all, n)
	}
}
