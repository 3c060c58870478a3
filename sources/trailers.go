package sources

import "strings"

// Trailers returns the values of a trailer in the last paragraph of a commit message, as
// git interpret-trailers reads it.
func Trailers(message, key string) []string {
	message = strings.TrimRight(message, "\n")
	if i := strings.LastIndex(message, "\n\n"); i >= 0 {
		message = message[i+2:]
	}
	var values []string
	for line := range strings.Lines(message) {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}
