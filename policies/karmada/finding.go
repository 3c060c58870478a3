package karmada

import (
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
)

// FieldError says what is wrong with one field of a document.
type FieldError struct {
	// Path leads to the field from the document's root: a string is a key, an int
	// an index, as in "spec", "overrideRules", 0, "overriders". It may lead to a
	// field that is not there, and is empty for the whole document.
	Path []any
	Code diag.Code
	// Message says what is wrong, with the value. It does not repeat the path.
	Message string
	// Hint says what to write instead. It may be empty.
	Hint string
	// Warning tells a trap, which Karmada accepts, from a mistake, which it refuses.
	Warning bool
}

// field is a path under construction, which at does not change.
type field []any

func (f field) at(steps ...any) field { return append(slices.Clip(f), steps...) }

// findings collects what of a document does not decode.
type findings []FieldError

func (fs *findings) fail(at field, code diag.Code, message, hint string) {
	*fs = append(*fs, FieldError{Path: at, Code: code, Message: message, Hint: hint})
}
