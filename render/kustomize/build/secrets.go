package build

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// Kustomize shows in its errors what it could not use: the configuration of a
// generator with its literals, a line of a file, a node of an object. The scan remembers
// what it read, so that redacted can take out of such a text what is secret.

// shortest is the length in bytes of a value that is worth hiding: shorter ones are no
// secrets, and hiding them would hide every word that has them.
const shortest = 4

// hide remembers a value that no text may show: as it is, line by line, and encoded.
func (s *scan) hide(value string) {
	s.hidden = append(s.hidden, value, base64.StdEncoding.EncodeToString([]byte(value)))
	for line := range strings.Lines(value) {
		s.hidden = append(s.hidden, strings.TrimSpace(line))
	}
}

// hideLines remembers the values of a file of variables that a Secret is generated from.
func (s *scan) hideLines(content string) {
	for line := range strings.Lines(content) {
		_, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		s.hide(value)
	}
}

// redacted returns a text with everything that is secret replaced.
func (s *scan) redacted(text string) string {
	for _, content := range s.parsed {
		s.hideSecrets(content)
	}
	slices.SortFunc(s.hidden, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // whole values before parts
	for _, v := range s.hidden {
		if len(v) >= shortest {
			text = strings.ReplaceAll(text, v, "[secret]")
		}
	}
	return text
}

// hideSecrets remembers the values of the Secrets in a YAML stream, and of patches to
// such.
func (s *scan) hideSecrets(content []byte) {
	for dec := kyaml.NewDecoder(bytes.NewReader(content)); ; {
		var doc kyaml.Node
		if dec.Decode(&doc) != nil {
			return
		}
		s.hideIn(&doc)
	}
}

func (s *scan) hideIn(n *kyaml.Node) {
	if kind := within(n, "kind"); kind != nil && kind.Value == "Secret" {
		s.hideScalars(within(n, "data"))
		s.hideScalars(within(n, "stringData"))
	}
	if kind := within(n, "kind"); kind != nil && kind.Value == "SecretGenerator" {
		s.hideLiterals(n)
	}
	if g := within(n, "secretGenerator"); g != nil {
		for _, c := range g.Content {
			s.hideLiterals(c)
		}
	}
	if p := within(n, "path"); p != nil && (strings.HasPrefix(p.Value, "/data") || strings.HasPrefix(p.Value, "/stringData")) {
		s.hideScalars(within(n, "value"))
	}
	for _, c := range n.Content {
		s.hideIn(c)
	}
}

// hideLiterals remembers the literals that a generator makes a Secret of.
func (s *scan) hideLiterals(generator *kyaml.Node) {
	literals := within(generator, "literals")
	if literals == nil {
		return
	}
	for _, l := range literals.Content {
		s.hide(l.Value)
		if _, value, ok := strings.Cut(l.Value, "="); ok {
			s.hide(strings.Trim(value, `"'`))
		}
	}
}

func (s *scan) hideScalars(n *kyaml.Node) {
	switch {
	case n == nil:
	case n.Kind == kyaml.ScalarNode:
		s.hide(n.Value)
	default:
		for i, c := range n.Content {
			if n.Kind != kyaml.MappingNode || i%2 == 1 {
				s.hideScalars(c)
			}
		}
	}
}
