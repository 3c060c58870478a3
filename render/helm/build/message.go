package build

import (
	"slices"
	"strings"
)

const (
	// shortest is the length in bytes of a value that is worth hiding: shorter ones are
	// no secrets, and hiding them would hide every word that has them.
	shortest = 8
	// longest is how many bytes a message of the engine may have: helpers that include
	// each other give one for each level.
	longest = 2000
)

// discreet takes the values of a release out of the message of an error: functions
// quote the arguments that they can do nothing with, and those may be secret. It looks
// at the complaint of the innermost function only, and leaves alone what a chart says
// itself, by fail or required.
func discreet(message string, values map[string]any) string {
	const calling = "error calling "
	i := strings.LastIndex(message, calling)
	if i < 0 {
		return message
	}
	at, complaint := message[:i], message[i:]
	texts := appendTexts(nil, values)
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) }) // whole values before parts
	for _, text := range texts {
		complaint = strings.ReplaceAll(complaint, text, "[a value]")
	}
	return at + complaint
}

// appendTexts appends all strings in a value that are worth hiding.
func appendTexts(texts []string, value any) []string {
	switch v := value.(type) {
	case string:
		if len(v) >= shortest {
			texts = append(texts, v)
		}
	case []any:
		for _, item := range v {
			texts = appendTexts(texts, item)
		}
	case map[string]any:
		for _, item := range v {
			texts = appendTexts(texts, item)
		}
	}
	return texts
}

// abridged leaves out the middle of a long message. Its end says what was wrong.
func abridged(message string) string {
	if len(message) <= longest {
		return message
	}
	start, end := message[:longest/2], message[len(message)-longest/2:]
	return strings.ToValidUTF8(start, "") + " ... " + strings.ToValidUTF8(end, "")
}
