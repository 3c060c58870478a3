// Package seal turns a plain Secret into a SOPS document that the holders of age
// identities can decrypt, Flux and sops among them: the values of data and stringData
// are encrypted, all else stays readable. It takes no randomness, so that equal
// inputs give equal bytes.
//
// # Why no randomness
//
// What a cluster's branch holds is a pure function of the source. A commit is made
// only where bytes change, and any commit can be built again later and compared byte
// for byte. sops and age draw keys at random: each run would give other bytes, hence
// a commit for every Secret at every look, and no commit could be verified. So every
// value that sops and age draw comes from the document itself:
//
//	master = argon2id(the manifest's canonical YAML, salt, t=1, m=64 MiB, p=1), 32 bytes
//	salt   = SHA-256("waybill.dev/seal/v1\n" || group/kind/namespace/name)
//	value  = HKDF-SHA256(master, info = purpose \n recipients \n index \n path)
//
// Where there is a random key (see package draw), HMAC-SHA256(its part for seals, master)
// takes the place of the master. Without one nothing does.
//
// The purposes are the data key (SOPS encrypts the values with it), the file key, the
// ephemeral key and the payload's nonce of each age file (one a recipient: it holds
// the data key), and the initialization vectors of AES-GCM. The recipients are sorted
// and without repetition; index counts the encrypted values, or the recipients; path
// is the value's, or the recipient. No two of these infos are equal, so no key is used
// for two things, and no vector twice with one key: another plaintext has another
// master, and with it another data key. Seal refuses a Key of another document, with
// which that would not hold.
//
// # What it gives
//
// Who has none of the identities reads no value. The master is as hard to find as the
// document is to guess; whoever knows it knew the document. With a random key it cannot be
// found without that.
//
// Equal documents for equal recipients are equal ciphertexts. A change of anything in
// the document, or of its recipients, changes every ciphertext in it, so that nobody
// sees which value it was. The name of the object is in the salt: two Secrets of equal
// values have nothing in common.
//
// SOPS's message authentication code covers every value of the document, the readable
// ones too. sops checks it. Flux does not; there each encrypted value is still bound
// to its key, and the commit to its signature, if it has one.
//
// # What it costs
//
// Without a random key, who can read the branch can test a guess of the WHOLE document,
// at the price of one argon2id each (64 MiB, some 50 ms), as with the hash of a
// password, and with no limit on how many. Everything but the values stands readable
// beside them, so the values are all there is to guess. Generated secrets (16 random
// bytes, a private key) are out of reach. A Secret whose only values are words, dates or
// short PINs is not: have a random key, or encrypt that one with sops, whose keys are
// random. As with a password's hash, no salt helps against a guess at one document; it
// only keeps a guess from being tested against many at once.
//
// An unchanged Secret shows as unchanged, and one that returns to earlier values shows
// as that. As with every SOPS document, the names of the keys and the lengths of the
// values are readable, and a recipient who is taken off still reads what was published
// before.
//
// # What it does not do
//
// It hides nothing outside data and stringData: a value repeated in an annotation
// stays there. Only the annotation with which kubectl apply repeats the whole manifest
// is looked for, and refused; so is every field that no Secret has. It reads no SOPS document
// and holds no identity, which package unseal does, and knows no recipients but age's X25519 ones: neither those of plugins and SSH keys nor
// post-quantum ones, whose encapsulation the standard library offers only at random.
//
// # Formats
//
// The SOPS format has no specification but its source; this is that of version 3.13.3,
// which versions since 3.7 read. The age format is age-encryption.org/v1, as C2SP's
// age.md specifies it. Its library draws from the system's randomness and takes
// nothing else, which is why the one file of it that is needed is written here.
//
// The bytes are a promise: to change how they are derived is to change every branch
// with a Secret, and to make what was published before unverifiable.
package seal
