package helm

import (
	"slices"

	"github.com/waybill-dev/waybill/render/draw"
)

// Refusal says why a function is refused unless it is allowed.
type Refusal struct {
	Why  string
	Hint string // what to do instead
	// Never says that it cannot be allowed.
	Never bool
}

// The hints of functions that are refused.
const (
	hintValue  = "set the value that makes the call needless"
	hintBring  = "set the value that makes the call needless, as existingSecret does in many charts, and have an ExternalSecret bring that Secret"
	hintIssuer = "have cert-manager make keys and certificates in the cluster, and set the value that makes the call needless, as existingSecret does in many charts"
)

// Refused returns why a function of templates is refused, if it is. The dates take the present for
// whatever is no time.
func Refused(function string) (Refusal, bool) {
	switch function {
	case "now", "ago", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "durationRound":
		return Refusal{Why: "it depends on the time of rendering", Hint: hintValue}, true
	case "bcrypt", "htpasswd", "encryptAES",
		"genPrivateKey", "genCA", "genCAWithKey",
		"genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey":
		return Refusal{Why: "it gives another result each time", Hint: hintIssuer, Never: true}, true
	case "getHostByName":
		return Refusal{Why: "there is no network when a chart is rendered", Hint: hintAllow(function)}, true
	case "lookup":
		return Refusal{Why: "there is no cluster to ask when a chart is rendered", Hint: hintAllow(function)}, true
	}
	return Refusal{Why: "it gives another result each time", Hint: hintBring}, draw.Is(function)
}

// hintAllow is the hint of a function that always gives the same, and little.
func hintAllow(function string) string {
	return hintValue + ", or allow it with the annotation " + AllowAnnotation + ": " + function
}

// Allows reports whether a list allows a function.
func Allows(list []string, function string) bool {
	r, _ := Refused(function)
	return !r.Never && slices.Contains(list, function)
}

// Differs reports whether a function, where it is allowed, makes renderings differ.
func Differs(function string) bool {
	return function != "lookup" && function != "getHostByName" && !draw.Is(function)
}

// Restless returns the first function of a list whose result is another one at each rendering, where it is allowed; false
// if there is none.
func Restless(allow []string) (function string, found bool) {
	i := slices.IndexFunc(allow, func(f string) bool { _, bad := Refused(f); return bad && Allows(allow, f) && Differs(f) })
	if i < 0 {
		return "", false
	}
	return allow[i], true
}
