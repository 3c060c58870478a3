package services

import (
	"encoding/binary"
	"fmt"
	"slices"

	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// Laid is what clusters exchange by the trees that were laid out, which is not always what is wanted there. The nil one is that of
// a source which exchanges nothing.
type Laid struct {
	exchange *Exchange
	services []laid // in the order of those of the exchange
	booked   []rules.Booked
}

// laid is what becomes of a service.
type laid struct {
	roles      []role // of each cluster
	isImported bool   // by any cluster
}

// role is what a cluster has to do with a service.
type role uint8

const (
	holdsService role = 1 << iota
	holdsExport
	holdsDerived
	holdsImport
	exports
	imports
)

// Lay returns trees, which were laid out of an input, with the file that says what each cluster exports and imports, and what that is.
func (x *Exchange) Lay(in *layout.Input, trees []layout.Tree) ([]layout.Tree, *Laid) {
	if x == nil {
		return trees, nil
	}
	l := newLayer(x, in)
	result := &Laid{exchange: x, services: make([]laid, len(x.services))}
	for i, s := range x.services {
		result.services[i].roles = make([]role, len(x.clusters))
		if !s.wrong {
			l.service(s, &result.services[i])
		}
	}
	unread := l.kept()
	trees = slices.Clone(trees)
	for i := range trees {
		if _, stays := in.Stays[i]; stays || trees[i].Err != nil || in.Virtual.At(i) != nil {
			continue
		}
		if err := unread[i]; err != nil {
			trees[i].Folder, trees[i].Err = in.Flux[i].Before.Built, err
			continue
		}
		if blob := l.file(i); blob != nil {
			trees[i].Folder = l.with(trees[i].Folder, blob)
		}
	}
	result.booked = l.booked(in, trees)
	return trees, result
}

// layer lays out files.
type layer struct {
	exchange *Exchange
	in       *layout.Input
	of       [][]entry // by cluster
	lines    []rules.Line
	files    map[string]*files.Blob // by what is in them
	trees    map[treeKey]*files.Folder
}

// entry is the number of a line.
type entry = uint32

type treeKey struct {
	folder *files.Folder
	file   *files.Blob
}

func newLayer(x *Exchange, in *layout.Input) *layer {
	l := &layer{exchange: x, in: in, of: make([][]entry, len(x.clusters)), files: map[string]*files.Blob{}, trees: map[treeKey]*files.Folder{}}
	most := 2 * len(x.services) // an export and an import of each
	room := make([]entry, most*len(l.of))
	for i := range l.of {
		l.of[i] = room[i*most : i*most : (i+1)*most]
	}
	return l
}

// mark notes which clusters hold an object.
func (l *layer) mark(r object.Ref, as role, roles []role) {
	i, ok := slices.BinarySearchFunc(l.in.Rows, r, func(row manifest.Row, r object.Ref) int { return row.Ref.Compare(r) })
	if ok {
		l.in.Holders(i, func(cluster int32) { roles[cluster] |= as })
	}
}

// service says of each cluster whether it exports a service, and whether it imports it.
func (l *layer) service(s *service, is *laid) {
	l.mark(s.ref, holdsService, is.roles)
	hasToExport, hasToImport := holdsService, holdsService
	if s.native == nil {
		hasToExport, hasToImport = holdsService|holdsExport, holdsDerived|holdsImport
		l.mark(rules.ExportOf(s.ref), holdsExport, is.roles)
		if s.derived != (object.Ref{}) {
			l.mark(rules.ImportOf(s.ref), holdsImport, is.roles)
			l.mark(s.derived, holdsDerived, is.roles)
		}
	}
	from := make([]string, 0, len(is.roles))
	for i, has := range is.roles {
		provides := s.unexported[int32(i)] == "" && (s.provides == nil || s.provides[i])
		if has&hasToExport != hasToExport || !provides || l.in.Virtual.At(i) != nil {
			continue
		}
		is.roles[i] |= exports
		if name := l.exchange.clusters[i]; !s.merged.Lost[name] {
			from = append(from, name)
		}
	}
	for i, has := range is.roles {
		alone := s.native != nil && len(from) == 1 && from[0] == l.exchange.clusters[i] // its endpoints are its own
		if len(from) == 0 || has&hasToImport != hasToImport || alone || s.calls != nil && !s.calls[i] || l.in.Virtual.At(i) != nil {
			continue
		}
		is.roles[i] |= imports
		is.isImported = true
	}
	l.write(s, is.roles, from)
}

// write adds the lines of a service to the files of clusters.
func (l *layer) write(s *service, roles []role, from []string) {
	exported := rules.Export{Namespace: s.ref.Namespace, Service: s.ref.Name}
	plain := l.add(exported.Line())
	exported.Book = true
	booked := l.add(exported.Line())
	imported := rules.Import{
		Namespace: s.ref.Namespace, Service: s.ref.Name, Style: s.style(), Derived: s.derived.Name, From: from, Ports: s.ports,
	}
	line := l.add(imported.Line())
	readers := l.readers(roles)
	next := 0 // of from, which is in the order of the clusters
	for i, has := range roles {
		if has&exports != 0 {
			export := plain
			if next < len(from) && from[next] == l.exchange.clusters[i] {
				next++
				if l.reads(readers, i, has) {
					export = booked
				}
			}
			l.of[i] = append(l.of[i], export)
		}
		if has&imports != 0 {
			l.of[i] = append(l.of[i], line)
		}
	}
}

// readers counts the clusters that import a service, and those of them that are pulled to.
type readers struct{ all, pulled int }

func (l *layer) readers(roles []role) (r readers) {
	if l.exchange.endpoints != exchange.Apply {
		return r
	}
	for i, has := range roles {
		if has&imports != 0 {
			r.all++
			if l.exchange.pulls[i] {
				r.pulled++
			}
		}
	}
	return r
}

// reads reports that others read the book of a cluster that exports the service: any of them if it is pulled to, and otherwise those that
// are.
func (l *layer) reads(r readers, cluster int, has role) bool {
	switch {
	case !l.exchange.pulls[cluster]:
		return r.pulled > 0
	case has&imports != 0:
		return r.all > 1
	}
	return r.all > 0
}

func (l *layer) add(line rules.Line) entry {
	l.lines = append(l.lines, line)
	return entry(len(l.lines) - 1) //nolint:gosec // a plan has far fewer services
}

// kept adds what was published of services with a mistake, and returns for which clusters that cannot be read.
func (l *layer) kept() (unread map[int]error) {
	wrong := map[object.Ref]map[string]bool{} // the styles
	for _, s := range l.exchange.services {
		if !s.wrong {
			continue
		}
		if wrong[s.ref] == nil {
			wrong[s.ref] = map[string]bool{}
		}
		wrong[s.ref][s.style()] = true
	}
	if len(wrong) == 0 {
		return nil
	}
	type read struct {
		entries []entry
		err     error
	}
	known := map[files.ID]read{}
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
			entries, err := l.keptOf(e.Blob, wrong)
			known[e.ID] = read{entries, err}
		}
		if err := known[e.ID].err; err != nil {
			if unread == nil {
				unread = map[int]error{}
			}
			unread[i] = fmt.Errorf("reading %s as it was published: %w", tree.ServicesFile, err)
		}
		l.of[i] = append(l.of[i], known[e.ID].entries...)
	}
	return unread
}

