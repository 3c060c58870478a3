package apply

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
)

const (
	hookIs   = hookAnnotation + "="
	waveIs   = waveAnnotation + "="
	policyIs = policyAnnotation + "="
)

// fleet is a branch with hooks of every phase, and two waves.
func fleet(value string) []Object {
	all := []Object{
		manifest("v1 Namespace shop", nil),
		manifest("batch/v1 Job shop/migrate", nil, hookIs+"PreSync", policyIs+"HookSucceeded"),
		manifest("batch/v1 Job shop/backup", nil, hookIs+"PreSync", waveIs+"-1"),
		manifest("apps/v1 Deployment shop/db", nil),
		manifest("batch/v1 Job shop/seed", nil, hookIs+"Sync"),
		manifest("apps/v1 Deployment shop/web", nil, waveIs+"1"),
		manifest("v1 ConfigMap shop/last", nil, waveIs+"2"),
		manifest("batch/v1 Job shop/smoke", nil, hookIs+"PostSync, Unknown", policyIs+"HookFailed"),
		manifest("batch/v1 Job shop/alarm", nil, hookIs+"SyncFail"),
		manifest("batch/v1 Job shop/skipped", nil, hookIs+"Skip,PreSync"),
		manifest("batch/v1 Job shop/goodbye", nil, hookIs+"PreDelete"),
	}
	for i := range all {
		all[i].Manifest["value"], all[i].Content = value, blob(value+all[i].Ref.String())
	}
	return all
}

func newModel() *model {
	return &model{things: map[object.Ref]thing{}, lives: -1, sick: map[string]Unhealthy{}}
}

// sync applies a commit, and returns what was done, in order; "?" is to wait.
func (m *model) sync(t *testing.T, branch []Object, commit string, retry bool) (done, stopped string) {
	t.Helper()
	m.log = nil
	report, err := m.report(t, branch, blob(commit), retry)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(m.log, " "), report.Stopped
}

func (m *model) syncs(t *testing.T, branch []Object, commit, want, wantStopped string) {
	t.Helper()
	done, stopped := m.sync(t, branch, commit, false)
	if done != want || wantStopped == "" && stopped != "" || !strings.Contains(stopped, wantStopped) {
		t.Errorf("%s did\n%s, want\n%s; stopped: %q, want %q", commit, done, want, stopped, wantStopped)
	}
}

// whole is what the first commit does, and again what another one does: it waits until the hooks
// of the one before have ended.
const (
	whole = "shop backup ? migrate ? -migrate db seed ? web ? last ? smoke ?"
	again = "shop ? backup ? migrate ? -migrate ? db seed ? web ? last ? ? smoke ?"
)

func TestSync(t *testing.T) {
	m := newModel()
	m.syncs(t, fleet("one"), "one", whole, "")
	m.syncs(t, fleet("one"), "one", "", "") // nothing changed: no hook, and nobody waits
	smoke := object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "smoke"}
	delete(m.things, smoke)
	m.syncs(t, fleet("one"), "one", "", "") // a Job that is over may be taken away
	backup := object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "backup"}
	before := m.things[backup].uid
	m.syncs(t, fleet("two"), "two", strings.Replace(again, "? ? smoke", "? smoke", 1), "")
	if m.things[backup].uid == before {
		t.Error("the hook of the second commit is that of the first")
	}
	branch := fleet("two")
	branch[5].Content = blob("three") // wave 1 alone, before which nothing is done but the hook of wave 0
	m.syncs(t, branch, "three", "? backup ? migrate ? -migrate ? seed ? web ? ? smoke ?", "")
	// what somebody changes is put right, and nobody waits
	web := m.things[branch[5].Ref]
	web.value, web.ours = "edited", 2
	m.things[branch[5].Ref] = web
	m.sick["db"] = Unhealthy{Why: "it hangs"}
	m.syncs(t, branch, "three", "web", "")
	// hooks that leave the branch leave the cluster
	m.syncs(t, branch[3:4], "four", "-smoke -seed -backup -web -last -shop", "")
	if _, ok := m.things[backup]; ok || len(m.things) != 1 {
		t.Errorf("there are still %v", m.things)
	}
}

