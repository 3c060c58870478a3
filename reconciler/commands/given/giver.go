package given

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// base is what a commit of the source says of commands.
type base struct {
	config  render.Rollout
	signers signing.Signers
	// none is why nobody may sign.
	none error
	// unread is why nothing is known of the commit.
	unread error
}

// judge says why a command does not count; nil if it does. Then it says who gave it. It has to count by the base of every run
// that it may be about.
func (s *session) judge(ctx context.Context, c *candidate) error {
	signer := ""
	for _, commit := range s.basesOf(c.Unit) {
		b := s.base(ctx, commit)
		if b.unread != nil {
			return fmt.Errorf("what the source says of commands in %.12s cannot be read: %w", commit, b.unread)
		}
		by := commands.Giver{IsAuthor: c.isAuthor, Authors: func() ([]git.Author, error) { return s.authors(ctx, c.Unit) }}
		by.Signer, by.Unsigned = s.signer(ctx, c, &b)
		if err := commands.StrictestRules(b.config, s.Config).Judge(&c.Command.Command, &by); err != nil {
			return err
		}
		signer = by.Signer
	}
	if c.Via != commands.ViaComment {
		c.By, c.Says = signer, c.By
		if signer != "" {
			c.Says = ""
		}
	}
	return nil
}

// basesOf are the commits by which commands about a unit are judged: that of the run that is open or, where none is, that of
// the next one. A command about all units is judged by those of all. Where nothing was published before a run, the first commit that
// one went to is the first that says anything, and newer ones that the run goes to instead say nothing more.
func (s *session) basesOf(unit string) (commits []string) {
	if unit != commands.AllUnits {
		if was := s.rollout(unit); was != nil && was.Status.Phase != rollouts.Done {
			return []string{was.Status.RuledBy()}
		}
		return []string{s.State.Published.Commit}
	}
	for i := range s.State.Rollouts {
		if st := &s.State.Rollouts[i].Status; st.Phase != rollouts.Done {
			commits = append(commits, st.RuledBy())
		}
	}
	return append(commits, s.State.Published.Commit)
}

// base reads what a commit says of commands, once.
func (s *session) base(ctx context.Context, commit string) base {
	b, ok := s.bases[commit]
	if !ok {
		b = s.read(ctx, commit)
		s.bases[commit] = b
	}
	return b
}

func (s *session) read(ctx context.Context, commit string) (b base) {
	if s.Source == nil || commit == "" {
		b.unread = errors.New("nothing was published before")
		return b
	}
	snapshot, err := s.Source.Snapshot(ctx, commit, s.Subdir)
	if err != nil {
		b.unread = err
		return b
	}
	config, wrong, err := render.ConfigOf(snapshot)
	if err == nil && len(wrong) > 0 {
		err = errors.New(wrong[0].String())
	}
	if b.config, b.unread = config.Rollout, err; err != nil {
		return b
	}
	name := config.Rollout.Commands.Signers
	data, err := snapshot.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		b.none = fmt.Errorf("%.12s has no %s, which names them", commit, name)
		return b
	}
	if err == nil {
		b.signers, err = signing.ParseSigners(data)
	}
	if err != nil {
		b.none = fmt.Errorf("%s of %.12s cannot be read: %w", name, commit, err)
	}
	return b
}

// signer is whose key signed the commit that has a command, or why nobody's did who counts.
func (s *session) signer(ctx context.Context, c *candidate, b *base) (who string, why error) {
	if b.none != nil {
		return "", b.none
	}
	commit := c.commit
	if commit == nil {
		h, ok := s.broughtBy(ctx, c.Ref)
		if !ok {
			return "", errors.New("the commit that brought it is not known")
		}
		commit = &h
	}
	who, err := b.signers.Verify(commit.Signed, commit.Signature, commit.When)
	if err != nil {
		return "", fmt.Errorf("the commit %.12s does not count: %w", commit.Commit, err)
	}
	return who, nil
}
