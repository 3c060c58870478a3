package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/loose"
	"github.com/waybill-dev/waybill/sources/git/internal/pack"
)

// ErrNoURL says that refs without a history are in repositories behind URLs only.
var ErrNoURL = errors.New("it is on this disk, and refs without a history are for repositories behind URLs")

// RemoteRefs is where the refs of a server are, by their full names, and what those of some of them
// say, by their ids.
type RemoteRefs struct {
	Refs map[string]files.ID
	// Read are those that were asked for. One that is not fit, because it is large or has a history, says nothing, and
	// Unfit says why.
	Read  map[files.ID]Head
	Unfit map[files.ID]error
}

// Loose are the refs of a repository behind a URL, be they branches or not, that have no history: what is there is replaced.
type Loose struct{ repo *Repo }

// LooseOf are those of a repository.
func LooseOf(r *Repo) *Loose { return &Loose{r} }

// Name is that of the repository.
func (l *Loose) Name() string { return l.repo.Name() }

// message are the bounds of a commit without files: no path is read.
var message = Bounds{Pack: 8 << 10, Objects: 2, Object: 8 << 10, All: 16 << 10}

// RemoteRefs asks the server for its refs, once, and reads those without files that wanted chooses,
// with at most one more request. Nothing of them is stored.
func (r *Repo) RemoteRefs(ctx context.Context, wanted func(ref string, id files.ID) bool) (RemoteRefs, error) {
	return LooseOf(r).Refs(ctx, wanted, message)
}