func TestSyncFails(t *testing.T) {
	failed := Unhealthy{Failed: true, Why: "it exited with 1"}
	m := newModel()
	m.sick["migrate"] = failed
	m.syncs(t, fleet("one"), "one", "shop backup ? migrate ? alarm ?", "PreSync did not come to its end: Job.batch/shop/migrate: it exited with 1")
	m.syncs(t, fleet("one"), "one", "", "failed for this commit")
	delete(m.sick, "migrate")
	m.syncs(t, fleet("one"), "one", "", "failed for this commit")
	if done, stopped := m.sync(t, fleet("one"), "one", true); done != "backup ? migrate ? -migrate db seed ? web ? last ? smoke ?" || stopped != "" {
		t.Errorf("tried again, it did %s; %s", done, stopped)
	}
	// the hook of a newer commit runs
	m.sick["smoke"] = failed
	m.syncs(t, fleet("two"), "two", again+" -smoke alarm ?", "PostSync")
	m.syncs(t, fleet("two"), "two", "", "failed for this commit")
	delete(m.sick, "smoke")
	m.syncs(t, fleet("three"), "three", strings.Replace(again, "? ? smoke", "? smoke", 1), "")
	// a wave that is not healthy yet is waited for again, with no hook run twice
	m.sick["db"] = Unhealthy{Why: "0 of 1 is available"}
	m.syncs(t, fleet("four"), "four", "shop ? backup ? migrate ? -migrate ? db seed ?", "Deployment.apps/shop/db: 0 of 1 is available")
	m.syncs(t, fleet("four"), "four", "?", "Deployment.apps/shop/db")
	delete(m.sick, "db")
	m.syncs(t, fleet("four"), "four", "? web ? last ? ? smoke ?", "")
}

// TestAPhaseThatIsTriedAgainHasNotFailed runs a hook again that had failed, and does not come to the end of what follows: the next
// round goes on there.
func TestAPhaseThatIsTriedAgainHasNotFailed(t *testing.T) {
	m := newModel()
	m.sick["migrate"] = Unhealthy{Failed: true, Why: "it exited with 1"}
	m.syncs(t, fleet("one"), "one", "shop backup ? migrate ? alarm ?", "it exited with 1")
	delete(m.sick, "migrate")
	m.sick["db"] = Unhealthy{Why: "0 of 1 is available"}
	if done, stopped := m.sync(t, fleet("one"), "one", true); done != "backup ? migrate ? -migrate db seed ?" || !strings.Contains(stopped, "0 of 1 is available") {
		t.Errorf("tried again, it did %s; %s", done, stopped)
	}
	delete(m.sick, "db")
	m.syncs(t, fleet("one"), "one", "? web ? last ? smoke ?", "")
}

// TestWavesAlone orders objects without hooks.
func TestWavesAlone(t *testing.T) {
	branch := func(value string) []Object {
		all := []Object{
			manifest("v1 ConfigMap shop/c", nil, waveIs+"1"), manifest("v1 ConfigMap shop/b", nil), manifest("v1 ConfigMap shop/a", nil, waveIs+"-3"),
			manifest("v1 Namespace shop", nil, waveIs+"9"), manifest("rbac.authorization.k8s.io/v1 Role shop/r", nil, waveIs+"1"),
		}
		for i := range all {
			all[i].Content = blob(value)
		}
		return all
	}
	m := newModel()
	m.syncs(t, branch("one"), "one", "shop a ? b ? r c", "")
	m.syncs(t, branch("one"), "one", "", "")
	changed := branch("one")
	changed[1].Content = blob("two")
	m.syncs(t, changed, "two", "b", "") // nothing comes after it
	m.sick["a"] = Unhealthy{Failed: true, Why: "broken"}
	m.syncs(t, branch("three"), "three", "shop a ?", "ConfigMap/shop/a: broken")
	delete(m.sick, "a")
	m.syncs(t, branch("three"), "three", "? b ? r c", "")
}

// TestSyncKilled kills rounds at every write. The next ones heal it: nothing of a wave is
// applied before the one before it, and no hook that was seen to succeed runs again.
func TestSyncKilled(t *testing.T) {
	for n := range 40 {
		m := newModel()
		m.syncs(t, fleet("one"), "one", whole, "")
		m.log, m.lives = nil, n
		_, err := m.report(t, fleet("two"), blob("two"), false)
		m.lives = -1
		if err == nil && n < 20 {
			t.Errorf("there are only %d writes", n)
		}
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := m.report(t, fleet("two"), blob("two"), false); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"backup", "migrate", "db", "seed", "web", "last", "smoke"}
		last := -1
		for _, name := range want {
			at := slices.Index(m.log, name)
			if at < last {
				t.Errorf("killed at write %d: %s came too early: %v", n, name, m.log)
			}
			last = at
			if k := count(m.log, name); k < 1 || k > 2 {
				t.Errorf("killed at write %d: %s was applied %d times: %v", n, name, k, m.log)
			}
		}
		if wrong := m.wrong(fleet("two")); wrong != nil {
			t.Errorf("killed at write %d: %v", n, wrong)
		}
		for range 2 { // what leaves the branch leaves the cluster, hooks that were begun among it
			if _, err := m.report(t, fleet("two")[3:4], blob("three"), false); err != nil {
				t.Fatal(err)
			}
		}
		if len(m.things) != 1 {
			t.Errorf("killed at write %d: there are still %v", n, m.things)
		}
	}
}

