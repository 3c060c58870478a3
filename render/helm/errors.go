package helm

import "strconv"

// AllowAnnotation names the functions, separated by commas, that a chart may call
// though they are refused otherwise. It stands on the HelmRelease.
const AllowAnnotation = "waybill.dev/allow-functions"

// Error is what is wrong with a chart or with what it was given, at a place in it.
type Error struct {
	File    string // chart/templates/x.yaml; chart/charts/sub/templates/x.yaml
	Line    int    // from 1; 0 for the whole file
	Message string
	Hint    string // what to do about it; may be empty
}

// Error returns file:line: message. The hint is not part of it.
func (e *Error) Error() string {
	at := e.File
	if e.Line > 0 {
		at += ":" + strconv.Itoa(e.Line)
	}
	return at + ": " + e.Message
}
