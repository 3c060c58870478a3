// Package probe asks a Git host what it lets be done with refs that are no branches, by doing it: by that books of endpoints, and
// heartbeats, go by such refs, or by branches.
package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Refs and Branches begin the names of the refs that are tried, which something random ends.
const (
	Refs     = "refs/waybill/doctor/"
	Branches = "refs/heads/waybill/doctor/"
)

// Repository is what is asked. *git.Loose is one.
type Repository interface {
	Name() string
	Refs(ctx context.Context, wanted func(ref string, id files.ID) bool, most git.Bounds) (git.RemoteRefs, error)
	Replace(ctx context.Context, u git.Update, was *files.Folder) (files.ID, error)
	Delete(ctx context.Context, ref string, at files.ID) error
}

// Deed is what is done with a ref.
type Deed string

// The deeds, in their order.
const (
	Write   Deed = "write"
	Read    Deed = "read"
	Replace Deed = "replace" // by a commit that does not come after the one that is there
	Delete  Deed = "delete"
)

// Try is one that was tried.
type Try struct {
	Ref string `json:"ref"`
	Do  Deed   `json:"do"`
	// Why it cannot be done, in the host's words where it has any; empty: it can.
	Why string `json:"why,omitempty"`
}

// Host is what a Git host lets be done.
type Host struct {
	Repository string `json:"repository"`
	Tries      []Try  `json:"tries"`
	// Bus is by what books and heartbeats go there; empty: by nothing.
	Bus exchange.Bus `json:"bus,omitempty"`
	// Unasked reports that nobody has to say so in waybill.yaml.
	Unasked bool `json:"unasked"`
}

// Of tries refs of a repository whose names end in something that no other has, and branches, where there is something that cannot be done
// with those. An error is that it cannot be asked.
func Of(ctx context.Context, repo Repository, name string, now time.Time) (Host, error) {
	h := Host{Repository: repo.Name()}
	for _, at := range []struct {
		bus    exchange.Bus
		prefix string
	}{{exchange.Refs, Refs}, {exchange.Branch, Branches}} {
		a := asking{Repository: repo, ref: at.prefix + name, now: now}
		tries, err := a.try(ctx)
		if err != nil {
			return Host{}, err
		}
		h.Tries = append(h.Tries, tries...)
		if serves(tries) {
			h.Bus = at.bus
			break
		}
	}
	// who writes sees only that a ref is not taken
	h.Unasked = h.Bus == exchange.Refs || h.Bus == exchange.Branch && h.Tries[0].Why != ""
	return h, nil
}

// serves reports that all can be done that is needed. Nobody who writes books deletes them.
func serves(tries []Try) bool {
	for _, needed := range []Deed{Write, Read, Replace} {
		if !slices.ContainsFunc(tries, func(t Try) bool { return t.Do == needed && t.Why == "" }) {
			return false
		}
	}
	return true
}

// asking is a ref with which is tried what can be done.
type asking struct {
	Repository

	ref string
	now time.Time
}

// try does with the ref what can be done, and leaves nothing there if it can.
func (a *asking) try(ctx context.Context) (tries []Try, err error) {
	note := func(do Deed, err error) error {
		why, err := refusal(err)
		if err == nil {
			tries = append(tries, Try{Ref: a.ref, Do: do, Why: why})
		}
		return err
	}
	at, err := a.write(ctx, files.ID{}, "first")
	if noted := note(Write, err); noted != nil || err != nil {
		return tries, noted
	}
	left := fmt.Errorf("%s may be there still, and is yours to delete", a.ref)
	if err := note(Read, a.read(ctx, at)); err != nil {
		return nil, errors.Join(err, left)
	}
	second, err := a.write(ctx, at, "second")
	if noted := note(Replace, err); noted != nil {
		return nil, errors.Join(noted, left)
	}
	if err == nil {
		at = second
	}
	if err := note(Delete, a.Delete(ctx, a.ref, at)); err != nil {
		return nil, errors.Join(err, left)
	}
	return tries, nil
}

// refusal is why something cannot be done, empty if it can; an error that is none is returned.
func refusal(err error) (why string, _ error) {
	if err == nil {
		return "", nil
	}
	if refused, ok := errors.AsType[*git.RefusedError](err); ok {
		return refused.Why, nil
	}
	if race, ok := errors.AsType[*git.RaceError](err); ok && race.Got.IsZero() {
		return "the host does not show it to who writes", nil
	}
	if errors.Is(err, errHidden) {
		return err.Error(), nil
	}
	return "", err
}

// write has the ref lead from where it is to a commit with a file.
func (a *asking) write(ctx context.Context, from files.ID, text string) (files.ID, error) {
	return a.Replace(ctx, git.Update{
		Branch: a.ref, Old: from, Tree: files.NewFolder([]files.Entry{files.FileEntry("doctor", files.NewBlob([]byte(text+"\n")))}),
		Message: "waybill doctor: " + text + "\n", Author: git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}, When: a.now.UTC(),
	}, nil)
}

// errHidden says that what was written is not seen.
var errHidden = errors.New("the host does not show it to who reads")

// read looks whether what was written is there.
func (a *asking) read(ctx context.Context, at files.ID) error {
	most := git.Bounds{Pack: 64 << 10, Objects: 16, Object: 16 << 10, All: 64 << 10, Paths: 16}
	all, err := a.Refs(ctx, func(name string, id files.ID) bool { return name == a.ref && id == at }, most)
	if err == nil && all.Read[at].Tree == nil {
		err = errHidden
	}
	return err
}
