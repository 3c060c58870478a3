package propose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

// Registry is what registries are asked. *registry.Client is one, whose comments say what each method does.
type Registry interface {
	Tags(ctx context.Context, repository string, known registry.Known) (registry.Known, error)
	Image(ctx context.Context, ref string) (registry.Image, error)
	Digest(ctx context.Context, ref string) (string, error)
	Verify(ctx context.Context, ref string, keys []registry.Key) error
}

// Catalog is what repositories of charts are asked. *chart.Catalog is one, whose comments say what each method does.
type Catalog interface {
	Versions(ctx context.Context, ref lock.Ref, known registry.Known) (registry.Known, error)
	At(ctx context.Context, ref lock.Ref, version string) (lock.Entry, registry.Image, error)
}

// Found is what a source subscribes to, and what comes next for each.
type Found struct {
	Source   updates.Source
	Verdicts []updates.Verdict // in the order of names
	// Images are what those who built what comes next say of it, where that was asked.
	Images map[images.Name]registry.Image
}

// Takes reports whether anything is to be written.
func (f *Found) Takes() bool {
	return slices.ContainsFunc(f.Verdicts, func(v updates.Verdict) bool { return v.Takes() })
}

// Charts lists the charts of repositories that a source names.
type Charts func(context.Context, sources.Snapshot) (updates.Charts, error)

// Subscribed is what a source subscribes to. Charts is asked only where the lock file has some.
func Subscribed(ctx context.Context, s sources.Snapshot, source *render.Source, charts Charts) (updates.Source, error) {
	var named updates.Charts
	if len(source.Lock.Entries()) > 0 {
		var err error
		if named, err = charts(ctx, s); err != nil {
			return updates.Source{}, err
		}
	}
	return updates.Read(s, source, named)
}

// Looker looks at registries.
type Looker struct {
	Registry Registry
	Catalog  Catalog
	Memory   *updates.Memory // which notes what they say
	Now      time.Time
}

// Look asks registries what there is, notes it in the memory, and says what comes next. Source is what package updates read of
// the snapshot. A registry that does not answer is a reason of its subscriptions, and no error.
func (by *Looker) Look(ctx context.Context, s sources.Snapshot, source updates.Source, settings subscribe.Updates) (Found, error) {
	l := look{by: by.Registry, catalog: by.Catalog, snapshot: s, found: Found{Source: source, Images: map[images.Name]registry.Image{}}}
	l.facts = updates.Facts{Now: by.Now, Settings: settings, Memory: by.Memory, Failed: map[string]error{}}
	l.tags(ctx)
	for i := range l.found.Source.Subscriptions {
		v := updates.Judge(&l.found.Source.Subscriptions[i], l.facts)
		l.pin(ctx, &v)
		l.found.Verdicts = append(l.found.Verdicts, v)
	}
	if ctx.Err() == nil {
		by.Memory.Judged(&l.found.Source, l.found.Verdicts, by.Now)
	}
	return l.found, ctx.Err()
}

// look is one look.
type look struct {
	by       Registry
	catalog  Catalog
	snapshot sources.Snapshot
	facts    updates.Facts
	found    Found
}

// tags asks each repository once.
func (l *look) tags(ctx context.Context) {
	asked := map[string]bool{}
	for i := range l.found.Source.Subscriptions {
		s := &l.found.Source.Subscriptions[i]
		if s.Why != "" || asked[s.Repository] || s.Chart != nil && s.Chart.Moves() { // of a tag its digest is asked
			continue
		}
		asked[s.Repository] = true
		known, err := l.versions(ctx, s)
		if err != nil {
			l.facts.Failed[s.Repository] = err
			continue
		}
		l.facts.Memory.See(s.Repository, known, l.facts.Now)
	}
}

// versions asks what there is of a subscription.
func (l *look) versions(ctx context.Context, s *updates.Subscription) (registry.Known, error) {
	known := l.facts.Memory.Repositories[s.Repository].Known
	if s.Chart != nil {
		return l.catalog.Versions(ctx, s.Chart.Ref, known)
	}
	return l.by.Tags(ctx, s.Repository, known)
}

// pin finds out what is to be written stands for, and whether who has to signed it.
func (l *look) pin(ctx context.Context, v *updates.Verdict) {
	if !v.Takes() {
		return
	}
	if v.Moved() && l.stays(ctx, v) { // most do: one request is enough to see that
		return
	}
	if v.Chart != nil {
		l.lock(ctx, v)
		return
	}
	image := v.Repository
	ref := image + ":" + v.Next.Tag
	built, err := l.by.Image(ctx, ref)
	if err != nil {
		v.Refuse(updates.NotAnswered, err.Error())
		return
	}
	if v.Moved() || v.Current.Tag == "" && v.Current.Digest != "" {
		l.facts.Memory.SeeDigest(image, v.Next.Tag, built.Digest, l.facts.Now)
	}
	v.Pin(built.Digest, l.facts)
	if !v.Takes() {
		return
	}
	if why, err := l.verify(ctx, image, built.Digest); err != nil {
		v.Refuse(why, err.Error())
		return
	}
	if !l.edits(v) {
		return
	}
	l.found.Images[v.Name()] = built
}

