package chart

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Media types of a chart in a registry (HIP-6).
const (
	configType  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	contentType types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// verifyFailed begins what go-containerregistry says of bytes that are not those of
// their digest; it has a type of its own that nobody else can name.
const verifyFailed = "error verifying sha256 checksum"

// maxTalk is how many bytes a registry may say beside an archive: lists of tags,
// manifests, tokens.
const maxTalk = 16 << 20

// resolveOCI asks a registry.
func (s *Store) resolveOCI(ctx context.Context, ref lock.Ref) (found, error) {
	r, err := s.registry(ref)
	if err != nil {
		return found{}, err
	}
	tag, reference := "", ref.Constraint
	if !lock.IsDigest(ref.Constraint) {
		if tag, err = r.tag(ctx, ref.Constraint); err != nil {
			return found{}, fmt.Errorf("listing the tags of %s: %w", r.at, egress.Clean(err))
		}
		reference = tag
	}
	image, content, err := r.manifest(ctx, reference)
	if err != nil {
		return found{}, fmt.Errorf("reading the manifest of %s:%s: %w", r.at, reference, egress.Clean(err))
	}
	archive, ok := s.kept(content)
	if !ok {
		if archive, err = r.blob(ctx, content, s.maxArchive); err != nil {
			return found{}, fmt.Errorf("reading the archive of %s:%s: %w", r.at, reference, egress.Clean(err))
		}
	}
	at := r.at + "@" + image
	if tag != "" {
		at = r.at + ":" + tag + "@" + image
	}
	version := versionTag(tag)
	if !lock.IsVersion(version) {
		version = "" // a tag that moves: 1.4, latest
	}
	return found{version: version, url: at, archive: archive}, nil
}

// blob brings a locked archive from a registry. Its manifest is not needed: the digest
// of the archive is its name there.
func (s *Store) blob(ctx context.Context, e lock.Entry) ([]byte, error) {
	r, err := s.registry(e.Ref)
	if err != nil {
		return nil, err
	}
	archive, err := r.blob(ctx, e.Digest, s.maxArchive)
	if err != nil {
		return nil, fmt.Errorf("reading the archive %s of %s: %w", e.Digest, r.at, egress.Clean(err))
	}
	return archive, nil
}

// repository is one repository of a registry.
type repository struct {
	at     string // oci://host/path, as people wrote it
	name   name.Repository
	puller *remote.Puller
}

// registry prepares to ask the repository of a reference. Nothing is asked.
func (s *Store) registry(ref lock.Ref) (repository, error) {
	at := strings.TrimRight(ref.Repository, "/") + "/" + ref.Name
	repo, err := name.NewRepository(strings.TrimPrefix(at, "oci://"), name.StrictValidation)
	if err != nil {
		return repository{}, fmt.Errorf("%s is no repository of a registry: its host or path has characters that none has", at)
	}
	way, err := s.guard.Registry(repo.RegistryStr(), repo.RepositoryStr())
	if err != nil {
		return repository{}, err
	}
	auth := authn.Anonymous
	if way.Token != "" || way.Username != "" || way.Password != "" {
		auth = authn.FromConfig(authn.AuthConfig{Username: way.Username, Password: way.Password, RegistryToken: way.Token})
	}
	if way.Plain {
		if repo, err = name.NewRepository(strings.TrimPrefix(at, "oci://"), name.StrictValidation, name.Insecure); err != nil {
			return repository{}, err
		}
	}
	t := way.Confined(s.guard, maxTalk+s.maxArchive)
	puller, err := remote.NewPuller(
		remote.WithAuth(auth), remote.WithTransport(t), remote.WithUserAgent("waybill"),
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}), // guard does that
	)
	return repository{at: at, name: repo, puller: puller}, err
}

// tag returns the tag that a constraint stands for. Tags have no plus sign; Helm writes
// an underscore for it.
func (r repository) tag(ctx context.Context, constraint string) (string, error) {
	if _, err := semver.NewConstraint(constraint); constraint != "" && (err != nil || lock.IsVersion(constraint)) {
		return tagOf(constraint), nil
	}
	tags, err := r.puller.List(ctx, r.name)
	if err != nil {
		return "", err
	}
	if slices.Contains(tags, constraint) {
		return constraint, nil
	}
	var versions []string
	for _, t := range tags {
		if v := versionTag(t); lock.IsVersion(v) {
			versions = append(versions, v)
		}
	}
	version, err := lock.Pick(versions, constraint)
	return tagOf(version), err
}

func tagOf(version string) string  { return strings.ReplaceAll(version, "+", "_") }
func versionTag(tag string) string { return strings.ReplaceAll(tag, "_", "+") }

// manifest returns the digests of a chart's manifest and of its archive.
func (r repository) manifest(ctx context.Context, reference string) (manifest, content string, err error) {
	var at name.Reference = r.name.Tag(reference)
	if lock.IsDigest(reference) {
		at = r.name.Digest(reference)
	}
	if _, err := name.ParseReference(at.Name(), name.StrictValidation); err != nil {
		return "", "", fmt.Errorf("%q is no tag", reference)
	}
	got, err := r.puller.Get(ctx, at)
	if err != nil {
		return "", "", err
	}
	m, err := v1.ParseManifest(bytes.NewReader(got.Manifest))
	if err != nil {
		return "", "", fmt.Errorf("it is no manifest: %w", err)
	}
	if m.Config.MediaType != configType {
		return "", "", fmt.Errorf("it is no Helm chart: its config is %q", m.Config.MediaType)
	}
	layers := slices.DeleteFunc(m.Layers, func(l v1.Descriptor) bool { return l.MediaType != contentType })
	if len(layers) != 1 {
		return "", "", fmt.Errorf("it is no Helm chart: %d of its layers are archives of charts", len(layers))
	}
	return got.Digest.String(), layers[0].Digest.String(), nil
}

// blob returns the bytes that have a digest, at most limit.
func (r repository) blob(ctx context.Context, digest string, limit int64) ([]byte, error) {
	if !lock.IsDigest(digest) {
		return nil, fmt.Errorf("its digest is %q, which is no SHA-256", digest)
	}
	layer, err := r.puller.Layer(ctx, r.name.Digest(digest))
	if err != nil {
		return nil, err
	}
	body, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := readAll(body, limit)
	if err != nil && strings.HasPrefix(err.Error(), verifyFailed) {
		return nil, ErrDigest
	}
	return data, err
}
