package registry_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
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

// signer is a private key, and its public one as cosign.pub has it.
type signer struct {
	crypto.Signer

	pub []byte
}

func newSigner(tb testing.TB, key crypto.Signer, err error) signer {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		tb.Fatal(err)
	}
	return signer{key, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})}
}

func ecdsaSigner(tb testing.TB) signer {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return newSigner(tb, key, err)
}

// sign signs as cosign does.
func (s signer) sign(tb testing.TB, message []byte, by crypto.Hash) []byte {
	tb.Helper()
	digest := message
	if by != 0 {
		h := by.New()
		h.Write(message)
		digest = h.Sum(nil)
	}
	out, err := s.Sign(rand.Reader, digest, by)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func (s signer) keys(tb testing.TB) []registry.Key {
	tb.Helper()
	keys, err := registry.ParseKeys("cosign.pub", s.pub)
	if err != nil {
		tb.Fatal(err)
	}
	return keys
}

// simply is a payload of cosign.
func simply(digest string) string {
	return fmt.Sprintf(`{"critical":{"identity":{"docker-reference":"ghcr.io/org/app"},"image":{"docker-manifest-digest":"%s"},"type":"cosign container image signature"},"optional":null}`, digest)
}

// attachSimply puts a signature at the tag of an image, as cosign sign --key.
func attachSimply(tb testing.TB, push func(string, remote.Taggable), digest, payload string, signatures ...[]byte) {
	tb.Helper()
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	for _, s := range signatures {
		var err error
		image, err = mutate.Append(image, mutate.Addendum{
			Layer:       static.NewLayer([]byte(payload), "application/vnd.dev.cosign.simplesigning.v1+json"),
			Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(s)},
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	push(strings.Replace(digest, ":", "-", 1)+".sig", image)
}

// stated is a statement of in-toto, and what of it is signed.
func stated(digest, predicate string) (payload, message []byte) {
	payload = fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"%s"}}],"predicateType":"%s","predicate":{}}`,
		strings.TrimPrefix(digest, "sha256:"), predicate)
	return payload, fmt.Appendf(nil, "DSSEv1 28 application/vnd.in-toto+json %d %s", len(payload), payload)
}

// statements is the type of what a bundle of cosign has.
const statements = "application/vnd.in-toto+json"

// attachBundle has a bundle refer to an image, as cosign 3. A list says the type of its configuration.
func attachBundle(tb testing.TB, push func(string, remote.Taggable), of v1.Image, config, kind string, payload, signature []byte) {
	tb.Helper()
	data, err := json.Marshal(map[string]any{
		"mediaType":            "application/vnd.dev.sigstore.bundle.v0.3+json",
		"verificationMaterial": map[string]any{"publicKey": map[string]string{"hint": "x"}},
		"dsseEnvelope": map[string]any{
			"payload": payload, "payloadType": kind, "signatures": []any{map[string]any{"sig": signature}},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	const bundled = "application/vnd.dev.sigstore.bundle.v0.3+json"
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.MediaType(config))
	image, err = mutate.AppendLayers(image, static.NewLayer(data, bundled))
	if err != nil {
		tb.Fatal(err)
	}
	size, err := of.Size()
	if err != nil {
		tb.Fatal(err)
	}
	hash, err := of.Digest()
	if err != nil {
		tb.Fatal(err)
	}
	subject := v1.Descriptor{MediaType: types.DockerManifestSchema2, Size: size, Digest: hash}
	push("bundle-"+fmt.Sprintf("%x", sha256.Sum256(data))[:8], mutate.Subject(image, subject).(v1.Image))
}

func TestSignatures(t *testing.T) {
	ec, other := ecdsaSigner(t), ecdsaSigner(t)
	big, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	p384 := newSigner(t, big, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	rsa2048 := newSigner(t, rsaKey, err)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	ed := newSigner(t, edKey, err)
	image := built(t, nil)
	digest := digestOf(t, image)
	elsewhere := "sha256:" + strings.Repeat("0", 64)
	const signed, scanned = "https://sigstore.dev/cosign/sign/v1", "https://cosign.sigstore.dev/attestation/vuln/v1"
	simple := func(by signer, payload string, hash crypto.Hash) func(*testing.T, func(string, remote.Taggable)) {
		return func(t *testing.T, push func(string, remote.Taggable)) {
			t.Helper()
			attachSimply(t, push, digest, payload, []byte("no signature"), by.sign(t, []byte(payload), hash))
		}
	}
	bundleAs := func(config string, by signer, of, predicate string) func(*testing.T, func(string, remote.Taggable)) {
		return func(t *testing.T, push func(string, remote.Taggable)) {
			t.Helper()
			payload, message := stated(of, predicate)
			attachBundle(t, push, image, config, statements, payload, by.sign(t, message, crypto.SHA256))
		}
	}
	bundle := func(by signer, of, predicate string) func(*testing.T, func(string, remote.Taggable)) {
		return bundleAs("application/vnd.dev.sigstore.bundle.v0.3+json", by, of, predicate)
	}
	// other things that the key signed, of which none says that the image is signed
	envelope := func(kind, payload string) func(*testing.T, func(string, remote.Taggable)) {
		return func(t *testing.T, push func(string, remote.Taggable)) {
			t.Helper()
			message := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
			attachBundle(t, push, image, "application/vnd.dev.sigstore.bundle.v0.3+json", kind, []byte(payload), ec.sign(t, message, crypto.SHA256))
		}
	}
	statement, _ := stated(digest, signed)
	for _, tt := range []struct {
		name   string
		attach func(*testing.T, func(string, remote.Taggable))
		by     signer
		says   string // empty: it is verified
	}{
		{"by an ECDSA key", simple(ec, simply(digest), crypto.SHA256), ec, ""},
		{"by a key of another curve", simple(p384, simply(digest), crypto.SHA384), p384, ""},
		{"by one of another curve, by an older cosign", simple(p384, simply(digest), crypto.SHA256), p384, ""},
		{"by an RSA key", simple(rsa2048, simply(digest), crypto.SHA256), rsa2048, ""},
		{"by an Ed25519 key", simple(ed, simply(digest), 0), ed, ""},
		{"by an Ed25519 key, of a hash", simple(ed, simply(digest), crypto.SHA512), ed, ""},
		{"with a bundle", bundle(ec, digest, signed), ec, ""},
		{"with a bundle that a list does not call one", bundleAs("application/vnd.oci.empty.v1+json", ec, digest, signed), ec, ""},
		{"with a bundle that a list calls something else", bundleAs("application/spdx+json", ec, digest, signed), ec, "it has no signature"},
		{"not at all", func(*testing.T, func(string, remote.Taggable)) {}, ec, "it has no signature"},
		{"by another key", simple(other, simply(digest), crypto.SHA256), ec, "none of its signatures (2) is one of the image by cosign.pub"},
		{"of another image", simple(ec, simply(elsewhere), crypto.SHA256), ec, "none of its signatures"},
		{"of something else", simple(ec, strings.Replace(simply(digest), "cosign container", "some", 1), crypto.SHA256), ec, "none of its signatures"},
		{"of no JSON", simple(ec, "hello", crypto.SHA256), ec, "none of its signatures"},
		{"with a bundle by another key", bundle(other, digest, signed), ec, "none of its signatures (1)"},
		{"with a bundle of another image", bundle(ec, elsewhere, signed), ec, "none of its signatures (1)"},
		{"with a bundle of a statement", envelope(statements, string(statement)), ec, ""},
		{"with a bundle of what is no statement", envelope("text/plain", string(statement)), ec, "none of its signatures (1)"},
		{"with a bundle of a statement of another kind", envelope(statements, strings.Replace(string(statement), "in-toto.io/Statement", "example.com/Note", 1)), ec, "none of its signatures (1)"},
		{"with a bundle of a statement by another hash", envelope(statements, strings.Replace(string(statement), `"sha256"`, `"sha512"`, 1)), ec, "none of its signatures (1)"},
		{"with a bundle that attests something else", bundle(ec, digest, scanned), ec, "none of its signatures (1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, push := stocked(t)
			push("1.0.0", image)
			tt.attach(t, push)
			c, _ := client(t, registry.Options{}, s)
			err := c.Verify(t.Context(), s.host+"/org/app:1.0.0@"+digest, tt.by.keys(t))
			if tt.says == "" && err != nil {
				t.Error(err)
			} else if tt.says != "" {
				wantClass(t, err, registry.Unverified, tt.says)
			}
		})
	}
}

func TestWhatCannotBeVerified(t *testing.T) {
	key := ecdsaSigner(t)
	image := built(t, nil)
	digest := digestOf(t, image)
	s, push := stocked(t)
	push("1.0.0", image)
	c, at := client(t, registry.Options{}, s)
	err := c.Verify(t.Context(), s.host+"/org/app:1.0.0", key.keys(t))
	wantClass(t, err, registry.Malformed, "no digest")
	err = c.Verify(t.Context(), s.host+"/org/app@"+digest, nil)
	wantClass(t, err, registry.Malformed, "no key")
	attachSimply(t, push, digest, simply(digest), make([][]byte, 51)...)
	err = c.Verify(t.Context(), s.host+"/org/app@"+digest, key.keys(t))
	wantClass(t, err, registry.TooMany, "more than the 50")
	s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	err = c.Verify(t.Context(), s.host+"/org/app@"+digest, key.keys(t))
	wantClass(t, err, registry.Unavailable)
	s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	err = c.Verify(t.Context(), s.host+"/org/app@"+digest, key.keys(t))
	if until := wantClass(t, err, registry.Busy); !until.After(at.now()) {
		t.Errorf("until %v", until)
	}
}

// TestKeysOfOneFileHaveOneName in what is said, and each of several files has its own.
func TestKeysOfOneFileHaveOneName(t *testing.T) {
	one, two, three := ecdsaSigner(t), ecdsaSigner(t), ecdsaSigner(t)
	image := built(t, nil)
	digest := digestOf(t, image)
	s, push := stocked(t)
	push("1.0.0", image)
	attachSimply(t, push, digest, simply(digest), three.sign(t, []byte(simply(digest)), crypto.SHA256))
	c, _ := client(t, registry.Options{}, s)
	both, err := registry.ParseKeys("a.pem", append(one.pub, two.pub...))
	if err != nil {
		t.Fatal(err)
	}
	err = c.Verify(t.Context(), s.host+"/org/app@"+digest, append(both, one.keys(t)...))
	wantClass(t, err, registry.Unverified, "none of its signatures (1) is one of the image by a.pem, cosign.pub")
	if err := c.Verify(t.Context(), s.host+"/org/app@"+digest, append(both, three.keys(t)...)); err != nil {
		t.Errorf("the last of three keys verifies nothing: %v", err)
	}
}

func TestKeys(t *testing.T) {
	one, two := ecdsaSigner(t), ecdsaSigner(t)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	weak := newSigner(t, small, err)
	both, err := registry.ParseKeys("keys.pem", append(one.pub, two.pub...))
	if err != nil || len(both) != 2 || both[1].Name != "keys.pem" {
		t.Errorf("%v, %v", both, err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: []byte(hush)})
	for name, tt := range map[string]struct{ data, says string }{
		"nothing":       {" \n", "there is none"},
		"no PEM":        {hush, "it is no PEM"},
		"more than PEM": {string(one.pub) + hush, "it is no PEM"},
		"private":       {string(private), "private key"},
		"a certificate": {string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"})), "CERTIFICATE"},
		"broken":        {string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")})), "key 1 of keys.pem"},
		"weak":          {string(weak.pub), "1024 bits"},
		"too many":      {strings.Repeat(string(one.pub), 101), "more than 100"},
	} {
		_, err := registry.ParseKeys("keys.pem", []byte(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), hush) {
			t.Errorf("%s: the error is %v, want %q", name, err, tt.says)
		}
	}
}