func count(all []string, name string) int {
	n := 0
	for _, s := range all {
		if s == name {
			n++
		}
	}
	return n
}

// wrong lists objects, but for hooks, that are not as the branch has them.
func (m *model) wrong(branch []Object) (wrong []string) {
	for i := range branch {
		if o := &branch[i]; !IsHook(o) && m.things[o.Ref].value != o.Manifest["value"] {
			wrong = append(wrong, o.Ref.String())
		}
	}
	return wrong
}

// TestHooksStayUntilTheirPhaseEnds has a Job that needs what a hook before it made, and takes
// long: nothing is taken from under it, and what succeeded does not run again in the next round.
func TestHooksStayUntilTheirPhaseEnds(t *testing.T) {
	branch := []Object{
		manifest("v1 ConfigMap shop/script", nil, hookIs+"PreSync", waveIs+"-1", policyIs+"HookSucceeded"),
		manifest("batch/v1 Job shop/migrate", nil, hookIs+"PreSync", policyIs+"HookSucceeded"),
		manifest("batch/v1 Job shop/seed", nil, hookIs+"Sync", policyIs+"HookSucceeded"),
		manifest("v1 ConfigMap shop/last", nil, waveIs+"1"),
	}
	m := newModel()
	m.sick["migrate"] = Unhealthy{Why: "it runs"}
	m.syncs(t, branch, "one", "script ? migrate ?", "it runs")
	m.syncs(t, branch, "one", "? ?", "it runs")
	m.sick["migrate"] = Unhealthy{Failed: true, Why: "it exited with 1"}
	m.syncs(t, branch, "one", "? ? -script", "it exited with 1")
	delete(m.sick, "migrate")
	m.syncs(t, branch, "two", "script ? ? migrate ? -script -migrate seed ? last -seed", "")
}

// TestAHookThatRunsBesideOneThatFailed is not deleted: what it does would be cut off halfway.
func TestAHookThatRunsBesideOneThatFailed(t *testing.T) {
	branch := []Object{
		manifest("batch/v1 Job shop/breaks", nil, hookIs+"PreSync", policyIs+"HookFailed"),
		manifest("batch/v1 Job shop/ends", nil, hookIs+"PreSync", policyIs+"HookFailed"),
		manifest("batch/v1 Job shop/runs", nil, hookIs+"PreSync", policyIs+"HookFailed,HookSucceeded"),
	}
	m := newModel()
	m.sick["breaks"], m.sick["runs"] = Unhealthy{Failed: true, Why: "it exited with 1"}, Unhealthy{Why: "it runs"}
	m.syncs(t, branch, "one", "breaks ends runs ? -breaks", "it exited with 1")
}

// TestWhatFailsBesideAHook is no hook that failed: those for a sync that failed do not run, and the next round waits on.
func TestWhatFailsBesideAHook(t *testing.T) {
	branch := []Object{
		manifest("apps/v1 Deployment shop/db", nil),
		manifest("batch/v1 Job shop/seed", nil, hookIs+"Sync"),
		manifest("batch/v1 Job shop/alarm", nil, hookIs+"SyncFail"),
		manifest("v1 ConfigMap shop/last", nil, waveIs+"1"),
	}
	m := newModel()
	m.sick["db"] = Unhealthy{Failed: true, Why: "its pods crash"}
	m.syncs(t, branch, "one", "db seed ?", "its pods crash")
	if m.syncs(t, branch, "one", "?", "its pods crash"); t.Failed() {
		return
	}
	delete(m.sick, "db")
	m.syncs(t, branch, "one", "? last", "")
	m.sick["seed"] = Unhealthy{Failed: true, Why: "it exited with 1"}
	m.syncs(t, branch, "two", "? seed ? alarm ?", "it exited with 1")
	m.syncs(t, branch, "two", "", "failed for this commit")
}

