// Package build builds Kustomize overlays in memory, from a file system that may
// have been written by a stranger. It is the one package that uses kustomize's API.
//
// It promises that a build reads nothing but the file system it is given, starts no
// program and opens no connection; that no input makes it panic or outgrow the limits
// of render/object before kustomize sees it; that one build leaves nothing behind that
// another could see; and that what it builds is what kubectl kustomize, or Flux, would
// build. It does not bound the time and the memory of kustomize itself, which is why it
// runs in a worker process, and is not safe for concurrent use: kyaml keeps its OpenAPI
// schema in variables of the process, which every build resets before and after.
//
// # Scan first, build then
//
// Kustomize reaches out whatever file system it is given: its loader hands http and
// https URLs to an HTTP client and what looks like a repository to the git of the PATH,
// both before it looks at files or after it failed to parse one. So Kustomization does not rely
// on the file system. It walks the kustomization and everything that it includes first,
// decoded by kustomize's own decoder, and lets kustomize start only if nothing is wrong:
//
//   - Every string from which kustomize would read something is listed in uses and, for
//     plugins, pluginUses. Each must name an existing file or folder of the file system
//     by a relative path, in a spelling that kustomize cannot take for a remote one,
//     even where a file of that name exists. There is no list of bad spellings that has
//     to be complete: what does not exist is refused.
//   - Each file that is parsed, and each string that is YAML, is held against the limits
//     of size, documents, aliases, expansion and depth.
//   - Generators, transformers and validators must be configurations of the plugins that
//     are compiled into kustomize; those that name files are scanned like fields. They
//     may be listed by a kustomization of their own, but not changed by it (patches,
//     prefixes, ...), for then only kustomize would see what they come to. Inflators of
//     charts among them are refused: charts belong to helmCharts.
//   - Bases are counted as often as kustomize would build them.
//
// The scan and the build see the same bytes, because a file system of a commit does not
// change between them.
//
// # Changes
//
// Kustomize sees the file system through a view that can lay other bytes in front of a
// file. That is how an overlay gets into the root, and how charts are rendered: entries
// of helmCharts and helmChartInflationGenerator are removed from a kustomization, and
// what Options.Inflate makes of each becomes its last resource. The order of objects
// that kustomize generates beside them differs with sortOptions: fifo alone.
//
// # Overlays
//
// With an overlay (kustomize.Overlay) the root is built as Flux's kustomize-controller does: the folder's
// kustomization, or one of all manifests below it, with the overlay's fields; then
// variables in the text of each object; then common metadata. Files, not only bases, may
// come from anywhere in the repository, and a schema of openapi.path adds to the builtin
// one instead of replacing it.
//
// # Decisions
//
// Flux marks a root that lists no resources with buildMetadata, to keep kustomize from
// calling it empty, and so its objects get annotations about their origin. Here an empty
// root builds to nothing and others get no annotations. Of Flux's ignore rules those for
// YAML are built in; .sourceignore files are for the caller, who can leave files out of
// the file system.
//
// Kustomize prints warnings about deprecated fields to the standard error, which the
// caller may close.
package build
