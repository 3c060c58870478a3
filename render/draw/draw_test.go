package draw_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/draw"
)

// key returns the key of 32 bytes that begin with first.
func key(t *testing.T, first byte) draw.Key {
	t.Helper()
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = first + byte(i)
	}
	k, err := draw.NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// one returns the first draw of a subkey.
func one(t *testing.T, s draw.Subkey, function, operands string) string {
	t.Helper()
	text, err := s.Begin().Draw(draw.Site{Template: "c/templates/x.yaml", Call: "c/templates/x.yaml randAlphaNum 1"}, function, operands)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDrawsAreAsThePromiseSays(t *testing.T) {
	s := key(t, 1).For("git.example.com/fleet", "eu", "shop/web")
	got := map[string]string{}
	for function, operands := range map[string]string{
		"randAlphaNum": "[16]", "randAlpha": "[16]", "randNumeric": "[16]", "randAscii": "[16]",
		"randBytes": "[16]", "randInt": "[10,2000000]", "shuffle": `["abcdefghij"]`, "uuidv4": "null",
	} {
		got[function] = one(t, s, function, operands)
	}
	want := map[string]string{ // computed by another program from the package comment
		"randAlphaNum": "93NOeb2KL6bg64m7", "randAlpha": "iAdyHsjUNatyaAIK", "randNumeric": "5163286356355708", "randAscii": `\/|X{I!MB2'xdasL`,
		"randBytes": "FXUft/mmjUXk8c6Q7er3sg==", "randInt": "286905", "shuffle": "cfigdahbej", "uuidv4": "f34d985e-c698-41e8-8abb-5c5caccde0ff",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("these bytes are passwords that are in use (-want +got):\n%s", diff)
	}
}

func TestEveryInputCounts(t *testing.T) {
	base := func() (draw.Key, [3]string, draw.Site, string) {
		return key(t, 1), [3]string{"source", "eu", "web"}, draw.Site{Template: "x.yaml", Call: "x.yaml 1"}, "[32]"
	}
	tests := []struct {
		name   string
		change func(k *draw.Key, of *[3]string, at *draw.Site, operands *string)
	}{
		{"nothing", func(*draw.Key, *[3]string, *draw.Site, *string) {}},
		{"the key", func(k *draw.Key, _ *[3]string, _ *draw.Site, _ *string) { *k = key(t, 2) }},
		{"the source", func(_ *draw.Key, of *[3]string, _ *draw.Site, _ *string) { of[0] = "other" }},
		{"the cluster", func(_ *draw.Key, of *[3]string, _ *draw.Site, _ *string) { of[1] = "us" }},
		{"no cluster", func(_ *draw.Key, of *[3]string, _ *draw.Site, _ *string) { of[1] = "" }},
		{"the release", func(_ *draw.Key, of *[3]string, _ *draw.Site, _ *string) { of[2] = "db" }},
		{"where one name ends and the next begins", func(_ *draw.Key, of *[3]string, _ *draw.Site, _ *string) { of[0], of[1] = "sourcee", "u" }},
		{"the template", func(_ *draw.Key, _ *[3]string, at *draw.Site, _ *string) { at.Template = "y.yaml" }},
		{"the call", func(_ *draw.Key, _ *[3]string, at *draw.Site, _ *string) { at.Call = "x.yaml 2" }},
		{"the operands", func(_ *draw.Key, _ *[3]string, _ *draw.Site, operands *string) { *operands = "[33]" }},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		k, of, at, operands := base()
		tt.change(&k, &of, &at, &operands)
		d := k.For(of[0], of[1], of[2]).Begin()
		for n := range 2 {
			text, err := d.Draw(at, "randAlphaNum", operands)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s, draw %d", tt.name, n)
			if other, ok := seen[text[:32]]; ok {
				t.Errorf("%s is that of %s", name, other)
			}
			seen[text[:32]] = name
		}
	}
	k, of, at, operands := base()
	again, err := k.For(of[0], of[1], of[2]).Begin().Draw(at, "randAlphaNum", operands)
	if err != nil || seen[again] != "nothing, draw 0" {
		t.Errorf("equal inputs drew another text: %v", err)
	}
}

func TestDrawsAreOfTheFormThatSprigGivesThem(t *testing.T) {
	forms := map[string]*regexp.Regexp{
		"randAlphaNum": regexp.MustCompile(`^[A-Za-z0-9]{40}$`),
		"randAlpha":    regexp.MustCompile(`^[A-Za-z]{40}$`),
		"randNumeric":  regexp.MustCompile(`^[0-9]{40}$`),
		"randAscii":    regexp.MustCompile(`^[ -~]{40}$`),
		"uuidv4":       regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
	}
	for release := range 50 {
		s := key(t, 1).For("", "", strconv.Itoa(release))
		for function, form := range forms {
			operands := "[40]"
			if function == "uuidv4" {
				operands = "[]"
			}
			if text := one(t, s, function, operands); !form.MatchString(text) {
				t.Errorf("%s drew %q", function, text)
			}
		}
		raw, err := base64.StdEncoding.DecodeString(one(t, s, "randBytes", "[40]"))
		if err != nil || len(raw) != 40 {
			t.Errorf("randBytes drew %d bytes: %v", len(raw), err)
		}
		shuffled := []rune(one(t, s, "shuffle", `["aabcdeé日"]`))
		slices.Sort(shuffled)
		if string(shuffled) != "aabcdeé日" {
			t.Errorf("shuffle gave the characters %q", string(shuffled))
		}
	}
	for _, count := range []string{"[0]", "[-3]"} {
		if text := one(t, key(t, 1).For("", "", ""), "randAlpha", count); text != "" {
			t.Errorf("randAlpha of %s drew %q", count, text)
		}
	}
	if text := one(t, key(t, 1).For("", "", ""), "randAlpha", "[5.0]"); len(text) != 5 {
		t.Errorf("randAlpha of a number with a fraction of 0 drew %q", text)
	}
}

// TestEveryCharacterIsAsLikely counts 62 characters in 62,000 draws of one. A remainder
// without rejection would show in ranges that are no power of two, of which half of all
// numbers is the worst.
func TestEveryCharacterIsAsLikely(t *testing.T) {
	s := key(t, 1).For("", "", "")
	counts := map[rune]int{}
	for _, r := range one(t, s, "randAlphaNum", "[62000]") {
		counts[r]++
	}
	if len(counts) != 62 {
		t.Fatalf("%d different characters", len(counts))
	}
	chi := 0.0
	for _, n := range counts {
		chi += math.Pow(float64(n)-1000, 2) / 1000
	}
	if chi > 110 { // of 61 degrees of freedom: less than one key in 10,000
		t.Errorf("chi-squared is %.1f", chi)
	}
	d, upper := s.Begin(), 0
	for range 1000 {
		text, err := d.Draw(draw.Site{}, "randInt", "[-9223372036854775808,3074457345618258602]") // 2/3 of all numbers
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n >= 3074457345618258602 {
			t.Fatal(text, err)
		}
		if n >= -3074457345618258603 {
			upper++
		}
	}
	if upper < 430 || upper > 570 { // a remainder without rejection gives 333
		t.Errorf("%d of 1000 numbers are in the upper half", upper)
	}
}

func TestOperandsThatMeanNothing(t *testing.T) {
	tests := []struct{ name, function, operands, want string }{
		{"none", "randAlpha", "[]", "0 operands"},
		{"too many", "uuidv4", "[1]", "1 operands"},
		{"one of two", "randInt", "[1]", "1 operands"},
		{"a text for a number", "randAlpha", `["s3cret"]`, "no whole number"},
		{"a fraction", "randAlpha", `[1.5]`, "no whole number"},
		{"a number for a text", "shuffle", `[1]`, "no text"},
		{"an empty range", "randInt", `[3,3]`, "the second the greater"},
		{"a range that is turned round", "randInt", `[4,3]`, "the second the greater"},
		{"a range from a text", "randInt", `["a",3]`, "not two whole numbers"},
		{"a range to a text", "randInt", `[-3,"a"]`, "not two whole numbers"},
		{"a number that is too large to be whole", "randAlpha", `[1e300]`, "no whole number"},
		{"a list for a text", "shuffle", `[["a"]]`, "no text"},
		{"far too many", "randBytes", `[1048577]`, "up to 1048576"},
		{"a long text", "shuffle", `["` + strings.Repeat("a", 1<<20+1) + `"]`, "more than 1048576"},
		{"no JSON", "shuffle", `["s3cret`, "no JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := key(t, 1).For("", "", "").Begin().Draw(draw.Site{}, tt.function, tt.operands)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %q, %v; want an error with %q", text, err, tt.want)
			}
		})
	}
}

