package build

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/dynamic"

	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/helm"
)

// maxTpl is how deep texts that are given to tpl may give others to tpl. The engine
// has no limit of its own there, and the stack that such texts exhaust ends a process.
const maxTpl = 100

// watched reports whether the guard has something to do where a function is called.
func watched(function string) bool {
	_, bad := helm.Refused(function)
	return bad || function == "tpl" || function == "keys"
}

// place is where a template's text stands.
type place struct {
	file   string // chart/templates/x.yaml, or chart/charts/sub/templates/y.yaml
	path   string // the same, with the alias of a sub-chart for its name
	tpl    int    // the line of the tpl that the text was given to; 0 for a file
	within string // names the calls of tpl that the text was given to, the inner one first
}

// guard is told by templates what they are about to do. Templates reach it by the
// function lookup, the one function of Helm's engine whose implementation can be
// given: the guard is the cluster that they think they ask. See the package comment.
type guard struct {
	allow []string
	draws *draw.Draws // nil: nothing can be drawn
	stub  string      // stands for the result of what is refused
	sites []site

	running  []place                // the files that are executed, the including one first
	open     []string               // the texts that tpl is executing, the outer one first
	refusals map[string]*helm.Error // by file that was executed: the first call that was refused
	notices  map[string]bool        // what was looked up
}

func newGuard(r helm.Release, stub string) *guard {
	g := &guard{allow: r.Allow, stub: stub, refusals: map[string]*helm.Error{}, notices: map[string]bool{}}
	if r.Draw != nil {
		g.draws = r.Draw.Begin()
	}
	return g
}

// site is a guarded call and where it stands.
type site struct {
	call
	place
}

// name tells a call from all others of a chart, whatever else stands in its lines.
func (s site) name() string {
	name := s.function + " " + strconv.Itoa(s.number)
	if s.within != "" {
		name += " in " + s.within
	}
	return name
}

// The questions to the guard. They are kinds of the API version guardVersion, which is
// followed by the number of the site.
const (
	guardVersion = "guard.waybill.dev/"
	askBegin     = "begin"  // a file is about to be executed
	askEnd       = "end"    // and now it was
	askEnter     = "enter"  // a text is about to be given to tpl: answers the guarded text
	askLeave     = "leave"  // tpl has executed a text
	askRefuse    = "refuse" // a function is called that is refused: answers the stub
	askDraw      = "draw"   // a function draws, with these operands: answers the draw
)

// file returns the text of a file with its calls guarded, and itself.
func (g *guard) file(at place, text string, found []call) string {
	own := site{place: at}
	return g.tell(askBegin, own) + followed(g.guarded(text, found, at)) + g.tell(askEnd, own)
}

// followed returns a text that an action can follow: a brace at its end would begin that.
func followed(text string) string {
	if rest, ok := strings.CutSuffix(text, "{"); ok {
		return rest + `{{"{"}}`
	}
	return text
}

// edit replaces bytes of a text, or inserts before one.
type edit struct {
	pos, drop int
	put       string
}

// guarded returns text with its calls guarded. What stands in a line stays there.
func (g *guard) guarded(text string, found []call, at place) string {
	var edits []edit
	for _, c := range found {
		edits = append(edits, g.edits(text, site{c, at})...)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.pos - b.pos })
	var out strings.Builder
	done := 0
	for _, e := range edits {
		out.WriteString(text[done:e.pos])
		out.WriteString(e.put)
		done = e.pos + e.drop
	}
	out.WriteString(text[done:])
	return out.String()
}

// edits guards one call. One that is refused becomes a question, whose answer coalesce
// takes before whatever operands the call had. The text for tpl goes through the
// guard. The keys of a map get the order that Helm leaves to chance.
func (g *guard) edits(text string, s site) []edit {
	after := s.pos + len(s.function)
	isDrawn := draw.Is(s.function)
	switch {
	case isDrawn && g.draws != nil && helm.Allows(g.allow, s.function):
		return g.drawn(text, s)
	case !isDrawn && helm.Allows(g.allow, s.function):
		return nil
	case s.operand && (s.function == "keys" || s.function == "tpl"):
		return nil // of no operands, which gives nothing or fails
	case s.function == "keys":
		return []edit{{pos: commandEnd(text, after), put: " | sortAlpha"}}
	case s.function == "tpl":
		start := skipSpace(text, after)
		return []edit{
			{pos: start, put: "(get (" + g.ask(askEnter, s)},
			{pos: operandEnd(text, start), put: `) "text")`},
		}
	}
	answer := "(get (" + g.ask(askRefuse, s) + `".") "text")`
	if !s.operand {
		answer = "coalesce " + answer
	}
	return []edit{{pos: s.pos, drop: len(s.function), put: answer}}
}