// edits reports whether what is to be written changes the source. What cannot be written is no matter of others, and a value that is
// what it should be, as the name or the digest alone, is up to date.
func (l *look) edits(v *updates.Verdict) bool {
	switch edited, err := l.found.Source.Edit([]*updates.Verdict{v}); {
	case err != nil:
		v.Refuse(updates.Uneditable, err.Error())
	case len(edited) == 0:
		v.Refuse(updates.UpToDate, "")
		v.Choice.Tag, v.Choice.Newer = "", nil
	}
	return v.Takes()
}

// stays reports whether a tag stands for what it stood for before, or that this cannot be known.
func (l *look) stays(ctx context.Context, v *updates.Verdict) bool {
	at := v.Repository
	if v.Chart != nil {
		at = chart.Address(v.Chart.Ref)
	}
	digest, err := l.by.Digest(ctx, at+":"+v.Next.Tag)
	if err != nil {
		v.Refuse(updates.NotAnswered, err.Error())
		return true
	}
	l.facts.Memory.SeeDigest(v.Repository, v.Next.Tag, digest, l.facts.Now)
	if digest == v.Current.Digest {
		v.Pin(digest, l.facts)
		return true
	}
	return false
}

// lock finds out what the lock file is to say of a chart, and whether who has to signed it.
func (l *look) lock(ctx context.Context, v *updates.Verdict) {
	entry, said, err := l.catalog.At(ctx, v.Chart.Ref, v.Next.Tag)
	if err != nil {
		v.Refuse(updates.NotAnswered, err.Error())
		return
	}
	v.Lock(entry)
	if v.Moved() {
		_, digest, _ := strings.Cut(entry.URL, "@")
		l.facts.Memory.SeeDigest(v.Repository, v.Next.Tag, digest, l.facts.Now)
		v.Pin(digest, l.facts)
	}
	if !v.Takes() {
		return
	}
	if !l.edits(v) {
		return
	}
	for _, asked := range v.Chart.Verifications {
		if why, err := l.verifyChart(ctx, entry, asked); err != nil {
			v.Refuse(why, fmt.Sprintf("%s asks who signed it: %v", asked.By, err))
			return
		}
	}
	l.found.Images[v.Name()] = said
}

// verifyChart is an error if a chart is not signed as a verify of Flux's wants it, or that cannot be known, with which of the two it
// is. What is verified is the manifest that the entry names, which names the archive by its digest.
func (l *look) verifyChart(ctx context.Context, e lock.Entry, asked *flux.Verification) (updates.Why, error) {
	if asked.Problem != "" {
		return updates.Unverified, errors.New(asked.Problem)
	}
	if e.Kind != lock.OCI {
		return updates.Unverified, errors.New("charts of a Helm repository over HTTP have no signature that is checked; Flux does not check one, either")
	}
	_, digest, _ := strings.Cut(e.URL, "@")
	return l.signed(ctx, chart.Address(e.Ref)+"@"+digest, asked.Keys)
}

// verify is an error if an image is not signed as the source wants it, or that cannot be known, with which of the two it is.
func (l *look) verify(ctx context.Context, image, digest string) (updates.Why, error) {
	files := l.facts.Settings.KeysOf(image)
	if len(files) == 0 {
		return "", nil
	}
	keys := map[string]string{}
	for _, file := range files {
		data, err := l.snapshot.ReadFile(file)
		if err != nil {
			return updates.Unverified, fmt.Errorf("reading the key %s: %w", file, err)
		}
		keys[file] = string(data)
	}
	return l.signed(ctx, image+"@"+digest, keys)
}

// signed is an error if none of some keys, by their names, signed what a reference stands for, or that cannot be known, with which of
// the two it is.
func (l *look) signed(ctx context.Context, ref string, files map[string]string) (updates.Why, error) {
	var keys []registry.Key
	for _, name := range slices.Sorted(maps.Keys(files)) {
		some, err := registry.ParseKeys(name, []byte(files[name]))
		if err != nil {
			return updates.Unverified, fmt.Errorf("reading the key %s: %w", name, err)
		}
		keys = append(keys, some...)
	}
	err := l.by.Verify(ctx, ref, keys)
	if registry.ClassOf(err) == registry.Unverified {
		return updates.Unverified, err
	}
	return updates.NotAnswered, err
}