// TestAsMuchAsMayBeDrawn: a megabyte, and a range of all numbers from the lowest.
func TestAsMuchAsMayBeDrawn(t *testing.T) {
	s := key(t, 1).For("", "", "")
	if text := one(t, s, "randNumeric", "[1048576]"); len(text) != 1<<20 {
		t.Errorf("of a megabyte %d bytes are drawn", len(text))
	}
	for range 3 {
		if text := one(t, s, "randInt", "[-5, -4]"); text != "-5" {
			t.Errorf("from -5 to below -4 it is %s", text)
		}
	}
	if text := one(t, s, "randInt", "[-9223372036854775808, 9223372036854775807]"); text == "" {
		t.Error("of all numbers none is drawn")
	}
}

func TestKeysOfTooLittle(t *testing.T) {
	if _, err := draw.NewKey([]byte(strings.Repeat("abcdefgh", 4))); err != nil {
		t.Errorf("32 bytes of which eight differ: %v", err)
	}
	for _, secret := range []string{"", strings.Repeat("k", 31), "abcdefghijklmnopqrstuvwxyz01234", strings.Repeat("\x00", 32), strings.Repeat("abc", 20)} {
		if _, err := draw.NewKey([]byte(secret)); err == nil {
			t.Errorf("%q is taken", secret)
		}
	}
}

