// Package audit judges what Waybill did to clusters, by git and by the audit logs of their API servers,
// and by nothing of Waybill's. Every deletion has to be justified: by a commit of the cluster's branch
// that lacks the object, which was published and was being applied at that time. See Fleet.Judge.
package audit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// stale is how long a branch may have had an object again when an older commit has it deleted.
	stale = 30 * time.Second
	// late is how long a request may be on its way that somebody sent who was killed meanwhile.
	late = 5 * time.Second
)

// Fleet is what is judged.
type Fleet struct {
	Source   string            // the source's repository; its commits say what is wanted, see Wanted
	Branches string            // the repository of the clusters' branches
	Pushes   string            // what Record noted of it
	Logs     map[string]string // the audit logs, by cluster
	User     string            // as whom Waybill logs in to the API servers
	Hand     string            // the field manager of those who edit by hand
}

// Verdict is what was found.
type Verdict struct {
	Commits, Writes, Deletions int
	Moved, Allowed             int      // deletions by a failover, and of a protected kind
	Unanswered                 int      // requests of Waybill that their server did not live to answer
	Wrong                      []string // what nothing justifies
}

func (v *Verdict) wrong(format string, args ...any) {
	v.Wrong = append(v.Wrong, fmt.Sprintf(format, args...))
}

// Judge reads everything, and holds that
//
//   - what left a cluster's branch was wanted there no longer by the source commit, and a protected kind
//     was allowed to leave by a commit;
//   - each object that Waybill deleted was one that Waybill had made, named by its UID, lacked by the
//     commit of the branch that was being applied, by the inventory, and was not on the branch again for long;
//   - what left by a failover was applied in another cluster before;
//   - Waybill deleted no collections, changed nothing that others had made, and took no field away that
//     somebody had added by hand.
func (f *Fleet) Judge() (*Verdict, error) {
	pushes, err := readPushes(f.Pushes)
	if err != nil {
		return nil, err
	}
	v, named, wants := &Verdict{}, map[string]Ref{}, map[string]map[string]string{}
	clusters := map[string]*cluster{}
	for name, path := range f.Logs {
		c := &cluster{Fleet: f, Verdict: v, name: name, wants: wants}
		if c.commits, err = repository(f.Branches).branch(name, pushes, named); err != nil {
			return nil, err
		}
		if c.requests, err = readLog(path); err != nil {
			return nil, err
		}
		clusters[name] = c
	}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		c := clusters[name]
		if err := c.history(); err != nil {
			return nil, err
		}
		c.know()
		for _, r := range c.requests {
			if r.user == f.User {
				c.judge(r, clusters)
			}
		}
	}
	return v, nil
}

// cluster is one that is judged.
type cluster struct {
	*Fleet
	*Verdict

	name     string
	commits  []*commit
	requests []*request
	wants    map[string]map[string]string // by source commit
	foreign  map[string]bool              // UIDs that others made
	heads    []head
}

// head is a commit that Waybill noted to be applying.
type head struct {
	at     time.Time
	commit string // empty: the answer is not known
}

// history holds that nothing left the branch without a cause.
func (c *cluster) history() error {
	for i, now := range c.commits {
		c.Commits++
		if i == 0 {
			continue
		}
		before := c.commits[i-1]
		wants, known := c.wants[now.source]
		if !known {
			wants = repository(c.Source).wants(now.source)
			c.wants[now.source] = wants
		}
		for ref := range before.objects {
			if _, there := now.objects[ref]; there {
				continue
			}
			if err := c.departure(ref, before, now, wants); err != nil {
				return err
			}
		}
	}
	return nil
}

