package rollouts

import (
	"cmp"
	"strings"
)

// The folders of units that are not of a PropagationPolicy, whose folder is its namespace.
const (
	clusterScope = "_cluster"
	groupScope   = "_group"
)

// Folder is the folder that the unit is recorded in: a namespace, _cluster or _group.
func (u Unit) Folder() string {
	if u.IsGroup {
		return groupScope
	}
	return cmp.Or(u.Namespace, clusterScope)
}

// String returns how people name the unit, and programs: NAMESPACE/NAME, _cluster/NAME or _group/NAME.
func (u Unit) String() string { return u.Folder() + "/" + u.Name }

// Compare orders units by their names.
func (u Unit) Compare(o Unit) int { return strings.Compare(u.String(), o.String()) }

// ParseUnit reads what String returns; false for anything else.
func ParseUnit(text string) (Unit, bool) {
	folder, name, ok := strings.Cut(text, "/")
	switch {
	case !ok || folder == "" || name == "" || strings.Contains(name, "/"):
		return Unit{}, false
	case folder == groupScope:
		return Unit{Name: name, IsGroup: true}, true
	case folder == clusterScope:
		return Unit{Name: name}, true
	}
	return Unit{Namespace: folder, Name: name}, true
}
