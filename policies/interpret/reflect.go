package interpret

import (
	"fmt"
	"strconv"
)

// templateGenerationAnnotation on a delivered object is the generation of its
// template.
const templateGenerationAnnotation = "resourcetemplate.karmada.io/generation"

// The counters in the status of workloads: those that Reflect reports and
// Aggregate sums.
var (
	deploymentCounters  = []string{"replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"}
	replicaSetCounters  = []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"}
	statefulSetCounters = []string{"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"}
	daemonSetCounters   = []string{
		"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
		"updatedNumberScheduled", "numberAvailable", "numberUnavailable",
	}
	jobCounters        = []string{"active", "succeeded", "failed"}
	autoscalerCounters = []string{"currentReplicas", "desiredReplicas"}
	budgetCounters     = []string{"disruptionsAllowed", "expectedPods", "desiredHealthy", "currentHealthy"}
)

// Reflect returns what a cluster reports of an object, a decoded JSON value (Karmada
// section D.7); nil if there is nothing to report. Of a kind that has no rule that
// is the whole status. It is an error if what says of which generation of its template a
// delivered workload is, or a counter, is no integer.
func (in *Interpreter) Reflect(observed map[string]any) (any, error) {
	h, ok := hook(in, observed, func(l layer) map[kind]reflectHook { return l.reflect })
	if !ok {
		return observed["status"], nil
	}
	status, err := h(observed)
	if err != nil {
		return nil, in.located("reflecting the status of", observed, err)
	}
	return status, nil
}

var nativeReflect = map[kind]reflectHook{
	deployment:       workloadStatus(deploymentCounters),
	replicaSet:       workloadStatus(replicaSetCounters),
	statefulSet:      workloadStatus(statefulSetCounters),
	daemonSet:        workloadStatus(daemonSetCounters),
	job:              statusFields(append([]string{"conditions", "startTime", "completionTime"}, jobCounters...)),
	disruptionBudget: statusFields(append([]string{"disruptedPods"}, budgetCounters...)),
	autoscaler:       statusFields(autoscalerCounters),
	service: func(obj map[string]any) (any, error) {
		if !isLoadBalancer(obj) {
			return nil, nil
		}
		return statusFields([]string{"loadBalancer"})(obj)
	},
}

// statusFields makes a hook that reports some fields of the status.
func statusFields(fields []string) reflectHook {
	return func(obj map[string]any) (any, error) {
		status := mapAt(obj, "status")
		if status == nil {
			return nil, nil
		}
		report := map[string]any{}
		for _, key := range fields {
			if v := status[key]; v != nil {
				report[key] = v
			}
		}
		return report, nil
	}
}

// workloadStatus makes a hook that reports counters, and which generations they
// are about.
func workloadStatus(counters []string) reflectHook {
	return func(obj map[string]any) (any, error) {
		if mapAt(obj, "status") == nil {
			return nil, nil
		}
		r := numbers{obj: obj}
		report := map[string]any{}
		set := func(key string, n int64) {
			if n != 0 {
				report[key] = n
			}
		}
		set("generation", r.at("metadata", "generation"))
		set("observedGeneration", r.at("status", "observedGeneration"))
		for _, key := range counters {
			set(key, r.at("status", key))
		}
		if r.err != nil {
			return nil, r.err
		}
		text, named := mapAt(obj, "metadata", "annotations")[templateGenerationAnnotation].(string)
		if !named {
			return report, nil
		}
		of, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reading the annotation %s: %w", templateGenerationAnnotation, err)
		}
		set("resourceTemplateGeneration", of)
		return report, nil
	}
}
