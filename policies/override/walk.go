package override

import (
	"fmt"
	"strings"
)

// pointerTokens splits a JSON pointer (RFC 6901).
func pointerTokens(pointer string) ([]string, error) {
	tokens, err := literalTokens(pointer)
	for i, t := range tokens {
		if strings.Contains(t, "~") {
			tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
		}
	}
	return tokens, err
}

// literalTokens splits a path at its slashes; nothing in it is escaped.
func literalTokens(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, fmt.Errorf("the path %q does not begin with a slash", path)
	}
	return strings.Split(rest, "/"), nil
}
