// Package unseal decrypts SOPS documents whose data key is encrypted to age recipients:
// those that package seal writes, and those that sops itself wrote and that pass byte for
// byte. It is a function of a document and identities.
//
// What is encrypted and what is not, the document says itself (encrypted_regex, its five
// siblings, mac_only_encrypted), and it is read as sops reads it, comments included: in the
// order in which it stands, with the types that sops knows. Comments are not decrypted, for
// nobody sees them, but an encrypted comment that sops wrote as an item of a list is none.
//
// Nothing is returned of a document unless all of it decrypts, and its message
// authentication code is that of its values. That code covers the values, readable ones
// too, in their order. It does not cover the names of readable fields, nor, with
// mac_only_encrypted, readable values: what those say is as good as the commit.
//
// # What it does not decrypt
//
// A document whose data key is divided among key groups, or encrypted to keys of other kinds
// only. One of several documents that were encrypted as one file: their code is that of
// all, and does not fit one.
//
// The library of sops would do the same, and bring the clients of several clouds with it. What
// is cryptography here, age and the standard library do.
//
// No error shows a value, encrypted or not.
package unseal
