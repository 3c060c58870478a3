package kubefleet

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prefix is that of the annotations in which a strategy says what KubeFleet has no fields for. A dot and the
// name of a stage behind the name set it for that stage alone.
const prefix = "waybill.dev/"

// The annotations. The first three may be of one stage.
const (
	MaxFailures      = prefix + "max-failures"
	ProgressDeadline = prefix + "progress-deadline"
	Settle           = prefix + "settle"
	FailureAction    = prefix + "on-failure"
	NewerAction      = prefix + "newer"
	UnmatchedAction  = prefix + "unmatched"
)

var (
	ofStages = []string{MaxFailures, ProgressDeadline, Settle}
	ofAll    = []string{FailureAction, NewerAction, UnmatchedAction}
)

// resolver makes a strategy of what is written.
type resolver struct {
	*reader

	strategy Strategy
}

// resolve returns the strategy that is written, with its annotations and every default.
func resolve(r *reader, w *StagedUpdateStrategy) *Strategy {
	of := resolver{reader: r, strategy: Strategy{
		Namespace: r.object.Ref().Namespace, Name: r.object.Ref().Name, Rest: stage(RestStage),
		OnFailure: Stop, Newer: Restart, Unmatched: Last,
	}}
	s := &of.strategy
	for i := range w.Spec.Stages {
		s.Stages = append(s.Stages, w.Spec.Stages[i].resolved())
	}
	annotations := r.object.Annotations()
	keys := slices.Sorted(maps.Keys(annotations))
	for _, ofOne := range []bool{false, true} { // what is said of one stage holds against what is said of all
		for _, key := range keys {
			if name, ok := strings.CutPrefix(key, prefix); ok && strings.Contains(name, ".") == ofOne {
				of.annotation(key, annotations[key])
			}
		}
	}
	return s
}

// resolved returns a stage with every default but for those of annotations.
func (c *StageConfig) resolved() Stage {
	s := stage(c.Name)
	s.LabelSelector = c.LabelSelector
	if c.SortingLabelKey != nil {
		s.SortingLabel = *c.SortingLabelKey
	}
	if c.MaxConcurrency != nil {
		s.MaxConcurrency, _ = parseAmount(c.MaxConcurrency.String())
	}
	s.Before, s.After = resolvedTasks(c.BeforeStageTasks), resolvedTasks(c.AfterStageTasks)
	return s
}

func resolvedTasks(written []StageTask) (tasks []Task) {
	for _, w := range written {
		t := Task{Type: w.Type}
		if w.WaitTime != nil {
			t.WaitTime = w.WaitTime.Duration
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// annotation takes over what one annotation says.
func (r *resolver) annotation(key, value string) {
	s, at := &r.strategy, field{"metadata", "annotations", key}
	name, of, one := strings.Cut(strings.TrimPrefix(key, prefix), ".")
	name = prefix + name
	switch {
	case one && slices.Contains(ofAll, name):
		r.fail(at, "write "+name, "is of the whole strategy, not of a stage")
	case slices.Contains(ofStages, name):
		stages := r.stages()
		if one {
			stages = r.named(of, at)
		}
		r.ofStages(stages, name, value, at)
	case name == FailureAction:
		s.OnFailure = oneOf(r.reader, at, value, Stop, Return)
	case name == NewerAction:
		s.Newer = oneOf(r.reader, at, value, Restart, Wait)
	case name == UnmatchedAction:
		s.Unmatched = oneOf(r.reader, at, value, Last, Refuse)
	default:
		r.unknown(at, name, slices.Concat(ofStages, ofAll), "an annotation of a strategy")
	}
}

// stages are those of the strategy, and the rest.
func (r *resolver) stages() (stages []*Stage) {
	s := &r.strategy
	for i := range s.Stages {
		stages = append(stages, &s.Stages[i])
	}
	return append(stages, &s.Rest)
}

// named is the stage that an annotation names.
func (r *resolver) named(of string, at field) (stages []*Stage) {
	var names []string
	s := &r.strategy
	for i := range s.Stages {
		if names = append(names, s.Stages[i].Name); s.Stages[i].Name == of {
			stages = append(stages, &s.Stages[i])
		}
	}
	if len(stages) == 0 {
		r.fail(at, "the stages are "+strings.Join(names, ", "), "%q is no stage of the strategy", of)
	}
	return stages
}

// ofStages takes over an annotation for stages.
func (r *resolver) ofStages(stages []*Stage, name, value string, at field) {
	failures, long := Amount{}, time.Duration(0)
	if name == MaxFailures {
		var ok bool
		if failures, ok = parseAmount(value); !ok {
			r.fail(at, "", "is %q; want a number, or a percentage, as 10%%", value)
		}
	} else if long = r.duration(value, at); long == 0 && name == ProgressDeadline && duration.MatchString(value) {
		r.fail(at, "", "is %q; want more than 0s", value)
	}
	for _, s := range stages {
		switch name {
		case MaxFailures:
			s.MaxFailures = failures
		case ProgressDeadline:
			s.ProgressDeadline = long
		case Settle:
			s.Settle = long
		}
	}
}

// oneOf reads a word of which there are two.
func oneOf[T ~string](r *reader, at field, value string, first, second T) T {
	if T(value) != first && T(value) != second {
		r.fail(at, "", "is %q; want %s or %s", value, first, second)
		return first
	}
	return T(value)
}

// amountOf reads a number that is not negative, or a percentage of at most 100%.
func amountOf(v any) (Amount, bool) {
	switch v := v.(type) {
	case int64:
		return Amount{Value: int(v)}, v >= 0 && v <= math.MaxInt32
	case string:
		a, ok := parseAmount(v)
		return a, ok && a.Percent // a number that is quoted is none, as KubeFleet has it
	}
	return Amount{}, false
}

// parseAmount reads the text of an amount.
func parseAmount(text string) (Amount, bool) {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseUint(digits, 10, 31)
	return Amount{Value: int(n), Percent: percent}, err == nil && (!percent || n <= 100) && strconv.FormatUint(n, 10) == digits
}
