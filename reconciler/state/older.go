package state

import (
	"encoding/json"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/sources/files"
)

// The form of before there was a number had files of its own for what is kept, and an
// annotation for where a template is missing. What stays where it is follows from the
// published trees now, so that only the holds and what was last good are read.
const (
	olderHeldFile     = "held.json"
	olderHiddenFile   = "hidden.json"
	missingAnnotation = "waybill.dev/missing-in"
)

// olderReader returns what reads a file of the older form; nil for one that says nothing.
func (s *State) olderReader(path string) func(data []byte, from *files.Blob) error {
	switch path {
	case olderHeldFile:
		return s.addOlderHeld
	case olderHiddenFile:
		return func(data []byte, _ *files.Blob) error { return addOlderHidden(&s.LastGood, data) }
	case lastGoodFile:
		return s.addOlderLastGood
	}
	return nil
}

func (s *State) addOlderHeld(data []byte, _ *files.Blob) error {
	var held map[string]string
	err := json.Unmarshal(data, &held)
	for cluster, reason := range held {
		s.Held[cluster] = metav1.Condition{Type: HeldCondition, Status: metav1.ConditionTrue, Message: reason}
	}
	return err
}

// addOlderHidden reads the objects that went missing while a part broke, by the name of the part.
func addOlderHidden(g *LastGood, data []byte) error {
	var hidden map[string]string
	err := json.Unmarshal(data, &hidden)
	g.Also = map[string][]string{}
	for k, part := range hidden {
		g.Also[k] = []string{part}
	}
	return err
}

// addOlderLastGood reads the commits in which parts were last sound. What the parts held
// when the plan was made is not known: they count as changed.
func (s *State) addOlderLastGood(data []byte, _ *files.Blob) error {
	var commits map[string]string
	err := json.Unmarshal(data, &commits)
	s.LastGood.Broken = map[string]Part{}
	for part, commit := range commits {
		s.LastGood.Broken[part] = Part{Commit: commit}
	}
	return err
}

// modernized brings a binding of the older form to the one that is written now; false if it
// was older.
func modernized(b *karmada.ResourceBinding) bool {
	isCoded := codeReasons(b)
	if _, ok := b.Annotations[missingAnnotation]; !ok {
		return isCoded
	}
	b.Annotations = maps.Clone(b.Annotations)
	delete(b.Annotations, missingAnnotation)
	return false
}

// codeReasons gives the sentences of earlier versions, which say why an object is left as it is, their
// codes; false if one had none.
func codeReasons(b *karmada.ResourceBinding) (isCoded bool) {
	isCoded = true
	for i := range b.Status.AggregatedStatus {
		if s := &b.Status.AggregatedStatus[i]; s.Reason == "" && s.AppliedMessage != "" {
			s.Reason, isCoded = string(reason.Of(s.AppliedMessage)), false
		}
	}
	return isCoded
}
