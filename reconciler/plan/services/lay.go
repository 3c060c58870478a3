package services

import (
	"encoding/binary"
	"slices"

	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// Lay adds to trees, which were laid out of an input, the file that says what each cluster exports and imports. It goes by what
// clusters hold, which is not always what is wanted there.
func (x *Exchange) Lay(in *layout.Input, trees []layout.Tree) {
	if x == nil {
		return
	}
	l := layer{exchange: x, in: in, of: make([][]entry, len(trees)), files: map[string]*files.Blob{}, trees: map[treeKey]*files.Folder{}}
	for n, s := range x.services {
		s.now = traffic{}
		if !s.wrong {
			l.service(n, s)
		}
	}
	l.kept()
	for i := range trees {
		if _, stays := in.Stays[i]; stays || trees[i].Err != nil || in.Virtual.At(i) != nil {
			continue
		}
		if blob := l.file(i); blob != nil {
			trees[i].Folder = l.with(trees[i].Folder, blob)
		}
	}
}

// layer lays out files.
type layer struct {
	exchange *Exchange
	in       *layout.Input
	of       [][]entry // by cluster
	entries  []rules.File
	files    map[string]*files.Blob // by what is in them
	trees    map[treeKey]*files.Folder
}

// entry is the number of what is said of a service.
type entry = uint32

type treeKey struct {
	folder *files.Folder
	file   *files.Blob
}

// holds tells which clusters hold an object.
func (l *layer) holds(r object.Ref) []bool {
	holds := make([]bool, len(l.of))
	i, ok := slices.BinarySearchFunc(l.in.Rows, r, func(row manifest.Row, r object.Ref) int { return row.Ref.Compare(r) })
	if !ok {
		return holds
	}
	for _, cluster := range l.in.Holders(i) {
		holds[cluster] = l.in.Virtual.At(int(cluster)) == nil
	}
	return holds
}

// service says of each cluster whether it exports a service, and whether it imports it.
func (l *layer) service(n int, s *service) {
	provided := l.holds(s.ref)
	exports, imports := provided, provided
	if s.native == nil {
		exports, imports = both(provided, l.holds(rules.ExportOf(s.ref))), make([]bool, len(l.of))
		if s.derived != (object.Ref{}) {
			imports = both(l.holds(s.derived), l.holds(rules.ImportOf(s.ref)))
		}
	}
	imported := rules.Import{Namespace: s.ref.Namespace, Service: s.ref.Name, Style: rules.ByImport, Derived: s.derived.Name, Ports: s.ports}
	if s.native != nil {
		imported.Style = rules.Native
	}
	export := l.add(rules.File{Exports: []rules.Export{{Namespace: s.ref.Namespace, Service: s.ref.Name}}})
	for i, name := range l.exchange.clusters {
		if !exports[i] || s.unexported[name] != "" || s.provides != nil && !s.provides[name] {
			continue
		}
		s.now.exports = append(s.now.exports, name)
		l.of[i] = append(l.of[i], export)
		if !s.merged.Lost[name] {
			imported.From = append(imported.From, name)
		}
	}
	if len(imported.From) == 0 {
		return
	}
	in := l.add(rules.File{Imports: []rules.Import{imported}})
	for i, name := range l.exchange.clusters {
		alone := s.native != nil && len(imported.From) == 1 && imported.From[0] == name // its endpoints are its own
		if imports[i] && !alone && (s.calls == nil || s.calls[name]) {
			s.now.imports = append(s.now.imports, name)
			l.of[i] = append(l.of[i], in)
		}
	}
}

// both are the clusters of two lists.
func both(a, b []bool) []bool {
	all := make([]bool, len(a))
	for i := range a {
		all[i] = a[i] && b[i]
	}
	return all
}

func (l *layer) add(f rules.File) entry {
	l.entries = append(l.entries, f)
	return entry(len(l.entries) - 1) //nolint:gosec // a plan has far fewer services
}

// kept adds what was published of services with a mistake.
func (l *layer) kept() {
	wrong := map[object.Ref]map[bool]bool{}
	for _, s := range l.exchange.services {
		if s.wrong {
			if wrong[s.ref] == nil {
				wrong[s.ref] = map[bool]bool{}
			}
			wrong[s.ref][s.native != nil] = true
		}
	}
	if len(wrong) == 0 {
		return
	}
	known := map[files.ID][]entry{}
	for i := range l.of {
		built := l.in.Flux[i].Before.Built
		if built == nil {
			continue
		}
		e, ok := built.Lookup(tree.ServicesFile)
		if !ok || e.Blob == nil {
			continue
		}
		if _, is := known[e.ID]; !is {
			known[e.ID] = l.keptOf(e.Blob, wrong)
		}
		l.of[i] = append(l.of[i], known[e.ID]...)
	}
}

// keptOf are the entries of a file about services with a mistake.
func (l *layer) keptOf(b *files.Blob, wrong map[object.Ref]map[bool]bool) (all []entry) {
	data, err := b.Bytes()
	if err != nil {
		return nil
	}
	f, err := rules.Decode(data)
	if err != nil {
		return nil
	}
	of := func(namespace, service string) map[bool]bool {
		return wrong[object.Ref{Kind: "Service", Namespace: namespace, Name: service}]
	}
	for _, e := range f.Exports {
		if len(of(e.Namespace, e.Service)) > 0 {
			all = append(all, l.add(rules.File{Exports: []rules.Export{e}}))
		}
	}
	for _, e := range f.Imports {
		if of(e.Namespace, e.Service)[e.Style == rules.Native] {
			all = append(all, l.add(rules.File{Imports: []rules.Import{e}}))
		}
	}
	return all
}

// file is that of a cluster; nil where it has none.
func (l *layer) file(cluster int) *files.Blob {
	if len(l.of[cluster]) == 0 {
		return nil
	}
	var key []byte
	for _, e := range l.of[cluster] {
		key = binary.LittleEndian.AppendUint32(key, e)
	}
	if known, ok := l.files[string(key)]; ok {
		return known
	}
	var f rules.File
	for _, e := range l.of[cluster] {
		f.Exports, f.Imports = append(f.Exports, l.entries[e].Exports...), append(f.Imports, l.entries[e].Imports...)
	}
	blob := files.NewBlob(f.Encode())
	l.files[string(key)] = blob
	return blob
}

// with is a tree with a file; trees that are one share it.
func (l *layer) with(folder *files.Folder, file *files.Blob) *files.Folder {
	k := treeKey{folder, file}
	if l.trees[k] == nil {
		l.trees[k] = tree.Overlay(folder, map[string]files.Entry{tree.ServicesFile: files.FileEntry(tree.ServicesFile, file)})
	}
	return l.trees[k]
}
