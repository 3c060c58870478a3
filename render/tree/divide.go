package tree

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// listing is what lists the manifests of a layout, equal in all clusters of one division.
type listing struct {
	root      files.Entry // its kustomization
	parts     []listedPart
	encrypted bool // SOPS encrypted one of the manifests
}

type listedPart struct {
	fluxsync.Child

	folder files.Entry // its kustomization
}

// division is all of a cluster's branch and settings that decides what lists which manifest.
// Two clusters whose division is equal divide equal manifests equally.
type division struct {
	form, namespace string
	root            files.ID // of the kustomization at the root
	parts           string   // what they list, and what ReadChild says of each
}

func (f Flux) division(parts []Part) division {
	d := division{form: f.Sync.Form, namespace: f.Sync.Namespace}
	if f.Before.Built == nil {
		return d
	}
	e, _ := f.Before.Built.Lookup(kustomizationFile)
	d.root = e.ID
	for _, p := range parts {
		d.parts += fmt.Sprintf("%s %s %s %t\n", p.Part, p.listed, p.Namespace, p.Orphan)
	}
	return d
}

// listing gives each manifest to the root or to a part.
//
// What a branch lists stays where it is listed: when an object goes from one Kustomization
// of Flux to another, the one that it leaves deletes it unless the other was faster. So
// only what is new is divided. It goes to where its namespace is, or to the first place
// that has room for it; so what is back before Flux saw it go is where it was.
func (l *Layout) listing(f Flux) (listing, error) {
	parts, err := f.Before.Parts()
	if err != nil {
		return listing{}, err
	}
	of := f.division(parts)
	if known, ok := l.listings[of]; ok {
		return known, nil
	}
	d := divider{split: f.Sync.Form == fluxsync.FormSplit, parts: parts, places: map[string]int{}}
	if err := d.remember(f.Before.Built); err != nil {
		return listing{}, err
	}
	d.settle(l.paths)
	known := listing{encrypted: l.builder.encrypted(l.list)}
	for i, p := range d.parts {
		if p.Namespace == "" || p.Orphan { // with the others another would be another object
			p.Namespace = f.Sync.Namespace
		}
		p.Orphan = f.Sync.Form == fluxsync.FormOrphan
		known.parts = append(known.parts, listedPart{Child: p.Child, folder: l.builder.kustomized(p.Part, d.lists[i])})
		d.root = append(d.root, p.Path+".yaml")
	}
	known.root = l.builder.kustomization(d.root)
	l.listings[of] = known
	return known, nil
}

// Handover says why the next tree may not be published as it is: it lists manifests
// elsewhere than the branch does, so that Flux would delete what they stand for unless
// somebody saw to it before. Empty where a branch keeps its division, and where it takes
// back what children leave in place.
func (f Flux) Handover(next *files.Folder) (reason string, err error) {
	n, err := f.Moved(next)
	switch {
	case n == 0 || err != nil:
		return "", err
	case f.Sync.Form == fluxsync.FormSingle:
		return fmt.Sprintf("%s would go back to the root of its branch, and Flux Kustomizations would delete what goes; publish with flux form %s first, and let Flux apply it", words.Count(n, "object"), fluxsync.FormOrphan), nil
	}
	return fmt.Sprintf("%s would leave the root of its branch for parts, and a Flux Kustomization with prune: true would delete what leaves; `waybill get flux --migrate --cluster %s` prints what to do first", words.Count(n, "object"), f.Sync.Cluster), nil
}

// Moved counts the manifests that the next tree lists elsewhere than the branch does.
func (f Flux) Moved(next *files.Folder) (n int, err error) {
	if f.Sync.Form != fluxsync.FormSplit && f.Sync.Form != fluxsync.FormSingle || f.Before.Built == nil {
		return 0, nil
	}
	before, err := placesOf(f.Before.Built)
	if err != nil {
		return 0, err
	}
	now, err := placesOf(next)
	if err != nil {
		return 0, err
	}
	for path, place := range before {
		if to, ok := now[path]; ok && to.Part != place.Part && !place.Orphan {
			n++
		}
	}
	return n, nil
}

