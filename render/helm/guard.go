package helm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/dynamic"
)

// maxTpl is how deep texts that are given to tpl may give others to tpl. The engine
// has no limit of its own there, and the stack that such texts exhaust ends a process.
const maxTpl = 100

// The functions that are refused unless they are allowed, with the reason. The dates
// take the present for whatever is no time.
func refused(function string) (why string, ok bool) {
	switch function {
	case "now", "ago", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "durationRound":
		return "it depends on the time of rendering", true
	case "randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes", "randInt", "shuffle", "uuidv4",
		"bcrypt", "htpasswd", "encryptAES",
		"genPrivateKey", "genCA", "genCAWithKey",
		"genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey":
		return "it gives another result each time", true
	case "getHostByName":
		return "there is no network when a chart is rendered", true
	case "lookup":
		return "there is no cluster to ask when a chart is rendered", true
	default:
		return "", false
	}
}

// watched reports whether the guard has something to do where a function is called.
func watched(function string) bool {
	_, bad := refused(function)
	return bad || function == "tpl" || function == "keys"
}

// place is where a template's text stands.
type place struct {
	file string // chart/templates/x.yaml, or chart/charts/sub/templates/y.yaml
	tpl  int    // the line of the tpl that the text was given to; 0 for a file
}

// guard is told by templates what they are about to do. Templates reach it by the
// function lookup, the one function of Helm's engine whose implementation can be
// given: the guard is the cluster that they think they ask. See the package comment.
type guard struct {
	allow []string
	stub  string // stands for the result of what is refused
	sites []site

	running  []string          // the files that are executed, the including one first
	open     []string          // the texts that tpl is executing, the outer one first
	refusals map[string]*Error // by file that was executed: the first call that was refused
	notices  map[string]bool   // what was looked up
}

func newGuard(allow []string, stub string) *guard {
	return &guard{allow: allow, stub: stub, refusals: map[string]*Error{}, notices: map[string]bool{}}
}

// site is a guarded call and where it stands.
type site struct {
	call
	place
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
)

// file returns the text of a file with its calls guarded, and itself.
func (g *guard) file(name, text string, found []call) string {
	at := site{place: place{file: name}}
	return g.tell(askBegin, at) + g.guarded(text, found, at.place) + g.tell(askEnd, at)
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
	switch {
	case slices.Contains(g.allow, s.function):
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
		g.running = append(g.running, s.file)
	case askEnd:
		g.running = g.running[:max(0, len(g.running)-1)]
	case askEnter:
		return g.enter(s, text)
	case askLeave:
		g.open = g.open[:max(0, len(g.open)-1)]
	case askRefuse:
		g.refuse(s)
		return g.stub, nil
	}
	return "", nil
}

// current is the file whose output is being made.
func (g *guard) current() string {
	if len(g.running) == 0 {
		return ""
	}
	return g.running[0]
}

// refuse notes that a function was called that is refused. Whether that matters shows
// when it is known what becomes of the output.
func (g *guard) refuse(s site) {
	if g.refusals[g.current()] != nil {
		return
	}
	why, _ := refused(s.function)
	e := &Error{
		File:    s.file,
		Line:    s.line,
		Message: fmt.Sprintf("the function %s is not allowed: %s", s.function, why),
		Hint:    "set the value that makes the call needless, or allow it with the annotation " + AllowAnnotation + ": " + s.function,
	}
	if s.tpl > 0 {
		e.Message = fmt.Sprintf("line %d of a text for tpl calls the function %s, which is not allowed: %s", s.line, s.function, why)
		e.Line = s.tpl
	}
	g.refusals[g.current()] = e
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
		return "", &Error{File: s.file, Line: line, Message: fmt.Sprintf("texts for tpl call tpl more than %d deep", maxTpl)}
	}
	text = g.guarded(text, calls(text), place{file: s.file, tpl: line}) + g.tell(askLeave, s)
	g.open = append(g.open, text)
	return text, nil
}

// redact takes the texts that tpl was executing out of the message of an error, where
// the engine quotes them: they come from values, and may hold a secret.
func (g *guard) redact(message string) string {
	for _, text := range g.open {
		message = strings.ReplaceAll(message, strconv.Quote(text), "a text")
	}
	return message
}
