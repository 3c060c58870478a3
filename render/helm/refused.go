package helm

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/draw"
)

// refusal says why a function is refused unless it is allowed.
type refusal struct {
	why  string
	hint string // what to do instead
	// never says that it cannot be allowed.
	never bool
}

// The hints of functions that are refused.
const (
	hintValue  = "set the value that makes the call needless"
	hintBring  = "set the value that makes the call needless, as existingSecret does in many charts, and have an ExternalSecret bring that Secret"
	hintIssuer = "have cert-manager make keys and certificates in the cluster, and set the value that makes the call needless, as existingSecret does in many charts"
)

// refused returns why a function is refused, if it is. The dates take the present for
// whatever is no time.
func refused(function string) (refusal, bool) {
	switch function {
	case "now", "ago", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "durationRound":
		return refusal{why: "it depends on the time of rendering", hint: hintValue}, true
	case "bcrypt", "htpasswd", "encryptAES",
		"genPrivateKey", "genCA", "genCAWithKey",
		"genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey":
		return refusal{why: "it gives another result each time", hint: hintIssuer, never: true}, true
	case "getHostByName":
		return refusal{why: "there is no network when a chart is rendered", hint: hintAllow(function)}, true
	case "lookup":
		return refusal{why: "there is no cluster to ask when a chart is rendered", hint: hintAllow(function)}, true
	}
	return refusal{why: "it gives another result each time", hint: hintBring}, draw.Is(function)
}

// hintAllow is the hint of a function that always gives the same, and little.
func hintAllow(function string) string {
	return hintValue + ", or allow it with the annotation " + AllowAnnotation + ": " + function
}

// allows reports whether a list allows a function.
func allows(list []string, function string) bool {
	r, _ := refused(function)
	return !r.never && slices.Contains(list, function)
}

// Restless returns the first function of a list whose result is another one at each rendering, where it is allowed; false
// if there is none.
func Restless(allow []string) (function string, found bool) {
	i := slices.IndexFunc(allow, func(f string) bool { _, bad := refused(f); return bad && allows(allow, f) && differs(f) })
	if i < 0 {
		return "", false
	}
	return allow[i], true
}

// refuse notes that a function was called that is refused. Whether that matters shows
// when it is known what becomes of the output.
func (g *guard) refuse(s site) {
	if g.refusals[g.current()] != nil {
		return
	}
	r, _ := refused(s.function)
	what := "is not allowed: " + r.why
	if allows(g.allow, s.function) { // as it must be to be drawn
		what, r.hint = "draws from a random key, and none is given", r.hint+"; or give one: --random-key-file"
	}
	g.refusals[g.current()] = s.fail(what, r.hint)
}

// fail returns what is wrong with a call.
func (s site) fail(what, hint string) *Error {
	if s.tpl > 0 {
		return &Error{File: s.file, Line: s.tpl, Message: fmt.Sprintf("line %d of a text for tpl calls the function %s, which %s", s.line, s.function, what), Hint: hint}
	}
	return &Error{File: s.file, Line: s.line, Message: fmt.Sprintf("the function %s %s", s.function, what), Hint: hint}
}
