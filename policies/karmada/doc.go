// Package karmada holds the wire types of Karmada's APIs, field for field:
// what people write in policy and cluster files, and what the state branch
// records. Karmada's own modules are not imported, so that a Waybill binary
// carries no control plane with it.
//
// The package promises that a file Karmada accepts decodes here without loss,
// that Default fills in what Karmada's mutating webhooks fill in, and that
// Validate refuses, with the field's path, what its validating webhooks refuse.
// It decides nothing about where an object goes: match, place and override do.
//
// # A document's way
//
// Decode, then Validate, then Default. Each mistake is a FieldError, with the path
// from the document's root, so that a caller who knows the lines can point at it;
// nothing here is a Go error, because nothing here can fail but what was written.
//
// Decode walks the document beside the Go type of its kind and finds every unknown
// field, wrong type and missing object; the strict decoder of Kubernetes then makes
// the object, and finds fields that are written twice. The walk is ours because
// that decoder stops at the first wrong type and does not say in which element of a
// list.
//
// Validate runs before Default so that it sees what people wrote: an old spelling,
// or a replicaScheduling that says nothing and so divides. Every rule therefore
// takes a field that is not given as Default would have it, and a document has the
// same mistakes before and after.
//
// # Decisions
//
// Warnings are for what Karmada accepts and does something unexpected with, seen in
// one document alone. What it takes two documents to see belongs to the plan.
//
// Where Karmada does not look, a mistake is a warning and the object stays in
// force: in label selectors, in the clusters of static weights and of a
// ClusterTaintPolicy, and in the deprecated form of an OverridePolicy, with
// overriders beside targetCluster, beyond what the schema says. The message says
// what comes of it. A fieldOverrider without an operation, which Karmada takes and
// empties the field by, is an error.
//
// A required field must be there, and may be empty. That holds also where one of
// Karmada's mutating webhooks would write an empty value for one that is missing,
// or for a null in a list: nobody means that.
//
// Quantities are held against the pattern of the schemas, except in Clusters, which
// have none.
//
// The words and numbers of a schedule are those that both Karmada's webhook takes
// and its controller runs, and weekday 7 besides.
//
// Resource models are validated by ascending grade, with the first from nothing and
// the last without bound, because that is how Karmada stores them whatever is
// written.
//
// The schemas of Karmada's CRDs are not used, although a validator of JSON schemas is
// at hand. They would take the place of some seventy calls of one line each (is
// required, one of, at least, within) and of the walk of Decode, 218 lines; they are
// themselves thousands of lines of a foreign file a version. What most of Validate says
// is of webhooks, and of traps that schemas do not know. And their messages are
// worse: not which field was meant, nothing on what to write instead, and many for one
// mistake where a value may have two forms.
//
// Immutable fields are not checked: a commit that changes one is a commit.
package karmada
