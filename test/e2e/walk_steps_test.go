//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// step is one that may be drawn.
type step struct {
	name   string
	weight int
	alone  bool // all is as it should be before it begins, and after it
	may    func() bool
	do     func() (what string)
}

func (w *walk) steps() []step {
	always := func() bool { return true }
	at := func(marks map[string]bool) func() bool { return func() bool { return len(marked(marks)) > 0 } }
	noneAt := func(marks ...map[string]bool) func() bool {
		return func() bool {
			return !slices.ContainsFunc(marks, func(m map[string]bool) bool { return len(marked(m)) > 0 })
		}
	}
	return []step{
		{"the source changes", 12, false, always, w.change},
		{"something comes into the source", 8, false, always, w.comes},
		{"something leaves the source", 10, false, func() bool { return len(w.things) > 6 }, w.leaves},
		{"something is called otherwise", 6, false, always, w.rename},
		{"something moves by its policy", 8, false, noneAt(w.cordoned, w.drained), w.moves},
		{"a kustomization lists other files", 6, false, always, w.lists},
		{"a Deployment is scaled", 6, false, always, w.scale},
		{"an object of a kind of ours comes or leaves", 6, false, func() bool { return w.hasKind }, w.widget},
		{"a Namespace leaves or comes", 3, true, always, func() string { return w.held(&w.hasExtra, "the Namespace extra") }},
		{"a CRD leaves or comes", 3, true, always, func() string { return w.held(&w.hasKind, "the CRD of Widgets") }},
		{"somebody edits a field", 8, false, always, w.edit},
		{"somebody adds a label", 6, false, always, w.label},
		{"somebody deletes an object", 8, false, always, w.deletes},
		{"somebody makes an object", 4, false, always, w.makes},
		{"somebody has an object of that name", 3, true, noneAt(w.cordoned, w.drained, w.suspended), w.collides},
		{"somebody replaces an object", 3, true, noneAt(w.cordoned, w.drained, w.suspended), w.replaces},
		{"a cluster is cordoned", 3, true, noneAt(w.cordoned, w.drained), func() string { return w.mark(w.cordoned, "cordoned") }},
		{"a cluster is no longer cordoned", 4, true, at(w.cordoned), func() string { return w.unmark(w.cordoned, "no longer cordoned") }},
		{"a cluster is drained", 2, true, noneAt(w.cordoned, w.drained), func() string { return w.mark(w.drained, "drained") }},
		{"a cluster is no longer drained", 5, true, at(w.drained), w.undrain},
		{"a cluster is suspended", 3, true, noneAt(w.suspended), func() string { return w.mark(w.suspended, "suspended") }},
		{"a cluster is resumed", 4, true, at(w.suspended), func() string { return w.unmark(w.suspended, "resumed") }},
		{"an API server dies", 8, false, always, w.dies},
		{"an API server starts slowly", 6, false, always, w.startsSlowly},
		{"an API server hangs", 6, false, always, w.hangs},
		{"a cluster is lost, and returns", 2, true, noneAt(w.cordoned, w.drained, w.suspended), w.lost},
	}
}

// step has a drawn one happen, with so many kills.
func (w *walk) step(kills int) {
	var may []step
	sum := 0
	for _, s := range w.steps() {
		if s.may() {
			may, sum = append(may, s), sum+s.weight
		}
	}
	n := w.IntN(sum)
	i := slices.IndexFunc(may, func(s step) bool { n -= s.weight; return n < 0 })
	s := may[i]
	if s.alone {
		w.settle("what came before " + s.name)
	}
	over := func() {}
	if kills > 0 {
		over = w.strike()
	}
	what := s.do()
	over()
	for range kills - 1 {
		w.strike()()
	}
	w.stepsDone[s.name]++
	w.lastSteps = append(w.lastSteps[max(0, len(w.lastSteps)-9):], fmt.Sprintf("%d: %s: %s", w.number, s.name, what))
	w.t.Logf("%s step %d: %s: %s", time.Now().UTC().Format("15:04:05"), w.number, s.name, what)
	if s.alone || w.IntN(3) > 0 { // else the next one comes on top of it
		w.settle(what)
	}
}

