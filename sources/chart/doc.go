// Package chart brings charts from outside: from a Helm repository over HTTP, or from
// an OCI registry. Resolve asks which archive a reference stands for, as `waybill
// update` does; Fetch brings an archive that a lock file pins. Beside sources/git it
// is the only package that asks anything of the network for what is rendered.
//
// # What may be asked
//
// Every request passes package egress, which says which hosts and addresses may be
// asked, whatever an index, a redirect or a registry leads to, and who gets a credential.
//
// # What is believed
//
// Nothing but bytes with the digest in the lock file, wherever they come from: the
// disk cache is checked on every read. All that is read is bounded in bytes, and
// Unpack, which is pure, bounds what an archive becomes and refuses everything that is
// not a regular file below one folder.
//
// # What it does not do
//
// Signatures and provenance files are not checked, dependencies that a chart does not
// bring with it are not fetched (they are references of their own), and nothing is
// rendered.
package chart
