package credential

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"time"
)

// Lifetime is when a credential is valid, by what it says of itself: the API server verifies it.
type Lifetime struct {
	From, Until time.Time // zero: it does not say so
}

const (
	// long is how long a credential is valid that somebody has to replace. One that is valid
	// for less is replaced by a machine, again and again.
	long = 24 * time.Hour
	// notice is how long before its end a credential is about to end, at most, and share is
	// the part of its lifetime for which it is.
	notice = 7 * 24 * time.Hour
	share  = 5
)

// IsLong reports a credential that ends, and that somebody has to replace.
func (l Lifetime) IsLong() bool {
	return !l.Until.IsZero() && (l.From.IsZero() || l.Until.Sub(l.From) >= long)
}

// IsEnding reports a credential that has ended, or is about to: within a week, or the last fifth
// of its lifetime if that is less.
func (l Lifetime) IsEnding(now time.Time) bool {
	before := notice
	if !l.From.IsZero() {
		before = min(before, l.Until.Sub(l.From)/share)
	}
	return !l.Until.IsZero() && !now.Before(l.Until.Add(-before))
}

// LifetimeOf returns when a client certificate (PEM) or a token (RFC 7519) is valid: that which
// ends sooner, if both say so.
func LifetimeOf(certificate []byte, token string) Lifetime {
	l := ofCertificate(certificate)
	if t := ofJWT(token); l.Until.IsZero() || !t.Until.IsZero() && t.Until.Before(l.Until) {
		return t
	}
	return l
}

// ofCertificate is for the first certificate, which is the client's own.
func ofCertificate(text []byte) Lifetime {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return Lifetime{}
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return Lifetime{}
		}
		return Lifetime{c.NotBefore, c.NotAfter}
	}
}

// ofJWT reads the claims exp and iat, in seconds since 1970, which may have a fraction.
func ofJWT(token string) Lifetime {
	parts := strings.Split(token, ".")
	const header, claims, signature = 0, 1, 2
	if len(parts) != signature+1 || parts[header] == "" {
		return Lifetime{}
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[claims])
	if err != nil {
		return Lifetime{}
	}
	var says struct {
		Exp float64 `json:"exp"`
		Iat float64 `json:"iat"`
	}
	if json.Unmarshal(data, &says) != nil {
		return Lifetime{}
	}
	until := seconds(says.Exp)
	if until.IsZero() {
		return Lifetime{}
	}
	return Lifetime{seconds(says.Iat), until}
}

func seconds(s float64) time.Time {
	const year10000 = 253402300800
	if s <= 0 || s >= year10000 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0)
}
