package object

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Encode returns content, a tree of maps, slices, strings, bools, int64, float64
// and nil, as canonical YAML: block style, keys in byte order, two spaces a level,
// sequences at the level of their key as kubectl prints them. A string is plain
// only where YAML 1.1 and 1.2 both read it back as that string.
func Encode(content map[string]any) []byte {
	e := Encoder{encoder{buf: make([]byte, 0, 2048)}}
	return e.Encode(content)
}

// Encoder encodes contents, one after the other into the same memory. The zero value is
// ready.
type Encoder struct{ encoder }

// Encode writes content as the function Encode does. The bytes are valid until the next
// call.
func (e *Encoder) Encode(content map[string]any) []byte {
	if len(content) == 0 {
		return []byte("{}\n")
	}
	e.buf = e.buf[:0]
	e.mapping(content, 0)
	return e.buf
}

type encoder struct {
	buf  []byte
	keys []string // scratch, used as a stack
}

func (e *encoder) indent(n int) {
	for range n {
		e.buf = append(e.buf, ' ', ' ')
	}
}

// mapping writes the entries of m, each on a line of its own at the given level.
// The first is written where the buffer stands if that is not a line's start.
func (e *encoder) mapping(m map[string]any, level int) {
	base := len(e.keys)
	for k := range m {
		e.keys = append(e.keys, k)
	}
	keys := e.keys[base:]
	slices.Sort(keys)
	for i := range keys {
		k := e.keys[base+i]
		if n := len(e.buf); n == 0 || e.buf[n-1] == '\n' {
			e.indent(level)
		}
		e.key(k, level)
		e.value(m[k], level)
	}
	e.keys = e.keys[:base]
}

func (e *encoder) key(k string, level int) {
	if len(k) > 900 { // YAML allows an implicit key 1,024 characters
		e.buf = append(e.buf, "? "...)
		e.buf = append(appendQuoted(e.buf, k), '\n')
		e.indent(level)
		e.buf = append(e.buf, ':')
		return
	}
	e.buf = appendScalar(e.buf, k)
	e.buf = append(e.buf, ':')
}

// value writes v behind its key.
func (e *encoder) value(v any, level int) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			e.buf = append(e.buf, " {}\n"...)
			return
		}
		e.buf = append(e.buf, '\n')
		e.mapping(v, level+1)
	case []any:
		if len(v) == 0 {
			e.buf = append(e.buf, " []\n"...)
			return
		}
		e.buf = append(e.buf, '\n')
		e.sequence(v, level)
	default:
		e.buf = append(e.buf, ' ')
		e.scalar(v, level+1)
	}
}

func (e *encoder) sequence(s []any, level int) {
	for _, v := range s {
		if n := len(e.buf); n == 0 || e.buf[n-1] == '\n' {
			e.indent(level)
		}
		e.buf = append(e.buf, '-', ' ')
		switch v := v.(type) {
		case map[string]any:
			if len(v) == 0 {
				e.buf = append(e.buf, "{}\n"...)
				continue
			}
			e.mapping(v, level+1)
		case []any:
			if len(v) == 0 {
				e.buf = append(e.buf, "[]\n"...)
				continue
			}
			e.sequence(v, level+1)
		default:
			e.scalar(v, level+1)
		}
	}
}

// scalar writes v and ends the line. A block scalar's lines stand at the level.
func (e *encoder) scalar(v any, level int) {
	switch v := v.(type) {
	case nil:
		e.buf = append(e.buf, "null"...)
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case int64:
		e.buf = strconv.AppendInt(e.buf, v, 10)
	case float64:
		e.buf = appendFloat(e.buf, v)
	case string:
		if fitsBlock(v) {
			e.block(v, level)
			return
		}
		e.buf = appendScalar(e.buf, v)
	default:
		panic("object: a manifest cannot hold a value of this type")
	}
	e.buf = append(e.buf, '\n')
}

