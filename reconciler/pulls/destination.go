package pulls

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/preview/bases"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/lock"
)

// destination is the branch that pull requests go to, as it is now.
type destination struct {
	tip      files.ID
	config   render.ConfigSpec
	lock     lock.Lock
	moment   bases.Moment
	approved map[string]bool // heads that maintainers named
}

// target reads the branch that pull requests go to.
func (c *Comparer) target(ctx context.Context) (*destination, error) {
	r := c.Reconciler
	tip, err := r.Source.Resolve(ctx, c.Rev)
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Source.Snapshot(ctx, tip.String(), r.Subdir)
	if err != nil {
		return nil, err
	}
	to := &destination{tip: tip, approved: map[string]bool{}}
	if to.config, err = render.ReadConfig(snapshot); err != nil {
		return nil, err
	}
	if to.lock, err = lockOf(snapshot); err != nil {
		return nil, err
	}
	heads, err := r.Target.Heads(ctx)
	if err != nil {
		return nil, err
	}
	to.moment = bases.At(c.Now(), heads[state.Branch], heads[commands.Branch])
	at, err := commands.Head(ctx, r.Target, heads)
	if err != nil {
		return nil, err
	}
	known, _ := commands.Decode(at.Tree)
	for i := range known {
		if o := &known[i]; o.Verb == commands.Preview && o.Counts(c.Now()) {
			to.approved[o.Head] = true
		}
	}
	return to, nil
}

// lockOf reads the lock file of a snapshot; one that is not there or cannot be read is empty.
func lockOf(s sources.Snapshot) (lock.Lock, error) {
	data, err := s.ReadFile(lock.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return lock.Lock{}, nil
	}
	if err != nil {
		return lock.Lock{}, fmt.Errorf("reading %s: %w", lock.FileName, err)
	}
	l, err := lock.Parse(data)
	if err != nil {
		return lock.Lock{}, nil // loading the source says what is wrong with it
	}
	return l, nil
}

// untrustedBounds is how much of a stranger's head is fetched.
func untrustedBounds() git.Bounds {
	return git.Bounds{Pack: 64 << 20, Objects: 100_000, Object: 32 << 20, All: 512 << 20}
}