// departure holds that what left the branch from one commit to the next was wanted there no longer, and was
// allowed to leave if its kind is protected.
func (c *cluster) departure(ref Ref, before, now *commit, wants map[string]string) error {
	isProtected, allowed := slices.Contains(protected, ref.Resource), false
	if isProtected {
		var err error
		if allowed, err = repository(c.Source).allows(before.source, now.source); err != nil {
			return err
		}
	}
	if class := wants[c.name+" "+ref.String()]; class == Must || class == May && !allowed {
		c.wrong("%s: %s left the branch by %s, and its source commit %s wants it there", c.name, ref, short(now.id), short(now.source))
	}
	if isProtected && !allowed {
		c.wrong("%s: %s, of a protected kind, left the branch by %s, and nobody allowed it", c.name, ref, short(now.id))
	}
	return nil
}

// know finds out who made what, and which commits were applied when.
func (c *cluster) know() {
	c.foreign = map[string]bool{}
	for _, r := range c.requests {
		uid := r.object.Metadata.UID
		if r.user != c.User && uid != "" && r.created {
			c.foreign[uid] = true
		}
		if r.user != c.User || !r.isInventory() || r.verb == "delete" {
			continue
		}
		encoded, _ := r.object.Data["head"].(string)
		if r.unanswered {
			c.heads = append(c.heads, head{r.to, ""})
		} else if encoded != "" {
			var h struct{ Commit string }
			data, err := base64.StdEncoding.DecodeString(encoded)
			if err == nil {
				err = json.Unmarshal(data, &h)
			}
			if err != nil {
				c.wrong("%s: the head of the inventory cannot be read: %v", c.name, err)
			}
			c.heads = append(c.heads, head{r.to, h.Commit})
		}
	}
	slices.SortFunc(c.heads, func(a, b head) int { return a.at.Compare(b.at) })
}

// isInventory says that a request is one of those by which Waybill remembers what it applied.
func (r *request) isInventory() bool {
	return r.Resource == "secrets" && r.Namespace == "waybill-system" && (r.Name == "" || strings.HasPrefix(r.Name, "waybill-"))
}

func (c *cluster) judge(r *request, all map[string]*cluster) {
	if r.unanswered {
		c.Unanswered++
	}
	switch {
	case r.isInventory():
	case r.verb == "deletecollection":
		c.wrong("%s: %s of %s was deleted as a collection at %s", c.name, r.Resource, r.Namespace, stamp(r.from))
	case r.verb == "delete":
		c.deletion(r, all)
	case !r.unanswered:
		c.Writes++
		c.write(r)
	}
}

// deletion holds that an object was deleted for a reason.
func (c *cluster) deletion(r *request, all map[string]*cluster) {
	c.Deletions++
	blame := func(format string, args ...any) {
		c.wrong("%s: %s was deleted at %s, %s", c.name, r.Ref, stamp(r.from), fmt.Sprintf(format, args...))
	}
	if r.named {
		c.identity(r, blame)
	}
	applied := c.applying(r.from)
	i := -1 // the newest of those that lack it
	for _, one := range applied {
		if _, has := one.objects[r.Ref]; !has {
			i = max(i, slices.Index(c.commits, one))
		}
	}
	switch {
	case len(applied) == 0:
		blame("and no commit of the branch was being applied that was published by then")
		return
	case i < 0:
		blame("though it is on the branch at %s, which was being applied", short(applied[len(applied)-1].id))
		return
	case !slices.ContainsFunc(newest(c.commits, r.from, stale), func(one *commit) bool { _, has := one.objects[r.Ref]; return !has }):
		blame("though the branch had it for %s", stale)
		return
	}
	for i >= 0 && c.commits[i].objects[r.Ref] == "" {
		i--
	}
	if i < 0 {
		blame("and never was on the branch")
		return
	}
	if slices.Contains(protected, r.Resource) {
		c.Allowed++ // history holds it
	}
	if c.commits[i+1].failedOver[c.commits[i].objects[r.Ref]] {
		c.Moved++
		elsewhere := slices.ContainsFunc(slices.Collect(maps.Values(all)), func(other *cluster) bool { return other != c && other.had(r.Ref, r.from) })
		if !elsewhere && c.isWanted(r.Ref, newestSource(all, r.from)) { // it may have left the source since, as while nothing was applied here
			blame("because the cluster failed, and no other one had it")
		}
	}
}

