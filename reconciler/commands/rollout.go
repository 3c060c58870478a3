package commands

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources"
)

// RolloutTrailer is the trailer of a commit of the source that commands something of a roll-out.
const RolloutTrailer = "Waybill-Rollout"

// AllUnits stands for every unit, in a trailer that bypasses the stages.
const AllUnits = "*"

// RolloutVerbs are those of commands about roll-outs.
var RolloutVerbs = []rollouts.Verb{rollouts.Approve, rollouts.Stop, rollouts.Resume, rollouts.Skip, rollouts.Return, rollouts.Bypass}

// usageRollout is how a comment commands something of a roll-out, for people.
const usageRollout = "/waybill rollout VERB UNIT@RUN [STAGE|CLUSTER]"

// Spoken is a command about a roll-out as somebody writes it.
type Spoken struct {
	Verb rollouts.Verb
	Unit string // as rollouts.Unit is written, or AllUnits
	Run  string // 32 hex digits; empty where a trailer names none
	// Of is the stage or the cluster that it is about; empty where the verb has none.
	Of string
}

// run is the whole name of a run.
var run = regexp.MustCompile(`^[0-9a-f]{32}$`)

// ParseRolloutComment reads the command about a roll-out of a comment: its first line. It reports whether there is one;
// the error says what is wrong with it.
func ParseRolloutComment(body string) (s Spoken, is bool, err error) {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "/waybill" || words[1] != "rollout" {
		return Spoken{}, false, nil
	}
	s, err = spoken(words[2:])
	switch {
	case err != nil:
	case s.Run == "":
		err = errors.New("it names no run; waybill rollout status UNIT prints the command with it")
	case s.Unit == AllUnits:
		err = errors.New("a comment is about one unit")
	}
	if err != nil {
		return Spoken{}, true, fmt.Errorf("%w (want %s)", err, usageRollout)
	}
	return s, true, nil
}

// ParseRolloutTrailers reads the commands about roll-outs that a commit of the source has. Wrong are those that are none,
// each as it is written, with why.
func ParseRolloutTrailers(message string) (all []Spoken, wrong []string) {
	for _, value := range sources.Trailers(message, RolloutTrailer) {
		s, err := spoken(strings.Fields(value))
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%q: %v", value, err))
			continue
		}
		all = append(all, s)
	}
	return all, wrong
}

// spoken reads VERB UNIT[@RUN] [STAGE|CLUSTER].
func spoken(words []string) (s Spoken, err error) {
	if len(words) < 2 || len(words) > 3 {
		return s, errors.New("want VERB UNIT[@RUN] [STAGE|CLUSTER]")
	}
	s.Verb = rollouts.Verb(words[0])
	var named bool
	if s.Unit, s.Run, named = strings.Cut(words[1], "@"); len(words) == 3 {
		s.Of = words[2]
	}
	_, isUnit := rollouts.ParseUnit(s.Unit)
	switch {
	case !slices.Contains(RolloutVerbs, s.Verb):
		return s, fmt.Errorf("%q is none of the verbs %s", words[0], joined(RolloutVerbs))
	case !isUnit && (s.Unit != AllUnits || s.Verb != rollouts.Bypass):
		return s, fmt.Errorf("%q is no unit; want NAMESPACE/NAME, _cluster/NAME or _group/NAME", s.Unit)
	case named && !run.MatchString(s.Run):
		return s, fmt.Errorf("%q is no run; want its 32 hex digits", s.Run)
	}
	return s, aims(s.Verb, s.Of != "")
}

// aims says what is wrong with a command that names a stage or a cluster, or none; nil if that is right.
func aims(verb rollouts.Verb, named bool) error {
	switch {
	case verb == rollouts.Approve && !named:
		return errors.New("approve what? name the stage")
	case verb == rollouts.Skip && !named:
		return errors.New("skip what? name a stage or a cluster")
	case verb != rollouts.Approve && verb != rollouts.Skip && named:
		return fmt.Errorf("%s is about the whole run; name no stage and no cluster", verb)
	}
	return nil
}

// joined are verbs, for people.
func joined(verbs []rollouts.Verb) string {
	var names []string
	for _, v := range verbs {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}

// Aim says which stage or cluster a command is about. The stages of a run go before clusters of the same name, and an
// approval is always about a stage.
func (s *Spoken) Aim(stages []rollouts.StageStatus) (stage, cluster string) {
	isStage := func(is rollouts.StageStatus) bool { return is.Name == s.Of }
	if s.Verb == rollouts.Approve || slices.ContainsFunc(stages, isStage) {
		return s.Of, ""
	}
	return "", s.Of
}
