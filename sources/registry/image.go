package registry

import (
	"context"
	"errors"
	"time"
)

// Image is what a reference stands for, and what those who built it say of it, in its labels or
// annotations.
type Image struct {
	// Digest is that of the index, or of the manifest where there is no index: sha256:<hex>,
	// counted here.
	Digest string
	// Source, Changelog and URL are https URLs: of its source code, of what changed, and for
	// more about it. Empty where nothing says it.
	Source, Changelog, URL string
	// Version and Revision are what the image calls itself, and the commit it was built from.
	Version, Revision string
	// Created is when it says that it was built. Anybody can write any date into it.
	Created time.Time
}

// Image asks what a reference, with a tag or a digest, stands for. It makes three requests at
// most, four for an index. Labels that cannot be had, because the registry keeps blobs at a host
// that is not in Allow, are left out.
func (c *Client) Image(ctx context.Context, ref string) (Image, error) {
	return Image{}, &Error{Class: Unavailable, Of: ref, Err: errors.New("nothing is asked yet")}
}

// Digest asks which digest a tag stands for now, by one request and without what Image says
// beside it. The registry's word is not checked: ask Image before anything is written.
func (c *Client) Digest(ctx context.Context, ref string) (string, error) {
	return "", &Error{Class: Unavailable, Of: ref, Err: errors.New("nothing is asked yet")}
}
