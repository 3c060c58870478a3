package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// writeKeys writes what an API server needs: its certificate, which is its own authority, and
// the key by which it signs tokens of service accounts.
func writeKeys(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	const bits = 2048
	sign, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return err
	}
	return errors.Join(
		writePEM(filepath.Join(dir, "server.crt"), "CERTIFICATE", cert),
		writePEM(filepath.Join(dir, "server.key"), "EC PRIVATE KEY", der),
		writePEM(filepath.Join(dir, "accounts.key"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(sign)),
	)
}

// writePEM writes a file of one block.
func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), private)
}

// The modes of what only its owner may read.
const (
	private       os.FileMode = 0o600
	privateFolder os.FileMode = 0o700
)
