package object

import (
	"slices"
	"strings"
)

// workloads are kinds that people have in mind when they speak of an app, in the order in which they matter.
var workloads = []string{"Deployment", "StatefulSet", "DaemonSet", "Rollout", "CronJob", "Job"}

// IsWorkload reports a kind that people have in mind when they speak of an app.
func IsWorkload(kind string) bool { return slices.Contains(workloads, kind) }

// KindRank orders kinds by how much they matter to people: workloads first, then what holds their data and leads to them.
func KindRank(kind string) int {
	order := append(slices.Clone(workloads), "PersistentVolumeClaim", "Service", "Ingress")
	if i := slices.Index(order, kind); i >= 0 {
		return i
	}
	return len(order)
}

// Called is what people call an object: its place and its name, and then its kind.
func (r Ref) Called() string {
	return strings.TrimPrefix(r.Namespace+"/", "/") + r.Name + " (" + r.Kind + ")"
}
