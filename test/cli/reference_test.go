package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReference holds docs/commands.md to what the commands say of themselves; make docs writes it. For
// man(1) there is a page for each of them.
func TestReference(t *testing.T) {
	t.Parallel()
	if want, got := ends(t, 0, "reference"), read(t, "../../docs/commands.md"); got != want {
		t.Error("docs/commands.md is not what the commands say of themselves; make docs writes it")
	}
	man := t.TempDir()
	ends(t, 0, "reference", "--man", man)
	for _, name := range []string{"waybill.1", "waybill-publish.1", "waybill-cluster-join.1"} {
		if _, err := os.Stat(filepath.Join(man, name)); err != nil {
			t.Error(err)
		}
	}
}
