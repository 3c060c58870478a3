package replicas

import (
	"crypto/sha256"
	"encoding/hex"
)

// Group is what replicas have in common: the name that their Leases begin with, and what they
// work for.
type Group struct {
	// Name is what people call it.
	Name string
	// Work says what they work for, alike in all of them.
	Work string
}

// Lease is the name of the leader's Lease, and what those of the members begin with: the name and
// a digest of the work, so that those who work for something else are never taken for
// replicas.
func (g Group) Lease() string {
	sum := sha256.Sum256([]byte(g.Work))
	return g.Name + "-" + hex.EncodeToString(sum[:4])
}
