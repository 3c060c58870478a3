package sealing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/waybill-dev/waybill/test/peers"
)

// program builds sops once for each state of its module. The first time takes minutes,
// so it is kept in the user's cache.
var program = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	fmt.Fprintln(digest, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join("tools", name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(digest, "%d\n%s", len(data), data)
	}
	path := filepath.Join(cache, "waybill-test-tools", hex.EncodeToString(digest.Sum(nil)[:16]), "sops")
	return path, install(path)
})

// install builds sops where there is none yet. It appears as a whole, however many
// tests build it at once.
func install(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built := filepath.Join(dir, "sops")
	if _, err := peers.Go("tools", "build", "-o", built, "github.com/getsops/sops/v3/cmd/sops"); err != nil {
		return err
	}
	return os.Rename(built, path)
}

// decrypt runs sops on a document as one who has the identity and nothing else.
func decrypt(t *testing.T, document, identity string, flags ...string) (string, error) {
	t.Helper()
	sops, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "secret.yaml")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"decrypt"}, append(flags, file)...)
	cmd := exec.CommandContext(t.Context(), sops, args...)
	cmd.Env = []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "PATH=" + os.Getenv("PATH"), "SOPS_AGE_KEY=" + identity}
	return peers.Output(cmd)
}