func TestKeysDoNotShow(t *testing.T) {
	k := key(t, 'A')
	s := k.For("source", "eu", "web")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, shown := range []string{fmt.Sprintf(verb, k), fmt.Sprintf(verb, &k), fmt.Sprintf(verb, s), fmt.Sprintf(verb, []draw.Subkey{s})} {
			if strings.Contains(shown, "ABCD") || strings.Contains(shown, "41424344") || strings.Contains(shown, hex.EncodeToString(s.Secret)) || strings.Contains(shown, strings.Trim(fmt.Sprintf("%d", s.Secret), "[]")) {
				t.Errorf("%s shows %s", verb, shown)
			}
		}
	}
	data, err := json.Marshal([]any{k})
	if err != nil || string(data) != "[{}]" {
		t.Errorf("as JSON: %s, %v", data, err)
	}
	if data, err = json.Marshal(s.Public()); err != nil || bytes.Contains(data, []byte(base64.StdEncoding.EncodeToString(s.Secret))) {
		t.Errorf("the public part: %s, %v", data, err)
	}
	if a, b := key(t, 1).Fingerprint(), key(t, 2).Fingerprint(); a == b || len(a) != 32 || a != key(t, 1).Fingerprint() {
		t.Errorf("fingerprints %s and %s", a, b)
	}
	if bytes.Equal(key(t, 1).Seal(), key(t, 2).Seal()) || len(key(t, 1).Seal()) != 32 || (draw.Key{}).Seal() != nil {
		t.Error("what seals are keyed with is not that of the key")
	}
}

func TestAThrowawayKeyServesOnce(t *testing.T) {
	a, err := draw.Throwaway(strings.NewReader("0123456789abcdefghijklmnopqrstuv"))
	if err != nil {
		t.Fatal(err)
	}
	if !a.IsThrowaway() || a.Seal() != nil || !a.For("", "", "").Masked || key(t, 1).For("", "", "").Masked {
		t.Error("it is taken for a key to publish with")
	}
	twin := a.Twin()
	if !twin.IsThrowaway() || twin.Fingerprint() == a.Fingerprint() || twin.Seal() != nil || twin.Fingerprint() != a.Twin().Fingerprint() {
		t.Error("its twin is the same, is another one each time, or is taken for a key to publish with")
	}
	if none := (draw.Key{}); !none.Twin().IsZero() || none.Twin().IsThrowaway() || none.Fingerprint() != "" || none.IsThrowaway() {
		t.Error("no key has a twin, or a fingerprint")
	}
	if _, err := draw.Throwaway(strings.NewReader("short")); err == nil {
		t.Error("a key of five bytes is taken")
	}
}

func TestWhatWasDrawnIsHiddenAndMasked(t *testing.T) {
	drawn := []string{"ab1", `Qx7"kd9`, "Qx7Z", "Qx7Z-0001"}
	text := `a: ab1, b: Qx7Z, c: Qx7Z-0001, d: "Qx7\"kd9", e: Qx7"kd9, f: UXg3Wg==`
	if got, want := draw.Hide(text, drawn), `a: ab1, b: [a draw], c: [a draw], d: "[a draw]", e: [a draw], f: [a draw]`; got != want {
		t.Errorf("hidden: %s, want %s", got, want)
	}
	if got, want := draw.Mask(text, drawn), `a: ab1, b: xx0x, c: xx0x-0000, d: "xx0xxx0", e: xx0xxx0, f: xxx0xxxx`; got != want {
		t.Errorf("masked: %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"ab1", `Qx7"kd9`, "Qx7Z", "Qx7Z-0001"}, drawn); diff != "" {
		t.Error(diff)
	}
}

func TestAllThatIsDrawnIsListed(t *testing.T) {
	d := key(t, 1).For("", "", "").Begin()
	var want []string
	for _, call := range [][2]string{{"randAlpha", "[9]"}, {"randInt", "[1,9]"}, {"uuidv4", "[]"}} {
		text, err := d.Draw(draw.Site{}, call[0], call[1])
		if err != nil {
			t.Fatal(err)
		}
		if call[0] != "randInt" {
			want = append(want, text)
		}
	}
	if diff := cmp.Diff(want, d.Texts()); diff != "" {
		t.Error(diff)
	}
	names := []string{"randAlphaNum", "randAlpha", "randNumeric", "randAscii", "randBytes", "randInt", "shuffle", "uuidv4", "genCA", "now", "bcrypt"}
	got := map[bool]int{}
	for _, n := range names {
		got[draw.Is(n)]++
	}
	if !maps.Equal(got, map[bool]int{true: 8, false: 3}) {
		t.Error(got)
	}
}
