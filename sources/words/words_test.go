package words_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/words"
)

func TestLists(t *testing.T) {
	for _, tt := range []struct {
		names     string
		list, two string
	}{
		{"", "", ""},
		{"a", "a", "a"},
		{"a b", "a, b", "a, b"},
		{"a b c", "a, b, c", "a, b and 1 more"},
		{"a b c d e", "a, b, c and 2 more", "a, b and 3 more"},
	} {
		names := strings.Fields(tt.names)
		if got := words.List(names); got != tt.list {
			t.Errorf("List(%q) is %q, want %q", names, got, tt.list)
		}
		if got := words.First(names, 2); got != tt.two {
			t.Errorf("First(%q, 2) is %q, want %q", names, got, tt.two)
		}
	}
}

func TestCounts(t *testing.T) {
	for n, want := range []string{"0 clusters", "1 cluster", "2 clusters"} {
		if got := words.Count(n, "cluster"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {"main", "mian", 2}, {"main", "min", 1}, {"kitten", "sitting", 3}} {
		if got := words.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) is %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"Divded", []string{"Divided", "Duplicated"}, "Divided"},
		{"divided", []string{"Divided"}, "Divided"},
		{"Dupe", []string{"Divided", "Duplicated"}, ""},
		{"regoin", []string{"provider", "region"}, "region"},
		{"ad", []string{"add"}, ""},
		{"", []string{"a"}, ""},
		{"abc", nil, ""},
	} {
		if got := words.Nearest(c.word, c.candidates); got != c.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", c.word, c.candidates, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for text, want := range map[string]string{"": "", "as it is": "as it is", strings.Repeat("ü", 120): strings.Repeat("ü", 120), strings.Repeat("ü", 121): strings.Repeat("ü", 120) + "..."} {
		if got := words.Short(text); got != want {
			t.Errorf("Short(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestMeant(t *testing.T) {
	if got, want := words.Meant("cluster-aest", []string{"cluster-east"}, "none"), `did you mean "cluster-east"?`; got != want {
		t.Errorf("of a slip it says %q, want %q", got, want)
	}
	if got := words.Meant("west", []string{"cluster-east"}, "there is cluster-east"); got != "there is cluster-east" {
		t.Errorf("of what is far it says %q", got)
	}
}
