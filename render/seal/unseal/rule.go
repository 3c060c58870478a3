package unseal

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// metadata is what SOPS says of a document in it.
type metadata struct {
	Age []struct {
		Recipient string `yaml:"recipient"`
		Encrypted string `yaml:"enc"`
	} `yaml:"age"`
	Groups       []yaml.Node `yaml:"key_groups"`
	LastModified string      `yaml:"lastmodified"`
	Code         string      `yaml:"mac"`

	UnencryptedSuffix       string `yaml:"unencrypted_suffix"`
	EncryptedSuffix         string `yaml:"encrypted_suffix"`
	UnencryptedRegex        string `yaml:"unencrypted_regex"`
	EncryptedRegex          string `yaml:"encrypted_regex"`
	UnencryptedCommentRegex string `yaml:"unencrypted_comment_regex"`
	EncryptedCommentRegex   string `yaml:"encrypted_comment_regex"`
	OnlyEncrypted           bool   `yaml:"mac_only_encrypted"`
}

// defaultSuffix is that of keys whose values stay readable, if a document says nothing.
const defaultSuffix = "_unencrypted"

// rule tells encrypted values from readable ones: by the names of the fields that lead to
// them, or by the comments before those.
type rule struct {
	matches    func(string) bool
	byComments bool
	readable   bool // what matches is readable, and not encrypted
}

// rule returns the one that the document names.
func (m *metadata) rule() (rule, error) {
	suffix := func(s string) func(string) bool {
		return func(name string) bool { return strings.HasSuffix(name, s) }
	}
	all := []struct {
		text     string
		isSuffix bool
		rule     rule
	}{
		{m.UnencryptedSuffix, true, rule{readable: true}},
		{m.EncryptedSuffix, true, rule{}},
		{m.UnencryptedRegex, false, rule{readable: true}},
		{m.EncryptedRegex, false, rule{}},
		{m.UnencryptedCommentRegex, false, rule{readable: true, byComments: true}},
		{m.EncryptedCommentRegex, false, rule{byComments: true}},
	}
	r, found := rule{matches: suffix(defaultSuffix), readable: true}, false
	for _, one := range all {
		if one.text == "" {
			continue
		}
		if found {
			return r, errors.New("it has more than one rule that says what is encrypted")
		}
		found, r = true, one.rule
		if one.isSuffix {
			r.matches = suffix(one.text)
			continue
		}
		expression, err := regexp.Compile(one.text)
		if err != nil {
			return r, errors.New("the regular expression that says what is encrypted is none")
		}
		r.matches = expression.MatchString
	}
	return r, nil
}

// encrypted reports whether a value at a path is encrypted, with the comments before it and
// before what it is in.
func (r rule) encrypted(path []string, comments [][]string) bool {
	names := path
	if r.byComments {
		names = slices.Concat(comments...)
	}
	return slices.ContainsFunc(names, r.matches) != r.readable
}
