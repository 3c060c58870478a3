package build

import (
	"strings"
	"testing"
)

func TestDiscreet(t *testing.T) {
	values := map[string]any{
		"password": "correct horse", "port": "http", "list": []any{"battery staple", map[string]any{"deep": "battery staple 2"}},
	}
	tests := []struct{ name, message, want string }{
		{"a quoted argument is hidden", `at <x>: error calling urlParse: parse "correct horse"`, `at <x>: error calling urlParse: parse "[a value]"`},
		{"so are those in lists, the longer ones whole", "error calling f: battery staple 2, battery staple", "error calling f: [a value], [a value]"},
		{"a short value is none", "error calling f: http", "error calling f: http"},
		{"only the innermost complaint counts", "error calling include: <correct horse>: error calling f: no", "error calling include: <correct horse>: error calling f: no"},
		{"what the chart says itself stays", "execution error at (x.yaml:1:2): not correct horse", "execution error at (x.yaml:1:2): not correct horse"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := discreet(tt.message, values); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAbridged(t *testing.T) {
	if got := abridged("short"); got != "short" {
		t.Errorf("got %q, want it as it was", got)
	}
	got := abridged("beginning " + strings.Repeat("ü", longest) + " end")
	if len(got) > longest+5 || !strings.HasPrefix(got, "beginning ü") || !strings.HasSuffix(got, "ü end") || !strings.Contains(got, "ü ... ü") {
		t.Errorf("got %q of %d bytes", got, len(got))
	}
}
