package refs

import (
	"fmt"
	"strings"
)

// Heads begins the full name of every branch.
const Heads = "refs/heads/"

// CheckBranch says why Git would not take a branch name, by the rules of
// git-check-ref-format(1); nil if it would. HEAD and @, which commands take for
// something else, are refused, too.
func CheckBranch(name string) error {
	if reason := flaw(name); reason != "" {
		return fmt.Errorf("branch name %q: %s", name, reason)
	}
	return nil
}

func flaw(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case name == "HEAD", name == "@":
		return "it is reserved"
	case name[0] == '-':
		return "it begins with a dash"
	case strings.HasSuffix(name, "."):
		return "it ends with a dot"
	case strings.Contains(name, ".."), strings.Contains(name, "@{"):
		return `it contains ".." or "@{"`
	}
	for _, c := range []byte(name) {
		if c < ' ' || c == 0x7f || strings.IndexByte(" ~^:?*[\\", c) >= 0 {
			return fmt.Sprintf("it contains %q", string(c))
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "it has an empty part"
		case part[0] == '.':
			return "a part of it begins with a dot"
		case strings.HasSuffix(part, ".lock"):
			return `a part of it ends with ".lock"`
		}
	}
	return ""
}
