package walk

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
)

// op is one thing that somebody does to a source. The same seed does the same to the same
// source, and to another one something like it, so that a walk can be made shorter.
type op struct {
	kind string
	seed uint64
}

// deeds are the kinds of op, in the order of their names in the list of a walk. Each says what
// it did; nothing if there was nothing to do it to.
var deeds = map[string]func(*world, *rand.Rand) string{
	"add cluster":      addCluster,
	"remove cluster":   func(w *world, r *rand.Rand) string { return removeOne(w, r, "Cluster") },
	"add object":       addObject,
	"remove object":    func(w *world, r *rand.Rand) string { return removeOne(w, r, "") },
	"edit object":      editObject,
	"scale object":     scaleObject,
	"copy object":      copyObject,
	"add policy":       addPolicy,
	"remove policy":    func(w *world, r *rand.Rand) string { return removeOne(w, r, "Policy") },
	"edit policy":      editPolicy,
	"suspend":          suspend,
	"select elsewhere": reselect,
	"add override":     addOverride,
	"turn override":    turnOverride,
	"remove override":  func(w *world, r *rand.Rand) string { return removeOne(w, r, "Override") },
	"break document":   breakDocument,
	"break unit":       breakUnit,
	"touch":            touch,
	"mend":             mend,
	"mend all":         mendAll,
	"move document":    moveDocument,
	"rename unit":      renameUnit,
	"rename folder":    renameFolder,
	"rename own":       renameOwn,
	"remove unit":      removeUnit,
}

func pick[T any](r *rand.Rand, from []T) (one T, ok bool) {
	if len(from) == 0 {
		return one, false
	}
	return from[r.IntN(len(from))], true
}

// object returns a document of an object that can be read.
func (w *world) object(r *rand.Rand) (*doc, bool) {
	return pick(r, w.docs(func(d *doc) bool { return d.isObject() && w.readable(d) }))
}

func (w *world) kind(r *rand.Rand, kind string) (*doc, bool) {
	return pick(r, w.docs(func(d *doc) bool { return d.kind == kind && w.readable(d) }))
}

// free returns a name that no document of a kind has.
func (w *world) free(prefix string, most int, kinds ...string) (string, bool) {
	for n := range most {
		name := fmt.Sprint(prefix, n+1)
		if len(w.docs(func(d *doc) bool { return slices.Contains(kinds, d.kind) && d.name == name })) == 0 {
			return name, true
		}
	}
	return "", false
}

var objectKinds = []string{"ConfigMap", "Deployment", "StatefulSet"}

// put adds a document to a file, or makes a new one for it.
func (w *world) put(r *rand.Rand, d *doc) string {
	var to []*unit
	for _, u := range w.units {
		if u.kind == "file" && w.scope(u) == "" {
			to = append(to, u)
		}
	}
	u, ok := pick(r, to)
	if !ok || r.IntN(2) == 0 {
		u = w.unit(r, "file")
	}
	u.docs = append(u.docs, d)
	return u.path
}

// unit adds a unit of a kind.
func (w *world) unit(r *rand.Rand, kind string) *unit {
	w.names++
	dir, _ := pick(r, []string{"", "apps", "more"})
	u := &unit{kind: kind, name: fmt.Sprint("u", w.names)}
	switch u.path = path.Join(dir, u.name); kind {
	case "file", "release":
		u.path += ".yaml"
	}
	w.units = append(w.units, u)
	return u
}

func addCluster(w *world, r *rand.Rand) string {
	name, ok := w.free("c", len(w.clusters()), "Cluster")
	if !ok {
		return ""
	}
	d := &doc{kind: "Cluster", name: name}
	if w.isStaged {
		d.ring, _ = pick(r, rings)
	} else if r.IntN(3) == 0 {
		d.own = "own/" + name
	}
	return "add cluster " + name + " to " + w.put(r, d)
}

func addObject(w *world, r *rand.Rand) string {
	name, ok := w.free("o", 8, objectKinds...)
	if !ok {
		return ""
	}
	kind, _ := pick(r, objectKinds)
	d := &doc{kind: kind, name: name, version: 1, replicas: 840}
	u := w.home(r)
	u.docs = append(u.docs, d)
	if p, ok := w.kind(r, "Policy"); ok {
		p.selects = append(slices.Clone(p.selects), name)
	}
	return fmt.Sprintf("add %s to %s %s", d.ref(), u.kind, u.path)
}

// home returns a unit for an object, a new one more often than not.
func (w *world) home(r *rand.Rand) *unit {
	if u, ok := pick(r, w.units); ok && r.IntN(3) == 0 {
		return u
	}
	own := w.docs(func(d *doc) bool { return d.kind == "Cluster" && d.own != "" })
	if c, ok := pick(r, own); ok && r.IntN(4) == 0 {
		u := w.unit(r, "file")
		u.path = path.Join(c.own, path.Base(u.path))
		return u
	}
	kind, _ := pick(r, []string{"file", "file", "file", "root", "root", "release"})
	return w.unit(r, kind)
}

