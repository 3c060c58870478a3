package render

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// NamespacePattern compiles an entry of skipNamespaces: the name of a namespace, in which
// "*" stands for any characters. An entry that holds what is in no name is a regular
// expression for whole names, as Karmada's --skipped-propagating-namespaces takes them.
func NamespacePattern(entry string) (*regexp.Regexp, error) {
	if entry == "" {
		return nil, errors.New("it is empty; want a namespace")
	}
	pattern := entry
	if !strings.ContainsFunc(entry, func(r rune) bool { return r != '*' && r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		pattern = strings.ReplaceAll(entry, "*", ".*")
	}
	p, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, fmt.Errorf("it is no name, and no regular expression: %w", err)
	}
	return p, nil
}
