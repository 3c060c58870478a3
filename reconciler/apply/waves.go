package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
)

// Stage is what is done at once.
type Stage struct {
	Actions []Action
	// Phase is the one of the sync that it is in; empty for what waits for nothing.
	Phase Phase
	// Gate says that nothing is done after it until what was done since the gate before is
	// there, and Await is healthy.
	Gate  bool
	Await []object.Ref
	// Hooks are those that run in it, or did so before; Await has them.
	Hooks []Action
	// Broken says why the gate does not open, whatever becomes of the stage.
	Broken string
	// Ends says that its phase ends with it.
	Ends bool
}

// stagesOf makes stages that wait for nothing of groups of actions.
func stagesOf(groups [][]Action, p Phase) []Stage {
	var all []Stage
	for _, g := range groups {
		all = append(all, Stage{Actions: g, Phase: p})
	}
	return all
}

// ordered reports whether the branch has hooks that run, or several waves.
func (m *maker) ordered() bool {
	if slices.ContainsFunc(m.hooks, func(h hook) bool { return len(h.phases) > 0 }) {
		return true
	}
	return len(m.waves()) > 1
}

// waves are those of the objects that are in one, in order. CRDs and Namespaces are in none.
func (m *maker) waves() []int {
	seen := map[int]bool{}
	for i := range m.in.Objects {
		if o := &m.in.Objects[i]; !IsHook(o) && stageOf(o.Kind()) != definitions {
			seen[waveOf(o)] = true
		}
	}
	for _, h := range m.hooksOf(Syncing) {
		seen[waveOf(h.object)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// order puts actions into phases and waves, and adds hooks. What is put right again, and CRDs
// and Namespaces, wait for nothing and come first.
func (m *maker) order(actions []Action) {
	m.resumed = m.in.Inventory.Sync.Commit == m.in.Commit
	m.sync = inventory.Sync{Commit: m.in.Commit}
	if m.resumed {
		m.sync = m.in.Inventory.Sync
		m.retried = m.sync.Failed && m.in.Options.Retry
		m.sync.Failed = m.sync.Failed && !m.retried
	}
	var free []Action
	waves := map[int][]Action{}
	for _, a := range actions {
		if a.Verb == Correct || stageOf(kindOf(a.Ref)) == definitions {
			free = append(free, a)
		} else {
			waves[waveOf(a.Object)] = append(waves[waveOf(a.Object)], a)
		}
	}
	m.plan.Apply = stagesOf(staged(free), "")
	if m.sync.Phase == "" {
		m.plan.Apply = append(m.plan.Apply, m.hookStages(PreSync)...)
	}
	if m.sync.Phase != PostSync {
		m.plan.Post = m.hookStages(PostSync)
	}
	if m.sync.Phase == "" || m.sync.Phase == PreSync {
		m.plan.Apply = append(m.plan.Apply, m.waveStages(waves)...)
	} else {
		for _, w := range slices.Sorted(maps.Keys(waves)) {
			m.plan.Apply = append(m.plan.Apply, stagesOf(staged(waves[w]), "")...)
		}
	}
	if !m.sync.Failed {
		m.plan.onFail = m.hookStages(SyncFail)
	}
	m.plan.sync = &m.sync
}

// hookStages are the waves of hooks of a phase.
func (m *maker) hookStages(p Phase) []Stage {
	byWave := map[int][]hook{}
	for _, h := range m.hooksOf(p) {
		byWave[waveOf(h.object)] = append(byWave[waveOf(h.object)], h)
	}
	var all []Stage
	for _, w := range slices.Sorted(maps.Keys(byWave)) {
		s := Stage{Phase: p, Gate: true}
		m.addHooks(&s, byWave[w], p)
		all = append(all, s)
	}
	if len(all) > 0 {
		all[len(all)-1].Ends = true
	}
	return all
}

// addHooks adds hooks to a stage.
func (m *maker) addHooks(s *Stage, hooks []hook, p Phase) {
	for _, h := range hooks {
		a, runs := m.run(h, p)
		if a.Verb == Refuse {
			m.plan.Refused = append(m.plan.Refused, a)
			s.Broken = fmt.Sprintf("%s: %s", a.Ref, a.Why)
			continue
		}
		if a.Verb != "" {
			s.Actions = append(s.Actions, a)
		}
		if runs {
			s.Await, s.Hooks = append(s.Await, a.Ref), append(s.Hooks, a)
		}
	}
	slices.SortFunc(s.Actions, func(a, b Action) int { return a.Ref.Compare(b.Ref) })
}

// waveStages are the waves of the phase Sync: objects and hooks.
func (m *maker) waveStages(actions map[int][]Action) []Stage {
	var all []Stage
	later := len(m.plan.Post) > 0
	for _, w := range slices.Backward(m.waves()) {
		gate := Stage{Phase: Syncing}
		m.addHooks(&gate, slices.DeleteFunc(m.hooksOf(Syncing), func(h hook) bool { return waveOf(h.object) != w }), Syncing)
		hooks := len(gate.Hooks) > 0 || gate.Broken != ""
		stages := stagesOf(staged(slices.Concat(actions[w], gate.Actions)), Syncing)
		gate.Actions = nil
		if refused := m.refusedIn(w); later && (len(actions[w]) > 0 || m.resumed || refused != "") {
			gate.Gate, gate.Broken = true, cmp.Or(gate.Broken, refused)
			gate.Await = slices.Concat(m.members(w), gate.Await)
		}
		if gate.Gate = gate.Gate || hooks; gate.Gate {
			stages = append(stages, gate)
		}
		later = later || hooks || len(actions[w]) > 0
		all = slices.Concat(stages, all)
	}
	if len(all) > 0 {
		all[len(all)-1].Ends = true
	}
	return all
}

// members are the objects of a wave that may be waited for.
func (m *maker) members(wave int) []object.Ref {
	not := map[object.Ref]bool{}
	for _, a := range m.plan.Refused {
		not[a.Ref] = true
	}
	var refs []object.Ref
	for i := range m.in.Objects {
		o := &m.in.Objects[i]
		if !IsHook(o) && stageOf(o.Kind()) != definitions && waveOf(o) == wave && !not[o.Ref] {
			refs = append(refs, o.Ref)
		}
	}
	return refs
}

// refusedIn says which object of a wave is not applied, and why.
func (m *maker) refusedIn(wave int) string {
	for _, a := range m.plan.Refused {
		if a.Object != nil && !IsHook(a.Object) && stageOf(kindOf(a.Ref)) != definitions && waveOf(a.Object) == wave {
			return fmt.Sprintf("%s: %s", a.Ref, a.Why)
		}
	}
	return ""
}