// removeOne removes a document of a kind, or of an object if it is empty.
func removeOne(w *world, r *rand.Rand, kind string) string {
	d, ok := pick(r, w.docs(func(d *doc) bool { return d.kind == kind || kind == "" && d.isObject() }))
	if !ok {
		return ""
	}
	u := w.unitOf(d)
	w.take(d)
	return fmt.Sprintf("remove %s from %s", d.ref(), u.path)
}

// take takes a document out of its unit, and a file with its last document.
func (w *world) take(d *doc) {
	u := w.unitOf(d)
	u.docs = slices.DeleteFunc(u.docs, func(o *doc) bool { return o == d })
	if len(u.docs) == 0 {
		w.units = slices.DeleteFunc(w.units, func(o *unit) bool { return o == u })
	}
}

func editObject(w *world, r *rand.Rand) string {
	d, ok := w.object(r)
	if !ok {
		return ""
	}
	d.version++
	return "edit " + d.ref()
}

func scaleObject(w *world, r *rand.Rand) string {
	d, ok := w.object(r)
	if !ok || !d.isWorkload() {
		return ""
	}
	d.replicas = 840 * (1 + r.IntN(3))
	return fmt.Sprintf("scale %s to %d", d.ref(), d.replicas)
}

func copyObject(w *world, r *rand.Rand) string {
	d, ok := w.object(r)
	if !ok || w.scope(w.unitOf(d)) != "" {
		return ""
	}
	c := &doc{kind: d.kind, name: d.name, version: d.version + 1, replicas: d.replicas}
	return fmt.Sprintf("copy %s to %s", d.ref(), w.put(r, c))
}

func addPolicy(w *world, r *rand.Rand) string {
	name, ok := w.free("p", 3, "Policy")
	if !ok {
		return ""
	}
	d := &doc{kind: "Policy", name: name}
	w.placing(d, r)
	for _, o := range w.docs((*doc).isObject) {
		claimed := w.docs(func(p *doc) bool { return p.kind == "Policy" && slices.Contains(p.selects, o.name) })
		if len(claimed) == 0 && r.IntN(3) > 0 {
			d.selects = append(d.selects, o.name)
		}
	}
	return fmt.Sprintf("add policy %s of %v to %v by %v in %s", name, d.selects, d.clusters, d.weights, w.put(r, d))
}

// placing draws where a policy places.
func (w *world) placing(d *doc, r *rand.Rand) {
	d.clusters, d.weights, d.suspended = nil, nil, nil
	divided := r.IntN(2) == 0
	for _, c := range w.clusters() {
		if r.IntN(3) == 0 {
			continue
		}
		d.clusters = append(d.clusters, c)
		if divided {
			d.weights = append(d.weights, 1+r.IntN(2))
		}
	}
	if len(d.clusters) == 0 {
		d.clusters, d.weights = []string{"c1"}, nil
	}
}

func editPolicy(w *world, r *rand.Rand) string {
	d, ok := w.kind(r, "Policy")
	if !ok {
		return ""
	}
	w.placing(d, r)
	return fmt.Sprintf("policy %s goes to %v by %v", d.name, d.clusters, d.weights)
}

func suspend(w *world, r *rand.Rand) string {
	d, ok := w.kind(r, "Policy")
	if !ok {
		return ""
	}
	d.suspended = nil
	if c, ok := pick(r, d.clusters); ok && r.IntN(2) == 0 {
		d.suspended = []string{c}
	}
	return fmt.Sprintf("policy %s suspends %v", d.name, d.suspended)
}

func reselect(w *world, r *rand.Rand) string {
	from, ok := w.kind(r, "Policy")
	to, ok2 := w.kind(r, "Policy")
	name, ok3 := "", false
	if ok {
		name, ok3 = pick(r, from.selects)
	}
	if !ok2 || !ok3 || from == to {
		return ""
	}
	from.selects = slices.DeleteFunc(slices.Clone(from.selects), func(n string) bool { return n == name })
	to.selects = append(slices.Clone(to.selects), name)
	return fmt.Sprintf("%s goes from policy %s to %s", name, from.name, to.name)
}

func addOverride(w *world, r *rand.Rand) string {
	name, ok := w.free("v", 3, "Override")
	o, ok2 := w.object(r)
	c, ok3 := pick(r, w.clusters())
	if !ok || !ok2 || !ok3 {
		return ""
	}
	d := &doc{kind: "Override", name: name, object: o.name, cluster: c, fails: r.IntN(2) == 0 && !w.isCalm}
	return fmt.Sprintf("add override %s of %s in %s (fails: %t) to %s", name, o.name, c, d.fails, w.put(r, d))
}

func turnOverride(w *world, r *rand.Rand) string {
	d, ok := w.kind(r, "Override")
	if !ok {
		return ""
	}
	d.fails = !d.fails
	return fmt.Sprintf("override %s of %s in %s fails: %t", d.name, d.object, d.cluster, d.fails)
}

func breakDocument(w *world, r *rand.Rand) string {
	d, ok := pick(r, w.docs(func(d *doc) bool { return d.fault == "" }))
	if !ok {
		return ""
	}
	d.fault, _ = pick(r, []string{"malformed", "malformed", "no name"})
	d.salt = r.IntN(100)
	return fmt.Sprintf("break %s in %s: %s", d.ref(), w.unitOf(d).path, d.fault)
}

