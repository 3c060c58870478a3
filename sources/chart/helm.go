package chart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/lock"
)

const maxIndex = 50 << 20 // bytes; that of the largest public repository had 20 MiB

// offer is one version of a chart in an index. Fields that do not matter are not read,
// so that what is wrong in them does not either.
type offer struct {
	Version string   `json:"version" yaml:"version"`
	URLs    []string `json:"urls" yaml:"urls"`
	Digest  string   `json:"digest" yaml:"digest"` // of the archive: hex, maybe after "sha256:"
}

// resolveHelm asks a repository that has an index.yaml.
func (s *Store) resolveHelm(ctx context.Context, ref lock.Ref) (found, error) {
	data, err := s.get(ctx, indexOf(ref), maxIndex)
	if err != nil {
		return found{}, err
	}
	index, err := readIndex(data)
	if err != nil {
		return found{}, fmt.Errorf("reading %s: %w", indexOf(ref), err)
	}
	return s.offered(ctx, ref, index)
}

// indexOf is where the index of a repository is.
func indexOf(ref lock.Ref) string { return strings.TrimRight(ref.Repository, "/") + "/index.yaml" }

// offered brings the archive that an index offers for a reference.
func (s *Store) offered(ctx context.Context, ref lock.Ref, in index) (found, error) {
	offers, err := in.offers(ref.Name)
	if err != nil {
		return found{}, fmt.Errorf("reading %s: %w", indexOf(ref), err)
	}
	o, err := pick(offers, ref.Constraint)
	if err != nil {
		return found{}, err
	}
	at, err := archiveURL(ref.Repository, o.URLs)
	if err != nil {
		return found{}, fmt.Errorf("reading %s: version %q: %w", indexOf(ref), o.Version, err)
	}
	want := "sha256:" + strings.ToLower(strings.TrimPrefix(o.Digest, "sha256:"))
	if archive, ok := s.kept(want); ok {
		return found{version: o.Version, url: at, archive: archive}, nil
	}
	archive, err := s.get(ctx, at, s.maxArchive)
	if err != nil {
		return found{}, err
	}
	if got := digest(archive); lock.IsDigest(want) && got != want {
		return found{}, fmt.Errorf("%s has the digest %s, and %s says %s", at, got, indexOf(ref), want)
	}
	return found{version: o.Version, url: at, archive: archive}, nil
}

// index is the index of a repository, JSON or YAML: what it has of each chart.
type index struct {
	asJSON map[string][]json.RawMessage
	asYAML map[string]yaml.Node
}

// readIndex reads an index.
func readIndex(data []byte) (index, error) {
	if json.Valid(data) {
		var in struct {
			Entries map[string][]json.RawMessage `json:"entries"`
		}
		if err := json.Unmarshal(data, &in); err != nil {
			return index{}, fmt.Errorf("it is no index: %w", err)
		}
		if in.Entries == nil {
			return index{}, errNoEntries
		}
		return index{asJSON: in.Entries}, nil
	}
	var in struct {
		Entries map[string]yaml.Node `yaml:"entries"`
	}
	if err := yaml.Unmarshal(data, &in); err != nil {
		return index{}, fmt.Errorf("it is no index: %w", egress.Clean(err))
	}
	if in.Entries == nil {
		return index{}, errNoEntries
	}
	return index{asYAML: in.Entries}, nil
}

var errNoEntries = errors.New("it is no index: it has no entries")

// offers are those of a chart. One that cannot be read is passed over, as Helm does.
func (in index) offers(chart string) ([]offer, error) {
	var offers []offer
	var o offer
	for _, raw := range in.asJSON[chart] {
		if o = (offer{}); json.Unmarshal(raw, &o) == nil {
			offers = append(offers, o)
		}
	}
	for _, n := range in.asYAML[chart].Content {
		if o = (offer{}); n.Decode(&o) == nil {
			offers = append(offers, o)
		}
	}
	if len(offers) == 0 {
		return nil, fmt.Errorf("it has no chart %q", chart)
	}
	return offers, nil
}

// pick returns the offer that a constraint stands for.
func pick(offers []offer, constraint string) (offer, error) {
	var versions []string
	for _, o := range offers {
		versions = append(versions, o.Version)
	}
	version, err := lock.Pick(versions, constraint)
	if err != nil {
		return offer{}, err
	}
	for _, o := range offers {
		if o.Version == version {
			return o, nil
		}
	}
	return offer{}, fmt.Errorf("no version %q", version)
}

// archiveURL returns the first of the URLs, which is the one that Helm takes. It may be
// relative to the repository.
func archiveURL(repository string, urls []string) (string, error) {
	if len(urls) == 0 {
		return "", errors.New("it has no URL")
	}
	base, err := url.Parse(strings.TrimRight(repository, "/") + "/")
	if err != nil {
		return "", errors.New("the repository has no valid URL")
	}
	u, err := base.Parse(urls[0])
	if err != nil {
		return "", errors.New("its URL cannot be read")
	}
	if u.RawQuery != "" || u.User != nil {
		return "", fmt.Errorf("its URL %s has a query or a user name, which may be secret and cannot be locked", lock.Shown(u.String()))
	}
	u.Fragment = ""
	return u.String(), nil
}

// get asks for a URL and returns at most limit bytes; more are an error.
func (s *Store) get(ctx context.Context, from string, limit int64) ([]byte, error) {
	data, err := s.ask(ctx, from, limit)
	if err != nil {
		return nil, fmt.Errorf("getting %s: %w", lock.Shown(from), egress.Clean(err))
	}
	return data, nil
}

func (s *Store) ask(ctx context.Context, from string, limit int64) ([]byte, error) {
	data, _, err := s.askUnless(ctx, from, "", limit)
	return data, err
}

// askUnless asks for what is there under another ETag than one that is known, which may be empty. It returns nil where that is
// the one, and else the new one.
func (s *Store) askUnless(ctx context.Context, from, known string, limit int64) (data []byte, etag string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("User-Agent", "waybill")
	if known != "" {
		req.Header.Set("If-None-Match", known)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified && known != "" {
		return nil, known, nil
	}
	if resp.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("the server answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	data, err = readAll(resp.Body, limit)
	return data, resp.Header.Get("ETag"), err
}

// readAll reads at most limit bytes; more are an error.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("there are more than the %d bytes that are read", limit)
	}
	return data, err
}

// versionOf reads the version of a Chart.yaml, and compares it with what the repository
// calls it, if that is a version.
func versionOf(chartYAML []byte, called string) (string, error) {
	var meta struct {
		Version string `yaml:"version"`
	}
	if err := yaml.Unmarshal(chartYAML, &meta); err != nil {
		return "", fmt.Errorf("reading Chart.yaml: %w", egress.Clean(err))
	}
	own, err := semver.NewVersion(meta.Version)
	if err != nil {
		return "", fmt.Errorf("reading Chart.yaml: its version %q is no semantic version", meta.Version)
	}
	if theirs, err := semver.NewVersion(called); err == nil && !theirs.Equal(own) {
		return "", fmt.Errorf("the repository calls it version %q and its Chart.yaml %q", called, meta.Version)
	}
	return meta.Version, nil
}