// Refs asks the server for its refs, once, and reads those that wanted chooses, each within bounds, with at most one more
// request where all of them together are not large. Those that move meanwhile, which a server may not give any more, are asked for anew.
// Nothing of them is stored.
func (l *Loose) Refs(ctx context.Context, wanted func(ref string, id files.ID) bool, most Bounds) (RemoteRefs, error) {
	r := l.repo
	u, ok := r.server()
	if !ok {
		return RemoteRefs{}, fmt.Errorf("reading refs of %s: %w", r.shown, ErrNoURL)
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	b := RemoteRefs{Read: map[files.ID]Head{}, Unfit: map[files.ID]error{}}
	reads := reading{u.remote, most, &b}
	for tries := 0; ; tries++ {
		before := b.Refs
		err := reads.all(ctx, wanted)
		switch {
		case err == nil:
			return b, nil
		case tries == mostMoves, b.Refs == nil, maps.Equal(before, b.Refs):
			return b, fmt.Errorf("reading refs of %s: %w", r.shown, err)
		}
	}
}

// mostMoves is how often refs may move while they are read.
const mostMoves = 3

// uploadSession is what of a session for reading is needed here.
type uploadSession interface {
	UploadPack(ctx context.Context, req *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
}

// reading reads commits of a remote within bounds, each, into what is known of its refs.
type reading struct {
	of   *remote
	most Bounds
	into *RemoteRefs
}

// all asks where refs are, and reads those that are wanted, and were not read.
func (r *reading) all(ctx context.Context, wanted func(ref string, id files.ID) bool) error {
	s, adv, err := r.of.upload(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	r.into.Refs = r.of.remember(adv).refs
	asked := map[files.ID]bool{}
	var ids []files.ID
	for name, id := range r.into.Refs {
		if _, isRead := r.into.Read[id]; !isRead && !asked[id] && wanted(name, id) {
			asked[id] = true
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return r.commits(ctx, s, adv, ids)
}

// What is read at once at most, where each may be less.
const (
	mostAtOnce    = 64 << 20 // bytes of a pack, and of its objects
	objectsAtOnce = 100_000
)

// bounds are those of so many commits at once: those of each, and no more than may be read at once unless one may be.
func (r *reading) bounds(n int) Bounds {
	b := r.most
	b.Pack = max(b.Pack, min(int64(n)*b.Pack, mostAtOnce))
	b.All = max(b.All, min(int64(n)*b.All, mostAtOnce))
	b.Objects = max(b.Objects, uint32(min(int64(n)*int64(b.Objects), objectsAtOnce))) //nolint:gosec // it is bounded
	return b
}

// commits reads commits at once. Where they are more than they may be, they are read by halves, until one is alone, and says nothing if
// it is still more.
func (r *reading) commits(ctx context.Context, s uploadSession, adv *packp.AdvRefs, ids []files.ID) error {
	n := len(ids)
	store, err := r.of.borrowed(ctx, s, adv, ids, r.bounds(n))
	if _, large := errors.AsType[*LimitError](err); large && n > 1 {
		for _, half := range [][]files.ID{ids[:n/2], ids[n/2:]} {
			again, adv, err := r.of.upload(ctx)
			if err == nil {
				err = r.commits(ctx, again, adv, half)
				again.Close()
			}
			if err != nil {
				return err
			}
		}
		return nil
	} else if large {
		r.into.Read[ids[0]], r.into.Unfit[ids[0]] = Head{}, err
		return nil
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		if r.into.Read[id], err = commitOf(store, id, r.most.Paths); err != nil {
			r.into.Unfit[id] = err
		}
	}
	return nil
}

// borrowed gets commits, and all that is below them, into memory.
func (m *remote) borrowed(ctx context.Context, s uploadSession, adv *packp.AdvRefs, ids []files.ID, most Bounds) (*memory.Storage, error) {
	req, err := request(adv, ids)
	if err != nil {
		return nil, err
	}
	res, err := s.UploadPack(ctx, req)
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	defer func() { _ = res.Close() }() // the pack is checked by its checksum
	in := &limited{ReadCloser: res, what: "bytes of a pack", limit: most.Pack}
	data, err := io.ReadAll(sideways(req, in))
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	if err := most.hold(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	store := memory.NewStorage()
	if err := packfile.UpdateObjectStorage(store, bytes.NewReader(data)); err != nil {
		return nil, m.explain(ctx, err)
	}
	return store, nil
}

// commitOf reads a commit; one that is not fit says nothing.
func commitOf(store *memory.Storage, id files.ID, paths int) (Head, error) {
	c, err := loose.Read(store, id, paths)
	if err != nil {
		return Head{}, err
	}
	b := Head{Commit: id, Message: c.Message, Tree: c.Tree, When: c.Committer.When}
	if c.PGPSignature != "" {
		b.Signed, b.Signature = parted(c.Data)
	}
	return b, nil
}

// Light has each of some refs lead to a new commit with a message and without files, wherever it was, by one push.
// They are signed if the repository has a Signer. A server that takes no such refs gives a
// RefusedError.
func (r *Repo) Light(ctx context.Context, messages map[string]string, by Author, at time.Time) error {
	var updates []Update
	for _, ref := range slices.Sorted(maps.Keys(messages)) {
		updates = append(updates, Update{Branch: ref, Tree: files.NewFolder(nil), Message: messages[ref], Author: by, When: at})
	}
	if len(updates) == 0 {
		return nil
	}
	_, err := LooseOf(r).replace(ctx, updates, nil, atAny)
	return err
}

// Replace has a ref, by its full name, which is u.Branch, lead to a commit without a parent. It has to be at u.Old, and is elsewhere a
// RaceError. Of was, the folder that is there, nothing is sent again; nil: all is. A server that takes no such ref gives a RefusedError.
func (l *Loose) Replace(ctx context.Context, u Update, was *files.Folder) (files.ID, error) {
	return l.replace(ctx, []Update{u}, was, atOld)
}

// Delete deletes a ref, by its full name, from where it has to be: else it is a RaceError, and a RefusedError where it may not go.
func (l *Loose) Delete(ctx context.Context, ref string, at files.ID) error {
	_, err := l.replace(ctx, []Update{{Branch: ref, Old: at}}, nil, atOld)
	return err
}

// refAt is where refs may be that are replaced.
type refAt int

const (
	atOld refAt = iota // where Update.Old says
	atAny
)

// replace has refs lead to commits, wherever they were or from where they have to be, and returns the first of these.
func (l *Loose) replace(ctx context.Context, updates []Update, was *files.Folder, at refAt) (first files.ID, err error) {
	r := l.repo
	var refs []string
	all := make([]move, len(updates))
	for i, u := range updates {
		refs = append(refs, u.Branch)
		if all[i].Update = u; u.Tree == nil {
			continue // it is deleted
		}
		u.Branch, u.Anew = "ref", true
		if all[i].data, err = u.commit(r.sign); err != nil {
			break
		}
		all[i].id = files.Sum("commit", all[i].data)
	}
	server, ok := r.server()
	if err == nil && !ok {
		err = ErrNoURL
	}
	if err == nil {
		err = server.remote.replace(ctx, all, was, at)
	}
	if err != nil {
		return files.ID{}, fmt.Errorf("writing %s to %s: %w", strings.Join(refs, ", "), r.shown, err)
	}
	return all[0].id, nil
}

func (m *remote) replace(ctx context.Context, all []move, was *files.Folder, at refAt) error {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	s, adv, err := m.receivePack(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	commands := make([]*packp.Command, len(all))
	for i, to := range all {
		is := adv.References[to.Branch]
		if at == atOld && files.ID(is) != to.Old {
			return &RaceError{Branch: to.Branch, Want: to.Old, Got: files.ID(is)}
		}
		commands[i] = &packp.Command{Name: plumbing.ReferenceName(to.Branch), Old: is, New: plumbing.Hash(to.id)}
	}
	there := known{ids: map[files.ID]bool{}}
	if was != nil {
		there.note(was)
	}
	objects, _, err := missing(slices.DeleteFunc(slices.Clone(all), func(to move) bool { return to.Tree == nil }), nil, &there)
	if err != nil {
		return err
	}
	var content io.ReadCloser // none where refs are deleted only
	if len(objects) > 0 {
		packed, err := pack.Encode(ctx, objects)
		if err != nil {
			return err
		}
		content = io.NopCloser(bytes.NewReader(packed))
	}
	err = m.order(ctx, s, adv, content, commands)
	if refused, ok := errors.AsType[*refusal](err); ok {
		return &RefusedError{Ref: all[0].Branch, Why: strings.TrimRight(refused.text, "; ")}
	}
	return err
}

// A RefusedError says that a server does not take a ref.
type RefusedError struct{ Ref, Why string }

// Error says what the server said.
func (e *RefusedError) Error() string { return "the server refused " + e.Ref + ": " + e.Why }
