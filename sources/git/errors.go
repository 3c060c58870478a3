package git

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// RaceError says that a branch is not where the Update expected it: somebody else
// was faster. Nothing was published, unless a PartialError says so. Read the branch
// again and plan again.
type RaceError struct {
	Branch    string
	Want, Got files.ID // zero: that the branch does not exist
}

func (e *RaceError) Error() string {
	return fmt.Sprintf("branch %s moved: expected %s, found %s; read it again and plan again", e.Branch, place(e.Want), place(e.Got))
}

func place(id files.ID) string {
	if id.IsZero() {
		return "no such branch"
	}
	return id.String()
}

// PartialError says that a server which cannot push atomically moved only some of
// the branches. Those that moved hold what was asked for. Err says what happened to
// the others, and may be a RaceError.
type PartialError struct {
	Moved []string // branches, in the order of the updates
	Err   error
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("%d branches moved (%s) and the others did not: %s", len(e.Moved), words.List(e.Moved), e.Err)
}

func (e *PartialError) Unwrap() error { return e.Err }

// LimitError says that something in a repository is larger than Waybill reads.
type LimitError struct {
	What       string // what was counted, and where
	Limit, Got int64  // Got is the least that is known: counting may stop early
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %d, more than the limit of %d", e.What, e.Got, e.Limit)
}

// advise adds what to do about an error of the disk.
func advise(err error) error {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return fmt.Errorf("%w; make room and publish again", err)
		}
	}
	for _, denied := range []error{syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		if errors.Is(err, denied) {
			return fmt.Errorf("%w; run as a user who may write the repository", err)
		}
	}
	return err
}

// printable makes text of a server fit for a message: one line, no control
// characters, no secrets, not long.
func printable(text string, secrets ...string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	const most = 300
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "..."
	}
	return text
}
