package staged

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// Strategy is a strategy as it is recorded: a run outlives what it began by.
func Strategy(s *kubefleet.Strategy) *rollouts.Strategy {
	if s == nil {
		return nil
	}
	is := &rollouts.Strategy{
		Name: s.Name, OnFailure: rollouts.OnFailure(s.OnFailure), Newer: rollouts.Newer(s.Newer), Unmatched: string(s.Unmatched),
	}
	if s.Namespace != "" {
		is.Name = s.Namespace + "/" + s.Name
	}
	for i := range s.Stages {
		is.Stages = append(is.Stages, recorded(&s.Stages[i]))
	}
	return is
}

func recorded(s *kubefleet.Stage) rollouts.Stage {
	return rollouts.Stage{
		Name: s.Name, LabelSelector: s.LabelSelector, SortingLabelKey: s.SortingLabel,
		MaxConcurrency: amount(s.MaxConcurrency), MaxFailures: amount(s.MaxFailures),
		ProgressDeadline: metav1.Duration{Duration: s.ProgressDeadline}, Settle: metav1.Duration{Duration: s.Settle},
		BeforeStageTasks: tasks(s.Before), AfterStageTasks: tasks(s.After),
	}
}

func amount(a kubefleet.Amount) intstr.IntOrString { return intstr.Parse(a.String()) }

func tasks(list []kubefleet.Task) (all []rollouts.StageTask) {
	for _, t := range list {
		all = append(all, rollouts.StageTask{Type: rollouts.TaskType(t.Type), WaitTime: metav1.Duration{Duration: t.WaitTime}})
	}
	return all
}
