package sources_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources"
)

func TestTrailersStandInTheLastParagraph(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		want          string
	}{
		{"one", "subject\n\nKey: a\n", "a"},
		{"several, in their order", "subject\n\nKey: b\nOther: x\nKey: a", "b a"},
		{"in any case, with spaces", "subject\n\n kEY :  a  \n\n", "a"},
		{"a value with colons", "subject\n\nKey: https://a:1\n", "https://a:1"},
		{"not above the last paragraph", "subject\n\nKey: a\n\nbody\n", ""},
		{"not another one", "subject\n\nKeys: a\n", ""},
		{"none", "", ""},
		{"a subject is none", "Key: a\n", ""},
		{"nor is a paragraph", "Key: a\nKey: b\n", ""},
		{"nor one below empty lines", "\n\nKey: a\n", ""},
		{"below a line of spaces", "subject\n \t\nKey: a\n", "a"},
		{"with carriage returns", "subject\r\n\r\nbody\r\n\r\nKey: a\r\n", "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sources.Trailers(tt.message, "Key"); !slices.Equal(got, strings.Fields(tt.want)) {
				t.Errorf("the trailers are %q, want %q", got, tt.want)
			}
		})
	}
}
