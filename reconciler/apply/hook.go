package apply

import (
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Phase is a part of what Argo CD calls a sync: what a commit does to a cluster, once.
type Phase = inventory.Phase

// The phases in which hooks run, by Argo CD's names. A sync goes from the first to the third,
// and to the last one if it fails.
const (
	PreSync  Phase = "PreSync"
	Syncing  Phase = "Sync"
	PostSync Phase = "PostSync"
	SyncFail Phase = "SyncFail"
)

// The annotations of Argo CD that say when something is applied.
const (
	hookAnnotation   = "argocd.argoproj.io/hook"
	policyAnnotation = "argocd.argoproj.io/hook-delete-policy"
	waveAnnotation   = "argocd.argoproj.io/sync-wave"
)

// RunAnnotation is on the object of a hook, and says for which commit and in which phase it
// runs.
const RunAnnotation = "waybill.dev/hook-run"

// hook is an object that runs when a commit is applied, and is no part of what it holds.
type hook struct {
	object *Object
	// phases are those in which it runs: none of a hook that is to be skipped, or that Argo
	// CD runs when an Application is deleted.
	phases []Phase
	// succeeded and failed say that the object is deleted when it succeeded, or failed.
	succeeded, failed bool
}

// IsHook reports an object that runs when a commit is applied.
func IsHook(o *Object) bool { return annotation(o.Manifest, hookAnnotation) != "" }

func hookOf(o *Object) hook {
	h := hook{object: o}
	for _, word := range words(o, hookAnnotation) {
		p := Phase(word)
		if known := []Phase{PreSync, Syncing, PostSync, SyncFail}; slices.Contains(known, p) && !slices.Contains(h.phases, p) {
			h.phases = append(h.phases, p)
		}
		if word == "Skip" {
			return hook{object: o}
		}
	}
	policies := words(o, policyAnnotation)
	h.succeeded, h.failed = slices.Contains(policies, "HookSucceeded"), slices.Contains(policies, "HookFailed")
	return h
}

// words are those of an annotation, between commas.
func words(o *Object, key string) []string {
	all := strings.Split(annotation(o.Manifest, key), ",")
	for i, word := range all {
		all[i] = strings.TrimSpace(word)
	}
	return all
}

// waveOf is the wave of an object: lower ones are applied before.
func waveOf(o *Object) int {
	n, err := strconv.Atoi(annotation(o.Manifest, waveAnnotation))
	if err != nil {
		return 0
	}
	return n
}

// runOf says what a hook runs for.
func runOf(commit files.ID, p Phase) string { return commit.String() + " " + string(p) }

// run decides about a hook in a phase. It is nothing to do if it was begun for this commit
// before: what became of it is waited for. Ran says that it was begun, or has to be.
func (m *maker) run(h hook, p Phase) (a Action, ran bool) {
	o := h.object
	a = Action{Ref: o.Ref, Object: o, Run: runOf(m.in.Commit, p), Hook: p, Succeeded: h.succeeded, Failed: h.failed}
	live := m.in.Facts.Live[o.Ref]
	begun := live != nil && live.Annotations[RunAnnotation] == a.Run
	if live != nil {
		a.UID = string(live.UID)
	}
	switch err := m.in.Facts.Unknown[o.Kind()]; {
	case err != nil:
		return refused(a, "what the cluster has of its kind is not known: "+err.Error()), false
	case o.Unfit != "":
		return refused(a, o.Unfit), false
	case m.sync.Failed && m.phase() == p:
		return refused(a, "a hook of the phase "+string(p)+" failed for this commit; a new commit runs it again, and so does waybill apply"), begun
	case begun && live.DeletionTimestamp == nil && !m.retried:
		return a, true
	case live == nil:
		a.Verb = Create
		return a, true
	}
	ours, theirs := m.owned(m.in.Inventory.Entries[o.Ref], live)
	if theirs != "" {
		return refused(a, theirs), false
	}
	if !ours {
		if a = m.contact(a, live); a.Verb == Refuse {
			return a, false
		}
	}
	switch {
	case Recreatable(o):
		a.Verb, a.Renew, a.Take, a.Live = Recreate, RenewFirst, TakeNothing, nil
		a.Left, a.Filled = nil, nil // it is there no more then
		a.Earlier = live.Annotations[RunAnnotation] != "" && !begun && live.DeletionTimestamp == nil
	case live.DeletionTimestamp != nil:
		return refused(a, "it is being deleted"+finalizers(live)+"; it is created anew when it is gone"), false
	case ours:
		a.Verb, a.Take = Update, TakeEdits
		a.Left, a.Filled = m.toCluster(o, live, nil)
	}
	return a, true
}

// phase is the one that comes next in the sync.
func (m *maker) phase() Phase {
	switch m.sync.Phase {
	case "":
		if len(m.hooksOf(PreSync)) > 0 {
			return PreSync
		}
		return Syncing
	case PreSync:
		return Syncing
	default:
		return PostSync
	}
}

func (m *maker) hooksOf(p Phase) []hook {
	var some []hook
	for _, h := range m.hooks {
		if slices.Contains(h.phases, p) {
			some = append(some, h)
		}
	}
	return some
}

// begun are the entries of hooks that an earlier round began, as they are there: it may have been
// killed before it noted them.
func (p *Plan) begun(i inventory.Inventory) map[object.Ref]inventory.Entry {
	entries := map[object.Ref]inventory.Entry{}
	for _, s := range slices.Concat(p.Stages(), p.onFail) {
		for _, h := range s.Hooks {
			if e := i.Entries[h.Ref]; h.Verb == "" {
				e.UID = h.UID
				entries[h.Ref] = e
			}
		}
	}
	return entries
}

// wantHooks notes hooks: those that run, and those that the inventory has.
func (m *maker) wantHooks() {
	runs := map[object.Ref]bool{}
	for _, a := range m.plan.Actions() {
		runs[a.Ref] = a.Hook != ""
	}
	for _, s := range m.plan.onFail {
		for _, a := range s.Actions {
			runs[a.Ref] = true
		}
	}
	for _, h := range m.hooks {
		w := inventory.Want{Ref: h.object.Ref, Changes: runs[h.object.Ref], Keeps: preserved(h.object.Manifest)}
		if _, known := m.in.Inventory.Entries[w.Ref]; known || w.Changes {
			m.plan.wants = append(m.plan.wants, w)
		}
		if !w.Changes {
			m.plan.Same++
		}
	}
}
