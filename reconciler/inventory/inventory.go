// Package inventory is what Waybill remembers of a cluster, in the cluster: which objects it
// applied there, which content of each, and which UID the server gave it. What is to be
// deleted is the difference between an inventory and a branch, and nothing else.
//
// An inventory is a value. A round of applying goes by it in three steps, and may end at any
// moment between them:
//
//  1. Begin, before the first change, makes it the union of what was there and what is to be
//     there. What is about to change loses its content, so that whoever comes next applies it
//     again, whatever happened.
//  2. Applied and Gone note what was seen to have happened.
//  3. Ended, after the last change, says that the round came to its end.
//
// It does no I/O: Encode lays it out as a head and shards, each of which fits a Secret,
// and Decode reads them.
package inventory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Namespace is where the inventories of a cluster are, of whichever source.
const Namespace = "waybill-system"

// Inventory is what was applied to one cluster from one source. The zero value is that of a
// cluster that nothing was applied to.
type Inventory struct {
	Identity

	// Commit is the commit of the cluster's branch that was applied last, or is being applied.
	Commit files.ID
	// State is the commit of the state branch that an agent went by last; zero where it need not remember it.
	State files.ID
	// Settled says that a round came to its end, so that entries which are on no branch are
	// to leave the cluster.
	Settled bool
	// Sync is how far the hooks and waves of a commit came; zero where no branch had any.
	Sync    Sync
	Entries map[object.Ref]Entry
}

// Phase is one of those that a commit with hooks goes through.
type Phase string

// Sync is how far a commit came whose hooks run and whose waves wait for each other.
type Sync struct {
	Commit files.ID
	// Phase is the last one that came to its end; empty for none.
	Phase Phase
	// Failed says that the phase after it failed: its hooks are not run again.
	Failed bool
}

// Identity says whose inventory it is, and of which cluster.
type Identity struct {
	Owner   string // the source
	Cluster string // the cluster's name
	UID     string // of the cluster's Namespace kube-system
}

// Entry is one object.
type Entry struct {
	// Content is the blob that was applied last. It is zero if that is not known, because
	// nothing was applied yet, or because a change began whose end nobody saw.
	Content files.ID
	// Source is the source commit that the content was published from.
	Source string
	// UID is the one that the server gave the object; empty as long as nobody saw it.
	UID string
	// Fields is a digest of the fields that we owned after we applied it. Where somebody
	// changes one of them, it is no longer ours.
	Fields uint64
	// Keeps says that the object stays in the cluster when it leaves the branch.
	Keeps bool
	// Leaving says that its deletion was judged, and began.
	Leaving bool
}

// Want is what is to be known of an object before a round begins.
type Want struct {
	Ref object.Ref
	// Changes says that the round is about to apply the object.
	Changes bool
	Keeps   bool
}

// Begin returns the inventory to be written before the first change of a round that applies a
// commit: it has what i has, and what is wanted. Whatever the round changes has no content
// from then on. Leaving are entries whose deletion begins.
func (i Inventory) Begin(commit files.ID, wants []Want, leaving []object.Ref) Inventory {
	next := i.clone()
	next.Commit = commit
	for _, w := range wants {
		e := next.Entries[w.Ref]
		if w.Changes {
			e.Content, e.Fields = files.ID{}, 0
		}
		e.Keeps, e.Leaving = w.Keeps, false
		next.Entries[w.Ref] = e
	}
	for _, r := range leaving {
		if e, ok := next.Entries[r]; ok {
			e.Leaving = true
			next.Entries[r] = e
		}
	}
	return next
}

// Moved adds to an inventory, which may be none, the one that the same source left when it was
// called otherwise. No content is known of its objects, so that each is applied again and names
// its new owner.
func (i Inventory) Moved(from Inventory, owner string) Inventory {
	next := i.clone()
	if i.Cluster == "" {
		next.Identity, next.Commit = from.Identity, from.Commit
		next.Owner = owner
	}
	next.State = cmp.Or(next.State, from.State)
	next.Settled = from.Settled
	for r, e := range from.Entries {
		if _, known := next.Entries[r]; !known {
			e.Content, e.Fields = files.ID{}, 0
			next.Entries[r] = e
		}
	}
	return next
}

// Absent lists the entries that are not wanted, sorted: what a branch no longer has.
func (i Inventory) Absent(wants []Want) []object.Ref {
	wanted := make(map[object.Ref]bool, len(wants))
	for _, w := range wants {
		wanted[w.Ref] = true
	}
	var absent []object.Ref
	for r := range i.Entries {
		if !wanted[r] {
			absent = append(absent, r)
		}
	}
	slices.SortFunc(absent, object.Ref.Compare)
	return absent
}

// Applied notes what the server answered when objects were applied. An entry that is not
// there, because somebody else's round let it go, comes back.
func (i Inventory) Applied(done map[object.Ref]Entry) Inventory {
	next := i.clone()
	maps.Copy(next.Entries, done)
	return next
}

// Gone notes objects that are not in the cluster, by the UIDs that were looked for. An entry
// leaves if its UID is that one; an entry without a UID leaves if no object of its name was
// there, which is the UID "".
func (i Inventory) Gone(uids map[object.Ref]string) Inventory {
	next := i.clone()
	for r, uid := range uids {
		if e, ok := next.Entries[r]; ok && e.UID == uid {
			delete(next.Entries, r)
		}
	}
	return next
}

// Unknown takes their content from entries: somebody may have changed the objects meanwhile.
func (i Inventory) Unknown(refs []object.Ref) Inventory {
	next := i.clone()
	for _, r := range refs {
		if e, ok := next.Entries[r]; ok {
			e.Content, e.Fields = files.ID{}, 0
			next.Entries[r] = e
		}
	}
	return next
}

// Ended notes that a round came to its end.
func (i Inventory) Ended() Inventory {
	i.Settled = true
	return i
}

func (i Inventory) clone() Inventory {
	i.Entries = maps.Clone(i.Entries)
	if i.Entries == nil {
		i.Entries = map[object.Ref]Entry{}
	}
	return i
}
