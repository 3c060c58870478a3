// Package sourceerrors is what the state branch records of errors in a source and in what is made of it: each with its place,
// and the source commit with which it came. Who is on call reads it without a plan.
package sourceerrors

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/render/diag"
)

// File is where the state branch has them. It is there while there are any.
const File = "problems.json"

// The bounds of what is recorded.
const (
	mostErrors = 200
	mostBytes  = 500 // of a message, and of a hint
)

// Record is what is recorded.
type Record struct {
	Errors []Error `json:"errors"` // in the order of files and lines
	// More is how many there are besides.
	More int `json:"more,omitempty"`
}

// Error is one of them.
type Error struct {
	Code    diag.Code `json:"code"`
	File    string    `json:"file,omitempty"`
	Line    int       `json:"line,omitempty"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	// Commit is the source commit with which it came, and Since the date of that.
	Commit string    `json:"commit"`
	Since  time.Time `json:"since"`
}

// key is what an error is known again by, as lines move and messages change.
type key struct {
	code diag.Code
	file string
}

func (p *Error) key() key { return key{p.Code, p.File} }

// Of returns what is recorded of the errors among diagnostics, at a source commit with a date. As long as there are as many of
// each code in each file as before, the record stays what it was: a commit that moves lines is no news.
func Of(ds []diag.Diagnostic, commit string, date time.Time, before Record) Record {
	var now Record
	for _, d := range ds {
		if d.Severity != diag.Error {
			continue
		}
		if len(now.Errors) == mostErrors {
			now.More++
			continue
		}
		now.Errors = append(now.Errors, Error{
			Code: d.Code, File: d.Pos.File, Line: d.Pos.Line, Message: cut(d.Message), Hint: cut(d.Hint), Commit: commit, Since: date.UTC(),
		})
	}
	if isSame(now, before) {
		return before
	}
	return now.since(before)
}

// isSame reports records of equally many errors of each key.
func isSame(a, b Record) bool {
	count := map[key]int{}
	for i := range a.Errors {
		count[a.Errors[i].key()]++
	}
	for i := range b.Errors {
		count[b.Errors[i].key()]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return a.More == b.More
}

// since returns the record with the commits of those that were there before: first of those with the same message, then of those
// that are left with the same key.
func (r Record) since(before Record) Record {
	left := slices.Clone(before.Errors)
	isOld := make([]bool, len(r.Errors))
	for _, byMessage := range []bool{true, false} {
		for i := range r.Errors {
			p := &r.Errors[i]
			n := slices.IndexFunc(left, func(o Error) bool { return o.key() == p.key() && (!byMessage || o.Message == p.Message) })
			if isOld[i] || n < 0 {
				continue
			}
			p.Commit, p.Since, isOld[i] = left[n].Commit, left[n].Since, true
			left = slices.Delete(left, n, n+1)
		}
	}
	return r
}

// isOfItsMoment reports an error that follows from more than the source: from what could not be had, or from the key that was given.
func isOfItsMoment(d diag.Diagnostic) bool { return d.MayPass() || d.Code == diag.RandomKey }

// Replayed returns the diagnostics by which a record is made again: of errors of their moment that counts which was recorded, and not
// what is found now.
func Replayed(ds []diag.Diagnostic, recorded Record) []diag.Diagnostic {
	all := slices.DeleteFunc(slices.Clone(ds), isOfItsMoment)
	for _, p := range recorded.Errors {
		d := diag.Diagnostic{Code: p.Code, Severity: diag.Error, Pos: diag.Pos{File: p.File, Line: p.Line}, Message: p.Message, Hint: p.Hint}
		if isOfItsMoment(d) {
			all = append(all, d)
		}
	}
	return diag.Sort(all)
}

// cut is a text on one line that is not too long.
func cut(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= mostBytes {
		return text
	}
	n := mostBytes - len("...")
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "..."
}