func breakUnit(w *world, r *rand.Rand) string {
	var whole []*unit
	for _, u := range w.units {
		if u.whole() && u.fault == "" {
			whole = append(whole, u)
		}
	}
	u, ok := pick(r, whole)
	if !ok {
		return ""
	}
	u.fault, _ = pick(r, []string{"malformed", "missing"})
	u.salt = r.IntN(100)
	return fmt.Sprintf("break %s %s: %s", u.kind, u.path, u.fault)
}

// touch changes something that cannot be read.
func touch(w *world, r *rand.Rand) string {
	d, ok := pick(r, w.docs(func(d *doc) bool { return d.fault != "" }))
	if !ok {
		return ""
	}
	d.salt++
	return fmt.Sprintf("touch %s in %s", d.ref(), w.unitOf(d).path)
}

func mend(w *world, r *rand.Rand) string {
	d, ok := pick(r, w.docs(func(d *doc) bool { return d.fault != "" }))
	var broken []*unit
	for _, u := range w.units {
		if u.fault != "" {
			broken = append(broken, u)
		}
	}
	u, ok2 := pick(r, broken)
	switch {
	case ok && (!ok2 || r.IntN(2) == 0):
		d.fault = ""
		d.version += r.IntN(2)
		return fmt.Sprintf("mend %s in %s", d.ref(), w.unitOf(d).path)
	case ok2:
		u.fault = ""
		return fmt.Sprintf("mend %s %s", u.kind, u.path)
	}
	return ""
}

// mendAll leaves nothing that is wrong.
func mendAll(w *world, _ *rand.Rand) string {
	names := map[string]bool{}
	for _, u := range slices.Clone(w.units) {
		u.fault = ""
		for _, d := range slices.Clone(u.docs) {
			d.fault, d.fails, d.suspended = "", false, nil
			if key := w.scope(u) + d.ref(); d.isObject() && names[key] {
				w.take(d)
			} else {
				names[key] = true
			}
		}
	}
	return "mend all"
}

func moveDocument(w *world, r *rand.Rand) string {
	d, ok := pick(r, w.docs(func(*doc) bool { return true }))
	if !ok {
		return ""
	}
	from := w.unitOf(d)
	var to []*unit
	for _, u := range w.units {
		if u != from && (d.isObject() || u.kind == "file" && w.scope(u) == "") {
			to = append(to, u)
		}
	}
	u, ok := pick(r, to)
	switch {
	case !ok && !d.isObject():
		return ""
	case !ok || r.IntN(3) == 0 && d.isObject():
		u = w.home(r)
	}
	copies := len(w.docs(func(o *doc) bool { return o.ref() == d.ref() }))
	if u == from || copies > 1 && w.scope(u) != "" {
		return "" // whether an object of a folder goes before one of the source is another matter
	}
	w.take(d)
	u.docs = append(u.docs, d)
	if !slices.Contains(w.units, u) {
		w.units = append(w.units, u) // it was the last document of another
	}
	return fmt.Sprintf("move %s from %s to %s %s", d.ref(), from.path, u.kind, u.path)
}

func renameUnit(w *world, r *rand.Rand) string {
	u, ok := pick(r, w.units)
	if !ok {
		return ""
	}
	from := u.path
	w.names++
	u.path = path.Join(path.Dir(u.path), fmt.Sprint("u", w.names))
	if u.kind != "root" {
		u.path += ".yaml"
	}
	return fmt.Sprintf("rename %s to %s", from, u.path)
}

func renameFolder(w *world, r *rand.Rand) string {
	from, _ := pick(r, []string{"apps", "more"})
	w.names++
	to := fmt.Sprint(from, w.names)
	var below []*unit
	for _, u := range w.units {
		if strings.HasPrefix(u.path, from) && u.path[len(from)] != '.' && strings.Contains(u.path, "/") {
			below = append(below, u)
		}
	}
	if len(below) == 0 {
		return ""
	}
	for _, u := range below {
		u.path = path.Join(to, path.Base(u.path))
	}
	return fmt.Sprintf("rename folder %s to %s", from, to)
}

// renameOwn renames a cluster's own folder.
func renameOwn(w *world, r *rand.Rand) string {
	c, ok := w.kind(r, "Cluster")
	if !ok || c.own == "" {
		return ""
	}
	w.names++
	from, to := c.own, fmt.Sprint("own/", c.name, "-", w.names)
	var below []*unit
	for _, u := range w.units {
		if path.Dir(u.path) == from {
			below = append(below, u)
		}
	}
	c.own = to
	for _, u := range below {
		u.path = path.Join(to, path.Base(u.path))
	}
	return fmt.Sprintf("rename own folder %s to %s", from, to)
}

func removeUnit(w *world, r *rand.Rand) string {
	u, ok := pick(r, w.units)
	if !ok {
		return ""
	}
	w.units = slices.DeleteFunc(w.units, func(o *unit) bool { return o == u })
	return "remove " + u.path
}
