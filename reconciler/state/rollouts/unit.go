package rollouts

import "strings"

// Compare orders units by their names.
func (u Unit) Compare(o Unit) int { return strings.Compare(u.String(), o.String()) }

// ParseUnit reads what String returns; false for anything else.
func ParseUnit(text string) (Unit, bool) {
	folder, name, _ := strings.Cut(text, "/")
	switch {
	case folder == "" || name == "" || strings.Contains(name, "/"):
		return Unit{}, false
	case folder == groupFolder:
		return Unit{Name: name, IsGroup: true}, true
	case folder == clusterFolder:
		return Unit{Name: name}, true
	}
	return Unit{Namespace: folder, Name: name}, true
}
