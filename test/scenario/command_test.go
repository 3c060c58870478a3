package scenario

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
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

// command has somebody command something of the run of a unit, as waybill rollout does: NAME VERB UNIT[@RUN] [STAGE|CLUSTER]. It is the
// run that is open, unless one is named.
func command(ctx context.Context, repo *twin.Repo, args []string, now time.Time) error {
	head, _, err := repo.Branch(ctx, state.Branch)
	if err != nil {
		return err
	}
	e, _ := head.Tree.Lookup(rollouts.Folder)
	all, _ := rollouts.Decode(e.Dir)
	unit, run, _ := strings.Cut(args[2], "@")
	c := commands.RolloutCommand{Verb: rollouts.Verb(args[1]), Unit: unit, Run: run, By: args[0] + "@example.com", Via: commands.ViaCLI, At: now}
	said := commands.Spoken{Verb: c.Verb, Of: strings.Join(args[3:], " ")}
	for _, r := range all {
		if r.Unit.String() == unit && run == "" {
			c.Run = r.Status.Run
		}
		if r.Unit.String() == unit && said.Of != "" {
			c.Stage, c.Cluster = said.Aim(r.Status.Stages)
		}
	}
	if c.Run == "" {
		return fmt.Errorf("no run of %s is recorded", unit)
	}
	if head, _, err = repo.Branch(ctx, commands.Branch); err != nil {
		return err
	}
	change := commands.Change{Given: []commands.RolloutCommand{c}}
	u, err := change.Update(head, now)
	if err != nil {
		return err
	}
	repo.Sign = signerOf(args[0])
	repo.Write(commands.Branch, u.Message, u.Tree)
	repo.Sign = nil
	return nil
}
