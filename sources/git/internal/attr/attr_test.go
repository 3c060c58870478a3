package attr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/git/internal/attr"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// of returns the attributes of a path by files, of each its folder and its text.
func of(t *testing.T, name string, texts ...string) attr.Attributes {
	t.Helper()
	var all []*attr.File
	for i := 0; i < len(texts); i += 2 {
		if f := attr.Parse(texts[i], []byte(texts[i+1]), ignore.Cased); f != nil {
			all = append(all, f)
		}
	}
	return attr.Of(all, name)
}

// TestLines is what happens to line ends, by attributes and by core.autocrlf where no attribute says it.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name, text      string
		plain, autoCRLF attr.Lines
	}{
		{"nothing", "", attr.Keep, attr.Guess},
		{"a comment", "# * text\n", attr.Keep, attr.Guess},
		{"text", "*.txt text", attr.Text, attr.Text},
		{"text, behind a byte order mark", "\ufeff*.txt text", attr.Text, attr.Text},
		{"text, before a carriage return", "*.txt text\r\n", attr.Text, attr.Text},
		{"a pattern in quotes", "\"a.t\\170t\" text", attr.Text, attr.Text},
		{"no text", "*.txt -text", attr.Keep, attr.Keep},
		{"spaces and tabs before, between and behind", " \t*.txt \t text\t \n", attr.Text, attr.Text},
		{"quotes of other kinds, which are letters", "`a.txt` text\n'a.txt' text\n", attr.Keep, attr.Guess},
		{"a quote that does not end", "\"a.txt text\n", attr.Keep, attr.Guess},
		{"nothing in quotes", "\"\" text\n", attr.Keep, attr.Guess},
		{"a pattern alone", "*.txt\n", attr.Keep, attr.Guess},
		{"a guess", "*.txt text=auto", attr.Guess, attr.Guess},
		{"a guess, and line ends that are said", "*.txt text=auto eol=lf", attr.Guess, attr.Guess},
		{"a guess, as it was called before", "*.txt crlf=auto", attr.Guess, attr.Guess},
		{"no text, as it was called before", "*.txt -crlf", attr.Keep, attr.Keep},
		{"line ends of no text, as it was called before", "*.txt -crlf eol=lf", attr.Keep, attr.Keep},
		{"another word", "*.txt text=some", attr.Keep, attr.Guess},
		{"binary", "*.txt binary", attr.Keep, attr.Keep},
		{"as it was called before", "*.txt crlf", attr.Text, attr.Text},
		{"input, as it was called before", "*.txt crlf=input", attr.Text, attr.Text},
		{"text counts over what it was called before", "*.txt text -crlf", attr.Text, attr.Text},
		{"line ends that are said", "*.txt eol=lf", attr.Text, attr.Text},
		{"line ends that are said otherwise", "*.txt eol=crlf", attr.Text, attr.Text},
		{"line ends of what is no text", "*.txt -text eol=lf", attr.Keep, attr.Keep},
		{"line ends of another word", "*.txt eol=cr", attr.Keep, attr.Guess},
		{"the last line counts", "*.txt text\n*.txt -text\n", attr.Keep, attr.Keep},
		{"what is said no more", "*.txt text\n*.txt !text\n", attr.Keep, attr.Guess},
		{"a pattern of others", "*.md text", attr.Keep, attr.Guess},
		{"a pattern that is turned round", "!*.txt text", attr.Keep, attr.Guess},
		{"a folder", "a.txt/ text", attr.Keep, attr.Guess},
		{"a macro of its own", "[attr]prose text eol=lf\n*.txt prose\n", attr.Text, attr.Text},
		{"a macro that is set in another line before", "*.txt prose\n[attr]prose text\n", attr.Text, attr.Text},
		{"a macro of a macro", "[attr]prose text\n[attr]book prose\n*.txt book\n", attr.Text, attr.Text},
		{"a macro of itself", "[attr]prose prose text\n*.txt prose\n", attr.Text, attr.Text},
		{"the last definition of a macro", "[attr]prose -text\n[attr]prose text\n*.txt prose\n", attr.Text, attr.Text},
		{"a macro, and behind it what is said otherwise", "*.txt binary text\n", attr.Text, attr.Text},
		{"a macro behind what is said otherwise", "*.txt text binary\n", attr.Keep, attr.Keep},
		{"a macro that is taken back", "*.txt binary\n*.txt -binary\n", attr.Keep, attr.Guess},
		{"a macro that is said no more", "*.txt binary\n*.txt !binary\n", attr.Keep, attr.Guess},
		{"a macro with a value", "[attr]prose text\n*.txt prose=yes\n", attr.Keep, attr.Guess},
		{"a macro that is not set", "[attr]prose text\n*.txt -prose\n", attr.Keep, attr.Guess},
	} {
		a := of(t, "a.txt", "", tt.text)
		if plain, auto := a.Lines(false), a.Lines(true); plain != tt.plain || auto != tt.autoCRLF {
			t.Errorf("%s: %d, and %d with autocrlf; want %d and %d", tt.name, plain, auto, tt.plain, tt.autoCRLF)
		}
	}
}

