package object

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// Secrets returns the values of Secrets that the object was rendered with, and may hold; nil
// for none. What is said of such an object is said without what it holds.
func (o *Object) Secrets() []string { return o.secrets }

// Private reports an object that may hold values of Secrets without being a Secret.
func (o *Object) Private() bool { return len(o.secrets) > 0 }

// RenderedWith returns the object with values of Secrets that it may hold.
func (o *Object) RenderedWith(secrets []string) *Object {
	if len(secrets) == 0 {
		return o
	}
	c := *o
	c.secrets = secrets
	return &c
}

// LongestFirst returns texts in the order in which they are replaced, for one may be part of another.
func LongestFirst(texts []string) []string {
	return slices.SortedFunc(slices.Values(texts), func(a, b string) int { return len(b) - len(a) })
}

// Redactor takes secrets out of texts: as they are, in either case, in quotes and in base64. What else a template makes of a value
// it does not know.
func Redactor(secrets []string) *strings.Replacer {
	var pairs []string
	for _, s := range LongestFirst(secrets) {
		quoted := strconv.Quote(s)
		for _, text := range []string{s, quoted[1 : len(quoted)-1], base64.StdEncoding.EncodeToString([]byte(s)), strings.ToUpper(s), strings.ToLower(s)} {
			pairs = append(pairs, text, "[a secret]")
		}
	}
	return strings.NewReplacer(pairs...)
}
