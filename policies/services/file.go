package services

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The styles of an import.
const (
	Native   = "native"  // the Service of its own name, by a MultiClusterService
	ByImport = "derived" // another Service, by a ServiceImport
)

// File is what waybill.services holds of a cluster: the services whose endpoints others import from it, and those that it imports.
type File struct {
	Exports []Export `json:"exports,omitempty"`
	Imports []Import `json:"imports,omitempty"`
}

// Export is a Service of the cluster whose endpoints others import.
type Export struct {
	Namespace string `json:"namespace"`
	Service   string `json:"service"`
	// Book says that some of those do not reach the cluster, or whoever applies to it does not reach them: they read its book of endpoints.
	Book bool `json:"book,omitempty"`
}

// Import is a Service whose endpoints the cluster imports.
type Import struct {
	Namespace string `json:"namespace"`
	Service   string `json:"service"` // as it is called where it is exported
	Style     string `json:"style"`   // native or derived
	// Derived is what it is called here; empty for its own name.
	Derived string `json:"derived,omitempty"`
	// From are the clusters that it is imported from, in the order of names. The cluster itself may be among them.
	From []string `json:"from"`
	// Ports are the names of the ports that are imported; none for all.
	Ports []string `json:"ports,omitempty"`
}

// Line is an entry of a file as it is written, so that what many files have is written once.
type Line struct {
	imports, book             bool
	namespace, service, style string
	text                      []byte
}

// Line writes it.
func (e *Export) Line() Line {
	return Line{book: e.Book, namespace: e.Namespace, service: e.Service, text: written(e)}
}

// Line writes it.
func (i *Import) Line() Line {
	return Line{imports: true, namespace: i.Namespace, service: i.Service, style: i.Style, text: written(i)}
}

func written(entry any) []byte {
	data, err := json.Marshal(entry)
	if err != nil {
		panic("services: names do not encode: " + err.Error())
	}
	return data
}

func (l *Line) compare(o *Line) int {
	return cmp.Or(strings.Compare(l.namespace, o.namespace), strings.Compare(l.service, o.service), strings.Compare(l.style, o.style))
}

// Encode writes a file of lines, which are sorted, an entry a line; nil for none. An export that is there twice is written once: with a
// book, if one of them has it.
func Encode(lines []Line) []byte {
	var b bytes.Buffer
	for _, part := range []struct {
		name    string
		imports bool
	}{{"exports", false}, {"imports", true}} {
		var of []*Line
		for i := range lines {
			if lines[i].imports == part.imports {
				of = append(of, &lines[i])
			}
		}
		if of = sorted(of); len(of) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  \"" + part.name + "\": [\n")
		for i, l := range of {
			b.WriteString("    ")
			b.Write(l.text)
			if i+1 < len(of) {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString("  ]")
	}
	if b.Len() == 0 {
		return nil
	}
	return []byte("{\n" + b.String() + "\n}\n")
}

// sorted sorts lines, and leaves each in once.
func sorted(of []*Line) []*Line {
	slices.SortStableFunc(of, func(a, b *Line) int {
		if c := a.compare(b); c != 0 || a.book == b.book {
			return c
		}
		if a.book {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(of, func(a, b *Line) bool { return a.compare(b) == 0 })
}

// Decode reads a file back; nil is none. One that a later version wrote has fields that this one does not know, and passes over. One
// that says nothing is refused: Waybill writes none then, so that the rest of it is lost.
func Decode(data []byte) (File, error) {
	var f File
	if data == nil {
		return f, nil
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return File{}, fmt.Errorf("it is not what Waybill wrote: %w", err)
	}
	if len(f.Exports)+len(f.Imports) == 0 {
		return File{}, errors.New("it is not what Waybill wrote: it says of no service that it is exported or imported")
	}
	return f, nil
}
