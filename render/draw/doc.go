// Package draw computes from a random key what template functions would draw at random:
// equal draws for equal inputs, which nobody foresees without the key. It takes no
// randomness of its own and reads nothing.
//
// # Why a key
//
// What a cluster's branch holds is a pure function of the source, so that a commit is
// made only where bytes change, and any commit can be built again and compared. A
// password that is drawn at random is a new one at every look. One that is computed from
// what anybody can read, the name of its release, say, is a password that anybody can
// compute. So there is one more input: the random key K, at least 32 random bytes in a
// file that is neither in Git nor in the environment nor in a log.
//
// # What a draw is
//
//	subkey = HMAC-SHA256(K, "waybill.dev/draw/v1", "subkey", source, cluster, release)
//	block  = HMAC-SHA256(subkey, template, site, n, function, operands, i)   for i = 0, 1, ...
//
// Each text is preceded by its length, so that no two lists of texts are one message.
// The blocks, one behind the other, are a stream of bytes; a number below m is eight of
// them, thrown away and taken anew if they are at or above the greatest multiple of m, so
// that each number is as likely as any other. Characters are numbers below the length of
// their alphabet.
//
//   - source is the repository that the source was published from first;
//   - cluster is the cluster that the release is rendered for, or empty if it is rendered
//     once for all. A cluster that is added later changes no draw of the others;
//   - release is the HelmRelease, as namespace/name;
//   - template is the file that is rendered, and site the call in it or in a file that it
//     includes: the file in which the call stands, and how many calls of its function
//     stand before it there. So a line that is added, or a file, changes no draw;
//   - n counts the draws of a site while a template is rendered.
//
// Who knows a subkey, as the process that renders a release must, can compute what that
// release draws for that cluster, and nothing else.
//
// The bytes are a promise: to change how they are derived is to change every password
// that was drawn.
//
// # The fingerprint
//
// A Fingerprint tells keys apart, and shows nothing else of them. It stands in commits,
// so that a publisher with another key, or without one, does not draw anew what is in
// use.
package draw
