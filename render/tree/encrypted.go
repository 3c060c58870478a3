package tree

import (
	"bytes"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Encrypted reports whether SOPS encrypted a manifest of a tree.
func (b *Builder) Encrypted(f *files.Folder) bool {
	for path, e := range f.All() {
		if strings.HasPrefix(path, ManifestDir+"/") && b.isEncrypted(e.Blob) {
			return true
		}
	}
	return false
}

func (b *Builder) encrypted(manifests []Manifest) bool {
	return slices.ContainsFunc(manifests, func(m Manifest) bool { return b.isEncrypted(m.Blob) })
}

// isEncrypted reports whether SOPS encrypted a manifest. One that cannot be read is none:
// who publishes it will say so.
func (b *Builder) isEncrypted(blob *files.Blob) bool {
	known, ok := b.sops[blob.ID()]
	if !ok {
		data, err := blob.Bytes()
		known = err == nil && bytes.Contains(data, []byte("sops")) && slices.ContainsFunc(object.Decode("manifest.yaml", data).Objects, isSealed)
		b.sops[blob.ID()] = known
	}
	return known
}

func isSealed(o *object.Object) bool {
	_, sealed := o.Sealed()
	return sealed
}
