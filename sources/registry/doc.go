// Package registry asks registries of container images: which tags a repository has, what
// a tag stands for, and who signed it. It writes nothing to them.
//
// A repository is written as Flux's ImageRepository writes it, ghcr.io/org/app, or as an
// OCIRepository does, oci://ghcr.io/org/app; a reference has a tag or a digest behind it.
//
// # What is asked
//
// Only hosts that Options.Allow lists, by the rules of package egress: over https, over
// http only a loopback host that is listed with http://, at a public address or at one
// within Options.Private. Where Allow is empty, nothing is asked. A redirect to another
// host is refused, but for a blob, whose digest is its name, that a host of Allow holds.
//
// A host is asked at most once in Options.PerHost; who comes earlier waits. After an
// answer of 429 or 503 it is asked nothing until the time of Retry-After, for whatever
// repository. Nothing is asked twice in one call: who asks comes again.
//
// # What is believed
//
// What a registry says is said by strangers. All of it is bounded: 4 MiB a page or
// manifest, 10,000 tags, 30 seconds a request. The digests of manifests and blobs are
// counted here. Dates in images are what those who built them wrote, so that nothing may
// be decided by them.
//
// Errors are *Error: they have a class, by which to decide, and a sentence for people. No
// error holds a credential.
package registry
