package sealing

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/waybill-dev/waybill/test/peers"
)

// program builds sops.
var program = sync.OnceValues(func() (string, error) {
	return peers.Install("tools", "sops", "github.com/getsops/sops/v3/cmd/sops")
})

// decrypt runs sops on a document as one who has the identity and nothing else.
func decrypt(t *testing.T, document, identity string, flags ...string) (string, error) {
	t.Helper()
	return run(t, document, identity, "", append([]string{"decrypt"}, flags...)...)
}

// encrypt runs sops on a manifest as one who knows recipients and nothing else. The rule says
// what is encrypted, as in .sops.yaml.
func encrypt(t *testing.T, manifest, to, rule string, flags ...string) (string, error) {
	t.Helper()
	return run(t, manifest, "", "creation_rules: [{age: '"+to+"', "+rule+"}]\n", append([]string{"encrypt"}, flags...)...)
}

func run(t *testing.T, document, identity, config string, args ...string) (string, error) {
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
	if err := os.WriteFile(filepath.Join(dir, ".sops.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), sops, append(args, file)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "PATH=" + os.Getenv("PATH"), "SOPS_AGE_KEY=" + identity}
	return peers.Output(cmd)
}
