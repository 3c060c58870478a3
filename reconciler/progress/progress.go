// Package progress says how far what goes out in stages is, by what is recorded of it: in numbers and in
// sentences, so that whatever shows it says the same. It decides nothing, and tells no time.
package progress

import (
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// Progress is how far a unit is.
type Progress struct {
	Unit rollouts.Unit
	// Strategy is by which it goes out, and Run identifies the run; empty before the first one.
	Strategy, Run string
	Phase         rollouts.Phase
	// Stage is the one that the run is in, or in which it stopped; empty where it is in none.
	Stage  string
	Stages []Stage // in their order
	// Leaving are the clusters that the target does not want: they lose the unit last.
	Leaving int
	// Message says why it is in that phase.
	Message string
	// Then says what happens next, and Next when, if nothing is said before; zero where that is not known.
	Then string
	Next time.Time
	// Commands are those that somebody may type now, the one that lets it go on first.
	Commands []string
	// Base and Target are the source commits between which it is, and Since when the run began.
	Base, Target string
	Since        time.Time
}

// Stage is how far a stage is.
type Stage struct {
	Name   string
	Phase  rollouts.Phase
	Counts Counts
	// IsSkipped reports that somebody had it skipped.
	IsSkipped bool
}

// Of says how far a unit is, by its record.
func Of(r *rollouts.Rollout) Progress {
	s := &r.Status
	p := Progress{
		Unit: r.Unit, Strategy: r.Strategy.Name, Run: s.Run, Phase: s.Phase, Message: s.Message,
		Base: s.Base.Commit, Target: s.Target.Commit, Since: s.StartTime.Time,
	}
	counts := map[string]*Counts{}
	for _, c := range r.Clusters {
		if c.State == rollouts.Leaving {
			p.Leaving++
			continue
		}
		if counts[c.Stage] == nil {
			counts[c.Stage] = &Counts{}
		}
		counts[c.Stage].add(&c)
	}
	for i := range s.Stages {
		st := Stage{Name: s.Stages[i].Name, Phase: s.Stages[i].Phase, IsSkipped: s.Stages[i].Skipped}
		if c := counts[st.Name]; c != nil {
			st.Counts = *c
		}
		p.Stages = append(p.Stages, st)
	}
	if s.Phase == rollouts.Done { // the record has no stages any longer, but clusters that are behind
		p.Stages = behindIn(r, counts)
	}
	if n := current(r); n >= 0 {
		p.Stage = s.Stages[n].Name
	}
	if names := heldBack(r); len(names) > 0 {
		p.Message += "; the guard holds " + words.List(names)
	}
	p.Then, p.Next = next(r)
	p.Commands = commands(&p, r)
	return p
}

// behindIn are the stages of a run that is over in which clusters do not show its target yet.
func behindIn(r *rollouts.Rollout, counts map[string]*Counts) (all []Stage) {
	names := make([]string, 0, len(r.Strategy.Stages)+1)
	for i := range r.Strategy.Stages {
		names = append(names, r.Strategy.Stages[i].Name)
	}
	for _, name := range append(names, rollouts.Unmatched) {
		if c := counts[name]; c != nil {
			all = append(all, Stage{Name: name, Phase: rollouts.Done, Counts: *c})
			delete(counts, name)
		}
	}
	return all
}

// current is the stage that an open run is in; -1 for none.
func current(r *rollouts.Rollout) int {
	switch r.Status.Phase {
	case rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving, rollouts.Stopped:
	case rollouts.Returning, rollouts.Finishing, rollouts.Done:
		return -1
	}
	for n := range r.Status.Stages {
		if r.Status.Stages[n].Phase != rollouts.Done {
			return n
		}
	}
	return -1
}

// IsOpen reports a run that is not over.
func (p *Progress) IsOpen() bool { return p.Phase != rollouts.Done }

// Behind counts the clusters that do not show the target.
func (p *Progress) Behind() (n int) {
	for i := range p.Stages {
		n += p.Stages[i].Counts.Behind
	}
	return n
}

// Clusters says in words how the clusters are: those of the stage that the run is in by their states, and of the stages after
// it how many are behind.
func (p *Progress) Clusters() string {
	var parts []string
	isPast := p.Stage != ""
	for i := range p.Stages {
		s := &p.Stages[i]
		switch {
		case s.Name == p.Stage:
			isPast = false
			if text := s.Counts.String(); text != "" {
				parts = append(parts, text)
			}
		case !isPast && s.Counts.Behind > 0:
			parts = append(parts, s.Counts.behind(s.Name))
		}
	}
	return strings.Join(parts, "; ")
}

// String is the unit in a line, as people are told of it.
func (p *Progress) String() string {
	text := p.Unit.String() + " " + rollouts.By(p.Strategy) + ": " + string(p.Phase)
	if p.Stage != "" {
		text += " in " + p.Stage
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

// Short abbreviates a run, or a commit, as far as commands take it.
func Short(id string) string { return id[:min(8, len(id))] }
