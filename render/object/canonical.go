package object

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errNotCanonical says that a text is not as Encode writes it.
var errNotCanonical = errors.New("the text is not canonical YAML")

// DecodeCanonical reads what Encode wrote, some fifty times faster than a YAML
// parser reads it. Any other text is an error; whoever may meet one asks Decode.
func DecodeCanonical(data []byte) (map[string]any, error) {
	if string(data) == "{}\n" {
		return map[string]any{}, nil
	}
	c := canonical{text: string(data)}
	if !strings.HasSuffix(c.text, "\n") {
		return nil, errNotCanonical
	}
	m, err := c.mapping(0)
	if err == nil && c.at < len(c.text) {
		err = errNotCanonical
	}
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", 1+strings.Count(c.text[:min(c.at, len(c.text))], "\n"), err)
	}
	return m, nil
}

// ReadCanonical is DecodeCanonical of what has its text to be asked for, as a blob of a tree has.
func ReadCanonical(b interface{ Bytes() ([]byte, error) }) (map[string]any, error) {
	data, err := b.Bytes()
	if err != nil {
		return nil, fmt.Errorf("reading a manifest: %w", err)
	}
	return DecodeCanonical(data)
}

// canonical is a reader of lines. At stands at the start of a line, or behind the
// "- " of an item.
type canonical struct {
	text string
	at   int
}

// indent counts the spaces at the start of the line that stands at c.at.
func (c *canonical) indent() int {
	n := 0
	for c.at+n < len(c.text) && c.text[c.at+n] == ' ' {
		n++
	}
	return n
}

// mapping reads entries that stand at an indent. The first may stand behind "- ".
func (c *canonical) mapping(indent int) (map[string]any, error) {
	m := map[string]any{}
	for first := true; c.at < len(c.text); first = false {
		if !first || c.lineStart() {
			if c.indent() != indent || strings.HasPrefix(c.text[c.at+indent:], "- ") {
				break
			}
			c.at += indent
		}
		key, err := c.key()
		if err != nil {
			return nil, err
		}
		if m[key], err = c.value(indent); err != nil {
			return nil, err
		}
	}
	if len(m) == 0 {
		return nil, errNotCanonical
	}
	return m, nil
}

func (c *canonical) lineStart() bool { return c.at == 0 || c.text[c.at-1] == '\n' }

// key reads a key and its colon.
func (c *canonical) key() (string, error) {
	if strings.HasPrefix(c.text[c.at:], "? ") {
		return "", errNotCanonical
	}
	quoted := strings.IndexByte("'\"", c.text[c.at]) >= 0
	key, err := c.quotedOr(endOfKey)
	if err != nil || !quoted && !isPlain(key) || c.at >= len(c.text) || c.text[c.at] != ':' {
		return "", errNotCanonical
	}
	c.at++
	return key, nil
}

// endOfKey finds the colon that ends a plain key: the first with nothing, or a
// space, behind it.
func endOfKey(rest string) int {
	for i := range len(rest) - 1 {
		if rest[i] == ':' && (rest[i+1] == ' ' || rest[i+1] == '\n') {
			return i
		}
	}
	return -1
}

// quotedOr reads a string in quotes, or plain up to where end says.
func (c *canonical) quotedOr(end func(rest string) int) (string, error) {
	rest := c.text[c.at:]
	switch {
	case strings.HasPrefix(rest, "'"):
		for i := 1; i < len(rest); i++ {
			if rest[i] != '\'' {
				continue
			}
			if i+1 < len(rest) && rest[i+1] == '\'' {
				i++
				continue
			}
			c.at += i + 1
			return strings.ReplaceAll(rest[1:i], "''", "'"), nil
		}
		return "", errNotCanonical
	case strings.HasPrefix(rest, `"`):
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return "", errNotCanonical
		}
		c.at += len(quoted)
		s, err := strconv.Unquote(quoted)
		if err != nil {
			return "", errNotCanonical
		}
		return s, nil
	}
	n := end(rest)
	if n < 0 {
		return "", errNotCanonical
	}
	c.at += n
	return rest[:n], nil
}

