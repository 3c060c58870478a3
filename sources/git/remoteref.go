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
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/pack"
)

// ErrNoURL says that remote are in repositories behind URLs only.
var ErrNoURL = errors.New("it is on this disk, and refs without a history are for repositories behind URLs")

// RemoteRef is a commit without a history and without files, which a ref leads to.
type RemoteRef struct {
	Message string
	// Signature is that of Signed; both are nil where there is none.
	Signature, Signed []byte
}

// RemoteRefs is where the refs of a server are, by their full names, and what those of some of them
// say, by their ids.
type RemoteRefs struct {
	Refs map[string]files.ID
	// Read are the remote that were asked for. One that is no ref, because it is large or has
	// a history, says nothing.
	Read map[files.ID]RemoteRef
}

const (
	// maxBeacon is how many bytes of a pack a ref may take.
	maxBeacon = 8 << 10
	// emptyTree is the id of a folder without files.
	emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

// RemoteRefs asks the server for its refs, once, and reads the remote at those that wanted chooses,
// with at most one more request. Nothing of them is stored.
func (r *Repo) RemoteRefs(ctx context.Context, wanted func(ref string, id files.ID) bool) (RemoteRefs, error) {
	u, ok := r.server()
	if !ok {
		return RemoteRefs{}, fmt.Errorf("reading refs of %s: %w", r.shown, ErrNoURL)
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	s, adv, err := u.remote.upload(ctx)
	if err != nil {
		return RemoteRefs{}, fmt.Errorf("reading refs of %s: %w", r.shown, err)
	}
	defer s.Close()
	b := RemoteRefs{Refs: u.remote.remember(adv).refs, Read: map[files.ID]RemoteRef{}}
	var ids []files.ID
	for name, id := range b.Refs {
		if _, twice := b.Read[id]; !twice && wanted(name, id) {
			b.Read[id] = RemoteRef{}
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return b, nil
	}
	err = u.remote.readRemoteRefs(ctx, s, adv, ids, b.Read)
	if err != nil {
		err = fmt.Errorf("reading refs of %s: %w", r.shown, err)
	}
	return b, err
}

// uploadSession is what of a session for reading is needed here.
type uploadSession interface {
	UploadPack(ctx context.Context, req *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
}

// readRemoteRefs reads remote at once. Where they are more than remote are, somebody put something
// else there: then they are read by halves, until it is alone, and says nothing.
func (m *remote) readRemoteRefs(ctx context.Context, s uploadSession, adv *packp.AdvRefs, ids []files.ID, into map[files.ID]RemoteRef) error {
	store, err := m.borrowed(ctx, s, adv, ids)
	if _, large := errors.AsType[*LimitError](err); large {
		if len(ids) == 1 {
			return nil
		}
		for _, half := range [][]files.ID{ids[:len(ids)/2], ids[len(ids)/2:]} {
			again, adv, err := m.upload(ctx)
			if err == nil {
				err = m.readRemoteRefs(ctx, again, adv, half, into)
				again.Close()
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		into[id] = remoteRefOf(store, id)
	}
	return nil
}

// borrowed gets commits, and all that is below them, into memory.
func (m *remote) borrowed(ctx context.Context, s uploadSession, adv *packp.AdvRefs, ids []files.ID) (*memory.Storage, error) {
	req, err := request(adv, ids)
	if err != nil {
		return nil, err
	}
	res, err := s.UploadPack(ctx, req)
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	defer func() { _ = res.Close() }() // the pack is checked by its checksum
	in := &limited{ReadCloser: res, what: "bytes of a pack", limit: int64(len(ids)) * maxBeacon}
	store := memory.NewStorage()
	if err := packfile.UpdateObjectStorage(store, sideways(req, in)); err != nil {
		return nil, m.explain(ctx, err)
	}
	return store, nil
}

// remoteRefOf reads a ref; one that is none says nothing.
func remoteRefOf(store *memory.Storage, id files.ID) RemoteRef {
	o, err := store.EncodedObject(plumbing.CommitObject, plumbing.Hash(id))
	if err != nil || o.Size() > maxBeacon {
		return RemoteRef{}
	}
	in, err := o.Reader()
	if err != nil {
		return RemoteRef{}
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return RemoteRef{}
	}
	var c object.Commit
	if err := c.Decode(o); err != nil || len(c.ParentHashes) > 0 || c.TreeHash.String() != emptyTree {
		return RemoteRef{}
	}
	b := RemoteRef{Message: c.Message}
	if c.PGPSignature != "" {
		b.Signed, b.Signature = parted(data)
	}
	return b
}

// Light has each of some refs lead to a new ref with a message, wherever it was, by one push.
// They are signed if the repository has a Signer. A server that takes no such refs gives a
// RefusedError.
func (r *Repo) Light(ctx context.Context, messages map[string]string, by Author, at time.Time) error {
	refs := slices.Sorted(maps.Keys(messages))
	server, ok := r.server()
	if !ok {
		return fmt.Errorf("writing %s to %s: %w", strings.Join(refs, ", "), r.shown, ErrNoURL)
	}
	lights := make([]light, 0, len(refs))
	for _, ref := range refs {
		u := Update{Branch: "ref", Tree: files.NewFolder(nil), Message: messages[ref], Author: by, When: at}
		data, err := u.commit(r.sign)
		if err != nil {
			return fmt.Errorf("writing %s to %s: %w", ref, r.shown, err)
		}
		lights = append(lights, light{ref, data})
	}
	if err := server.remote.light(ctx, files.NewFolder(nil), lights); err != nil {
		return fmt.Errorf("writing %s to %s: %w", strings.Join(refs, ", "), r.shown, err)
	}
	return nil
}

// light is a ref and the commit that it is to lead to.
type light struct {
	ref    string
	commit []byte
}

func (m *remote) light(ctx context.Context, tree *files.Folder, lights []light) error {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	objects := []pack.Object{{Kind: pack.Tree, ID: tree.ID(), Data: func() ([]byte, error) { return nil, nil }}}
	ids := make([]files.ID, len(lights))
	for i, l := range lights {
		ids[i] = files.Sum("commit", l.commit)
		objects = append(objects, pack.Object{Kind: pack.Commit, ID: ids[i], Data: func() ([]byte, error) { return l.commit, nil }})
	}
	packed, err := pack.Encode(ctx, objects)
	if err != nil {
		return err
	}
	s, adv, err := m.receivePack(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	commands := make([]*packp.Command, len(lights))
	for i, l := range lights {
		commands[i] = &packp.Command{Name: plumbing.ReferenceName(l.ref), Old: adv.References[l.ref], New: plumbing.Hash(ids[i])}
	}
	err = m.order(ctx, s, adv, io.NopCloser(bytes.NewReader(packed)), commands)
	if refused, ok := errors.AsType[*refusal](err); ok {
		return &RefusedError{Ref: lights[0].ref, Why: strings.TrimRight(refused.text, "; ")}
	}
	return err
}

// A RefusedError says that a server does not take a ref.
type RefusedError struct{ Ref, Why string }

// Error says what the server said.
func (e *RefusedError) Error() string { return "the server refused " + e.Ref + ": " + e.Why }
