package interpret

import (
	"fmt"
	"maps"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Aggregate returns template with the one status that the reports of its clusters
// make (Karmada section D.8); each item's Status is what Reflect returned there, or
// nil. Fields of the template's status that no rule touches stay. A kind that has
// no rule comes back as it is. It is an error if a report cannot be read.
func (in *Interpreter) Aggregate(template map[string]any, items []karmada.AggregatedStatusItem) (map[string]any, error) {
	h, ok := hook(in, template, func(l layer) map[kind]aggregateHook { return l.aggregate })
	if !ok {
		return template, nil
	}
	reports := make([]report, len(items))
	for i, item := range items {
		reports[i] = report{cluster: item.ClusterName, applied: item.Applied, message: item.AppliedMessage, health: item.Health}
		if item.Status == nil || len(item.Status.Raw) == 0 {
			continue
		}
		if err := utiljson.Unmarshal(item.Status.Raw, &reports[i].status); err != nil {
			return nil, in.located("aggregating", template, fmt.Errorf("decoding the status in cluster %s: %w", item.ClusterName, err))
		}
	}
	out, err := h(template, reports)
	if err != nil {
		return nil, in.located("aggregating", template, err)
	}
	return out, nil
}

// report is the status of one object in one cluster; nil if there is none. The
// rest is what Waybill knows of the object there.
type report struct {
	cluster string
	status  map[string]any
	applied bool
	message string
	health  karmada.ResourceHealth
}

var nativeAggregate = map[kind]aggregateHook{
	deployment:       workloadSum(deploymentCounters),
	replicaSet:       workloadSum(replicaSetCounters),
	statefulSet:      workloadSum(statefulSetCounters),
	daemonSet:        workloadSum(daemonSetCounters),
	service:          serviceAddresses,
	ingress:          addresses,
	job:              jobStatus,
	cronJob:          cronJobStatus,
	pod:              podStatus,
	volume:           volumePhase,
	volumeClaim:      claimPhase,
	disruptionBudget: budgetStatus,
	autoscaler: func(template map[string]any, reports []report) (map[string]any, error) {
		sums, err := sum(reports, autoscalerCounters)
		return withStatus(template, sums), err
	},
}

// withStatus returns template with changes made to its status. A nil or a 0 removes
// the field.
func withStatus(template, changes map[string]any) map[string]any {
	status := maps.Clone(mapAt(template, "status"))
	if status == nil {
		status = map[string]any{}
	}
	for key, v := range changes {
		if v == nil || v == int64(0) {
			delete(status, key)
		} else {
			status[key] = v
		}
	}
	return with(template, status, "status")
}

// sum adds up counters over the clusters.
func sum(reports []report, counters []string) (map[string]any, error) {
	sums := make(map[string]any, len(counters))
	for _, key := range counters {
		var total int64
		for _, r := range reports {
			n, _, err := intAt(r.status, key)
			if err != nil {
				return nil, inCluster(r, err)
			}
			total += n
		}
		sums[key] = total
	}
	return sums, nil
}

func inCluster(r report, err error) error { return fmt.Errorf("cluster %s: %w", r.cluster, err) }

// workloadSum makes a hook that sums counters. The template's generation counts as
// observed once every cluster has observed it.
func workloadSum(counters []string) aggregateHook {
	return func(template map[string]any, reports []report) (map[string]any, error) {
		sums, err := sum(reports, counters)
		if err != nil {
			return nil, err
		}
		generation, _, err := intAt(template, "metadata", "generation")
		if err != nil {
			return nil, err
		}
		observed := true
		for _, r := range reports {
			n := numbers{obj: r.status}
			upToDate := r.status != nil && n.at("observedGeneration") >= n.at("generation") && n.at("resourceTemplateGeneration") >= generation
			if n.err != nil {
				return nil, inCluster(r, n.err)
			}
			observed = observed && upToDate
		}
		if observed {
			sums["observedGeneration"] = generation
		}
		return withStatus(template, sums), nil
	}
}

// budgetStatus sums, and tells the disrupted pods of the clusters apart by the
// cluster's name.
func budgetStatus(template map[string]any, reports []report) (map[string]any, error) {
	changes, err := sum(reports, budgetCounters)
	if err != nil {
		return nil, err
	}
	changes["disruptedPods"] = nil
	disrupted := map[string]any{}
	for _, r := range reports {
		for name, when := range mapAt(r.status, "disruptedPods") {
			disrupted[r.cluster+"/"+name] = when
		}
	}
	if len(disrupted) > 0 {
		changes["disruptedPods"] = disrupted
	}
	return withStatus(template, changes), nil
}
