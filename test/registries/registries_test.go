//go:build e2e

package registries_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/registries"
)

// certified is a certificate for this machine and its key, as PEM.
func certified(t *testing.T) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	out := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(out, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
}

// started is a registry, a client of Waybill's with its credential, and a way to push to it.
type started struct {
	*registries.Registry

	trusted    string // the file with the certificate
	repository string
	options    []remote.Option
	client     *registry.Client
}

func start(t *testing.T) *started {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	r, err := registries.Start(ctx, dir, certified(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	s := &started{Registry: r, trusted: filepath.Join(dir, "tls.pem"), repository: r.Host + "/org/app"}
	s.options = []remote.Option{remote.WithTransport(r.Transport()), remote.WithAuth(&authn.Basic{Username: registries.User, Password: registries.Password})}
	s.client = s.asks(t, registries.Password)
	return s
}

// asks returns a client with a password.
func (s *started) asks(t *testing.T, password string) *registry.Client {
	t.Helper()
	c, err := registry.New(registry.Options{
		Allow: []string{s.Host}, Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: s.RootCAs,
		Credentials: []egress.Credential{{URL: "oci://" + s.Host + "/org", Username: registries.User, Password: password}},
		PerHost:     -1, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *started) at(t *testing.T, tag string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(s.repository + ":" + tag)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// TestDistribution asks the registry that most registries are made of: for tags by pages, images, and with a wrong password.
func TestDistribution(t *testing.T) {
	if testing.Short() {
		t.Skip("the registry is built from a module of its own")
	}
	s := start(t)
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: "amd64", Config: v1.Config{
		Labels: map[string]string{"org.opencontainers.image.source": "https://git.example/org/app"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image})
	if err := remote.WriteIndex(s.at(t, "1.0.0"), index, s.options...); err != nil {
		t.Fatal(err)
	}
	const tags = 1100 // more than a page
	for i := 1; i < tags; i++ {
		if err := remote.Tag(s.at(t, fmt.Sprintf("1.0.%d", i)).(name.Tag), index, s.options...); err != nil {
			t.Fatal(err)
		}
	}
	known, err := s.client.Tags(t.Context(), s.repository, registry.Known{})
	if err != nil || len(known.Tags) != tags || !slices.Contains(known.Tags, "1.0.1099") {
		t.Fatalf("%d tags, %v", len(known.Tags), err)
	}
	again, err := s.client.Tags(t.Context(), s.repository, known)
	if err != nil || again.ETag != known.ETag {
		t.Errorf("nothing is new, and the list is %s after %s, %v", again.ETag, known.ETag, err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.client.Image(t.Context(), s.repository+":1.0.7")
	if err != nil || got.Digest != digest.String() || got.Source != "https://git.example/org/app" {
		t.Errorf("the image is %+v, %v", got, err)
	}
	if is, err := s.client.Digest(t.Context(), s.repository+":1.0.7"); err != nil || is != digest.String() {
		t.Errorf("the digest is %s, %v", is, err)
	}
	_, err = s.client.Tags(t.Context(), s.Host+"/org/nothing", registry.Known{})
	if registry.ClassOf(err) != registry.Gone {
		t.Errorf("what is not there: %v", err)
	}
	_, err = s.asks(t, "wrong-canary").Tags(t.Context(), s.repository, known)
	if registry.ClassOf(err) != registry.Denied || strings.Contains(err.Error(), "canary") {
		t.Errorf("with a wrong password: %v", err)
	}
	_, err = s.client.Tags(t.Context(), s.Host+"/other/app", registry.Known{}) // of which the credential is not
	if registry.ClassOf(err) != registry.Denied {
		t.Errorf("without a credential: %v", err)
	}
	if bytes.Contains([]byte(fmt.Sprint(err)), []byte(registries.Password)) {
		t.Error("the error shows the password")
	}
}
