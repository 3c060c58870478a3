package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/pack"
)

// Bounds are what is taken at most of a pack that somebody pushed who is not trusted. A pack may be small and
// stand for much: what unpacks it holds each object in memory.
type Bounds struct {
	Pack    int64  // bytes that the server sends
	Objects uint32 // in it
	Object  int64  // bytes of one, unpacked
	All     int64  // bytes of all, unpacked
	Paths   int    // files and folders at their places, where those of a commit are read at once
}

// FetchWithin has a commit at hand that a ref of the server is at, and what is below it, as far as its pack is
// within bounds: of one that is not, nothing is kept. It does nothing for a repository on disk.
func (r *Repo) FetchWithin(ctx context.Context, id files.ID, most Bounds) error {
	u, ok := r.server()
	if !ok || r.store.has(id) {
		return nil
	}
	fail := func(err error) error { return fmt.Errorf("fetching %s from %s: %w", id, r.shown, err) }
	w, err := r.acquire(ctx)
	if err != nil {
		return fail(err)
	}
	defer w.Release()
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	s, adv, err := u.remote.upload(ctx)
	if err != nil {
		return fail(err)
	}
	defer s.Close()
	u.remote.remember(adv)
	if adv == nil || !gives(adv, []files.ID{id}) {
		return fail(errors.New("no ref of the server is at it"))
	}
	req, err := r.asks(adv, []files.ID{id})
	if err == nil {
		err = takeWithin(ctx, u, s, req, most)
	}
	if err != nil {
		return fail(err)
	}
	r.store.refresh()
	return nil
}

// takeWithin sends a request, and stores the pack that comes once it is whole, and within bounds.
func takeWithin(ctx context.Context, u *behindURL, s transport.UploadPackSession, req *packp.UploadPackRequest, most Bounds) error {
	res, err := s.UploadPack(ctx, req)
	if err != nil {
		return u.remote.explain(ctx, err)
	}
	defer func() { _ = res.Close() }() // the pack is checked by its checksum
	file, err := os.CreateTemp(filepath.Join(u.repo.store.objects(), "pack"), "tmp_pack_")
	if err != nil {
		return advise(fmt.Errorf("storing a pack: %w", err))
	}
	defer func() { _, _ = file.Close(), os.Remove(file.Name()) }()
	in := &limited{ReadCloser: res, what: "bytes of a pack", limit: most.Pack}
	if _, err := io.Copy(file, sideways(req, in)); err != nil {
		return advise(u.remote.explain(ctx, err))
	}
	if err := most.hold(file); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading a pack: %w", err)
	}
	return advise(storePack(u.repo.store.dir, file))
}

// hold says what of a pack is out of bounds. It holds no object in memory.
func (b *Bounds) hold(in io.ReadSeeker) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading a pack: %w", err)
	}
	scanner := packfile.NewScanner(in)
	_, count, err := scanner.Header()
	if err != nil {
		return fmt.Errorf("reading a pack: %w", err)
	}
	if count > b.Objects {
		return &LimitError{What: "objects of a pack", Limit: int64(b.Objects), Got: int64(count)}
	}
	var all int64
	for range count {
		h, err := scanner.NextObjectHeader()
		if err != nil {
			return fmt.Errorf("reading a pack: %w", err)
		}
		size := max(h.Length, 0)
		if size <= b.Object {
			var begins pack.Beginning
			if _, _, err := scanner.NextObject(&begins); err != nil {
				return fmt.Errorf("reading a pack: %w", err)
			}
			if h.Type == plumbing.OFSDeltaObject || h.Type == plumbing.REFDeltaObject {
				size = max(size, begins.Makes())
			}
		}
		if size > b.Object {
			return &LimitError{What: "bytes of an object in a pack", Limit: b.Object, Got: size}
		}
		if all += size; all > b.All {
			return &LimitError{What: "bytes of the objects in a pack", Limit: b.All, Got: all}
		}
	}
	return nil
}
