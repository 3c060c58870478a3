package firstsource_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/waybill-dev/waybill/cmd/waybill/firstsource"
)

var examples = fstest.MapFS{
	"one/app/web.yaml": {Data: []byte("kind: Deployment\n")},
	"one/waybill.yaml": {Data: []byte("kind: Config\n")},
	"two/other.yaml":   {Data: []byte("kind: Other\n")},
}

func TestWriteWritesOneExampleAndOverwritesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "source")
	names, err := firstsource.Write(dir, examples, "one")
	if err != nil {
		t.Fatal(err)
	}
	app, config := filepath.Join(dir, "app", "web.yaml"), filepath.Join(dir, "waybill.yaml")
	if want := []string{app, config}; !slices.Equal(names, want) {
		t.Errorf("it names %q, want %q", names, want)
	}
	if data, err := os.ReadFile(app); string(data) != "kind: Deployment\n" {
		t.Errorf("%s holds %q (%v)", app, data, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "other.yaml")); err == nil {
		t.Error("it wrote the other example, too")
	}

	if err := os.Remove(app); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err = firstsource.Write(dir, examples, "one")
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), config) {
		t.Errorf("it ended with %v, and %s was there", err, config)
	}
	if want := []string{app}; !slices.Equal(names, want) {
		t.Errorf("it names %q, and wrote %q", names, want)
	}
	if data, err := os.ReadFile(config); string(data) != "mine" {
		t.Errorf("%s holds %q (%v), and was somebody's", config, data, err)
	}
}

func TestWriteOfNoExampleIsAnError(t *testing.T) {
	if names, err := firstsource.Write(t.TempDir(), examples, "three"); err == nil || names != nil {
		t.Errorf("it wrote %q, and ended with %v", names, err)
	}
}