// drawn guards a call that draws: its operands go through the guard as JSON, those too
// that a pipe brings.
func (g *guard) drawn(text string, s site) []edit {
	answer := " | mustToJson | " + g.ask(askDraw, s) + `| dig "text" ""`
	if s.function == "randInt" {
		answer += " | int"
	}
	if s.operand {
		return []edit{{pos: s.pos, drop: len(s.function), put: "(list" + answer + ")"}}
	}
	return []edit{
		{pos: s.pos, drop: len(s.function), put: "list"},
		{pos: commandEnd(text, s.pos+len(s.function)), put: answer},
	}
}

// ask returns a question but for its last operand, which is a text.
func (g *guard) ask(question string, s site) string {
	g.sites = append(g.sites, s)
	return fmt.Sprintf(`lookup "%s%d" %q "" `, guardVersion, len(g.sites)-1, question)
}

// tell returns an action that asks and prints nothing.
func (g *guard) tell(question string, s site) string {
	return "{{$_ := " + g.ask(question, s) + `"."}}`
}

// GetClientFor is what the engine calls for lookup, before Get or List.
func (g *guard) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	number, ok := strings.CutPrefix(apiVersion, guardVersion)
	if !ok {
		g.notices[fmt.Sprintf("lookup of %s %s gives nothing: there is no cluster to ask when a chart is rendered", apiVersion, kind)] = true
		return client{}, false, nil
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(g.sites) {
		return nil, false, fmt.Errorf("lookup of %s %s: there is no such API", apiVersion, kind)
	}
	return client{answer: func(text string) (string, error) { return g.answer(kind, g.sites[i], text) }}, false, nil
}

// answer does what a question is there for.
func (g *guard) answer(question string, s site, text string) (string, error) {
	switch question {
	case askBegin:
		g.running = append(g.running, s.place)
	case askEnd:
		g.running = g.running[:max(0, len(g.running)-1)]
	case askEnter:
		return g.enter(s, text)
	case askLeave:
		g.open = g.open[:max(0, len(g.open)-1)]
	case askRefuse:
		g.refuse(s)
		return g.stub, nil
	case askDraw:
		return g.draw(s, text)
	}
	return "", nil
}

// executed is where the file stands whose output is being made.
func (g *guard) executed() place {
	if len(g.running) == 0 {
		return place{}
	}
	return g.running[0]
}

// current is the file whose output is being made, as it is in the chart.
func (g *guard) current() string { return g.executed().file }

// draw answers a call that draws.
func (g *guard) draw(s site, operands string) (string, error) {
	text, err := g.draws.Draw(draw.Site{Template: g.executed().path, Call: s.path + " " + s.name()}, s.function, operands)
	if err != nil {
		return "", s.fail("draws nothing: "+err.Error(), "")
	}
	return text, nil
}

// enter guards a text that tpl is about to execute.
func (g *guard) enter(s site, text string) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	line := s.line
	if s.tpl > 0 {
		line = s.tpl
	}
	if len(g.open) == maxTpl {
		return "", &helm.Error{File: s.file, Line: line, Message: fmt.Sprintf("texts for tpl call tpl more than %d deep", maxTpl)}
	}
	text = g.guarded(text, calls(text), place{file: s.file, path: s.path, tpl: line, within: s.name()})
	text = followed(text) + g.tell(askLeave, s)
	g.open = append(g.open, text)
	return text, nil
}

// redact takes the texts that tpl was executing out of the message of an error, where
// the engine quotes them: they come from values, and may hold a secret. What was drawn
// is one.
func (g *guard) redact(message string) string {
	for _, text := range g.open {
		message = strings.ReplaceAll(message, strconv.Quote(text), "a text")
	}
	return draw.Hide(message, g.drew())
}

// drew returns what was drawn.
func (g *guard) drew() []string {
	if g.draws == nil {
		return nil
	}
	return g.draws.Texts()
}
