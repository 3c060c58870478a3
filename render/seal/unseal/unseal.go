package unseal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/object"
)

// keySize is that of a data key, in bytes.
const keySize = 32

// field is where a document has what SOPS says of it.
const field = "sops"

var errCode = errors.New("its code (sops.mac) is not that of its values: somebody changed it after it was encrypted, or encrypted it in one file with other documents; encrypt it anew, in a file of its own")

// Document returns what a SOPS document says when it is decrypted, as a manifest is read,
// without what SOPS says of it. Everything else is an error that shows no value.
func (i Identities) Document(written []byte) (map[string]any, error) {
	doc, err := parse(written)
	if err != nil {
		return nil, err
	}
	m, err := cut(doc.Content[0])
	if err != nil {
		return nil, err
	}
	rule, err := m.rule()
	if err != nil {
		return nil, err
	}
	modified, err := time.Parse(time.RFC3339, m.LastModified)
	if err != nil {
		return nil, errors.New("the time of its last change (sops.lastmodified) is none")
	}
	key, err := i.dataKey(&m)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("its data key is none: %w", err)
	}
	w := walker{block: block, rule: rule, onlyEncrypted: m.OnlyEncrypted, sum: sha512.New()}
	if m.OnlyEncrypted { // which is to be another code than without it
		start := sha256.Sum256([]byte(field))
		w.sum.Write(start[:])
	}
	if err := w.mapping(doc.Content[0], nil, nil, around(doc)); err != nil {
		return nil, err
	}
	code, _, err := decrypt(block, m.Code, modified.Format(time.RFC3339))
	if err != nil || subtle.ConstantTimeCompare([]byte(code), fmt.Appendf(nil, "%X", w.sum.Sum(nil))) != 1 {
		return nil, errCode
	}
	content, err := object.Values(doc.Content[0])
	if err != nil {
		return nil, errors.New("what it decrypts to cannot be read")
	}
	return content, nil
}

// parse reads the one document of a text.
func parse(written []byte) (*yaml.Node, error) {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(written))
	if d.Decode(&doc) != nil || doc.Kind != yaml.DocumentNode || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it cannot be read as a document of YAML") // the error may quote it
	}
	if !errors.Is(d.Decode(&more), io.EOF) {
		return nil, errors.New("there is another document behind it")
	}
	return &doc, nil
}

// cut takes what SOPS says of a document out of it. The comments before it stay.
func cut(root *yaml.Node) (m metadata, err error) {
	found := false
	for at := 0; at+1 < len(root.Content); at += 2 {
		if root.Content[at].Value != field {
			continue
		}
		if found {
			return m, errors.New("what SOPS says of it (sops) stands there twice")
		}
		if err := root.Content[at+1].Decode(&m); err != nil {
			return m, errors.New("what SOPS says of it (sops) cannot be read")
		}
		found = true
	}
	if !found {
		return m, errors.New("it is no SOPS document")
	}
	rest := root.Content[:0]
	for at := 0; at+1 < len(root.Content); at += 2 {
		if root.Content[at].Value != field {
			rest = append(rest, root.Content[at], root.Content[at+1])
		}
	}
	root.Content = rest
	return m, nil
}

// walker decrypts a document in place, in the order in which it stands.
type walker struct {
	block         cipher.Block
	rule          rule
	onlyEncrypted bool
	sum           hash.Hash // of the values
}

// mapping decrypts the entries of a mapping. The path is that of the mapping; comments are
// those before what it is in, and own those that stand before its first entry. A comment
// counts up to the next entry, and for all that is in that.
func (w *walker) mapping(n *yaml.Node, path []string, comments [][]string, own []string) error {
	own = append(own, around(n)...)
	seen := map[string]bool{}
	for at := 0; at+1 < len(n.Content); at += 2 {
		key, value := n.Content[at], n.Content[at+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" && key.ShortTag() != "!!merge" {
			return fmt.Errorf("%s has a key that is no string", named(path))
		}
		below := append(slices.Clip(path), key.Value)
		if seen[key.Value] {
			return fmt.Errorf("%s stands there twice", named(below))
		}
		seen[key.Value] = true
		own = append(own, around(key)...)
		if value.Kind == yaml.ScalarNode {
			own = append(own, around(value)...)
		}
		comment, err := w.node(value, below, append(slices.Clip(comments), own))
		if err != nil {
			return err
		}
		if comment {
			return fmt.Errorf("%s decrypts to a comment", named(below))
		}
		own = nil
		if value.Kind == yaml.ScalarNode {
			own = lines(value.FootComment)
		}
		own = append(own, lines(key.FootComment)...)
	}
	return nil
}

// sequence decrypts the items of a list, which have its path. An item that is an encrypted
// comment is taken out.
func (w *walker) sequence(n *yaml.Node, path []string, comments [][]string) error {
	own := around(n)
	items := n.Content[:0]
	for _, item := range n.Content {
		own = append(own, around(item)...)
		comment, err := w.node(item, path, append(slices.Clip(comments), own))
		if err != nil {
			return err
		}
		if !comment {
			items = append(items, item)
		}
		own = lines(item.FootComment)
	}
	n.Content = items
	return nil
}

// node decrypts a value, and reports one that is a comment.
func (w *walker) node(n *yaml.Node, path []string, comments [][]string) (comment bool, err error) {
	switch n.Kind {
	case yaml.MappingNode:
		return false, w.mapping(n, path, comments, nil)
	case yaml.SequenceNode:
		return false, w.sequence(n, path, comments)
	case yaml.ScalarNode:
		if comment, err = w.scalar(n, path, comments); err != nil {
			return false, fmt.Errorf("%s: %w", named(path), err)
		}
		return comment, nil
	case yaml.AliasNode, yaml.DocumentNode:
	}
	return false, fmt.Errorf("%s is an alias of YAML, which sops does not write", named(path))
}

func (w *walker) scalar(n *yaml.Node, path []string, comments [][]string) (comment bool, err error) {
	if !w.rule.encrypted(path, comments) {
		code, ok, err := readable(n)
		if err == nil && ok && !w.onlyEncrypted {
			w.sum.Write([]byte(code))
		}
		return false, err
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return false, errors.New("it cannot be read")
	}
	if v == nil { // sops leaves it so
		return false, nil
	}
	value, ok := v.(string)
	if !ok {
		return false, errors.New("it is to be encrypted, and is not")
	}
	text, kind, err := decrypt(w.block, value, strings.Join(path, ":")+":")
	if err != nil || kind == typeComment {
		return err == nil, err
	}
	code, err := put(n, text, kind)
	w.sum.Write([]byte(code))
	return false, err
}

// around returns the comments of a node that stand before what is in it.
func around(n *yaml.Node) []string { return append(lines(n.HeadComment), lines(n.LineComment)...) }

// lines returns the lines of a comment, each without its mark.
func lines(comment string) []string {
	var out []string
	for line := range strings.SplitSeq(comment, "\n") {
		if line != "" {
			out = append(out, line[1:])
		}
	}
	return out
}

// named is a path as people write it.
func named(path []string) string {
	if len(path) == 0 {
		return "the document"
	}
	return strings.Join(path, ".")
}