// value reads what stands behind a key at an indent, to the end of its last line.
func (c *canonical) value(indent int) (any, error) {
	if strings.HasPrefix(c.text[c.at:], "\n") {
		c.at++
		if c.indent() == indent && strings.HasPrefix(c.text[c.at+indent:], "- ") {
			return c.sequence(indent)
		}
		return c.mapping(indent + 2)
	}
	if !strings.HasPrefix(c.text[c.at:], " ") {
		return nil, errNotCanonical
	}
	c.at++
	return c.scalar(indent + 2)
}

// sequence reads items that stand at an indent. The first may stand behind "- ".
func (c *canonical) sequence(indent int) ([]any, error) {
	var s []any
	for first := true; c.at < len(c.text); first = false {
		if !first || c.lineStart() {
			if c.indent() != indent {
				break
			}
			c.at += indent
		}
		if !strings.HasPrefix(c.text[c.at:], "- ") {
			c.at -= indent
			break
		}
		c.at += 2
		v, err := c.item(indent + 2)
		if err != nil {
			return nil, err
		}
		s = append(s, v)
	}
	return s, nil
}

// item reads what stands behind "- ".
func (c *canonical) item(indent int) (any, error) {
	line, _, _ := strings.Cut(c.text[c.at:], "\n")
	switch {
	case strings.HasPrefix(line, "- "):
		return c.sequence(indent)
	case isEntry(line):
		return c.mapping(indent)
	}
	return c.scalar(indent)
}

// isEntry tells "key: value" and "key:" from a scalar, which is in quotes if it
// has a colon that could be taken for one.
func isEntry(line string) bool {
	if line == "" {
		return false
	}
	if line[0] != '\'' && line[0] != '"' {
		return strings.Contains(line, ": ") || strings.HasSuffix(line, ":")
	}
	c := canonical{text: line}
	_, err := c.quotedOr(func(string) int { return -1 })
	return err == nil && strings.HasPrefix(line[c.at:], ":")
}

// scalar reads a scalar and the end of its line.
func (c *canonical) scalar(indent int) (any, error) {
	line, _, _ := strings.Cut(c.text[c.at:], "\n")
	switch {
	case line == "":
		return nil, errNotCanonical
	case line[0] == '|':
		return c.block(line, indent)
	case line[0] == '\'' || line[0] == '"':
		s, err := c.quotedOr(func(string) int { return -1 })
		if err != nil || !strings.HasPrefix(c.text[c.at:], "\n") {
			return nil, errNotCanonical
		}
		c.at++
		return s, nil
	}
	c.at += len(line) + 1
	return plain(line)
}

// plain reads a plain scalar as Encode writes them.
func plain(s string) (any, error) {
	switch s {
	case "null":
		return nil, nil // the value is null
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "{}":
		return map[string]any{}, nil
	case "[]":
		return []any{}, nil
	}
	if isPlain(s) {
		return s, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f, nil
	}
	return nil, errNotCanonical
}

// block reads a literal block whose lines stand at an indent.
func (c *canonical) block(header string, indent int) (any, error) {
	c.at += len(header) + 1
	var b strings.Builder
	for c.at < len(c.text) {
		line, _, _ := strings.Cut(c.text[c.at:], "\n")
		if line != "" {
			if len(line) < indent || strings.TrimLeft(line[:indent], " ") != "" {
				break
			}
			b.WriteString(line[indent:])
		}
		b.WriteByte('\n')
		c.at += len(line) + 1
	}
	s := b.String()
	switch header {
	case "|":
	case "|-":
		s = strings.TrimSuffix(s, "\n")
	case "|+":
	default:
		return nil, errNotCanonical
	}
	return s, nil
}