// TestWhatHoldsAWave is an object of it that is not healthy or refused, or what is: nothing of a later wave, nor of another kind of
// things that come first.
func TestWhatHoldsAWave(t *testing.T) {
	branch := func() []Object {
		return []Object{
			manifest("v1 ConfigMap shop/a", nil), manifest("v1 ConfigMap shop/b", nil, waveIs+"1"), manifest("v1 ConfigMap shop/c", nil, waveIs+"2"),
			manifest("v1 Namespace shop", nil),
		}
	}
	for name, tt := range map[string]struct{ unfit, sick, want, stopped string }{
		"nothing":                     {want: "shop a ? b ? c"},
		"an object that is refused":   {unfit: "a", want: "shop", stopped: "ConfigMap/shop/a: it is sealed"},
		"one of the wave before":      {unfit: "b", want: "shop a ?", stopped: "ConfigMap/shop/b: it is sealed"},
		"one of the last wave":        {unfit: "c", want: "shop a ? b"},
		"a Namespace that is refused": {unfit: "shop", want: "a ? b ? c"},
		"one of a later wave is sick": {sick: "c", want: "shop a ? b ? c"},
		"one is sick":                 {sick: "b", want: "shop a ? b ?", stopped: "ConfigMap/shop/b: it starts"},
	} {
		m, all := newModel(), branch()
		for i := range all {
			if all[i].Ref.Name == tt.unfit {
				all[i].Unfit = "it is sealed"
			}
		}
		m.sick[tt.sick] = Unhealthy{Why: "it starts"}
		done, stopped := m.sync(t, all, "one", false)
		if done != tt.want || (stopped == "") != (tt.stopped == "") || !strings.Contains(stopped, tt.stopped) {
			t.Errorf("%s: it did %q, want %q; stopped: %q, want %q", name, done, tt.want, stopped, tt.stopped)
		}
	}
}

// TestWhatIsToldOfAWave that is not healthy: what failed first, three of them by name, and how many more there are.
func TestWhatIsToldOfAWave(t *testing.T) {
	for n, want := range map[int]string{
		2: "ConfigMap/shop/b: it is broken, ConfigMap/shop/a: it starts;",
		3: "ConfigMap/shop/c: it is broken, ConfigMap/shop/a: it starts, ConfigMap/shop/b: it starts;",
		5: "ConfigMap/shop/e: it is broken, ConfigMap/shop/a: it starts, ConfigMap/shop/b: it starts, and 2 more;",
	} {
		m, branch := newModel(), []Object{manifest("v1 ConfigMap shop/last", nil, waveIs+"1")}
		for i, name := range []string{"a", "b", "c", "d", "e"}[:n] {
			branch = append(branch, manifest("v1 ConfigMap shop/"+name, nil))
			m.sick[name] = Unhealthy{Why: "it starts"}
			if i == n-1 {
				m.sick[name] = Unhealthy{Failed: true, Why: "it is broken"}
			}
		}
		if _, stopped := m.sync(t, branch, "one", false); !strings.Contains(stopped, want) {
			t.Errorf("of %d it is told %q, want %q", n, stopped, want)
		}
	}
}

// TestWhatSomebodyDeletes is created anew once a commit came to its end: no hook runs for that, and nothing waits.
func TestWhatSomebodyDeletes(t *testing.T) {
	m := newModel()
	m.syncs(t, fleet("one"), "one", whole, "")
	for r := range m.things {
		if r.Kind == "Deployment" || r.Kind == "ConfigMap" {
			delete(m.things, r)
		}
	}
	m.sick["db"] = Unhealthy{Why: "it starts"}
	m.syncs(t, fleet("one"), "one", "db web last", "")
}

// TestARunningHookIsNotRunAgain though somebody asks for what failed to be tried again: nothing did.
func TestARunningHookIsNotRunAgain(t *testing.T) {
	m := newModel()
	m.sick["migrate"] = Unhealthy{Why: "it runs"}
	m.syncs(t, fleet("one"), "one", "shop backup ? migrate ?", "it runs")
	if done, stopped := m.sync(t, fleet("one"), "one", true); done != "? ?" || !strings.Contains(stopped, "it runs") {
		t.Errorf("it did %q; %q", done, stopped)
	}
}

