// Package apply brings a cluster from what its inventory says to what a commit of its branch
// holds. Make decides it all and is pure: from objects, an inventory and what is live it makes
// stages of actions. A Round carries a plan out on a Cluster, and writes the inventory before,
// between and after them.
//
// It knows nothing of policies and releases: a commit of a branch is all that it is told. What
// a plan promises:
//
//   - Only objects whose content is not the one that was applied last, or in which somebody
//     changed a field of ours, cost a request.
//   - What is there and is not ours is not touched, unless its manifest says Overwrite or
//     somebody said to adopt it. What another source owns is not touched at all.
//   - An object is deleted only if its entry left the branch, after a round came to its end,
//     and within the guard's limits unless a commit says that its removals were allowed.
//   - One object that cannot be applied stops no other.
//
// # What is ours
//
// An object is ours if the inventory has it with the UID that is live, or, where a round was
// cut off before it could note the UID, if it is on the branch, has our owner in the annotation
// OwnerAnnotation, and our field manager applied it. A label proves nothing: operators copy
// labels, and whoever delivers a branch delivers its labels.
//
// # Drift
//
// The API server knows who owns each field. Whoever changes a field that we applied takes it
// from us, so that our set of fields is another one than after we applied it. A list of
// metadata a kind finds that, for every kind of object, without comparing what the server
// defaulted or normalised.
package apply