// isWanted reports that a source commit wants an object in any cluster.
func (c *cluster) isWanted(ref Ref, source string) bool {
	for place := range c.wants[source] {
		if strings.HasSuffix(place, " "+ref.String()) {
			return true
		}
	}
	return false
}

// newestSource is the source commit of the newest commit that any cluster had been published at a moment.
func newestSource(all map[string]*cluster, at time.Time) string {
	var newest *commit
	for _, c := range all {
		for _, one := range c.commits {
			if !one.published.After(at) && (newest == nil || one.published.After(newest.published)) {
				newest = one
			}
		}
	}
	if newest == nil {
		return ""
	}
	return newest.source
}

// identity holds that a deletion names an object that Waybill made.
func (c *cluster) identity(r *request, blame func(string, ...any)) {
	uid := r.precondition
	switch {
	case uid == "":
		blame("whatever its UID was")
	case c.foreign[uid]:
		blame("and somebody else had made it")
	case !slices.ContainsFunc(c.requests, func(w *request) bool {
		mine := w.user == c.User && w.verb != "delete" && w.from.Before(r.from)
		return mine && (w.object.Metadata.UID == uid || w.unanswered && w.Ref == r.Ref)
	}):
		blame("and Waybill had never written it")
	}
}

// applying are the commits that may have been under way at a moment, by what the inventory says: the
// last one that was noted, one that was noted before it and not long ago, and, where an answer was lost, all that
// were published since.
func (c *cluster) applying(at time.Time) (found []*commit) {
	byID := func(id string) int {
		return slices.IndexFunc(c.commits, func(one *commit) bool { return one.id == id })
	}
	isPublished := func(one *commit) bool { return !one.published.After(at) }
	until := at
	anyAfter := false
	for _, h := range slices.Backward(c.heads) {
		switch {
		case h.at.After(at):
			continue
		case until.Before(at.Add(-late)):
			return found
		}
		until = h.at
		i := byID(h.commit)
		if h.commit == "" {
			anyAfter, until = true, at
			continue
		}
		if i < 0 {
			continue
		}
		after := c.commits[i : i+1]
		if anyAfter {
			after, anyAfter = c.commits[i:], false
		}
		for _, one := range after {
			if isPublished(one) {
				found = append(found, one)
			}
		}
	}
	if anyAfter {
		found = append(found, newest(c.commits, at, stale)...)
	}
	return found
}

// had reports whether Waybill had applied an object at a moment, and not deleted it since.
func (c *cluster) had(ref Ref, at time.Time) (has bool) {
	for _, r := range c.requests {
		if r.Ref == ref && r.user == c.User && r.from.Before(at) {
			has = r.verb != "delete"
		}
	}
	return has
}

// write holds that a write changed only what is Waybill's.
func (c *cluster) write(r *request) {
	uid := r.object.Metadata.UID
	if c.foreign[uid] {
		c.wrong("%s: %s was changed at %s, and somebody else had made it", c.name, r.Ref, stamp(r.from))
	}
	var before *request
	for _, other := range c.requests {
		if other != r && uid != "" && other.object.Metadata.UID == uid && other.to.Before(r.from) {
			before = other
		}
	}
	if before == nil {
		return
	}
	isHand := func(manager string) bool { return manager == c.Hand }
	now := r.object.owned(func(string) bool { return true })
	for path := range before.object.owned(isHand) {
		if !now[path] {
			c.wrong("%s: %s lost %s at %s, which somebody had added by hand", c.name, r.Ref, path, stamp(r.from))
		}
	}
}

func stamp(t time.Time) string { return t.UTC().Format("15:04:05.000") }
