// Package karmada holds the wire types of Karmada's APIs, field for field:
// what people write in policy and cluster files, and what the state branch
// records. Karmada's own modules are not imported, so that a Waybill binary
// carries no control plane with it.
//
// The package promises that a file Karmada accepts decodes here without loss, and
// that Default fills in what Karmada's mutating webhooks fill in. What its validating
// webhooks refuse, package validate refuses. It decides nothing about where an object
// goes: match, place and override do.
//
// # A document's way
//
// Decode, then validate.Object, then Default. Each mistake is a FieldError, with the path
// from the document's root, so that a caller who knows the lines can point at it;
// nothing here is a Go error, because nothing here can fail but what was written.
//
// Decode walks the document beside the Go type of its kind and finds every unknown
// field, wrong type and missing object; the strict decoder of Kubernetes then makes
// the object, and finds fields that are written twice. The walk is ours because
// that decoder stops at the first wrong type and does not say in which element of a
// list.
//
// # Decisions
//
// A required field must be there, and may be empty. That holds also where one of
// Karmada's mutating webhooks would write an empty value for one that is missing,
// or for a null in a list: nobody means that.
//
// Quantities are held against the pattern of the schemas, except in Clusters, which
// have none.
package karmada
