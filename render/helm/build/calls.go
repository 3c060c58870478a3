package build

import (
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// call is one use of a function in a template's text.
type call struct {
	function string
	pos      int // of the name, in bytes
	line     int // from 1
	// operand says that the function stands as an operand of another command, without
	// operands of its own: {{ default now .Values.t }}.
	operand bool
	number  int // of the calls of the function in the text, from 1
}

// calls finds the uses of functions that are watched, in the order of the text. Of a
// text that does not parse there are none: the engine says what is wrong with it.
func calls(text string) []call {
	if !strings.Contains(text, "{{") {
		return nil
	}
	tree := parse.New("")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil
	}
	f := finder{text: text}
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		f.list(trees[name].Root)
	}
	slices.SortFunc(f.found, func(a, b call) int { return a.pos - b.pos })
	count := map[string]int{}
	for i, c := range f.found {
		count[c.function]++
		f.found[i].number = count[c.function]
	}
	return f.found
}

// finder walks syntax trees.
type finder struct {
	text  string
	found []call
}

func (f *finder) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			f.pipe(n.Pipe)
		case *parse.TemplateNode:
			f.pipe(n.Pipe)
		case *parse.IfNode:
			f.branch(&n.BranchNode)
		case *parse.RangeNode:
			f.branch(&n.BranchNode)
		case *parse.WithNode:
			f.branch(&n.BranchNode)
		}
	}
}

func (f *finder) branch(b *parse.BranchNode) {
	f.pipe(b.Pipe)
	f.list(b.List)
	f.list(b.ElseList)
}

func (f *finder) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, command := range p.Cmds {
		for i, arg := range command.Args {
			f.node(arg, i > 0)
		}
	}
}

// node looks at a part of a command; operand says whether it is not the first.
func (f *finder) node(n parse.Node, operand bool) {
	switch n := n.(type) {
	case *parse.IdentifierNode:
		f.identifier(n, operand)
	case *parse.PipeNode:
		f.pipe(n)
	case *parse.ChainNode: // now.Unix, (now).Unix
		f.node(n.Node, true)
	}
}

func (f *finder) identifier(n *parse.IdentifierNode, operand bool) {
	if !watched(n.Ident) {
		return
	}
	pos := int(n.Pos)
	f.found = append(f.found, call{
		function: n.Ident,
		pos:      pos,
		line:     1 + strings.Count(f.text[:pos], "\n"),
		operand:  operand,
	})
}

// skipSpace returns the position of the first byte of text from pos that is no space.
func skipSpace(text string, pos int) int {
	for pos < len(text) && strings.IndexByte(" \t\r\n", text[pos]) >= 0 {
		pos++
	}
	return pos
}

// operandEnd returns where the operand that begins at pos ends: at a space, a pipe, a
// closing parenthesis or the end of the action, if that is not inside parentheses or
// quotes. The text is known to parse.
func operandEnd(text string, pos int) int {
	depth := 0
	for pos < len(text) {
		switch c := text[pos]; {
		case c == '"' || c == '\'' || c == '`':
			pos = quoteEnd(text, pos)
			continue
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (strings.IndexByte(" \t\r\n|)", c) >= 0 || strings.HasPrefix(text[pos:], "}}")):
			return pos
		}
		pos++
	}
	return pos
}

// quoteEnd returns the position after the string or character that begins at pos.
func quoteEnd(text string, pos int) int {
	quote := text[pos]
	for pos++; pos < len(text) && text[pos] != quote; pos++ {
		if text[pos] == '\\' && quote != '`' {
			pos++
		}
	}
	return min(pos+1, len(text))
}

// commandEnd returns where the command ends in which an operand could begin at pos.
func commandEnd(text string, pos int) int {
	for {
		start := skipSpace(text, pos)
		end := operandEnd(text, start)
		if end == start || strings.HasPrefix(text[start:], "-}}") {
			return pos
		}
		pos = end
	}
}
