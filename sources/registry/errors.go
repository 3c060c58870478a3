package registry

import (
	"errors"
	"time"
)

// Class says what kind of answer an error is, for those who decide by it.
type Class string

// The classes of errors. None of them is a reason to go back to an older version.
const (
	// Gone: the registry has no such repository or tag, or none that may be seen, or lists no tag.
	Gone Class = "Gone"
	// Denied: it wants a credential, or another one.
	Denied Class = "Denied"
	// Busy: it asks to be left alone until Error.Until.
	Busy Class = "Busy"
	// Refused: its host may not be asked, or it leads to one that may not.
	Refused Class = "Refused"
	// TooMany: it has more tags than are read.
	TooMany Class = "TooMany"
	// Unverified: none of the keys made a signature for it.
	Unverified Class = "Unverified"
	// Malformed: what was asked for, or a key, is written wrongly, and nothing was asked.
	Malformed Class = "Malformed"
	// Unavailable: it gives no answer, or one that is none.
	Unavailable Class = "Unavailable"
)

// An Error says what cannot be known of a repository, and why. It holds no credential.
type Error struct {
	Class Class
	Of    string    // the repository or reference, as it was asked for
	Until time.Time // with Busy: when to ask again
	Err   error
}

func (e *Error) Error() string { return e.Of + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of an error of this package; empty for nil, and Unavailable for any
// other error, as that of a context that ended.
func ClassOf(err error) Class {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Unavailable
}
