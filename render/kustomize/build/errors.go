package build

import (
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
)

// Error is a build that failed for what the source holds. The diagnostics say where;
// they are in the order of the walk and never empty. Those without a file are about
// Options; what concerns the Overlay names the field as it is named in the spec of a
// Flux Kustomization.
type Error struct {
	Diags []diag.Diagnostic
}

// Error returns the diagnostics without their hints, joined by semicolons.
func (e *Error) Error() string {
	parts := make([]string, len(e.Diags))
	for i, d := range e.Diags {
		d.Hint = ""
		parts[i] = d.String()
	}
	return strings.Join(parts, "; ")
}

// public returns a location without what a URL may carry that is nobody's business: a
// user with a password, and a query that is more than a version.
func public(location string) string {
	if scheme, rest, ok := strings.Cut(location, "//"); ok {
		host, dir, _ := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			location = scheme + "//..." + strings.TrimSuffix(host[at:]+"/"+dir, "/")
		}
	}
	if before, query, ok := strings.Cut(location, "?"); ok && (!strings.HasPrefix(query, "ref=") || strings.Contains(query, "&")) {
		return before + "?..."
	}
	return location
}
