package sources

import "strings"

// Trailers returns the values of a trailer in the last paragraph of a commit message, as
// git interpret-trailers reads it: a message of one paragraph is a subject, and has none.
func Trailers(message, key string) []string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	begin := len(lines) - 1
	for begin >= 0 && strings.TrimSpace(lines[begin]) != "" {
		begin--
	}
	if begin < 0 {
		return nil
	}
	var values []string
	for _, line := range lines[begin+1:] {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}

// Subject returns the first line of a commit message.
func Subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return strings.TrimSpace(first)
}