// appendFloat writes f so that YAML 1.1 reads a number: an exponent needs a point.
func appendFloat(buf []byte, f float64) []byte {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if mantissa, exponent, ok := strings.Cut(s, "e"); ok && !strings.Contains(mantissa, ".") {
		s = mantissa + ".0e" + exponent
	}
	return append(buf, s...)
}

// fitsBlock reports whether s can be written as a literal block and read back:
// several lines, all printable, the first neither blank nor indented.
func fitsBlock(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == '\n' || s[0] == ' ' || s[0] == '\t' {
		return false
	}
	for i, r := range s {
		if r == '\n' {
			continue
		}
		if r == '\t' && i > 0 && s[i-1] != '\n' {
			continue
		}
		if !printable(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

func (e *encoder) block(s string, level int) {
	body := strings.TrimRight(s, "\n")
	switch trailing := len(s) - len(body); trailing {
	case 0:
		e.buf = append(e.buf, "|-\n"...)
	case 1:
		e.buf = append(e.buf, "|\n"...)
	default:
		e.buf = append(e.buf, "|+\n"...)
		body = s[:len(s)-1]
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			e.indent(level)
			e.buf = append(e.buf, line...)
		}
		e.buf = append(e.buf, '\n')
	}
}

// appendScalar writes s on one line: plain, in single quotes, or in double quotes.
func appendScalar(buf []byte, s string) []byte {
	switch {
	case isPlain(s):
		return append(buf, s...)
	case isSingleLine(s):
		buf = append(buf, '\'')
		buf = append(buf, strings.ReplaceAll(s, "'", "''")...)
		return append(buf, '\'')
	default:
		return appendQuoted(buf, s)
	}
}

func isSingleLine(s string) bool {
	for _, r := range s {
		if !printable(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// printable reports whether both YAML versions take r as it is, in any style. It
// leaves out tabs, line breaks of every script and the byte order mark.
func printable(r rune) bool {
	if r < 0x80 {
		return r >= ' ' && r < 0x7f
	}
	return r != 0xfeff && r != utf8.RuneError && r <= 0xffff && unicode.IsPrint(r)
}

// appendQuoted writes s in double quotes with the escapes that YAML shares with
// JSON.
func appendQuoted(buf []byte, s string) []byte {
	const hex = "0123456789abcdef"
	buf = append(buf, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			buf = append(buf, '\\', byte(r))
		case r == '\n':
			buf = append(buf, `\n`...)
		case r == '\t':
			buf = append(buf, `\t`...)
		case r == '\r':
			buf = append(buf, `\r`...)
		case printable(r):
			buf = utf8.AppendRune(buf, r)
		case r <= 0xffff:
			buf = append(buf, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			buf = append(buf, '\\', 'U')
			for shift := 28; shift >= 0; shift -= 4 {
				buf = append(buf, hex[r>>shift&15])
			}
		}
	}
	return append(buf, '"')
}

// isPlain reports whether s, unquoted, is read back as the string s.
func isPlain(s string) bool {
	if s == "" || s[len(s)-1] == ' ' || s[len(s)-1] == ':' || !isSingleLine(s) {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		return false
	}
	switch c := s[0]; {
	case strings.IndexByte(" ?:,[]{}#&*!|>'\"%@`=<~", c) >= 0:
		return false
	case c == '-' && (len(s) == 1 || s[1] == ' '):
		return false
	case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
		return !looksNumeric(s)
	}
	return !isReserved(s)
}

// looksNumeric reports whether some YAML could take s for a number, a date or a
// time: it has only characters that those are made of.
func looksNumeric(s string) bool {
	if isReserved(strings.TrimLeft(s, "+-.")) {
		return true
	}
	for i := range len(s) {
		if strings.IndexByte("0123456789abcdefABCDEFxXoO_.:+-tTzZ ", s[i]) < 0 {
			return false
		}
	}
	return true
}

// isReserved reports the words that YAML 1.1 or 1.2 read as something else.
func isReserved(s string) bool {
	if len(s) > 5 {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "nan":
		return true
	}
	return false
}