// TestHowHooksAndWavesAreWritten: as Argo CD reads them.
func TestHowHooksAndWavesAreWritten(t *testing.T) {
	for text, want := range map[string]string{
		"hook=PreSync":                   "job ? a ? last",
		"hook=PreSync,PreSync":           "job ? a ? last",
		"hook=Unknown , PreSync ":        "job ? a ? last",
		"hook=PreSync, PostSync":         "job ? a ? last ? job ?",
		"hook=PreSync,Skip":              "a ? last",
		"hook=SyncFail":                  "a ? last",
		"hook=PreDelete":                 "a ? last",
		"sync-wave=-1":                   "job ? a ? last",
		"sync-wave= 2":                   "a job ? last",
		"sync-wave=2":                    "a ? last ? job",
		"sync-wave=99999999999999999999": "a job ? last",
	} {
		branch := []Object{
			manifest("batch/v1 Job shop/job", nil, "argocd.argoproj.io/"+text), manifest("v1 ConfigMap shop/a", nil), manifest("v1 ConfigMap shop/last", nil, waveIs+"1"),
		}
		if done, stopped := newModel().sync(t, branch, "one", false); done != want || stopped != "" {
			t.Errorf("%s: it did %q, want %q; %s", text, done, want, stopped)
		}
	}
}

// TestHooksForAFailure are deleted when they ended, as they say.
func TestHooksForAFailure(t *testing.T) {
	for policy, want := range map[string]string{"HookSucceeded": "breaks ? alarm ? -alarm", "HookFailed": "breaks ? alarm ?", "BeforeHookCreation , HookSucceeded": "breaks ? alarm ? -alarm"} {
		m := newModel()
		m.sick["breaks"] = Unhealthy{Failed: true, Why: "it exited with 1"}
		m.syncs(t, []Object{
			manifest("batch/v1 Job shop/breaks", nil, hookIs+"PreSync"), manifest("batch/v1 Job shop/alarm", nil, hookIs+"SyncFail", policyIs+policy),
		}, "one", want, "it exited with 1")
	}
}

// TestHooksInTheInventory are those that ran, so that they leave the cluster when they leave the branch: also where a round was killed, and
// unless they are to stay.
func TestHooksInTheInventory(t *testing.T) {
	m := newModel()
	branch := append(fleet("one"), manifest("batch/v1 Job shop/kept", nil, hookIs+"Sync", PreserveAnnotation+"=true"))
	if _, stopped := m.sync(t, branch, "one", false); stopped != "" {
		t.Fatal(stopped)
	}
	for _, name := range []string{"skipped", "goodbye"} {
		if e, known := m.stored.Inventory.Entries[object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: name}]; known {
			t.Errorf("%s did not run, and is in the inventory: %+v", name, e)
		}
	}
	m.syncs(t, branch[3:4], "two", "-smoke -seed ~kept -backup -web -last ~shop", "")
	if _, there := m.things[object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "kept"}]; !there {
		t.Error("a hook that is to stay is gone")
	}
	for n := range 20 {
		m := newModel()
		m.lives = n
		if _, err := m.report(t, fleet("one"), blob("one"), false); !errors.Is(err, errKilled) {
			t.Fatalf("%d writes: %v", n, err)
		}
		m.lives = -1
		for range 3 { // the first round at a cluster deletes nothing
			if _, err := m.report(t, fleet("one")[3:4], blob("two"), false); err != nil {
				t.Fatal(err)
			}
		}
		if len(m.things) != 1 {
			t.Errorf("killed at write %d: there are still %v", n, m.things)
		}
	}
}

// TestHooksOutlastTheirCommit has a newer commit wait for a hook that still runs.
func TestHooksOutlastTheirCommit(t *testing.T) {
	branch := func(value string) []Object {
		all := []Object{manifest("batch/v1 Job shop/migrate", nil, hookIs+"PreSync"), manifest("v1 ConfigMap shop/last", nil)}
		for i := range all {
			all[i].Manifest["value"], all[i].Content = value, blob(value)
		}
		return all
	}
	m := newModel()
	m.sick["migrate"] = Unhealthy{Why: "it runs"}
	m.syncs(t, branch("one"), "one", "migrate ?", "it runs")
	m.syncs(t, branch("two"), "two", "?", "still runs for an earlier commit, and is not cut off: Job.batch/shop/migrate: it runs")
	m.sick["migrate"] = Unhealthy{Failed: true, Why: "it exited with 1"}
	if done, _ := m.sync(t, branch("two"), "two", false); !strings.HasPrefix(done, "? migrate ?") {
		t.Errorf("the hook ended, and %s was done", done)
	}
	delete(m.sick, "migrate")
	m.syncs(t, branch("three"), "three", "? migrate ? last", "")
}

