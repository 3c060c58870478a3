package tree

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// ManifestDir is the folder that holds every manifest of a tree; Argo CD syncs it
// recursively.
const ManifestDir = "manifests"

// Namespaces lists the Namespaces of a tree, which may be nil.
func Namespaces(f *files.Folder) []object.Ref { return ofKind(f, "", "Namespace") }

// Foundations lists the Namespaces and the CustomResourceDefinitions of a tree, which may be nil: what others are deleted with.
func Foundations(f *files.Folder) []object.Ref {
	return append(Namespaces(f), ofKind(f, "apiextensions.k8s.io", "CustomResourceDefinition")...)
}

// ofKind lists the objects of a tree, which may be nil, that are of a kind without a namespace.
func ofKind(f *files.Folder, group, kind string) (all []object.Ref) {
	if f == nil {
		return nil
	}
	dir, _ := f.Lookup(folderOf(object.Ref{Group: group, Kind: kind}))
	if dir.Dir == nil {
		return nil
	}
	for _, e := range dir.Dir.Entries() {
		all = append(all, object.Ref{Group: group, Kind: kind, Name: strings.TrimSuffix(e.Name, ".yaml")})
	}
	return all
}

// clusterScope stands for a namespace where there is none. No namespace can have
// this name.
const clusterScope = "_cluster"

// maxName is the longest file name that is kept as it is; file systems allow 255
// bytes, the hash and the extension want some.
const maxName = 200

// Path returns where the manifest of r stands in a tree:
// manifests/<namespace|_cluster>/<kind>[.<group>]/<name>.yaml.
func Path(r object.Ref) string {
	dir, name := folderOf(r), fileName(r.Name)
	return dir + "/" + name + ".yaml"
}

// FolderOf returns the folder of a namespace in a tree, or that of what has none, whose
// name is that of the folder.
func FolderOf(namespace string) string {
	if namespace != clusterScope {
		namespace = fileName(namespace)
	}
	return ManifestDir + "/" + namespace
}

func folderOf(r object.Ref) string {
	kind := strings.ToLower(r.Kind)
	if r.Group != "" {
		kind += "." + r.Group
	}
	return FolderOf(cmp.Or(r.Namespace, clusterScope)) + "/" + fileName(kind)
}

// fileName returns a name that every file system keeps apart from any other:
// names of small letters, digits, dots and dashes stay; others are told apart by a
// hash.
func fileName(name string) string {
	if isPortable(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	readable := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
	readable = strings.Trim(readable[:min(len(readable), 100)], ".-")
	return readable + "-" + hex.EncodeToString(sum[:5])
}

func isPortable(name string) bool {
	if name == "" || len(name) > maxName || isDevice(name) || strings.HasPrefix(name, "kustomization") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		inner := i > 0 && i < len(name)-1 && (c == '-' || c == '.')
		if !inner && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isDevice reports the names that Windows reserves, with any extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '0' && stem[3] <= '9'
}
