package clusters

import (
	"crypto/sha256"
	"encoding/binary"

	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
)

// Credential is what is known of a credential, and never what it is. The zero value is that
// nothing is known.
type Credential struct {
	credential.Lifetime

	digest [sha256.Size]byte // stays in memory
}

// CredentialOf returns what is known of the credential by which a cluster is reached.
func CredentialOf(c *rest.Config) Credential {
	c = rest.CopyConfig(c)
	if rest.LoadTLSFiles(c) != nil {
		return Credential{} // whoever uses it says what is wrong
	}
	return Credential{credential.LifetimeOf(c.CertData, c.BearerToken), digestOf(c.CertData, c.KeyData, []byte(c.BearerToken))}
}

// digestOf tells credentials apart.
func digestOf(parts ...[]byte) [sha256.Size]byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Known is what is known of the credential of a client, which may be nil.
func (c *Client) Known() Credential {
	if c == nil {
		return Credential{}
	}
	return c.Credential
}

// Replaces reports that a credential is another one than the one before.
func (c Credential) Replaces(before Credential) bool {
	return c != (Credential{}) && before != (Credential{}) && c.digest != before.digest
}
