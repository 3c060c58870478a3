//go:build e2e

package registries_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/waybill-dev/waybill/sources/registry"
)

// signer signs as cosign sign --key does.
type signer struct{ *ecdsa.PrivateKey }

func newSigner(t *testing.T) (signer, []registry.Key) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{private}, keysOf(t, signer{private}.public(t))
}

// public is its public key, as PEM.
func (s signer) public(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func keysOf(t *testing.T, public []byte) []registry.Key {
	t.Helper()
	keys, err := registry.ParseKeys("cosign.pub", public)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func (s signer) sign(t *testing.T, message []byte) []byte {
	t.Helper()
	sum := sha256.Sum256(message)
	out, err := ecdsa.SignASN1(rand.Reader, s.PrivateKey, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// push puts an image, whose label makes it another one, at a tag, and returns its digest.
func (s *started) push(t *testing.T, tag string, image v1.Image) v1.Hash {
	t.Helper()
	if err := remote.Write(s.at(t, tag), image, s.options...); err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func labelled(t *testing.T, label string) v1.Image {
	t.Helper()
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{Config: v1.Config{Labels: map[string]string{"x": label}}})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// TestSignaturesInDistribution has signatures where cosign leaves them, in both of its forms. Where the registry has no list of
// what refers to an image, clients keep it at a tag.
func TestSignaturesInDistribution(t *testing.T) {
	if testing.Short() {
		t.Skip("the registry is built from a module of its own")
	}
	s := start(t)
	mine, keys := newSigner(t)
	_, others := newSigner(t)
	simple := s.push(t, "1.0.0", labelled(t, "simple"))
	s.tagged(t, mine, simple)
	bundled := s.push(t, "2.0.0", labelled(t, "bundled"))
	s.bundle(t, mine, bundled)
	none := s.push(t, "3.0.0", labelled(t, "none"))
	for _, tt := range []struct {
		name   string
		digest v1.Hash
		keys   []registry.Key
		class  registry.Class
	}{
		{"simple signing", simple, keys, ""},
		{"simple signing by another key", simple, others, registry.Unverified},
		{"a bundle", bundled, keys, ""},
		{"a bundle by another key", bundled, others, registry.Unverified},
		{"no signature", none, keys, registry.Unverified},
	} {
		if err := s.client.Verify(t.Context(), s.repository+"@"+tt.digest.String(), tt.keys); registry.ClassOf(err) != tt.class {
			t.Errorf("%s: %v, want the class %q", tt.name, err, tt.class)
		}
	}
}

// tagged has a signature of an image at the tag where cosign leaves it.
func (s *started) tagged(t *testing.T, by signer, digest v1.Hash) {
	t.Helper()
	payload := fmt.Appendf(nil, `{"critical":{"image":{"docker-manifest-digest":"%s"},"type":"cosign container image signature"}}`, digest)
	signature, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:       static.NewLayer(payload, "application/vnd.dev.cosign.simplesigning.v1+json"),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(by.sign(t, payload))},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.push(t, strings.Replace(digest.String(), ":", "-", 1)+".sig", signature)
}

// bundle has a bundle of a signature refer to an image.
func (s *started) bundle(t *testing.T, by signer, digest v1.Hash) {
	t.Helper()
	const kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
	payload := fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"%s"}}],"predicateType":"https://sigstore.dev/cosign/sign/v1"}`, digest.Hex)
	message := fmt.Appendf(nil, "DSSEv1 28 application/vnd.in-toto+json %d %s", len(payload), payload)
	data, err := json.Marshal(map[string]any{"mediaType": kind, "dsseEnvelope": map[string]any{
		"payload": payload, "payloadType": "application/vnd.in-toto+json", "signatures": []any{map[string]any{"sig": by.sign(t, message)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), kind)
	image, err = mutate.AppendLayers(image, static.NewLayer(data, kind))
	if err != nil {
		t.Fatal(err)
	}
	of, err := remote.Head(s.at(t, "2.0.0"), s.options...)
	if err != nil {
		t.Fatal(err)
	}
	s.push(t, "bundle", mutate.Subject(image, *of).(v1.Image))
}
