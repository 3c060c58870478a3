package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/lock"
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
}

// The keys of labels and annotations that are read: those of the OCI image specification
// ("Pre-Defined Annotation Keys"), and one of our own where it has none.
const (
	sourceKey = "org.opencontainers.image.source"
	urlKey    = "org.opencontainers.image.url"
	// ChangelogKey is where an image, or a chart, says where its changelog is.
	ChangelogKey = "waybill.dev/changelog"
)

// manifests are the media types of what a tag may stand for.
var manifests = http.Header{"Accept": {strings.Join([]string{
	string(types.OCIImageIndex), string(types.DockerManifestList), string(types.OCIManifestSchema1), string(types.DockerManifestSchema2),
}, ", ")}}

// Image asks what a reference, with a tag or a digest, stands for. It makes three requests at
// most, four for an index, and those that authorize them. Labels that cannot be had, because the
// registry keeps blobs at a host that may not be asked, are left out.
func (c *Client) Image(ctx context.Context, ref string) (Image, error) {
	s, tag, err := c.refer(ref)
	if err != nil {
		return Image{}, err
	}
	data, digest, err := s.manifest(ctx, tag)
	if err != nil {
		return Image{}, s.fail(err)
	}
	said, err := s.labels(ctx, data)
	if err != nil {
		return Image{}, s.fail(err)
	}
	image := described(said)
	image.Digest = digest
	return image, nil
}

// Digest asks which digest a tag stands for now, by one request and without what Image says
// beside it. The registry's word is not checked: ask Image before anything is written.
func (c *Client) Digest(ctx context.Context, ref string) (string, error) {
	s, tag, err := c.refer(ref)
	if err != nil {
		return "", err
	}
	resp, err := s.ask(ctx, s.pages, http.MethodHead, s.url("manifests", tag), manifests)
	if err != nil {
		return "", s.fail(err)
	}
	resp.Body.Close()
	if said := resp.Header.Get("Docker-Content-Digest"); lock.IsDigest(said) {
		return said, nil
	}
	_, digest, err := s.manifest(ctx, tag)
	if err != nil {
		return "", s.fail(err)
	}
	return digest, nil
}

// refer prepares to ask for a reference, and returns its digest, or else its tag.
func (c *Client) refer(ref string) (*session, string, error) {
	repository, digest, pinned := strings.Cut(strings.TrimPrefix(ref, "oci://"), "@")
	tag := ""
	if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
		repository, tag = repository[:colon], repository[colon+1:]
	}
	if pinned && !lock.IsDigest(digest) || !pinned && !tagName.MatchString(tag) {
		return nil, "", &Error{Class: Malformed, Of: ref, Err: errors.New("it has no tag and no digest, as ghcr.io/org/app:1.2.3")}
	}
	s, err := c.open(ref, repository)
	return s, cmp.Or(digest, tag), err
}

// manifest brings what a tag or digest stands for, and its digest.
func (s *session) manifest(ctx context.Context, tag string) (data []byte, digest string, err error) {
	if lock.IsDigest(tag) {
		data, err = s.named(ctx, s.pages, "manifests", tag, manifests)
		return data, tag, err
	}
	resp, err := s.ask(ctx, s.pages, http.MethodGet, s.url("manifests", tag), manifests)
	if err != nil {
		return nil, "", err
	}
	data, err = read(resp)
	return data, digestOf(data), err
}

// labels gathers what an index or manifest, what it points to, and the config say: the config's labels count most.
func (s *session) labels(ctx context.Context, data []byte) (map[string]string, error) {
	said := map[string]string{}
	index, err := v1.ParseIndexManifest(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("what it has there is no manifest")
	}
	maps.Copy(said, index.Annotations)
	if len(index.Manifests) > 0 {
		child := chosen(index.Manifests).Digest.String()
		if !lock.IsDigest(child) {
			return nil, fmt.Errorf("its index names a manifest %.80q, which is no SHA-256", child)
		}
		if data, err = s.named(ctx, s.pages, "manifests", child, manifests); err != nil {
			return nil, err
		}
	}
	m, err := v1.ParseManifest(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("what it has there is no manifest")
	}
	maps.Copy(said, m.Annotations)
	if m.Config.MediaType != types.OCIConfigJSON && m.Config.MediaType != types.DockerConfigJSON || !lock.IsDigest(m.Config.Digest.String()) {
		return said, nil // a chart, or another artifact
	}
	config, err := s.named(ctx, s.blobs, "blobs", m.Config.Digest.String(), nil)
	if _, elsewhere := errors.AsType[*egress.HostError](err); elsewhere {
		return said, nil
	}
	if err != nil {
		return nil, err
	}
	return said, addConfig(said, config)
}

// chosen is the manifest of an index that speaks for it: that of linux/amd64, or else the first for a known system.
func chosen(all []v1.Descriptor) v1.Descriptor {
	for _, d := range all {
		if d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64" {
			return d
		}
	}
	for _, d := range all {
		if d.Platform != nil && d.Platform.OS != "unknown" {
			return d
		}
	}
	return all[0]
}

// addConfig adds what the config of an image says.
func addConfig(to map[string]string, data []byte) error {
	var config struct {
		Config struct {
			Labels map[string]string `json:"Labels"`
		} `json:"config"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return errors.New("its config is no JSON")
	}
	maps.Copy(to, config.Config.Labels)
	return nil
}

// described reads what was gathered. What has not the form that it should have is left out.
func described(said map[string]string) Image {
	return Image{Source: Link(said[sourceKey]), Changelog: Link(said[ChangelogKey]), URL: Link(said[urlKey])}
}

// Link is a URL that may be shown as a link; empty if it may not.
func Link(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(s) > 500 {
		return ""
	}
	return u.String()
}
