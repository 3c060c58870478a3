package state

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/draw"
)

func TestAKeyIsTheOneThatWasUsedLast(t *testing.T) {
	key := func(secret string) draw.Key {
		k, err := draw.NewKey([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first, other := key("0123456789abcdefghijklmnopqrstuvwxyz"), key("zyxwvutsrqponmlkjihgfedcba9876543210")
	throwaway, err := draw.Throwaway(strings.NewReader(strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 9)))
	if err != nil {
		t.Fatal(err)
	}
	used := Random{}
	used = used.After(first.Fingerprint(), "here")
	for _, tt := range []struct {
		name string
		was  Random
		key  draw.Key
		want string
	}{
		{"none was used", Random{}, first, ""},
		{"the same", used, first, ""},
		{"a throwaway one", used, throwaway, ""},
		{"none is given", used, draw.Key{}, "none is given"},
		{"another one", used, other, "this one is " + other.Fingerprint()},
	} {
		if got := tt.was.Wrong(tt.key); !strings.HasSuffix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if used.Source != "here" || used.After("", "there") != used || used.After(other.Fingerprint(), "there") != (Random{other.Fingerprint(), "here"}) {
		t.Errorf("it is remembered as %+v", used)
	}
}
