// Package imagepolicy chooses which tag of an image is the next one: what Flux's ImagePolicy says of versions,
// and which of those that it lets pass may be taken now.
//
// A tag is a version if it passes the exclusions, the filter, and the order: by semver, as a number, or by the
// alphabet. Semver is strict, unless Spec.Loose says otherwise: three numbers, with or without a leading v; other tags are no
// versions and are counted. Prereleases are versions only where the range names one.
//
// Choose never goes down: what is chosen is newer than what is in use wherever the order knows both. A newer
// version that is too young, of another major or kept back is passed over for the next one below it.
package imagepolicy
