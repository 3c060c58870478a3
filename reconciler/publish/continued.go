package publish

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// replacing are the lines of a message that name what the commit replaces.
func replacing(of string, c ancestry.Continuation) (lines []string) {
	for _, commit := range c.Replaces {
		lines = append(lines, ancestry.Line(of, commit))
	}
	return lines
}

// lines are those of a message.
func lines(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}

// goOn has an update come after what was lost of its branch, and be no older than that.
func goOn(u *git.Update, c ancestry.Continuation) {
	u.After = append(u.After, slices.DeleteFunc(slices.Clone(c.After), func(id files.ID) bool { return slices.Contains(u.After, id) })...)
	if c.When.After(u.When) {
		u.When = c.When.UTC()
	}
}
