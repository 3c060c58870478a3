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

// division says which kustomization lists which manifests.
type division struct {
	root  []string
	parts []Part
}

// divide gives each path, which are sorted, to the root or to a part.
//
// What a branch lists stays where it is listed: when an object goes from one Kustomization
// of Flux to another, the one that it leaves deletes it unless the other was faster. So
// only what is new is divided. It goes to where its namespace is, or to the first place
// that has room for it; so what is back before Flux saw it go is where it was.
func (f Flux) divide(paths []string) (division, error) {
	parts, err := f.Before.Parts()
	if err != nil {
		return division{}, err
	}
	d := divider{split: f.Sync.Form == fluxsync.FormSplit, parts: parts, places: map[string]int{}}
	held, err := rooted(f.Before.Built)
	if err != nil {
		return division{}, err
	}
	d.remember(held)
	d.settle(paths)
	for i := range d.parts {
		p := &d.parts[i]
		if p.Namespace == "" || p.Orphan { // with the others another would be another object
			p.Namespace = f.Sync.Namespace
		}
		p.Orphan = f.Sync.Form == fluxsync.FormOrphan
	}
	return division{root: d.root, parts: d.parts}, nil
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
	for _, p := range parts {
		for _, path := range p.paths {
			places[path] = p.Child
		}
	}
	return places, err
}

// inRoot is the place of what the root lists; a part's place is its index.
const inRoot = -1

type divider struct {
	split  bool
	open   bool // the root lists more than definitions
	root   []string
	parts  []Part
	places map[string]int // of what the branch lists
}

// remember takes down what the branch lists where, and empties its parts.
func (d *divider) remember(rooted []string) {
	for _, path := range rooted {
		if !d.split || isDefinition(path) {
			d.places[path] = inRoot
		}
		d.open = d.open || !d.split && !isDefinition(path)
	}
	for i := range d.parts {
		for _, path := range d.parts[i].paths {
			d.places[path] = i
		}
		d.parts[i].paths = nil
	}
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
		slices.Sort(d.parts[i].paths)
	}
}

func (d *divider) add(place int, paths ...string) {
	if place == inRoot {
		d.root = append(d.root, paths...)
		return
	}
	d.parts[place].paths = append(d.parts[place].paths, paths...)
}

// room is how many more manifests a place may have.
func (d *divider) room(place int) int {
	if place == inRoot {
		return fluxsync.MaxObjects - len(d.root)
	}
	return fluxsync.MaxObjects - len(d.parts[place].paths)
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
