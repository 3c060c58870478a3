package chart

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

// maxVersions is how many versions of a chart are read.
const maxVersions = 10_000

// Catalog says which versions of charts there are, and which archives these are. It asks for the index of a Helm
// repository once, or twice where only a part of it is new: make one for a look. It is for one goroutine.
type Catalog struct {
	Store *Store
	// Registry is asked for the tags of charts in registries.
	Registry interface {
		Tags(ctx context.Context, repository string, known registry.Known) (registry.Known, error)
	}

	indexes map[string]*seen
}

// seen is an index that was asked for: read, or as it was under an ETag.
type seen struct {
	etag string
	read *index
	err  error
}

// Address is what registries call the repository of a chart: host/path/name.
func Address(ref lock.Ref) string {
	return strings.TrimPrefix(strings.TrimRight(ref.Repository, "/"), "oci://") + "/" + ref.Name
}

// Versions returns what is known then of the versions of a chart, whatever its constraint says, as registry.Client.Tags does for
// images: where nothing is new nothing is brought, and with an error known is returned as it was.
func (c *Catalog) Versions(ctx context.Context, ref lock.Ref, known registry.Known) (registry.Known, error) {
	now, err := c.versions(ctx, ref, known)
	if err != nil {
		return known, fmt.Errorf("listing the versions of %s/%s: %w", strings.TrimRight(ref.Repository, "/"), ref.Name, err)
	}
	return now, nil
}

func (c *Catalog) versions(ctx context.Context, ref lock.Ref, known registry.Known) (registry.Known, error) {
	if err := ref.Validate(); err != nil {
		return known, err
	}
	if ref.Kind == lock.OCI {
		now, err := c.Registry.Tags(ctx, Address(ref), known)
		now.Tags = slices.Clone(now.Tags)
		for i, tag := range now.Tags {
			now.Tags[i] = versionTag(tag)
		}
		now.Tags = ordered(now.Tags)
		return now, err
	}
	at, err := c.index(ctx, ref, known.ETag)
	if err != nil || at.read == nil {
		return known, err
	}
	offers, err := at.read.offers(ref.Name)
	if err != nil {
		return known, err
	}
	if len(offers) > maxVersions {
		return known, fmt.Errorf("there are more than the %d that are read", maxVersions)
	}
	now := registry.Known{ETag: at.etag}
	for _, o := range offers {
		now.Tags = append(now.Tags, o.Version)
	}
	now.Tags = ordered(now.Tags)
	return now, nil
}

// ordered is a list sorted, each once.
func ordered(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// index is the index of the repository of a chart, asked for once; one that is not read is as it was under an ETag that is known.
func (c *Catalog) index(ctx context.Context, ref lock.Ref, known string) (*seen, error) {
	from := indexOf(ref)
	if at := c.indexes[from]; at != nil && (at.err != nil || at.read != nil || at.etag == known) {
		return at, at.err
	}
	if !registry.IsETag(known) || c.indexes[from] != nil {
		known = ""
	}
	ctx, cancel := context.WithTimeout(ctx, c.Store.timeout)
	defer cancel()
	at := &seen{}
	data, etag, err := c.Store.askUnless(ctx, from, known, maxIndex)
	switch {
	case err != nil:
		at.err = fmt.Errorf("getting %s: %w", lock.Shown(from), egress.Clean(err))
	case data != nil:
		read, err := readIndex(data)
		if at.read = &read; err != nil {
			at.err = fmt.Errorf("reading %s: %w", from, err)
		}
	}
	if registry.IsETag(etag) {
		at.etag = etag
	}
	if c.indexes == nil {
		c.indexes = map[string]*seen{}
	}
	c.indexes[from] = at
	return at, at.err
}

// At returns the entry of a reference at one of its versions, as Versions spells it, and what the chart says of itself.
func (c *Catalog) At(ctx context.Context, ref lock.Ref, version string) (lock.Entry, registry.Image, error) {
	exact := ref
	exact.Constraint = version
	e, about, err := c.at(ctx, exact)
	if err != nil {
		return lock.Entry{}, registry.Image{}, fmt.Errorf("resolving the chart %s: %w", exact, err)
	}
	e.Ref = ref
	return e, described(about), nil
}

func (c *Catalog) at(ctx context.Context, exact lock.Ref) (lock.Entry, []byte, error) {
	if err := exact.Validate(); err != nil {
		return lock.Entry{}, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Store.timeout)
	defer cancel()
	var f found
	var err error
	if exact.Kind == lock.OCI {
		f, err = c.Store.resolveOCI(ctx, exact)
	} else {
		var at *seen
		if at, err = c.index(ctx, exact, ""); err == nil {
			f, err = c.Store.offered(ctx, exact, *at.read)
		}
	}
	if err != nil {
		return lock.Entry{}, nil, err
	}
	return c.Store.pin(exact, f)
}

// described is what a Chart.yaml says of where its source is and what changed. What has not the form that it should
// have is left out.
func described(chartYAML []byte) registry.Image {
	var meta struct {
		Home        string            `yaml:"home"`
		Sources     []string          `yaml:"sources"`
		Annotations map[string]string `yaml:"annotations"`
	}
	if yaml.Unmarshal(chartYAML, &meta) != nil {
		return registry.Image{}
	}
	said := registry.Image{URL: registry.Link(meta.Home), Changelog: registry.Link(meta.Annotations[registry.ChangelogKey])}
	for _, s := range meta.Sources {
		if said.Source = registry.Link(s); said.Source != "" {
			break
		}
	}
	return said
}
