package object

import (
	"slices"
	"strings"
)

// workloads are kinds that people have in mind when they speak of an app, in the order in which they matter.
var workloads = []string{"Deployment", "StatefulSet", "DaemonSet", "Rollout", "CronJob", "Job"}

// IsWorkload reports a kind that people have in mind when they speak of an app.
func IsWorkload(kind string) bool { return slices.Contains(workloads, kind) }

// kindRanks are kinds in the order in which they matter to people: workloads, then what holds their data and leads to them.
var kindRanks = append(slices.Clone(workloads), "PersistentVolumeClaim", "Service", "Ingress")

// KindRank orders kinds by how much they matter to people: those that are not named here are last.
func KindRank(kind string) int {
	if i := slices.Index(kindRanks, kind); i >= 0 {
		return i
	}
	return len(kindRanks)
}

// Called is what people call an object: its place and its name, and then its kind.
func (r Ref) Called() string {
	return strings.TrimPrefix(r.Namespace+"/", "/") + r.Name + " (" + r.Kind + ")"
}
