// Package propose looks for new versions of images and proposes them: it asks registries, remembers on a branch, pushes a branch
// a subscription, and keeps a pull request for each at a forge. What is decided, package updates decides.
//
// A branch is pushed only if what it changes is another change than before, and only over a commit of Waybill's: as soon as
// somebody else's is on it, it is theirs, and nothing is written to it any more. The branch and what is remembered of it
// move in one push. The branch that is followed is never pushed.
package propose

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/registry"
)

// Registry is what registries are asked. *registry.Client is one, whose comments say what each method does.
type Registry interface {
	Tags(ctx context.Context, repository string, known registry.Known) (registry.Known, error)
	Image(ctx context.Context, ref string) (registry.Image, error)
	Digest(ctx context.Context, ref string) (string, error)
	Verify(ctx context.Context, ref string, keys []registry.Key) error
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

// Looker looks at registries.
type Looker struct {
	Registry Registry
	Memory   *updates.Memory // which notes what they say
	Now      time.Time
}

// Look asks registries what there is, notes it in the memory, and says what comes next. Source is what package updates read of
// the snapshot. A registry that does not answer is a reason of its subscriptions, and no error.
func (by *Looker) Look(ctx context.Context, s sources.Snapshot, source updates.Source, settings subscribe.Updates) (Found, error) {
	l := look{by: by.Registry, snapshot: s, found: Found{Source: source, Images: map[images.Name]registry.Image{}}}
	l.facts = updates.Facts{Now: by.Now, Settings: settings, Memory: by.Memory, Failed: map[string]error{}}
	l.tags(ctx)
	for i := range l.found.Source.Subscriptions {
		v := updates.Judge(&l.found.Source.Subscriptions[i], l.facts)
		l.pin(ctx, &v)
		l.found.Verdicts = append(l.found.Verdicts, v)
	}
	return l.found, ctx.Err()
}

// look is one look.
type look struct {
	by       Registry
	snapshot sources.Snapshot
	facts    updates.Facts
	found    Found
}

// tags asks each repository once.
func (l *look) tags(ctx context.Context) {
	asked := map[string]bool{}
	for i := range l.found.Source.Subscriptions {
		s := &l.found.Source.Subscriptions[i]
		image := s.Policy.Repository.Image
		if s.Why != "" || asked[image] {
			continue
		}
		asked[image] = true
		known, err := l.by.Tags(ctx, image, l.facts.Memory.Repositories[image].Known)
		if err != nil {
			l.facts.Failed[image] = err
			continue
		}
		l.facts.Memory.See(image, known, l.facts.Now)
	}
}

// pin finds out what is to be written stands for, and whether who has to signed it.
func (l *look) pin(ctx context.Context, v *updates.Verdict) {
	if !v.Takes() {
		return
	}
	image := v.Policy.Repository.Image
	ref := image + ":" + v.Next.Tag
	if v.Moved() { // most do not move: one request is enough to see that
		digest, err := l.by.Digest(ctx, ref)
		if err != nil {
			v.Refuse(updates.NotAnswered, err.Error())
			return
		}
		if digest == v.Current.Digest {
			v.Pin(digest, l.facts)
			return
		}
	}
	built, err := l.by.Image(ctx, ref)
	if err != nil {
		v.Refuse(updates.NotAnswered, err.Error())
		return
	}
	if v.Moved() {
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
	l.found.Images[v.Name()] = built
}

// verify is an error if an image is not signed as the source wants it, or that cannot be known, with which of the two it is.
func (l *look) verify(ctx context.Context, image, digest string) (updates.Why, error) {
	files := l.facts.Settings.KeysOf(image)
	if len(files) == 0 {
		return "", nil
	}
	var keys []registry.Key
	for _, file := range files {
		data, err := l.snapshot.ReadFile(file)
		if err != nil {
			return updates.Unverified, fmt.Errorf("reading the key %s: %w", file, err)
		}
		some, err := registry.ParseKeys(file, data)
		if err != nil {
			return updates.Unverified, fmt.Errorf("reading the key %s: %w", file, err)
		}
		keys = append(keys, some...)
	}
	err := l.by.Verify(ctx, image+"@"+digest, keys)
	if registry.ClassOf(err) == registry.Unverified {
		return updates.Unverified, err
	}
	return updates.NotAnswered, err
}
