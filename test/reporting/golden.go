// Package reporting has what the tests of reports share: a plan to report on, and golden files. With -update they are written anew.
package reporting

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Golden holds what is written against testdata/NAME.txtar, whose files are named by the formats in which it is to be written.
func Golden(tb testing.TB, name string, write func(w io.Writer, format string) error) {
	tb.Helper()
	name = filepath.Join("testdata", name+".txtar")
	golden, err := txtar.ParseFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	if len(golden.Files) == 0 {
		tb.Fatal("no golden sections")
	}
	for i, f := range golden.Files {
		var b bytes.Buffer
		if err := write(&b, f.Name); err != nil {
			tb.Fatal(err)
		}
		if got := b.String(); !strings.HasSuffix(got, "\n") {
			b.WriteString("\n") // as txtar has it
		}
		if *update {
			golden.Files[i].Data = b.Bytes()
		} else if d := cmp.Diff(string(f.Data), b.String()); d != "" {
			tb.Errorf("%s of %s: %s", f.Name, name, d)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(golden), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}
