// Package karmada holds the wire types of Karmada's APIs, field for field:
// what people write in policy and cluster files, and what the state branch
// records. Karmada's own modules are not imported, so that a Waybill binary
// carries no control plane with it.
//
// The package promises that a file Karmada accepts decodes here without loss,
// that Default fills in what Karmada's mutating webhooks fill in, and that
// Validate refuses, with the field's path, what its validating webhooks refuse.
// It decides nothing about where an object goes: match, place and override do.
package karmada
