// Package chart brings charts from outside: from a Helm repository over HTTP, or from
// an OCI registry. Resolve asks which archive a reference stands for, as `waybill
// update` does; Fetch brings an archive that a lock file pins. Beside sources/git it
// is the only package that asks anything of the network for what is rendered.
//
// # What may be asked
//
// What names a repository is written by people whom the one who runs Waybill may not
// trust, and what a repository answers names further addresses: URLs in its index,
// redirects, a token service. Every request, whichever of these it comes from, passes
// one place (guard), which holds it to the same rules:
//
//   - the host is in Options.Allow, or Allow is empty, which stands for every public
//     host over https;
//   - http is only used for a host that is listed with http://, and never after https;
//   - a host is a name or an address in its usual spelling: no 2130706433, 0x7f.1 or
//     0177.0.0.1, which programs read differently;
//   - after the name is resolved, at the moment of connecting, the address is public
//     (see public), or in one of Options.Private and the host is listed. A name that
//     changes its address between two looks gains nothing. The addresses at which
//     clouds hand out credentials are never asked.
//
// Proxies of the environment are not used. With Options.Proxy names are resolved by
// the proxy, and the last rule is the proxy's to keep.
//
// A credential is bound to scheme, host and path, and is decided anew for every
// request, so that no redirect can carry it off. The token service of a registry gets
// it if it is on the registry's own host or named in the credential.
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
