// Package subscriptions makes the page of new versions of images and charts from what Git records of them: what is newer than each
// value, since when, which pull request proposes it, why it is not taken, and what was merged or committed last. No registry is asked.
package subscriptions

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/report/update"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/words"
)

// Path is the address of the page.
const Path = "/updates"

// How much is shown on one page.
const (
	rowsAtOnce    = 100
	mistakesShown = 20
	keptShown     = 10
	valuesShown   = 3
)

// Page is the page of what a source subscribes to.
type Page struct {
	IsOff    bool         // nothing is looked at
	Noted    pages.Moment // when something was noted last
	Mistakes []Mistake
	More     int // mistakes besides
	Counts   []pages.Count
	Text     string
	Kind     string
	Sort     string
	Heads    []list.Head
	Rows     []Row
	Pager    list.Pager
	Total    int
}

// Mistake is one of a policy or a marker.
type Mistake struct {
	At      pages.Link
	Message string
	Hint    string
}

// Row is a subscription.
type Row struct {
	Name    string
	Of      string // the image or the chart
	Range   string // of a chart
	Mark    pages.Mark
	Message string
	Since   pages.Moment // of a failure
	Current string
	Newest  string       // empty for nothing newer
	Seen    pages.Moment // when that was seen first
	// Request is the pull request that is open, and Proposes what it takes, or the next one will.
	Request  pages.Link
	Proposes string
	Last     *Last // nil where nothing was merged or committed yet
	KeptBack []Kept
	MoreKept int
	Values   []pages.Link // the first places where the value stands
	Others   int          // how many there are besides
}

// Last is the version that was merged or committed last: when, and by whom, if the commit is known still.
type Last struct {
	Version string
	Did     string
	When    *pages.Moment
	By      string
	Commit  pages.Link
	Request pages.Link // the pull request, if there was one
}

// Kept is a version that was sent back.
type Kept struct{ Version, Why string }

// kind is how a subscription is, as a word of an address.
type kind string

const (
	failing  kind = "Failing"
	proposed kind = "Proposed"
	waiting  kind = "Waiting"
	keptBack kind = "KeptBack"
	major    kind = "Major"
	tooYoung kind = "TooYoung"
	unfit    kind = "NothingFits"
	unseen   kind = "NotLookedAt"
	off      kind = "Off"
	upToDate kind = "UpToDate"
)

// marks are those of all kinds, those that need somebody first.
var marks = []pages.Kind[kind]{
	{Kind: failing, Mark: pages.Mark{Word: "Fails", Sign: "✕", Tone: "bad"}},
	{Kind: proposed, Mark: pages.Mark{Word: "Pull request open", Sign: "↑", Tone: "warn"}},
	{Kind: waiting, Mark: pages.Mark{Word: "To be proposed", Sign: "‖", Tone: "warn"}},
	{Kind: keptBack, Mark: pages.Mark{Word: "Kept back", Sign: "‖", Tone: "warn"}},
	{Kind: major, Mark: pages.Mark{Word: "Another major", Sign: "!", Tone: "warn"}},
	{Kind: tooYoung, Mark: pages.Mark{Word: "Too young", Sign: "…", Tone: "muted"}},
	{Kind: unfit, Mark: pages.Mark{Word: "No tag fits", Sign: "?", Tone: "warn"}},
	{Kind: unseen, Mark: pages.Mark{Word: "Not looked at yet", Sign: "?", Tone: "muted"}},
	{Kind: off, Mark: pages.Mark{Word: "Off", Sign: "–", Tone: "muted"}},
	{Kind: upToDate, Mark: pages.Mark{Word: "Up to date", Sign: "✓", Tone: "good"}},
}

// Known is what a page is made of.
type Known struct {
	Subscribed *facts.Subscribed
	Memory     *facts.Memory
	Site       forge.Site
	Author     func(commit string) *facts.Author // of a commit of the source; nil if that is not known any longer
}

