package docs

import (
	"bufio"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Reference is what the program can be asked: its commands, each with its flags.
type Reference struct {
	flags  map[string][]string // by command, as "waybill cluster join"
	common []string            // of every command
}

var heading = regexp.MustCompile(`^##+ (waybill.*)$`)

var flagLine = regexp.MustCompile(`^ +(?:(-[A-Za-z]), )?(?:    )?(--[a-z][a-z0-9-]*)`)

// ReadReference reads what "waybill reference" prints.
func ReadReference(text string) Reference {
	r := Reference{flags: map[string][]string{}}
	command := ""
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if m := heading.FindStringSubmatch(lines.Text()); m != nil {
			command = m[1]
			r.flags[command] = nil
			continue
		}
		m := flagLine.FindStringSubmatch(lines.Text())
		switch {
		case m == nil:
		case command == "":
			r.common = append(r.common, m[1], m[2])
		default:
			r.flags[command] = append(r.flags[command], m[1], m[2])
		}
	}
	return r
}

// hidden are commands that the reference does not list: it itself, and the one that every program of
// its kind has.
var hidden = []string{"reference", "help"}

// Problem is what is wrong with a command, as its words; "" for nothing, for what is not
// ours, and for a word in capitals, which stands for any command.
func (r Reference) Problem(words []string) string {
	for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "!" || words[0] == "exec") {
		words = words[1:]
	}
	if len(words) == 0 || path.Base(words[0]) != "waybill" || len(words) == 1 {
		return ""
	}
	if strings.HasPrefix(words[1], "-") || strings.HasPrefix(words[1], ".") || strings.HasPrefix(words[1], "=") {
		return r.unknown("waybill", words[1:])
	}
	name, rest := "waybill", words[1:]
	for len(rest) > 0 {
		next := name + " " + rest[0]
		if _, ok := r.flags[next]; !ok {
			next = strings.TrimSuffix(next, "s") // as kubectl has "top pods" for "top pod"
		}
		if _, ok := r.flags[next]; !ok {
			break
		}
		name, rest = next, rest[1:]
	}
	if name == "waybill" {
		if slices.Contains(hidden, words[1]) || words[1] == strings.ToUpper(words[1]) {
			return ""
		}
		return "there is no command waybill " + words[1]
	}
	return r.unknown(name, rest)
}

// unknown says which flag a command does not have.
func (r Reference) unknown(command string, words []string) string {
	for _, w := range words {
		if w == "--" {
			return ""
		}
		w, _, _ = strings.Cut(strings.TrimRight(w, "]),.;:"), "=")
		if len(w) > 1 && w[0] == '-' && !r.has(command, w) && !r.joined(command, w) {
			return fmt.Sprintf("%s has no flag %s", command, w)
		}
	}
	return ""
}

// has says whether a command, or one that it is below, has a flag.
func (r Reference) has(command, flag string) bool {
	if flag == "--help" || flag == "-h" || slices.Contains(r.common, flag) {
		return true
	}
	for command != "" {
		if slices.Contains(r.flags[command], flag) {
			return true
		}
		above := strings.LastIndex(command, " ")
		command = command[:max(above, 0)]
	}
	return false
}

// joined says whether a word is several flags of one letter, as "-it", or one with its value, as "-o=x".
func (r Reference) joined(command, word string) bool {
	if strings.HasPrefix(word, "--") {
		return false
	}
	for _, letter := range word[1:] {
		if !r.has(command, "-"+string(letter)) {
			return false
		}
	}
	return true
}
