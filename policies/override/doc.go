// Package override makes what differs between clusters: Rules finds the rules of
// the override policies that match a template, Apply changes an object by the
// overriders of one rule, as Karmada's seven overriders do (sections B.2 to B.7).
//
// It promises that the same object and overriders give the same result, that the
// object given is never modified, and that an error leaves no half of a change
// behind. It does not validate policies, it does not default objects (an object
// should come defaulted, or "replace /spec/replicas" finds nothing to replace),
// and it does not judge the result: an override may make an image, or an object,
// that a cluster refuses.
//
// # Order
//
// Overriders run in Karmada's order whatever their order in the file: image,
// command, args, labels, annotations, field, plaintext; entries of one kind in the
// order of their list, each on what the one before left. The entries of plaintext
// are one RFC 6902 patch. An error in any of them fails the whole.
//
// # Copying
//
// Objects are shared between clusters, so overriders change a draft, which copies the
// maps and lists on the way to what changes, once for all rules; the rest of the result is
// the rest of the argument. So the cost is that of what is reached and of the overriders,
// and not of one times the other. What grows with both all the same, such as a patch of a
// text, which is read and written for each fieldOverrider, is counted and bounded.
//
// Plaintext acts as if the object went through JSON: whole numbers become integers. Its
// patches are applied by our own code, to the letter of the library's (FuzzPatch), which
// reads and writes the whole document for each patch. BenchmarkPatch shows what that costs:
// one patch of an object of 1 KiB takes the library 10 times as long, one of 10 KiB 20
// times, and 60 rules for one of 100 KiB 700 times and a thousand times the memory. The
// library applies patches that are of the whole document or lead through empty keys.
//
// # Decisions
//
// Where Karmada panics (an image predicate or a container list that is not what it
// expects), Apply returns an error.
//
// A fieldOverrider with neither json nor yaml operations is an error; Karmada
// empties the field.
//
// An image predicate may end at an item of a list of strings. Karmada panics there.
//
// Karmada converts an object to the built-in type of its kind before it changes
// images, and so refuses a foreign Job or Deployment of another shape. Apply looks
// only at what leads to the images.
//
// Karmada marks what a policy claims with labels and annotations, so that Rules.Apply
// lets plaintext find both, even where the manifest has none. All of Karmada's objects
// have a status and server-set metadata, as they come from an API server, so that
// plaintext may remove, in vain, what only a server sets.
//
// Labels and annotations are set by their key as it is written. Karmada puts the
// key into a JSON pointer, where "~0" and "~1" mean "~" and "/"; neither occurs in a
// valid key.
package override