// Of shows the subscriptions that are asked for: those that need somebody first.
func Of(k Known, q url.Values, now time.Time) Page {
	s, m := k.Subscribed, k.Memory
	p := Page{IsOff: !s.Settings.Acts(), Noted: pages.MomentOf(m.At, now), Text: q.Get("q"), Kind: q.Get("kind"), Sort: q.Get(list.SortParam)}
	l := lister{subscribed: s, memory: &m.Memory, site: k.Site, author: k.Author, now: now}
	p.mistakes(&l)
	all := l.entries()
	p.Total = len(all)
	counts := map[kind]int{}
	var chosen []entry
	for _, e := range all {
		if !pages.Matches(p.Text, e.texts()...) {
			continue
		}
		counts[e.kind]++
		if p.Kind == "" || string(e.kind) == p.Kind {
			chosen = append(chosen, e)
		}
	}
	p.Counts = pages.Choices(Path, "kind", q, marks, counts)
	slices.SortStableFunc(chosen, func(a, b entry) int { return a.rank() - b.rank() })
	p.Heads = list.Sort(chosen, columns(), Path, q)
	var from, to int
	p.Pager, from, to = list.Parts{What: "subscriptions", Path: Path, Param: list.PageParam, Size: rowsAtOnce}.Page(q, len(chosen))
	for i := range chosen[from:to] {
		p.Rows = append(p.Rows, l.row(&chosen[from+i]))
	}
	return p
}

// mistakes shows what is wrong with policies and markers.
func (p *Page) mistakes(l *lister) {
	for _, d := range l.subscribed.Source.Diags {
		if d.Severity != diag.Error {
			continue
		}
		if len(p.Mistakes) == mistakesShown {
			p.More++
			continue
		}
		p.Mistakes = append(p.Mistakes, Mistake{At: l.at(d.Pos), Message: words.Printable(d.Message), Hint: words.Printable(d.Hint)})
	}
}

// columns are those of the list.
func columns() []list.Column[entry] {
	return []list.Column[entry]{
		list.ByText("Subscription", "name", func(e entry) string { return e.name.String() }),
		list.ByRank("Status", "status", func(e entry) int { return e.rank() }),
		list.ByText("In use", "current", func(e entry) string { return e.update.Current }),
		list.By("Newest", "seen", func(a, b entry) int { return a.update.FirstSeen.Compare(b.update.FirstSeen) }),
		list.By("Pull request", "proposed", func(a, b entry) int { return a.proposedAt().Compare(b.proposedAt()) }),
		list.Fixed[entry]("Last update"),
		list.ByRank("Kept back", "kept", func(e entry) int { return -len(e.record.KeptBack) }), // the most first
		list.Fixed[entry]("Values"),
	}
}

// entry is what is known of a subscription.
type entry struct {
	name   images.Name
	kind   kind
	update update.Update
	record updates.Record
	values []diag.Pos
}

// rank orders kinds.
func (e *entry) rank() int {
	return slices.IndexFunc(marks, func(k pages.Kind[kind]) bool { return k.Kind == e.kind })
}

// texts are those by which a subscription is found.
func (e *entry) texts() []string {
	u := &e.update
	all := []string{u.Name, u.Image, u.Chart, u.Range, u.Current, u.Newest, u.Message, string(e.kind)}
	return slices.AppendSeq(all, maps.Keys(e.record.KeptBack))
}

// proposedAt is when a pull request was opened or renewed; zero for none.
func (e *entry) proposedAt() time.Time {
	if p := e.record.Proposal; p.IsOpen() {
		return p.At
	}
	return time.Time{}
}

// lister makes a list.
type lister struct {
	subscribed *facts.Subscribed
	memory     *updates.Memory
	site       forge.Site
	author     func(commit string) *facts.Author
	now        time.Time
}

// entries are what is known of all subscriptions, and of policies that have a mistake, in the order of names.
func (l *lister) entries() []entry {
	f := updates.Facts{Now: l.now, Settings: l.subscribed.Settings, Memory: l.memory}
	source := &l.subscribed.Source
	var all []entry
	for i := range source.Subscriptions {
		s := &source.Subscriptions[i]
		v := updates.Remembered(s, f)
		e := entry{name: s.Name(), update: update.Of(&v), record: l.memory.Policies[s.Name()]}
		e.kind = l.kindOf(&v, &e)
		for _, m := range s.Markers {
			e.values = append(e.values, m.Pos)
		}
		if s.Chart != nil {
			e.values = []diag.Pos{{File: lock.FileName}}
		}
		all = append(all, e)
	}
	for n := range source.Broken {
		broken := update.Update{Name: n.String(), Message: "the ImagePolicy, or its ImageRepository, has a mistake"}
		all = append(all, entry{name: n, kind: failing, update: broken, record: l.memory.Policies[n]})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.name.Compare(b.name) })
	return all
}