// TestLinesThatNameNoFile: a comment is none about the files that are called so, and no pattern is turned round.
func TestLinesThatNameNoFile(t *testing.T) {
	for name, text := range map[string]string{"#a.txt": "#a.txt text", "!a.txt": "!a.txt text", "a.txt": "*.txt/ text"} {
		if a := of(t, name, "", text); len(a) > 0 {
			t.Errorf("%s: %v by %q", name, a, text)
		}
	}
	for name, text := range map[string]string{"#a.txt": "\"#a.txt\" text", "a b.txt": "\"a b.txt\" text", "b/a.txt": "/b/*.txt text"} {
		if a := of(t, name, "", text); a.Lines(false) != attr.Text {
			t.Errorf("%s: %v by %q", name, a, text)
		}
	}
	folded := attr.Parse("", []byte("*.TXT text"), ignore.Folded)
	if a := attr.Of([]*attr.File{folded}, "A.txt"); a.Lines(false) != attr.Text {
		t.Errorf("where letters are folded: %v", a)
	}
	if a := of(t, "a.txt", "", "*.TXT text"); len(a) > 0 {
		t.Errorf("where they are not: %v", a)
	}
}

// TestFilesOfAttributes count for what is in their folder, the last the most.
func TestFilesOfAttributes(t *testing.T) {
	files := []string{"", "*.txt text\nb/*.md text\n", "b", "*.txt -text\n", "b/c", "d.txt text\n"}
	for name, want := range map[string]attr.Lines{
		"a.txt": attr.Text, "b/a.txt": attr.Keep, "b/c/d.txt": attr.Text, "b/c/e.txt": attr.Keep, "bb/a.txt": attr.Text, "b/a.md": attr.Text, "a.md": attr.Keep,
	} {
		a := of(t, name, files...)
		if got := a.Lines(false); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// TestMacrosOfFiles: one counts in all files, where the outermost folder, or what counts more, defines it.
func TestMacrosOfFiles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  attr.Lines
	}{
		{"defined above", []string{"", "[attr]prose text\n", "b", "*.txt prose\n"}, attr.Text},
		{"defined in the folder", []string{"b", "[attr]prose text\n*.txt prose\n"}, attr.Keep},
		{"defined in the folder, too", []string{"", "[attr]prose text\n", "b", "[attr]prose -text\n*.txt prose\n"}, attr.Text},
		{"defined by what counts most alone", []string{"", "*.txt prose\n", "", "[attr]prose text\n"}, attr.Text},
		{"taken back in the folder", []string{"", "[attr]prose text\n*.txt prose\n", "b", "*.txt !prose\n"}, attr.Keep},
	} {
		a := of(t, "b/a.txt", tt.files...)
		if got := a.Lines(false); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestWhatGitStoresOtherwise: by a filter, or in other characters.
func TestWhatGitStoresOtherwise(t *testing.T) {
	for text, want := range map[string]struct {
		filter    string
		rewritten bool
	}{
		"":                                 {},
		"* filter=lfs":                     {filter: "lfs"},
		"* filter":                         {},
		"* -filter":                        {},
		"* filter=lfs\n* !filter":          {},
		"* ident":                          {rewritten: true},
		"* -ident":                         {},
		"* ident=yes":                      {},
		"* working-tree-encoding=UTF-16":   {rewritten: true},
		"* working-tree-encoding":          {},
		"* -working-tree-encoding":         {},
		"[attr]secret filter=x\n* secret":  {filter: "x"},
		"* diff=go merge=union whitespace": {},
	} {
		a := of(t, "a.txt", "", text)
		if a.Filter() != want.filter || a.Rewritten() != want.rewritten {
			t.Errorf("%q: the filter is %q, rewritten %t", text, a.Filter(), a.Rewritten())
		}
	}
}

// TestStored is what is stored of a content, beside what is stored now.
func TestStored(t *testing.T) {
	const text, crlf, binary = "a\nb\n", "a\r\nb\r\n", "a\x00\r\nb"
	for _, tt := range []struct {
		name               string
		lines              attr.Lines
		data, before, want string
	}{
		{"kept", attr.Keep, crlf, text, crlf},
		{"a text", attr.Text, crlf, crlf, text},
		{"a text that is none", attr.Text, binary, "", "a\x00\nb"},
		{"a text with line ends of both kinds", attr.Text, "a\nb\r\n\n", "", "a\nb\n\n"},
		{"a carriage return alone", attr.Text, "a\rb\r\n\r", "", "a\rb\n\r"},
		{"guessed", attr.Guess, crlf, text, text},
		{"guessed, and new", attr.Guess, crlf, "", text},
		{"guessed, and stored with CRLF", attr.Guess, crlf, crlf, crlf},
		{"guessed, and what is stored is none", attr.Guess, crlf, binary, text},
		{"guessed to be none", attr.Guess, binary, text, binary},
		{"guessed to be none by a carriage return", attr.Guess, "a\rb\r\n", "", "a\rb\r\n"},
		{"guessed to be none by what does not print", attr.Guess, "a\x01\r\n", "", "a\x01\r\n"},
		{"guessed, with an end of file as DOS has it", attr.Guess, "a\r\n\x1a", "", "a\n\x1a"},
		{"guessed to be none by one that is not the end", attr.Guess, "\x1aa\r\n", "", "\x1aa\r\n"},
		{"guessed, with what moves the cursor", attr.Guess, "a\b\t\f\x1b\r\n", "", "a\b\t\f\x1b\n"},
	} {
		got, err := tt.lines.Stored([]byte(tt.data), func() ([]byte, error) { return []byte(tt.before), nil })
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	// one character of 128 may be none that prints, but neither a NUL nor a carriage return
	for text, want := range map[string]bool{
		strings.Repeat("a", 128) + "\x01": true, strings.Repeat(" ", 128) + "\x01": true, strings.Repeat("\xfc", 128) + "\x01": true,
		strings.Repeat("\t", 128) + "\x01": true, strings.Repeat("a", 256) + "\x01\x7f": true,
		strings.Repeat("a", 127) + "\x01": false, strings.Repeat("a", 127) + "\n\n\x7f": false, strings.Repeat("a", 255) + "\x01\x7f": false,
		strings.Repeat("a", 500) + "\x00": false, strings.Repeat("a", 500) + "\r": false, "\x7f": false,
	} {
		for _, data := range []string{text + "\r\n", "\r\n" + text} {
			got, err := attr.Guess.Stored([]byte(data), func() ([]byte, error) { return nil, nil })
			if err != nil || strings.Contains(string(got), "\r\n") == want {
				t.Errorf("%q is taken for a text: %t, %v", data, !want, err)
			}
		}
	}
	dos := strings.Repeat("a", 127) + "\x01\r\n\x1a" // which does not count among those that print
	if got, err := attr.Guess.Stored([]byte(dos), func() ([]byte, error) { return nil, nil }); err != nil || string(got) != dos {
		t.Errorf("of %q it is %q, %v", dos, got, err)
	}
	away := errors.New("the disk is away")
	lost := func() ([]byte, error) { return nil, away }
	if _, err := attr.Guess.Stored([]byte(crlf), lost); !errors.Is(err, away) {
		t.Errorf("what is stored now cannot be read: %v", err)
	}
	if got, err := attr.Guess.Stored([]byte(text), lost); err != nil || string(got) != text {
		t.Errorf("of a text with LF it is %q, %v", got, err)
	}
}
