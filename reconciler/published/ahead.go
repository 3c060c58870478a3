package published

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/git"
)

// lastRandom is the random key that was used last: what the state says of it or, where
// somebody deleted its branch, that of the newest commit which names one.
func lastRandom(s *state.State, branches []git.Head) (last state.Random) {
	if s.Commit != "" {
		return s.Random
	}
	var when time.Time
	for _, h := range branches {
		key := publish.Trailer(h.Message, publish.TrailerRandomKey)
		if key != "" && !h.When.Before(when) {
			source := SourceID(publish.Trailer(h.Message, publish.TrailerRepository), publish.Trailer(h.Message, publish.TrailerPath))
			last, when = state.Random{Key: key, Source: source}, h.When
		}
	}
	return last
}

// ahead lists what was published after the publication that the state names, in the order
// of dates: what branches were written from on top of it. Where the state names none,
// because somebody deleted its branch, that is all that branches were written from.
func ahead(s *state.State, branches []git.Head) []state.Publication {
	var all []state.Publication
	seen := map[string]bool{} // clusters that changed alike share a message
	for _, h := range branches {
		if seen[h.Message] {
			continue
		}
		seen[h.Message] = true
		p := state.Publication{Commit: publish.Trailer(h.Message, publish.TrailerCommit), When: h.When}
		same := func(other state.Publication) bool { return other.Commit == p.Commit }
		if isOnTop(s, h.Message) && p.Commit != "" && p.Commit != s.Published.Commit && !slices.ContainsFunc(all, same) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b state.Publication) int {
		return cmp.Or(a.When.Compare(b.When), cmp.Compare(a.Commit, b.Commit))
	})
	return all
}

// isOnTop reports a commit that was written from what the state says now. Where it names no
// publication, all may have been.
func isOnTop(s *state.State, message string) bool {
	over := publish.Trailer(message, publish.TrailerState)
	return over == s.Commit || s.Planned != "" && over == s.Planned || s.Published.Commit == ""
}