// keptOf are the lines of a file about services with a mistake.
func (l *layer) keptOf(b *files.Blob, wrong map[object.Ref]map[string]bool) (all []entry, err error) {
	data, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	f, err := rules.Decode(data)
	if err != nil {
		return nil, err
	}
	of := func(namespace, service string) map[string]bool {
		return wrong[object.Ref{Kind: "Service", Namespace: namespace, Name: service}]
	}
	for _, e := range f.Exports {
		if len(of(e.Namespace, e.Service)) > 0 {
			all = append(all, l.add(e.Line()))
		}
	}
	for _, e := range f.Imports {
		if of(e.Namespace, e.Service)[e.Style] {
			all = append(all, l.add(e.Line()))
		}
	}
	return all, nil
}

// file is that of a cluster; nil where it has none.
func (l *layer) file(cluster int) *files.Blob {
	if len(l.of[cluster]) == 0 {
		return nil
	}
	key := make([]byte, 0, 4*len(l.of[cluster]))
	for _, e := range l.of[cluster] {
		key = binary.LittleEndian.AppendUint32(key, e)
	}
	if known, ok := l.files[string(key)]; ok {
		return known
	}
	lines := make([]rules.Line, 0, len(l.of[cluster]))
	for _, e := range l.of[cluster] {
		lines = append(lines, l.lines[e])
	}
	blob := files.NewBlob(rules.Encode(lines))
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
