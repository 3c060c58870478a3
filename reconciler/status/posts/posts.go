// Package posts reads what commit statuses on the branches of clusters say of them, as evidence for what goes out in stages. It asks
// a forge about each commit once a minute at most, and only about clusters that somebody waits for.
package posts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/evidence/commitstatus"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// most is how many commits of a branch are looked at.
const most = 32

// Lister lists what a forge shows at a commit of the repository that is published to. A forge.Forge does.
type Lister interface {
	Statuses(ctx context.Context, commit string) ([]forge.Status, error)
}

// Reader reads commit statuses.
type Reader struct {
	Target published.Repository
	Forge  Lister
	Now    time.Time // of the plan: what it was told holds until another plan may ask again, however long the answer took
	Cache  *Cache
}

// Cache is what is remembered from one plan to the next. The zero value is empty.
type Cache struct{ shown map[string]shown }

// shown is what a forge showed at a commit, and of when the plan is for which it was asked.
type shown struct {
	at  time.Time
	all []forge.Status
}

// Asked is what is asked.
type Asked struct {
	// Clusters are asked about, each since when it was released first: statuses of commits before that matter only where a
	// cluster failed.
	Clusters map[string]time.Time
	Creators []string // whose statuses count
	// Heads are where branches are, Addresses where clusters are published, and Published what is published there.
	Heads     map[string]files.ID
	Addresses render.Addresses
	Published map[string]tree.Published
}

// Read returns what is said of each cluster. Of one of which the forge did not say it, Posted.Failed says why; the error is
// that of the repository.
func (r *Reader) Read(ctx context.Context, asked *Asked) (map[string]*staged.Posted, error) {
	r.forget()
	all := map[string]*staged.Posted{}
	for cluster, since := range asked.Clusters {
		names, err := namesOf(cluster, asked.Published[cluster])
		if err != nil {
			return nil, err
		}
		l := look{reader: r, at: asked.Addresses.Of(cluster), since: since, question: commitstatus.Question{
			Cluster: cluster, Kustomizations: names, Applications: []string{"waybill-" + cluster}, Creators: asked.Creators,
		}}
		if err := l.walk(ctx, asked.Heads[l.at.Branch]); err != nil {
			return nil, fmt.Errorf("reading the branch of %s: %w", cluster, err)
		}
		all[cluster] = l.posted()
	}
	return all, nil
}

// forget forgets what may be asked again.
func (r *Reader) forget() {
	kept := map[string]shown{}
	for commit, s := range r.Cache.shown {
		if r.Now.Before(s.at.Add(staged.AskEvery)) {
			kept[commit] = s
		}
	}
	r.Cache.shown = kept
}

// ask returns what is shown at a commit.
func (r *Reader) ask(ctx context.Context, commit string) ([]forge.Status, error) {
	if s, known := r.Cache.shown[commit]; known {
		return s.all, nil
	}
	list, err := r.Forge.Statuses(ctx, commit)
	if err != nil {
		return nil, err
	}
	r.Cache.shown[commit] = shown{r.Now, list}
	return list, nil
}

// look is a look at the branch of a cluster.
type look struct {
	reader   *Reader
	at       render.Address
	since    time.Time
	question commitstatus.Question // without commits

	commits []commitstatus.Commit
	trees   []*files.Folder
	isWhole bool // the last commit is the first of the branch
	failed  error
}

// walk asks about commits from a head on: until one says that all is well, or all are asked about that came since the release, and if
// something failed the one before these.
func (l *look) walk(ctx context.Context, id files.ID) error {
	for len(l.commits) < most && !id.IsZero() {
		h, err := l.commit(ctx, id)
		if errors.Is(err, git.ErrMissing) {
			return nil
		}
		if err != nil {
			return err
		}
		is, isOld := l.answer(len(l.commits)).State, isBefore(h.Message, l.since)
		if is == commitstatus.Healthy || isOld && is != commitstatus.FailedBefore {
			return nil
		}
		statuses, err := l.reader.ask(ctx, id.String())
		if err != nil {
			l.failed = err
			return nil
		}
		l.commits, l.trees = append(l.commits, commitstatus.Commit{ID: id.String(), Statuses: statuses}), append(l.trees, h.Tree)
		if isOld {
			return nil
		}
		id, l.isWhole = h.Parent, h.Parent.IsZero()
	}
	return nil
}

// isBefore reports that a commit was planned before a time. While a run is open each commit says when it was planned.
func isBefore(message string, at time.Time) bool {
	planned, err := time.Parse(time.RFC3339, publish.Trailer(message, publish.TrailerTime))
	return err != nil || planned.Before(at)
}

// commit reads a commit, with what it has for the cluster.
func (l *look) commit(ctx context.Context, id files.ID) (git.Head, error) {
	if l.at.Folder == "" {
		return l.reader.Target.Commit(ctx, id)
	}
	h, _, err := l.reader.Target.Within(ctx, id, l.at.Folder)
	return h, err
}

// answer is what the statuses of the newest n commits say.
func (l *look) answer(n int) commitstatus.Answer {
	q := l.question
	q.Commits = l.commits[:n]
	switch {
	case n < len(l.commits):
		q.Before = &l.commits[n]
	case l.isWhole:
		q.Before = &commitstatus.Commit{}
	}
	return q.Read()
}

// posted is what is said of the cluster.
func (l *look) posted() *staged.Posted {
	p := &staged.Posted{Trees: l.trees}
	if l.failed != nil {
		p.Failed = l.failed.Error()
		if errors.Is(l.failed, forge.ErrNotFound) {
			p.Failed = "it does not have the commits of " + l.at.String() + ": is it the repository that is published to?"
		}
		return p
	}
	for n := range l.commits {
		a := l.answer(n + 1)
		p.Said = append(p.Said, said(&a))
		for _, s := range a.Ignored {
			if is := fmt.Sprintf("%s by %s", s.Context, s.Creator); !slices.Contains(p.Ignored, is) {
				p.Ignored = append(p.Ignored, is)
			}
		}
	}
	return p
}

// said is an answer, as plans take it.
func said(a *commitstatus.Answer) (s staged.Said) {
	var refs, failed []string
	for _, is := range a.Spoken {
		refs = append(refs, fmt.Sprintf("%s %s by %s at %.12s", is.Context, is.State, is.Creator, is.Commit))
		if commitstatus.IsFlux(is.Context) {
			s.LeastWait, s.LeastSettle = commitstatus.LeastWait, commitstatus.LeastSettle
		}
		if is.State == forge.Failure || is.State == forge.Broken {
			failed = append(failed, is.Context)
		}
	}
	s.Ref = strings.Join(refs, ", ")
	switch a.State {
	case commitstatus.Silent:
		s = staged.Said{}
	case commitstatus.Progressing:
		s.Health, s.Message = stage.Progressing, "no success yet of "+words.List(a.Missing)
	case commitstatus.Healthy:
		s.Health = stage.Healthy
	case commitstatus.Failed, commitstatus.FailedBefore:
		s.Health, s.Message = stage.Failed, words.List(failed)+" says that it failed"
		s.WasUnhealthy = a.State == commitstatus.FailedBefore
	}
	return s
}
