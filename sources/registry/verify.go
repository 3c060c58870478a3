package registry

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/words"
)

// maxSignatures is how many signatures of an image are looked at.
const maxSignatures = 50

// Verify checks that one of the keys signed what a reference stands for, as `cosign sign --key`
// does: with a tag <digest>.sig, or with a bundle that refers to the image (cosign 3). The reference
// has to have a digest, as Image returns it, so that what is verified is what is written. It returns nil
// if a key did; an error of the class Unverified if none did; and the classes of Tags where that
// cannot be known. What cannot be verified is not to be taken. Transparency logs are not asked, as Flux
// does not ask them for keys.
func (c *Client) Verify(ctx context.Context, ref string, keys []Key) error {
	s, digest, err := c.refer(ref)
	switch {
	case err != nil:
		return err
	case !lock.IsDigest(digest):
		return s.failed(Malformed, "it has no digest, so that what is verified may be something else than what is taken")
	case len(keys) == 0:
		return s.failed(Malformed, "there is no key to verify it with")
	}
	v := &verification{session: s, digest: digest, keys: keys}
	for _, look := range []func(context.Context) (bool, error){v.signatures, v.bundles} {
		found, err := look(ctx)
		if err != nil {
			return s.fail(err)
		}
		if found {
			return nil
		}
	}
	if v.looked == 0 {
		return s.failed(Unverified, "it has no signature")
	}
	return s.failed(Unverified, "none of its signatures (%d) is one of the image by %s", v.looked, words.List(named(keys)))
}

// verification looks for a signature of one digest by one of the keys.
type verification struct {
	*session

	digest string
	keys   []Key
	looked int // at signatures
}

func named(keys []Key) []string {
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// tagFor is the tag that stands for what belongs to a digest.
func tagFor(digest, suffix string) string { return strings.Replace(digest, ":", "-", 1) + suffix }

// signatures looks at what has the tag of signatures of the digest.
func (v *verification) signatures(ctx context.Context) (bool, error) {
	data, _, err := v.manifest(ctx, tagFor(v.digest, ".sig"))
	if isGone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m, err := v1.ParseManifest(bytes.NewReader(data))
	if err != nil {
		return false, errors.New("what it has as its signatures is no manifest")
	}
	for _, layer := range m.Layers {
		signature, signs := layer.Annotations[simpleSignature]
		if string(layer.MediaType) != simpleType || !signs {
			continue
		}
		payload, err := v.attached(ctx, layer)
		if err != nil {
			return false, err
		}
		if signedSimply(payload, signature, v.digest, v.keys) {
			return true, nil
		}
	}
	return false, nil
}

// bundles looks at what refers to the digest as bundles do.
func (v *verification) bundles(ctx context.Context) (bool, error) {
	index, err := v.referrers(ctx)
	if err != nil {
		return false, err
	}
	seen := 0
	for _, d := range index.Manifests {
		if !mayBeBundle(d.ArtifactType) || !lock.IsDigest(d.Digest.String()) {
			continue
		}
		if seen++; seen > maxSignatures {
			return false, v.failed(TooMany, "more refers to it than the %d that are looked at", maxSignatures)
		}
		data, err := v.named(ctx, v.pages, "manifests", d.Digest.String(), manifests)
		if err != nil {
			return false, err
		}
		m, err := v1.ParseManifest(bytes.NewReader(data))
		if err != nil || len(m.Layers) != 1 || !strings.HasPrefix(string(m.Layers[0].MediaType), bundleType) {
			continue // it is no bundle
		}
		data, err = v.attached(ctx, m.Layers[0])
		if err != nil {
			return false, err
		}
		if signedByBundle(data, v.digest, v.keys) {
			return true, nil
		}
	}
	return false, nil
}

// referrers lists what refers to the digest: by the registry's own list, or where it has none, by the tag that
// clients keep it in.
func (v *verification) referrers(ctx context.Context) (*v1.IndexManifest, error) {
	var data []byte
	resp, err := v.ask(ctx, v.pages, http.MethodGet, v.url("referrers", v.digest), manifests)
	if isGone(err) {
		data, _, err = v.manifest(ctx, tagFor(v.digest, ""))
	} else if err == nil {
		data, err = read(resp)
	}
	switch {
	case isGone(err):
		return &v1.IndexManifest{}, nil
	case err != nil:
		return nil, err
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("its list of what refers to it is no index")
	}
	return index, nil
}

// attached brings the blob of a signature, and counts it.
func (v *verification) attached(ctx context.Context, at v1.Descriptor) ([]byte, error) {
	if v.looked++; v.looked > maxSignatures {
		return nil, v.failed(TooMany, "it has more than the %d signatures that are looked at", maxSignatures)
	}
	digest := at.Digest.String()
	if !lock.IsDigest(digest) {
		return nil, errors.New("a signature of it has a digest that is no SHA-256")
	}
	return v.named(ctx, v.blobs, "blobs", digest, nil)
}
