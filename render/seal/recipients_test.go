package seal

import (
	"strings"
	"testing"

	"filippo.io/age"
)

func TestParseRecipients(t *testing.T) {
	sorted := toAnna + "," + toBruno
	const pq = "age1pq1" + "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"
	tests := []struct {
		name, text, want, err string
	}{
		{name: "one", text: toAnna, want: toAnna},
		{name: "commas, blanks and lines, in any order", text: " " + toBruno + ",\n\t" + toAnna + " ,,", want: sorted},
		{name: "repetition", text: toAnna + "," + toBruno + "," + toAnna, want: sorted},
		{name: "nobody", text: " ,\n", err: "there is no age recipient"},
		{name: "a wrong character", text: strings.Replace(toAnna, "xh", "bh", 1), err: "has a character that Bech32 has not"},
		{name: "a wrong letter", text: strings.Replace(toAnna, "8x", "8z", 1), err: "its checksum is wrong"},
		{name: "a letter too few", text: toAnna[:61], err: "has 62 characters"},
		{name: "upper case", text: strings.ToUpper(toAnna), err: "begins with age1"},
		{name: "a key of SSH", text: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA", err: "begins with age1"},
		{name: "a post-quantum recipient", text: pq, err: "of a type other than X25519"},
		{name: "a good one beside a bad one", text: toAnna + ",age1x", err: `"age1x" is no age recipient`},
		{name: "bits behind the key", text: "age1jgxhllsn8xkwypdyn5p7m6xye9dnxawg70mr5sh9j37tz24v853pta0y4f", err: "bits behind its 32 bytes"},
		{name: "a point of low order", text: "age1" + strings.Repeat("q", 52) + "5cu47z", err: "low order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseRecipients(tt.text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || got.String() != tt.want {
				t.Errorf("%v, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestAnIdentityIsNotRepeated(t *testing.T) {
	for _, text := range []string{anna, strings.ToLower(anna), toAnna + "," + anna[:40]} {
		_, err := ParseRecipients(text)
		if err == nil || strings.Contains(strings.ToUpper(err.Error()), anna[16:40]) {
			t.Errorf("error %v", err)
		}
	}
}

// FuzzRecipientsAreThoseOfAge holds the decoder against that of age, which takes points
// of low order until it is to encrypt for them.
func FuzzRecipientsAreThoseOfAge(f *testing.F) {
	for _, seed := range []string{toAnna, toBruno, strings.ToUpper(toAnna), anna, toAnna[:40], "age1", toAnna + "q"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := decode(text)
		r, theirs := age.ParseX25519Recipient(text)
		if (err == nil) != (theirs == nil) {
			t.Fatalf("%q: %v; age says %v", text, err, theirs)
		}
		if err == nil && (r.String() != text || len(key) != keySize) {
			t.Errorf("%q is read as %x", text, key)
		}
	})
}
