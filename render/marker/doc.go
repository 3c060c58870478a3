// Package marker finds the values that image policies write, and writes them: the scalar of a YAML file that has
// Flux's comment beside it,
//
//	image: ghcr.io/acme/web:1.2.3 # {"$imagepolicy": "shop:web"}
//	tag: 1.2.3 # {"$imagepolicy": "shop:web:tag"}
//
// kyaml finds the node, and its bytes alone are replaced: all others stay, whatever line ends, comments and styles there
// are. What is written is read again, and has to be what was read but for these values.
//
// A value that cannot be written so is refused with its place: in a block of text, with an anchor, in JSON, or in
// a file that sops encrypted. So is a comment that stands beside no value, and one whose value is no image.
//
// The package reads and writes bytes, and no files.
package marker
