// Package build renders Helm charts in memory, from a file system that may have been
// written by a stranger. It is the one package that uses Helm's engine.
//
// It promises that a rendering reads nothing but the file system it is given, reaches
// no cluster and no network, and that equal charts and releases give equal output: what
// helm template of the same Helm version prints. It does not bound the time and the
// memory of a template, which is why it runs in a worker process.
//
// # Determinism
//
// Each call of a function that is refused (helm.Refused) in a template's syntax
// tree is wrapped (guard) so that the engine asks before it calls. A call that a
// rendering reaches is refused, unless the release allows the function, and yields a stub
// meanwhile. The chart is rendered twice
// with different stubs and compared (agree): what differs was reached by a stub, or
// depends on the order of a map. So a chart that mentions a random password in a branch
// that is not taken, or in a test that is never delivered, renders; and one that hides
// the call in a helper does not.
//
// # Values
//
// Values are held against the charts' JSON schemas by a step of our own that
// fetches nothing, as Helm's does: what a schema says by a reference to another document is
// left out, with a notice, and with it every check that could fail only because of that.
//
// # Limits
//
// Files, packages below charts/, their number, sizes and nesting, the output and the
// number of manifests are bounded, and whatever is over the bound is refused with the
// name of the file. Symbolic links are refused.
package build