// kindOf says how a subscription is.
func (l *lister) kindOf(v *updates.Verdict, e *entry) kind {
	_, isSeen := l.memory.Repositories[v.Repository]
	switch {
	case v.Why.Fails():
		return failing
	case e.record.Proposal.IsOpen() && e.record.Proposal.PullRequest != 0:
		return proposed
	case v.Subscription.Why != "":
		return off
	case !isSeen:
		e.update.Message = ""
		return unseen
	case v.Takes():
		return waiting
	case v.Why == updates.NothingFits:
		return unfit
	case len(v.Choice.Newer) == 0:
		return upToDate
	}
	switch v.Choice.Newer[0].Why { // the newest; none is taken
	case imagepolicy.KeptBack:
		return keptBack
	case imagepolicy.Major:
		return major
	case imagepolicy.TooYoung:
	}
	return tooYoung
}

// row shows what is known of a subscription.
func (l *lister) row(e *entry) Row {
	u := &e.update
	r := Row{
		Name: u.Name, Of: words.Printable(u.Image + u.Chart), Range: words.Printable(u.Range), Message: words.Printable(u.Message),
		Current: words.Printable(u.Current), Newest: version(u.Newest), Seen: pages.MomentOf(u.FirstSeen, l.now), Mark: marks[e.rank()].Mark,
	}
	if f := e.record.Failure; f != nil && e.kind == failing {
		r.Since = pages.MomentOf(f.Since, l.now)
	}
	if e.kind == waiting {
		r.Proposes = words.Printable(u.Next)
	}
	if p := e.record.Proposal; p.IsOpen() && p.PullRequest != 0 {
		r.Proposes, r.Request = version(p.Key), request(p)
	}
	r.Last = l.last(e.record.Last)
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(e.record.KeptBack))) {
		if len(r.KeptBack) == keptShown {
			r.MoreKept++
			continue
		}
		r.KeptBack = append(r.KeptBack, Kept{version(key), words.Printable(e.record.KeptBack[key])})
	}
	for _, at := range e.values[:min(len(e.values), valuesShown)] {
		r.Values = append(r.Values, l.at(at))
	}
	r.Others = len(e.values) - len(r.Values)
	return r
}

// request leads to the pull request of a proposal, if what is remembered is an address.
func request(p *updates.Proposal) pages.Link {
	to := pages.Link{Text: "#" + strconv.Itoa(p.PullRequest)}
	if at, err := url.Parse(p.URL); err == nil && at.Host != "" && (at.Scheme == "https" || at.Scheme == "http") {
		to.URL = p.URL
	}
	return to
}

// last shows what was merged or committed last; nil for nothing.
func (l *lister) last(p *updates.Proposal) *Last {
	if p == nil {
		return nil
	}
	is := &Last{Version: version(p.Key), Did: "merged"}
	if p.IsCommitted() {
		is.Did = "committed"
	}
	if p.PullRequest != 0 {
		is.Request = request(p)
	}
	if _, err := files.ParseID(p.Merged); err != nil {
		return is // somebody wrote it by hand
	}
	is.Commit = pages.Link{Text: p.Merged[:12], URL: l.site.Commit(p.Merged)}
	if a := l.author(p.Merged); a != nil {
		when := pages.MomentOf(a.When, l.now)
		is.When, is.By = &when, words.Printable(a.Name)
	}
	return is
}

// version is a version as it is shown: of a digest the first digits.
func version(key string) string {
	tag, digest, is := strings.Cut(words.Printable(key), "@")
	if is {
		tag += "@" + digest[:min(len(digest), len("sha256:")+8)]
	}
	return tag
}

// at leads to a place in the source.
func (l *lister) at(pos diag.Pos) pages.Link {
	return pages.Link{Text: words.Printable(pos.String()), URL: l.site.File(l.subscribed.Commit, pos.File, pos.Line)}
}
