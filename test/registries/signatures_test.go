//go:build e2e

package registries_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/registries"
)

// cosign is the program, in a folder of its own, where its keys are.
type cosign struct {
	*started

	t            *testing.T
	program, dir string
}

// cosign returns the program, which is built where it must be.
func (s *started) cosign(t *testing.T) *cosign {
	t.Helper()
	program, err := registries.Cosign()
	if err != nil {
		t.Fatal(err)
	}
	return &cosign{s, t, program, t.TempDir()}
}

// runs runs it. It may ask nobody but the registry: whom it would ask for time, or a log, is not there.
func (c *cosign) runs(args ...string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.program, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"HOME=" + c.dir, "SSL_CERT_FILE=" + c.trusted, "COSIGN_PASSWORD=", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1"}
	if _, err := peers.Output(cmd); err != nil {
		c.t.Fatal(err)
	}
}

// key has it make a pair of keys, or take in a private one, and returns the public one, as PEM.
func (c *cosign) key(name string, private crypto.PrivateKey) []byte {
	c.t.Helper()
	if private == nil {
		c.runs("generate-key-pair", "--output-key-prefix", name)
	} else {
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			c.t.Fatal(err)
		}
		c.write(name+".pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		c.runs("import-key-pair", "--key", name+".pem", "--output-key-prefix", name)
	}
	public, err := os.ReadFile(filepath.Join(c.dir, name+".pub"))
	if err != nil {
		c.t.Fatal(err)
	}
	return public
}

func (c *cosign) write(name string, data []byte) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), data, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// The forms of signatures: that of cosign 2, at a tag; a bundle, which refers to what it signs; and one as cosign 3 makes it unless
// it is told otherwise, here by a configuration in which there is no log.
var (
	tagged    = []string{"--new-bundle-format=false", "--use-signing-config=false", "--tlog-upload=false"}
	bundled   = []string{"--use-signing-config=false", "--tlog-upload=false"}
	unlogged  = []string{"--signing-config", "unlogged.json"}
	noService = []byte(`{"mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json", "rekorTlogConfig": {}, "tsaConfig": {}}`)
)

// signs has it sign what a reference with a digest stands for.
func (c *cosign) signs(ref, key string, form []string) {
	c.t.Helper()
	c.write("unlogged.json", noService)
	args := []string{"sign", "--yes", "--key", key + ".key", "--registry-username", registries.User, "--registry-password", registries.Password}
	c.runs(append(append(args, form...), ref)...)
}

func keysOf(t *testing.T, public []byte) []registry.Key {
	t.Helper()
	keys, err := registry.ParseKeys("cosign.pub", public)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// push puts an image, whose label makes it another one, at a tag, and returns its digest.
func (s *started) push(t *testing.T, tag string) v1.Hash {
	t.Helper()
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{Config: v1.Config{Labels: map[string]string{"x": tag}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(s.at(t, tag), image, s.options...); err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// TestSignaturesInDistribution has cosign sign images, in each form, by each kind of key. The registry has no list of what refers to an
// image, so that cosign keeps it at a tag.
func TestSignaturesInDistribution(t *testing.T) {
	if testing.Short() {
		t.Skip("the registry and cosign are built from modules of their own")
	}
	s := start(t)
	c := s.cosign(t)
	ec384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsa2048, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	others := keysOf(t, c.key("other", nil))
	for key, private := range map[string]crypto.PrivateKey{"p256": nil, "p384": ec384, "rsa": rsa2048, "ed25519": ed} {
		keys := keysOf(t, c.key(key, private))
		forms := map[string][]string{"tagged": tagged, "bundled": bundled, "unlogged": unlogged}
		if key == "ed25519" {
			delete(forms, "unlogged") // cosign 3.0.6 refuses what it signed itself
		}
		for form, flags := range forms {
			t.Run(key+" "+form, func(t *testing.T) {
				ref := s.repository + "@" + s.push(t, key+"-"+form).String()
				verified := func(by []registry.Key, want registry.Class) {
					t.Helper()
					if err := s.client.Verify(t.Context(), ref, by); registry.ClassOf(err) != want {
						t.Errorf("%v, want the class %q", err, want)
					}
				}
				verified(keys, registry.Unverified) // nobody signed it yet
				c.signs(ref, key, flags)
				verified(keys, "")
				verified(others, registry.Unverified)
				verified(append(others, keys...), "")
			})
		}
	}
}
