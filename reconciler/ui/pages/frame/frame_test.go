package frame_test

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/frame"
)

// page writes the page of a failure within a frame.
func page(t *testing.T, f frame.Frame) string {
	t.Helper()
	f.Body = pages.Failure{Title: "<b>Gone</b>", Message: "it is gone"}
	data, err := frame.Page("failure", f)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What a page has around it is what the frame says, and nothing of what it does not say. Texts stay texts.
func TestPage(t *testing.T) {
	for text, f := range map[string]frame.Frame{
		"<title>a &amp; b · Waybill</title>":          {Title: "a & b"},
		`<a href="/fleet" aria-current="page">`:       {Here: "fleet"},
		`<a href="/matrix?group=a%3d%26b">`:           {Group: "a=&b"},
		`value="&lt;script&gt;"`:                      {Find: "<script>"},
		`<a href="/previews">Previews</a>`:            {Previews: true},
		`data-key="k1"`:                               {Key: "k1"},
		"<span>ada</span>":                            {User: "ada"},
		`<a href="/logout">`:                          {LogsOut: true},
		"What is shown may be old.</strong> no route": {Trouble: "no route"},
	} {
		if is := page(t, f); !strings.Contains(is, text) || strings.Contains(is, "<script>") || strings.Contains(is, "<b>Gone") {
			t.Errorf("%+v: it lacks %s:\n%s", f, text, is)
		}
		if is := page(t, frame.Frame{}); strings.Contains(is, text) {
			t.Errorf("a page has %s, whatever its frame says", text)
		}
	}
	if _, err := frame.Page("failure", frame.Frame{Body: 1}); err == nil {
		t.Error("a page whose body is something else is written")
	}
}

// A page refers to files by paths that name what they hold, and they are all there.
func TestAssets(t *testing.T) {
	all := frame.Assets()
	for _, name := range []string{"frame.css", "style.css", "live.js", "report.css", "report.js"} {
		path := ""
		for p, data := range all {
			if strings.HasSuffix(p, "/"+name) {
				path = p
			}
			sum := sha256.Sum256(data)
			if !strings.Contains(p, "/"+hex.EncodeToString(sum[:6])+"/") {
				t.Errorf("%s does not name what it holds", p)
			}
			if !regexp.MustCompile(`^/assets/[0-9a-f]{12}/[a-z.]+$`).MatchString(p) || len(data) == 0 {
				t.Errorf("%s has %d bytes", p, len(data))
			}
		}
		if path == "" {
			t.Errorf("there is no %s", name)
		}
	}
	paths := regexp.MustCompile(`"(/assets/[^"]*)"`).FindAllStringSubmatch(page(t, frame.Frame{}), -1)
	if len(paths) < 3 {
		t.Errorf("a page refers to %q", paths)
	}
	for _, p := range paths {
		if all[p[1]] == nil {
			t.Errorf("a page refers to %s, which is not there", p[1])
		}
	}
}
