package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWrite holds what is written of a small run: its steps in their order, its long tests but no
// subtest, and which test failed before it passed.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	for name, text := range map[string]string{
		"page.md": "before\n" + begin + "what was there\n" + end + "after\n",
		"steps":   "90 make lint\n30 make e2e\n75 make race\n126 all\n",
		"e2e.json": `{"Action":"run","Package":"p","Test":"TestLong"}
{"Action":"pass","Package":"p","Test":"TestShort","Elapsed":1.5}
{"Action":"pass","Package":"p","Test":"TestLong/part","Elapsed":20}
{"Action":"fail","Package":"p","Test":"TestLong","Elapsed":1}
{"Action":"pass","Package":"p","Test":"TestLong","Elapsed":24}
{"Action":"pass","Package":"p","Test":"TestLonger","Elapsed":60}
{"Action":"pass","Package":"p","Elapsed":85}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(dir, page); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + begin + `
| step | minutes |
|---|---|
| ` + "`make lint`" + ` | 1.5 |
| ` + "`make e2e`" + ` | 0.5 |
| ` + "`make race`" + ` | 1.2 |
| ` + "`all`" + ` | 2.1 |

| test on real servers of 10 seconds or more, several of which run at once | minutes |
|---|---|
| ` + "`TestLonger`" + ` | 1.0 |
| ` + "`TestLong`" + ` | 0.4 |

Run again: ` + "`TestLong`" + `.

` + end + "after\n"
	if string(got) != want {
		t.Errorf("it wrote\n%s\nwant\n%s", got, want)
	}
}