func marked(marks map[string]bool) []string {
	var all []string
	for name, is := range marks {
		if is {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// drawnOf is a key that is drawn.
func drawnOf[V any](w *walk, of map[string]V) string {
	names := slices.Sorted(maps.Keys(of))
	return names[w.IntN(len(names))]
}

func (w *walk) anywhere() string { return w.clusters[w.IntN(len(w.clusters))] }

func (w *walk) change() string {
	name := drawnOf(w, w.things)
	w.values[name]++
	w.store(name + " changes")
	return name
}

func (w *walk) comes() string {
	name, at := fmt.Sprint("n", w.number), ""
	if w.IntN(3) == 0 && len(marked(w.cordoned))+len(marked(w.drained)) == 0 {
		at = w.anywhere()
	}
	w.things[name] = at
	w.store(name + " comes")
	return strings.TrimSpace(name + " " + at)
}

func (w *walk) leaves() string {
	name := drawnOf(w, w.things)
	delete(w.things, name)
	w.store(name + " leaves")
	return name
}

func (w *walk) rename() string {
	name, to := drawnOf(w, w.things), fmt.Sprint("r", w.number)
	at := w.things[name]
	if len(marked(w.cordoned))+len(marked(w.drained)) > 0 {
		at = ""
	}
	w.things[to] = at
	delete(w.things, name)
	w.store(name + " is called " + to)
	return name + " is called " + to
}

// moves has something that is in one cluster be in another one.
func (w *walk) moves() string {
	var pinned []string
	for name, at := range w.things {
		if at != "" {
			pinned = append(pinned, name)
		}
	}
	if len(pinned) == 0 {
		w.things[fmt.Sprint("p", w.number)] = w.anywhere()
		w.store("something comes to one cluster")
		return "something comes to one cluster"
	}
	slices.Sort(pinned)
	name := pinned[w.IntN(len(pinned))]
	w.things[name] = w.anywhere()
	w.store(name + " moves")
	return name + " to " + w.things[name]
}

func (w *walk) lists() string {
	name := drawnOf(w, w.members)
	if name == "m0" { // it would be empty
		name = fmt.Sprint("m", w.number)
		w.members[name] = false
	}
	w.members[name] = !w.members[name]
	w.store(fmt.Sprintf("%s is listed: %t", name, w.members[name]))
	return fmt.Sprintf("%s: %t", name, w.members[name])
}

func (w *walk) scale() string {
	w.replicas = 3 + w.IntN(6)
	w.store(fmt.Sprint(w.replicas, " replicas"))
	return fmt.Sprint(w.replicas, " replicas")
}

func (w *walk) widget() string {
	name := fmt.Sprint("w", w.IntN(6))
	if w.widgets[name] && w.IntN(2) == 0 {
		delete(w.widgets, name)
		w.store(name + " leaves")
		return name + " leaves"
	}
	w.widgets[name] = true
	w.values[name]++
	w.store(name + " comes, or changes")
	return name + " comes, or changes"
}

var digest = regexp.MustCompile(`Waybill-Allow-Prune: ([0-9a-f]+)`)

// held has something of a protected kind come, or leave, which nobody allows at first: then it is
// put back, or a commit allows it.
func (w *walk) held(has *bool, what string) string {
	*has = !*has
	if *has {
		w.store(what + " comes")
		return what + " comes"
	}
	before := len(w.said("controller"))
	w.store(what + " leaves")
	var allowed string
	eventually(w.t, what+" is held", func() (bool, string) {
		said := w.said("controller")[before:]
		if m := digest.FindStringSubmatch(said); m != nil {
			allowed = m[1]
		}
		return allowed != "", said
	})
	if w.IntN(3) == 0 {
		*has = true
		w.store(what + " is put back")
		return what + " is put back"
	}
	w.allow(what, allowed)
	return what + " leaves"
}

// allow has a commit allow the removals of a digest.
func (w *walk) allow(what, digest string) {
	w.mayLeave, w.allowed = what, append(w.allowed, digest)
	w.edge.git(w.source, "commit", "-q", "--allow-empty", "-m", what+" may leave\n\nWaybill-Allow-Prune: "+digest)
}

// allowMore allows what came to be held beside what may leave, as what failed over meanwhile: its digest is another one,
// so that nothing goes which nobody saw.
func (w *walk) allowMore() {
	said := w.said("controller")
	all := digest.FindAllStringSubmatch(said, -1)
	if w.mayLeave == "" || len(all) == 0 {
		return
	}
	if last := all[len(all)-1][1]; !slices.Contains(w.allowed, last) {
		w.allow(w.mayLeave, last)
	}
}

// hand sends what somebody does by hand to a cluster, if that answers.
func (w *walk) hand(cluster, method, path, body string) (status int, answer []byte) {
	return w.apis[cluster].do(method, path+"?fieldManager=hand", "application/merge-patch+json", []byte(body))
}

func (w *walk) edit() string {
	cluster, name := w.anywhere(), drawnOf(w, w.things)
	status, _ := w.hand(cluster, http.MethodPatch, at("ConfigMap", walks, name), `{"data":{"value":"edited"}}`)
	return fmt.Sprintf("%s in %s: %d", name, cluster, status)
}

func (w *walk) label() string {
	cluster, name := w.anywhere(), drawnOf(w, w.things)
	status, _ := w.hand(cluster, http.MethodPatch, at("ConfigMap", walks, name),
		fmt.Sprintf(`{"metadata":{"labels":{"theirs-%d":"stays"}},"data":{"theirs-%[1]d":"stays"}}`, w.number))
	return fmt.Sprintf("%s in %s: %d", name, cluster, status)
}

func (w *walk) deletes() string {
	cluster := w.anywhere()
	path := at("ConfigMap", walks, drawnOf(w, w.things))
	switch {
	case w.IntN(4) == 0:
		path = at("Deployment", walks, "web")
	case w.hasKind && len(w.widgets) > 0 && w.IntN(3) == 0:
		path = at("Widget", walks, drawnOf(w, w.widgets))
	}
	status, _ := w.hand(cluster, http.MethodDelete, path, "")
	return fmt.Sprintf("%s in %s: %d", path, cluster, status)
}

// makes makes an object that has all marks of Waybill's, and that Waybill did not make.
func (w *walk) makes() string {
	cluster, name := w.anywhere(), fmt.Sprint("foreign", w.number)
	return name + " in " + cluster + ": " + w.made(cluster, name)
}

func (w *walk) made(cluster, name string) string {
	status, body := w.apis[cluster].do(http.MethodPost, "/api/v1/namespaces/"+walks+"/configmaps?fieldManager=hand", "application/json",
		fmt.Appendf(nil, `{"metadata":{"name":%q,"labels":{"karmada.io/managed":"true"},"annotations":{"waybill.dev/owner":%q}},"data":{"value":"theirs"}}`, name, w.from))
	if status == http.StatusCreated {
		w.foreign[cluster+" "+at("ConfigMap", walks, name)] = uidIn(w.t, body)
	}
	return fmt.Sprint(status)
}

// collides has somebody own a name that then comes into the source, and leaves it again.
func (w *walk) collides() string {
	cluster, name := w.anywhere(), fmt.Sprint("taken", w.number)
	eventually(w.t, "somebody takes a name", func() (bool, string) {
		status := w.made(cluster, name)
		return status == fmt.Sprint(http.StatusCreated), status
	})
	w.things[name] = ""
	w.store(name + " comes")
	for _, other := range w.clusters {
		if other != cluster {
			eventually(w.t, name+" is in "+other, func() (bool, string) {
				status, body := w.apis[other].do(http.MethodGet, at("ConfigMap", walks, name), "", nil)
				return status == http.StatusOK, string(body)
			})
		}
	}
	delete(w.things, name)
	w.store(name + " leaves")
	return name + " in " + cluster
}

// replaces has somebody put an object of their own in the place of one, which then leaves the source.
func (w *walk) replaces() string {
	cluster, name := w.anywhere(), drawnOf(w, w.things)
	eventually(w.t, "somebody is quicker than Waybill", func() (bool, string) {
		w.hand(cluster, http.MethodDelete, at("ConfigMap", walks, name), "")
		status := w.made(cluster, name)
		return status == fmt.Sprint(http.StatusCreated), status
	})
	delete(w.things, name)
	w.store(name + " leaves")
	return name + " in " + cluster
}

func (w *walk) mark(marks map[string]bool, what string) string {
	cluster := w.anywhere()
	marks[cluster] = true
	w.store(cluster + " is " + what)
	return cluster
}

func (w *walk) unmark(marks map[string]bool, what string) string {
	cluster := marked(marks)[0]
	delete(marks, cluster)
	w.store(cluster + " is " + what)
	return cluster
}

// undrain takes a drain back, whether what left the cluster has left it or not.
func (w *walk) undrain() string {
	maps.Copy(w.returning, w.drained)
	return w.unmark(w.drained, "no longer drained")
}

// during has a commit come while an API server is away.
func (w *walk) during() string {
	return []func() string{w.change, w.comes, w.leaves, w.rename, w.scale, func() string { return "nothing" }}[w.IntN(6)]()
}

func (w *walk) start(a *api) {
	if err := a.process.Restart(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walk) ready(a *api) {
	if err := a.cluster.Ready(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walk) dies() string {
	cluster := w.anywhere()
	a := w.apis[cluster]
	a.process.Stop()
	what := w.during()
	w.start(a)
	w.ready(a)
	return cluster + ", meanwhile " + what
}

// startsSlowly has an API server not run for three quarters of the time while it starts.
func (w *walk) startsSlowly() string {
	cluster := w.anywhere()
	a := w.apis[cluster]
	a.process.Stop()
	what := w.during()
	w.start(a)
	const pulse = 300 * time.Millisecond
	pulses := 5 + w.IntN(15)
	for range pulses {
		_ = a.process.Signal(syscall.SIGSTOP)
		time.Sleep(pulse)
		_ = a.process.Signal(syscall.SIGCONT)
		time.Sleep(pulse / 3)
	}
	w.ready(a)
	return fmt.Sprintf("%s, in %d pulses, meanwhile %s", cluster, pulses, what)
}

func (w *walk) hangs() string {
	cluster, lasts := w.anywhere(), time.Duration(1000+w.IntN(8000))*time.Millisecond
	a := w.apis[cluster]
	stop := a.process.Signal(syscall.SIGSTOP)
	what := w.during()
	time.Sleep(lasts)
	if err := errors.Join(stop, a.process.Signal(syscall.SIGCONT)); err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%s for %s, meanwhile %s", cluster, lasts, what)
}

// lost has an API server be away until that is recorded and its Deployment is elsewhere, and return.
func (w *walk) lost() string {
	cluster := w.anywhere()
	a := w.apis[cluster]
	a.process.Stop()
	eventually(w.t, cluster+" is seen to be lost", func() (bool, string) {
		seen := w.observed(cluster)
		return strings.Contains(seen, "reason: ClusterNotReachable"), seen
	})
	eventually(w.t, "its work is elsewhere", func() (bool, string) {
		n := 0
		for _, other := range w.clusters {
			if other != cluster {
				n += replicasOf(w.manifests(other))
			}
		}
		return n >= w.replicas, fmt.Sprintf("%d replicas of %d", n, w.replicas)
	})
	what := w.during()
	w.start(a)
	w.ready(a)
	eventually(w.t, cluster+" is seen to be back", func() (bool, string) {
		seen := w.observed(cluster)
		return strings.Contains(seen, "reason: ClusterReady"), seen
	})
	return cluster + ", meanwhile " + what
}

// tarred are the files of an archive.
func tarred(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	archive := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(archive)
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			all[h.Name] = text
		}
	}
}