// TestAHookThatIsBeingDeleted is run again, whatever it was begun for: what goes cannot succeed.
func TestAHookThatIsBeingDeleted(t *testing.T) {
	job, volume := manifest("batch/v1 Job shop/migrate", nil, hookIs+"PreSync"), manifest("v1 PersistentVolumeClaim shop/data", nil, hookIs+"PreSync")
	of := func(o Object, change ...func(*metav1.PartialObjectMetadata)) Plan {
		begun := func(l *metav1.PartialObjectMetadata) { l.Annotations[RunAnnotation] = runOf(blob("one"), PreSync) }
		return Make(Input{
			Commit: blob("one"), Objects: []Object{o}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}, Entries: map[object.Ref]inventory.Entry{o.Ref: {UID: "u1"}}},
			Facts: Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{o.Ref: live("u1", append(change, begun)...)}},
		})
	}
	if p := of(job); p.Same != 1 || len(p.Actions()) > 0 || len(p.Apply) != 1 || !slices.Equal(p.Apply[0].Await, []object.Ref{job.Ref}) {
		t.Errorf("one that runs is %+v", p.Apply)
	}
	p := of(job, deleting)
	if all := p.Actions(); p.Same != 0 || len(all) != 1 || all[0].Verb != Recreate || all[0].Renew != RenewFirst || all[0].Earlier {
		t.Errorf("one that is being deleted is %+v", p.Apply)
	}
	p = of(volume, deleting)
	if len(p.Actions()) > 0 || len(p.Refused) != 1 || !strings.Contains(p.Refused[0].Why, "it is being deleted") || p.Apply[0].Broken == "" {
		t.Errorf("one with data that is being deleted is %+v, refused %+v", p.Apply, p.Refused)
	}
}

// TestHooksThatLast runs hooks with which data would go: they are changed, and never deleted to
// run again.
func TestHooksThatLast(t *testing.T) {
	branch := func(value string) []Object {
		all := []Object{
			manifest("v1 PersistentVolumeClaim shop/data", nil, hookIs+"PreSync"),
			manifest("v1 Namespace tools", nil, hookIs+"PreSync"),
			manifest("batch/v1 Job shop/migrate", nil, hookIs+"PreSync", waveIs+"1"),
		}
		for i := range all {
			all[i].Manifest["value"], all[i].Content = value, blob(value)
		}
		return all
	}
	m := newModel()
	m.syncs(t, branch("one"), "one", "tools data ? migrate ?", "")
	before := maps.Clone(m.things)
	m.syncs(t, branch("two"), "two", "tools data ? ? migrate ?", "")
	for r, was := range before {
		if is := m.things[r]; is.value != "two" || is.run == was.run || (is.uid == was.uid) == Recreatable(&Object{Ref: r}) {
			t.Errorf("%s was %+v, and is %+v", r, was, is)
		}
	}
}

// TestWaitsEnd ends the wait for a wave that does not become healthy: when a newer commit is
// there, unless a hook is at work, and when others wait for their turn.
func TestWaitsEnd(t *testing.T) {
	wave := []Object{manifest("apps/v1 Deployment shop/web", nil), manifest("v1 ConfigMap shop/last", nil, waveIs+"1")}
	hook := append([]Object{manifest("batch/v1 Job shop/migrate", nil, hookIs+"PreSync")}, wave...)
	for _, c := range []struct {
		name           string
		branch         []Object
		newer, crowded bool
		looks          int
		err            error
	}{
		{"nobody is there", wave, false, false, 30, nil},
		{"a newer commit", wave, true, false, 1, ErrSuperseded},
		{"a newer commit, and a hook", hook, true, false, 30, nil},
		{"others wait", hook, false, true, 1, nil},
	} {
		m := newModel()
		m.sick["web"], m.sick["migrate"] = Unhealthy{Why: "it starts"}, Unhealthy{Why: "it runs"}
		r := Round{
			Cluster: m, Name: "eu-1", Owner: source, Commit: blob("one"), Source: "s", Objects: c.branch, Patience: 5 * time.Minute,
			Admit:      func(context.Context, inventory.Inventory) (Options, error) { return Options{}, nil },
			Superseded: func(context.Context) bool { return c.newer && slices.Contains(m.log, "?") },
			Crowded:    func() bool { return c.crowded },
		}
		report, err := r.Do(t.Context())
		if !errors.Is(err, c.err) || c.err == nil && report.Stopped == "" || count(m.log, "?") != c.looks {
			t.Errorf("%s: %v; %q; %d looks, want %d", c.name, err, report.Stopped, count(m.log, "?"), c.looks)
		}
	}
}
