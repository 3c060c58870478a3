// Package attack is the list of attacks that Waybill withstands, each as it was made once. A test is
// an attack, and its name a sentence that says what is tried; a file is a kind of attacker, or what
// is attacked.
//
// Tests that need a real forge or real clusters have the build tag e2e and are part of `make e2e`; the
// others are part of `make test`.
package attack
