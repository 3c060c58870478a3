package window

import "time"

// Window is open from each time of its schedule on, for as long as it lasts: elapsed time, also across a
// change of the clock.
type Window struct {
	Deny     bool // what it is about is denied while it is open; otherwise it is allowed then
	Schedule Schedule
	Duration time.Duration
}

// IsOpen reports whether the window is open at a time.
func (w *Window) IsOpen(now time.Time) bool {
	began, ok := w.Schedule.Next(now.Add(-w.Duration))
	return ok && !began.After(now)
}

// next returns when the window opens or closes next; zero for never.
func (w *Window) next(now time.Time) (next time.Time) {
	next, _ = w.Schedule.Next(now)
	began, ok := w.Schedule.Next(now.Add(-w.Duration))
	if ended := began.Add(w.Duration); ok && (next.IsZero() || ended.Before(next)) {
		next = ended
	}
	return next
}

// Windows say together whether something may happen: while none that denies is open and, where some
// allow, one of those is.
type Windows []Window

// Closed reports whether it may not happen at a time, and the number of the last window that denies it; -1 if none
// does, and none of those that allow is open.
func (ws Windows) Closed(now time.Time) (by int, closed bool) {
	by, allows, allowed := -1, false, false
	for i := range ws {
		open := ws[i].IsOpen(now)
		switch {
		case ws[i].Deny && open:
			by = i
		case !ws[i].Deny:
			allows, allowed = true, allowed || open
		}
	}
	return by, by >= 0 || allows && !allowed
}

// Next returns when one of the windows opens or closes next after a time; zero for never.
func (ws Windows) Next(now time.Time) (next time.Time) {
	for i := range ws {
		if t := ws[i].next(now); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

// Opens returns when it may happen again after a time at which it may not; zero if that is not soon.
func (ws Windows) Opens(now time.Time) time.Time {
	const most = 1000 // times at which a window opens or closes
	at := now
	for range most {
		if at = ws.Next(at); at.IsZero() {
			return at
		}
		if _, closed := ws.Closed(at); !closed {
			return at
		}
	}
	return time.Time{}
}
