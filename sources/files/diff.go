package files

import "iter"

// Change is a path at which two folders differ. A zero Entry stands for nothing.
type Change struct {
	Path     string
	Old, New Entry
}

// Diff yields the paths of files at which two folders differ, in Git's order of
// each folder. Folders with one id are passed over whole, so the cost is that of
// what differs. Either may be nil, for an empty one.
func Diff(old, now *Folder) iter.Seq[Change] {
	return func(yield func(Change) bool) { diff("", old, now, yield) }
}

func diff(prefix string, old, now *Folder, yield func(Change) bool) bool {
	if old == now || old != nil && now != nil && old.id == now.id {
		return true
	}
	a, b := entriesOf(old), entriesOf(now)
	for len(a) > 0 || len(b) > 0 {
		var x, y Entry
		switch {
		case len(b) == 0 || len(a) > 0 && sortKey(a[0]) < sortKey(b[0]):
			x, a = a[0], a[1:]
		case len(a) == 0 || sortKey(b[0]) < sortKey(a[0]):
			y, b = b[0], b[1:]
		default:
			x, y, a, b = a[0], b[0], a[1:], b[1:]
		}
		if !diffEntry(prefix, x, y, yield) {
			return false
		}
	}
	return true
}

// diffEntry compares what one name stands for. Names of a file and of a folder
// sort apart, so that at most one side is a folder only where the other is none.
func diffEntry(prefix string, x, y Entry, yield func(Change) bool) bool {
	path := prefix + x.Name
	if x.Name == "" {
		path = prefix + y.Name
	}
	switch {
	case x.Dir != nil || y.Dir != nil:
		return diff(path+"/", x.Dir, y.Dir, yield)
	case x.ID == y.ID && x.Mode == y.Mode:
		return true
	}
	return yield(Change{Path: path, Old: x, New: y})
}

func entriesOf(f *Folder) []Entry {
	if f == nil {
		return nil
	}
	return f.entries
}
