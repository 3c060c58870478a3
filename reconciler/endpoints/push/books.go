package push

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/render/exchange"
)

// Books are those of clusters that are not reached from here, as an exchange goes by them.
type Books struct {
	exchange *Exchange

	// By the lock of the exchange:

	latest map[string]*latest // by cluster
	looked time.Time          // when it was looked for books last
	silent time.Duration      // how long a cluster may write none, where that counts
}

// latest is what the books of a cluster say.
type latest struct {
	newest *book.Book // that was read last; nil: it could not be read
	book   *book.Book // the newest that counts; nil: none
	heard  time.Time  // when that came; at first when it was first looked for
	why    string     // the newest does not count; empty: it does
	silent bool       // as consumers were told
}

// Sought are the clusters that are not reached from here, and whose services are imported here, in the order of names, and by which
// settings. What was read of others counts no more.
func (b *Books) Sought() ([]*karmada.Cluster, exchange.Services) {
	e := b.exchange
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*karmada.Cluster
	sought := map[string]bool{}
	for name := range b.imported() {
		if c := e.takesPart(name); c != nil && !e.reaches(c) {
			all = append(all, c)
			sought[name] = true
		}
	}
	maps.DeleteFunc(b.latest, func(name string, _ *latest) bool { return !sought[name] })
	slices.SortFunc(all, func(a, b *karmada.Cluster) int { return cmp.Compare(a.Name, b.Name) })
	return all, e.settings
}

// imported are the clusters that are imported from here. The lock is held.
func (b *Books) imported() map[string]bool {
	from := map[string]bool{}
	if b.exchange.settings.Endpoints != exchange.Apply {
		return from
	}
	for _, c := range b.exchange.consumers {
		for _, im := range c.importing() {
			for _, name := range im.From {
				from[name] = true
			}
		}
	}
	return from
}

// importing is what a consumer imports.
func (c *consumer) importing() []services.Import {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.imports
}

// TakesPart reports a cluster that is registered, and has an API server of its own.
func (b *Books) TakesPart(cluster string) bool {
	b.exchange.mu.Lock()
	defer b.exchange.mu.Unlock()
	return b.exchange.takesPart(cluster) != nil
}

// Read notes the newest book of a cluster that is sought, or why it cannot be read. One that does not count changes nothing but what is
// said of it.
func (b *Books) Read(c *karmada.Cluster, newest *book.Book, err error) {
	e := b.exchange
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	is := b.latest[c.Name]
	if is == nil {
		is = &latest{heard: now}
		b.latest[c.Name] = is
	}
	if is.newest = newest; err == nil {
		err = is.judge(c, now)
	}
	b.note(c.Name, is, err, now)
}

// note notes the newest book of a cluster if it counts, or else why not. The lock is held.
func (b *Books) note(cluster string, is *latest, err error, now time.Time) {
	was, isNew := is.why, false
	if is.why = ""; err != nil {
		is.why = err.Error()
	} else if isNew = is.book == nil || is.newest.Number != is.book.Number; isNew {
		is.book, is.heard = is.newest, now
	}
	if isNew || is.why != was {
		b.wake(cluster)
	}
}

// judge says why the newest book does not count.
func (l *latest) judge(c *karmada.Cluster, now time.Time) error {
	if l.book == nil || l.book.IsOf(c.Name, c.Spec.ID) != nil { // which counted before spec.id was written
		return l.newest.Follows(0, c.Name, c.Spec.ID, now)
	}
	if err := l.newest.Follows(l.book.Number, c.Name, c.Spec.ID, now); err != nil {
		return err
	}
	if c.Spec.ID == "" && l.newest.UID != l.book.UID {
		return errors.New(endpoints.Another(l.book.UID, l.newest.UID))
	}
	return nil
}

// Looked notes that it was looked for all books that are sought, and how long a cluster may write none. Those that do not count are
// judged anew: what is known of their clusters may be other than it was, and time goes by. If nobody could look for longer than is
// usual, that while counts for no silence: who looks away misses what is written.
func (b *Books) Looked(usual, silent time.Duration) {
	e := b.exchange
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	away := now.Sub(b.looked)
	if b.looked.IsZero() || away <= 2*usual {
		away = 0
	}
	b.looked, b.silent = now, silent
	for name, l := range b.latest {
		if c := e.takesPart(name); c != nil && l.newest != nil {
			b.note(name, l, l.judge(c, now), now)
		}
		if l.heard = l.heard.Add(away); l.heard.After(now) {
			l.heard = now
		}
		if is := b.isSilent(l); is != l.silent {
			l.silent = is
			if b.wake(name); is {
				e.saySilent(name)
			} else {
				e.sayAnswers(name)
			}
		}
	}
}

// isSilent reports that no newer book came for too long, as far as it was looked. The lock is held.
func (b *Books) isSilent(l *latest) bool {
	return b.ages() && b.looked.Sub(l.heard) > max(b.silent, b.exchange.settings.StaleAfter.Duration)
}

// ages reports that a cluster may count as silent. The lock is held.
func (b *Books) ages() bool { return b.exchange.settings.StaleAfter.Duration > 0 }

// wake wakes who imports from a cluster. The lock is held.
func (b *Books) wake(provider string) {
	for _, c := range b.exchange.consumers {
		if slices.ContainsFunc(c.importing(), func(im services.Import) bool { return slices.Contains(im.From, provider) }) {
			c.wake()
		}
	}
}

// of is what the books of a cluster say; nil where it was not looked for them yet. Refused says why a newer one is not taken.
func (b *Books) of(c *karmada.Cluster) (has *endpoints.Provider, refused string) {
	b.exchange.mu.Lock()
	defer b.exchange.mu.Unlock()
	is := b.latest[c.Name]
	switch {
	case is == nil:
		return nil, ""
	case is.book == nil:
		return &endpoints.Provider{Wrong: is.why}, ""
	}
	if err := is.book.IsOf(c.Name, c.Spec.ID); err != nil {
		return &endpoints.Provider{Wrong: err.Error()}, ""
	}
	return &endpoints.Provider{
		UID: is.book.UID, Certain: c.Spec.ID != "", Services: is.book.Services, Number: is.book.Number, Silent: b.isSilent(is), Ages: b.ages(),
		Exports: b.exports(c.Name),
	}, is.why
}

// exports are the services that a cluster exports by its book, by what is published; nil where nobody says. The lock is held.
func (b *Books) exports(cluster string) map[types.NamespacedName]bool {
	if of, ok := b.exchange.booked[cluster]; ok || b.exchange.booked == nil {
		return of
	}
	return map[types.NamespacedName]bool{}
}
