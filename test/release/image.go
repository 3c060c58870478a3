package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user that the image runs as, as deploy/Containerfile and the charts have it.
const nobody = "65532:65532"

// image writes one image for all architectures as an archive of an OCI layout.
func (s source) image(programs []program, work, out string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		i, err := s.from(p)
		if err != nil {
			return fmt.Errorf("making the image for %s: %w", p.platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: i, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.platform.os, Architecture: p.platform.arch}}})
	}
	named := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{"org.opencontainers.image.ref.name": programs[0].version()}},
	})
	dir := filepath.Join(work, "layout")
	if _, err := layout.Write(dir, named); err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	members, err := tree(dir)
	if err != nil {
		return err
	}
	packed, err := pack(members, s.time)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, packed, 0o644); err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	return nil
}

// from is the image of one program: the program, and a folder for what is temporary.
func (s source) from(p program) (v1.Image, error) {
	files, err := pack([]member{{name: "waybill", data: p.data, runs: true}, {name: "tmp/"}}, s.time)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("packing a layer: %w", err)
	}
	i := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	i, err = mutate.Append(i, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{CreatedBy: "waybill " + p.version(), Created: v1.Time{Time: s.time}}})
	if err != nil {
		return nil, fmt.Errorf("adding a layer: %w", err)
	}
	config, err := i.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading a config: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.platform.os, p.platform.arch, v1.Time{Time: s.time}
	config.Config = v1.Config{
		User: nobody, Entrypoint: []string{"/waybill"}, WorkingDir: "/", Env: []string{"PATH=/", "HOME=/tmp"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "waybill", "org.opencontainers.image.version": p.version(),
			"org.opencontainers.image.revision": s.commit, "org.opencontainers.image.source": "https://github.com/waybill-dev/waybill",
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	i, err = mutate.ConfigFile(i, config)
	if err != nil {
		return nil, fmt.Errorf("writing a config: %w", err)
	}
	return i, nil
}
