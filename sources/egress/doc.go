// Package egress is the one way by which charts and images are asked for outside. It
// holds every request to the same rules, whichever place a URL comes from.
//
// What names a repository is written by people whom the one who runs Waybill may not
// trust, and what a repository answers names further addresses: URLs in its index,
// redirects, a token service. Every request passes one place (Guard), which holds it to
// the same rules:
//
//   - the host is in Options.Allow, or Allow is empty, which stands for every public
//     host over https, or with Options.Listed for none;
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
package egress
