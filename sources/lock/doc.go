// Package lock is the file waybill.lock at the root of a source: which archive each
// reference to a chart stands for. `waybill update` writes it; everything else only
// reads it, so that what is rendered from one commit never depends on the day.
//
//	apiVersion: waybill.dev/v1alpha1
//	kind: Lock
//	charts:
//	  - kind: helm
//	    repository: https://stefanprodan.github.io/podinfo
//	    name: podinfo
//	    constraint: ^6.5.0
//	    version: 6.5.4
//	    url: https://stefanprodan.github.io/podinfo/podinfo-6.5.4.tgz
//	    digest: sha256:a97a67fa5b3e2f57b87bfd0e2f9a2a5ad0ed3b7d5ac6d9d4ddaa0bc6d2d5c4a3
//
// The first four fields are the reference, as a HelmRelease or as the dependencies of
// a Chart.yaml write it; the others are what it was resolved to. A dependency has an
// entry of its own, like any other chart. The digest is that of the archive, whether
// it came over HTTP or from an OCI registry, and is the only thing that is trusted:
// url says where it was and may say something else the next day.
//
// The file is canonical: sorted, one spelling, so that two runs of `waybill update`
// that learn the same write the same bytes and a merge conflict is about something.
// Reading is strict: an unknown field, a duplicate, an alias or a second document is
// an error with its line. No URL in it has a user name, a password or a query, because
// the file is in Git.
//
// The package is pure. It asks no repository anything: see sources/chart.
package lock
