package scenario

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/pem"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// nobody is who signs nothing.
const nobody = "nobody"

// signerOf is the key of somebody, which follows from the name; nil for nobody.
func signerOf(name string) git.Signer {
	if name == nobody {
		return nil
	}
	seed := sha256.Sum256([]byte(name))
	block, err := ssh.MarshalPrivateKey(ed25519.NewKeyFromSeed(seed[:]), name)
	if err != nil {
		panic(err) // it is a key
	}
	key, err := signing.ParseKey(pem.EncodeToMemory(block))
	if err != nil {
		panic(err) // it was written above
	}
	return key.SignCommit
}

// trailers are the last paragraph of the message of the commit of a step: its commands about roll-outs.
func (st *step) trailers() (lines []string) {
	for _, c := range st.commands {
		if f := strings.Fields(c); len(f) > 3 && f[0] == "trailer" {
			lines = append(lines, commands.RolloutTrailer+": "+strings.Join(f[2:], " "))
		}
	}
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

// signs is who signs the commit of a step.
func (st *step) signs() git.Signer {
	for _, c := range st.commands {
		if f := strings.Fields(c); len(f) > 1 && f[0] == "trailer" {
			return signerOf(f[1])
		}
	}
	return nil
}