// placesOf returns what lists each manifest of a tree; for the root it is no part.
func placesOf(f *files.Folder) (map[string]fluxsync.Child, error) {
	held, err := rooted(f)
	if err != nil {
		return nil, err
	}
	places := map[string]fluxsync.Child{}
	for _, path := range held {
		places[path] = fluxsync.Child{}
	}
	parts, err := (&Published{Built: f}).Parts()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		listed, err := p.paths(f)
		if err != nil {
			return nil, err
		}
		for _, path := range listed {
			places[path] = p.Child
		}
	}
	return places, nil
}

// inRoot is the place of what the root lists; a part's place is its index.
const inRoot = -1

type divider struct {
	split  bool
	open   bool // the root lists more than definitions
	root   []string
	parts  []Part
	lists  [][]string     // of what the parts are to list
	places map[string]int // of what the branch lists
}

// remember takes down what the branch lists where.
func (d *divider) remember(built *files.Folder) error {
	held, err := rooted(built)
	if err != nil {
		return err
	}
	for _, path := range held {
		if !d.split || isDefinition(path) {
			d.places[path] = inRoot
		}
		d.open = d.open || !d.split && !isDefinition(path)
	}
	d.lists = make([][]string, len(d.parts))
	for i, p := range d.parts {
		listed, err := p.paths(built)
		if err != nil {
			return err
		}
		for _, path := range listed {
			d.places[path] = i
		}
	}
	return nil
}

// settle places what the branch lists, and then what is new, a namespace at a time.
func (d *divider) settle(paths []string) {
	var fresh []string
	home := map[string]int{} // of a namespace: where the first of it is
	for _, path := range paths {
		place, known := d.places[path]
		switch {
		case !known && isDefinition(path):
			place = inRoot
		case !known:
			fresh = append(fresh, path)
			continue
		}
		d.add(place, path)
		if namespace := namespaceOf(path); namespace != clusterScope {
			if _, ok := home[namespace]; !ok {
				home[namespace] = place
			}
		}
	}
	for len(fresh) > 0 {
		namespace := namespaceOf(fresh[0])
		end := slices.IndexFunc(fresh, func(path string) bool { return namespaceOf(path) != namespace })
		if end < 0 {
			end = len(fresh)
		}
		end = min(end, fluxsync.MaxObjects)
		place, ok := home[namespace]
		if !ok || d.room(place) < end {
			place = d.first(end)
		}
		d.add(place, fresh[:end]...)
		fresh = fresh[end:]
	}
	slices.Sort(d.root)
	for i := range d.parts {
		slices.Sort(d.lists[i])
	}
}

func (d *divider) add(place int, paths ...string) {
	if place == inRoot {
		d.root = append(d.root, paths...)
		return
	}
	d.lists[place] = append(d.lists[place], paths...)
}

// room is how many more manifests a place may have.
func (d *divider) room(place int) int {
	if place == inRoot {
		return fluxsync.MaxObjects - len(d.root)
	}
	return fluxsync.MaxObjects - len(d.lists[place])
}

// first returns the first place that has room for n manifests, a new part if none has.
func (d *divider) first(n int) int {
	if d.open && d.room(inRoot) >= n {
		return inRoot
	}
	for i := range d.parts {
		if d.room(i) >= n {
			return i
		}
	}
	d.parts = append(d.parts, newPart(strconv.Itoa(len(d.parts)+1)))
	d.lists = append(d.lists, nil)
	return len(d.parts) - 1
}

// isDefinition reports the paths of CustomResourceDefinitions and Namespaces.
func isDefinition(path string) bool {
	return strings.HasPrefix(path, definitions) || strings.HasPrefix(path, namespaces)
}

const (
	definitions = ManifestDir + "/" + clusterScope + "/customresourcedefinition.apiextensions.k8s.io/"
	namespaces  = ManifestDir + "/" + clusterScope + "/namespace/"
)
