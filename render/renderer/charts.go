package renderer

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
)

// withCharts is the files of a source and, below engine.ChartDir, the charts that its
// lock file names: each is fetched when it is asked for.
type withCharts struct {
	all fs.FS // the files and the charts
	own fs.FS // the files

	ctx    context.Context //nolint:containedctx // a file system's methods take none, and this one lives for one call
	charts Charts
	locked map[string]lock.Entry // by folder

	mu     sync.Mutex
	got    map[string]fs.FS
	failed map[string]error // by folder: why a chart could not be fetched
}

// newWithCharts reads the lock file of a snapshot. One that cannot be read names
// nothing; loading the source says what is wrong with it.
func newWithCharts(ctx context.Context, s sources.Snapshot, charts Charts) *withCharts {
	w := &withCharts{own: sources.FS(s), ctx: ctx, charts: charts, locked: map[string]lock.Entry{}, got: map[string]fs.FS{}, failed: map[string]error{}}
	w.all = sources.Mounted(w.at)
	if data, err := fs.ReadFile(w.own, lock.FileName); err == nil {
		l, _ := lock.Parse(data)
		for _, e := range l.Entries() {
			w.locked[engine.ChartFolder(e.Ref)] = e
		}
	}
	return w
}

// entry returns the chart that a path is in, and the path within it.
func (w *withCharts) entry(name string) (e lock.Entry, within string, ok bool) {
	rest, below := strings.CutPrefix(name, engine.ChartDir+"/")
	folder, within, deeper := strings.Cut(rest, "/")
	if !deeper {
		within = "."
	}
	e, ok = w.locked[folder]
	return e, within, below && ok
}

// at returns the file system that has a path, and the path within it.
func (w *withCharts) at(name string) (fs.FS, string, error) {
	e, within, ok := w.entry(name)
	if !ok || w.charts == nil {
		return w.own, name, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if files, ok := w.got[e.Digest]; ok {
		return files, within, nil
	}
	files, err := w.charts.Fetch(w.ctx, e)
	if err != nil {
		w.failed[engine.ChartFolder(e.Ref)] = err
		return nil, "", err
	}
	w.got[e.Digest] = files
	return files, within, nil
}

// missed returns why a chart among paths that were read could not be fetched.
func (w *withCharts) missed(reads []worker.Read) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, read := range reads {
		if e, _, ok := w.entry(read.Path); ok && w.failed[engine.ChartFolder(e.Ref)] != nil {
			return w.failed[engine.ChartFolder(e.Ref)]
		}
	}
	return nil
}

// Charts gets charts. *chart.Store is one.
type Charts interface {
	Resolve(ctx context.Context, r lock.Ref) (lock.Entry, error)
	Fetch(ctx context.Context, e lock.Entry) (fs.FS, error)
}

// Locked gives the charts that lock files name, and no others: it resolves nothing.
type Locked struct {
	Charts Charts
	Locks  []lock.Lock
}

// Resolve refuses: a version that no lock settles would be looked for in the network.
func (l *Locked) Resolve(_ context.Context, r lock.Ref) (lock.Entry, error) {
	for _, known := range l.Locks {
		if e, ok := known.Lookup(r); ok {
			return e, nil
		}
	}
	return lock.Entry{}, fmt.Errorf("the chart %s is not in %s of the branch that the change goes to, and a stranger's change fetches nothing", r, lock.FileName)
}

// Fetch gets a chart that a lock names. The locks may name other digests of it.
func (l *Locked) Fetch(ctx context.Context, e lock.Entry) (fs.FS, error) {
	if _, err := l.Resolve(ctx, e.Ref); err != nil {
		return nil, err
	}
	for _, known := range l.Locks {
		if named, ok := known.Lookup(e.Ref); ok && named.Digest == e.Digest {
			return l.Charts.Fetch(ctx, named)
		}
	}
	return nil, fmt.Errorf("the chart %s is another one in %s of the branch that the change goes to, and a stranger's change fetches nothing", e.Ref, lock.FileName)
}
