package credential

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"time"
)

// Expiry is when a client certificate (PEM) or a token (RFC 7519) ends to be valid, the sooner
// of both; zero if neither says so. It believes what they say: the API server verifies them.
func Expiry(certificate []byte, token string) time.Time {
	ends := ofCertificate(certificate)
	if t := ofJWT(token); ends.IsZero() || !t.IsZero() && t.Before(ends) {
		return t
	}
	return ends
}

// ofCertificate is for the first certificate, which is the client's own.
func ofCertificate(text []byte) time.Time {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return time.Time{}
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return time.Time{}
		}
		return c.NotAfter
	}
}

// ofJWT reads the claim exp, in seconds since 1970, which may have a fraction.
func ofJWT(token string) time.Time {
	parts := strings.Split(token, ".")
	const header, claims, signature = 0, 1, 2
	if len(parts) != signature+1 || parts[header] == "" {
		return time.Time{}
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[claims])
	if err != nil {
		return time.Time{}
	}
	var says struct {
		Exp float64 `json:"exp"`
	}
	const year10000 = 253402300800
	if json.Unmarshal(data, &says) != nil || says.Exp <= 0 || says.Exp >= year10000 {
		return time.Time{}
	}
	return time.Unix(int64(says.Exp), 0)
}
