// Package images reads Flux's ImageRepository, ImagePolicy and ImageUpdateAutomation (image.toolkit.fluxcd.io, v1
// and v1beta2) as subscriptions: which images are looked at, which of their versions are wanted, and where
// in the source they may be written.
//
// They are decoded with Flux's published types, strictly: a field that the kind does not have is a mistake. What
// Flux does with the rights of a cluster is not done here: credentials, certificates and templates are passed
// over with a warning, and what would weaken a check, or write elsewhere, is refused. A mistake is one of its object
// alone; the others go on.
package images
