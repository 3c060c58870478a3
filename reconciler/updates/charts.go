package updates

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Charts are the charts of repositories that a source names.
type Charts struct {
	Uses []planner.ChartUse
	// Unsure says that there may be others, in what cannot be read or is suspended.
	Unsure bool
}

// Chart is a chart that a source names by a range, or by a tag that moves, and that its lock file has.
type Chart struct {
	planner.ChartUse
	was lock.Entry
}

// ChartFolder stands for the namespace in the names of charts. No namespace is called so.
const ChartFolder = "_charts"

// name is one for each reference, which a branch may have: the chart's, and some digits of what the whole reference is.
func (c *Chart) name() images.Name {
	sum := sha256.Sum256([]byte(string(c.Kind) + " " + c.Normal().String()))
	return images.Name{Namespace: ChartFolder, Name: strings.ReplaceAll(c.Name, "..", "-") + "-" + hex.EncodeToString(sum[:4])}
}

// RepositoryOf names what has the versions of a chart.
func RepositoryOf(ref lock.Ref) string {
	return strings.TrimRight(ref.Repository, "/") + "/" + ref.Name
}

// Range is what the reference says of versions, for people.
func (c *Chart) Range() string { return cmp.Or(strings.TrimSpace(c.Constraint), "*") }

// Moves reports a chart of a registry that is named by a tag that may stand for another archive tomorrow, as latest.
func (c *Chart) Moves() bool { return isMovingTag(c.Ref) }

// isMovingTag reports a reference to a tag of a registry that is no version in full. What may be a range is taken for one.
func isMovingTag(r lock.Ref) bool {
	named := strings.TrimSpace(r.Constraint)
	return r.Kind == lock.OCI && !lock.IsRange(named) && !lock.IsVersion(named) && !lock.IsDigest(named)
}

// Subscribes reports a reference that stands for something else when something newer is there: a range, or a tag that moves.
func Subscribes(r lock.Ref) bool { return lock.IsRange(r.Constraint) || isMovingTag(r) }

// valueOf is what an entry says, as a value: the version and the digest of the archive, or a tag that moves and the digest that it
// stands for.
func valueOf(e lock.Entry) marker.Image {
	if isMovingTag(e.Ref) {
		_, digest, _ := strings.Cut(e.URL, "@")
		return marker.Image{Tag: strings.TrimSpace(e.Constraint), Digest: digest}
	}
	return marker.Image{Tag: e.Version, Digest: e.Digest}
}

// rule says which versions of a chart are wanted.
func (c *Chart) rule() (*imagepolicy.Rule, error) {
	if c.Moves() {
		return imagepolicy.Read(imagepolicy.Spec{Alphabetical: imagepolicy.Ascending, Pattern: "^" + regexp.QuoteMeta(c.Range()) + "$"})
	}
	return imagepolicy.Read(imagepolicy.Spec{Range: c.Range(), Loose: c.Kind == lock.Helm})
}

// lockOf is the lock file of a version of a source; empty where it has none that can be read.
func lockOf(s sources.Snapshot) (lock.Lock, error) {
	data, err := lockFile(s)
	if err != nil {
		return lock.Lock{}, err
	}
	if l, err := lock.Parse(data); err == nil {
		return l, nil
	}
	return lock.Lock{}, nil // nothing is known of it then
}

// lockFile is the content of the lock file; nil where there is none.
func lockFile(s sources.Snapshot) ([]byte, error) {
	data, err := s.ReadFile(lock.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for charts: %w", err)
	}
	return data, nil
}

// readCharts adds the charts that a range, or a tag that moves, names and that the lock file has, in the order of names, each
// reference once.
func (s *Source) readCharts(from sources.Snapshot, locked *lock.Lock, charts Charts) (err error) {
	s.Unsure = charts.Unsure
	if s.lock, err = lockFile(from); err != nil || len(s.lock) == 0 {
		return err
	}
	var all []Subscription
	for _, use := range charts.Uses {
		was, ok := locked.Lookup(use.Ref)
		if !ok || !Subscribes(use.Ref) {
			continue
		}
		c := &Chart{use, was}
		rule, err := c.rule()
		if err != nil {
			continue // lock.IsRange read it
		}
		all = append(all, Subscription{
			Chart: c, Repository: RepositoryOf(use.Ref), Rule: rule, Current: valueOf(was),
		})
	}
	slices.SortStableFunc(all, func(a, b Subscription) int { return a.Name().Compare(b.Name()) })
	all = slices.CompactFunc(all, func(a, b Subscription) bool { return a.Name() == b.Name() })
	s.Subscriptions = append(s.Subscriptions, all...)
	return nil
}

// Lock tells the entry of the chart for what is to be written. One of another version than was chosen is refused. Of a tag that moves
// Pin comes next.
func (v *Verdict) Lock(e lock.Entry) {
	if v.moved {
		v.entry = e
		return
	}
	if c, known := v.Rule.Compare(e.Version, v.Next.Tag); !known || c != 0 {
		v.Refuse(NotAnswered, fmt.Sprintf("%s is version %q there", v.Next.Tag, e.Version))
		return
	}
	v.entry, v.Next = e, valueOf(e)
}

// relock is the lock file with the new entries of charts, and whether it is another one.
func (s *Source) relock(all []*Verdict) (data []byte, is bool, err error) {
	data = s.lock
	for _, v := range all {
		if v.Chart == nil {
			continue
		}
		if data, err = lock.Replace(data, v.entry); err != nil {
			return nil, false, fmt.Errorf("writing the entry of a chart: %w", err)
		}
		is = true
	}
	return data, is, nil
}
