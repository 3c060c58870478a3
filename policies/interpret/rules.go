package interpret

import (
	"math"
	"slices"
)

// defaults are the rules of each kind, in the order in which they apply.
var defaults = arranged(map[kind][]rule{
	pod: slices.Concat(podRules("spec"), []rule{
		fill("spec", "enableServiceLinks", true),
	}),
	deployment: slices.Concat(podRules("spec/template/spec"), []rule{
		fill("spec", "replicas", int64(1)),
		fill("spec", "revisionHistoryLimit", int64(10)),
		fill("spec", "progressDeadlineSeconds", int64(600)),
		emptyMap("spec", "strategy"),
		fill("spec/strategy", "type", "RollingUpdate"),
		depends("spec/strategy", "rollingUpdate", ifRolling),
		fill("spec/strategy/rollingUpdate", "maxUnavailable", "25%"),
		fill("spec/strategy/rollingUpdate", "maxSurge", "25%"),
	}),
	replicaSet: slices.Concat(podRules("spec/template/spec"), []rule{
		fill("spec", "replicas", int64(1)),
	}),
	statefulSet: slices.Concat(podRules("spec/template/spec"), claimRules("spec/volumeClaimTemplates/*/spec"), []rule{
		fill("spec", "replicas", int64(1)),
		fill("spec", "revisionHistoryLimit", int64(10)),
		fill("spec", "podManagementPolicy", "OrderedReady"),
		emptyMap("spec", "updateStrategy"),
		depends("spec/updateStrategy", "rollingUpdate", ifNoType),
		fill("spec/updateStrategy", "type", "RollingUpdate"),
		fill("spec/updateStrategy/rollingUpdate", "partition", int64(0)),
		emptyMap("spec", "persistentVolumeClaimRetentionPolicy"),
		fill("spec/persistentVolumeClaimRetentionPolicy", "whenDeleted", "Retain"),
		fill("spec/persistentVolumeClaimRetentionPolicy", "whenScaled", "Retain"),
	}),
	daemonSet: slices.Concat(podRules("spec/template/spec"), []rule{
		fill("spec", "revisionHistoryLimit", int64(10)),
		emptyMap("spec", "updateStrategy"),
		fill("spec/updateStrategy", "type", "RollingUpdate"),
		depends("spec/updateStrategy", "rollingUpdate", ifRolling),
		fill("spec/updateStrategy/rollingUpdate", "maxUnavailable", int64(1)),
		fill("spec/updateStrategy/rollingUpdate", "maxSurge", int64(0)),
	}),
	job: slices.Concat(podRules("spec/template/spec"), []rule{
		depends("spec", "completions", completionsOf),
		fill("spec", "parallelism", int64(1)),
		depends("spec", "backoffLimit", backoffLimitOf),
		fill("spec", "completionMode", "NonIndexed"),
		fill("spec", "suspend", false),
		depends("spec", "podReplacementPolicy", podReplacementOf),
	}),
	cronJob: slices.Concat(podRules("spec/jobTemplate/spec/template/spec"), []rule{
		fill("spec", "concurrencyPolicy", "Allow"),
		fill("spec", "suspend", false),
		fill("spec", "successfulJobsHistoryLimit", int64(3)),
		fill("spec", "failedJobsHistoryLimit", int64(1)),
	}),
	service: {
		fill("spec", "sessionAffinity", "None"),
		depends("spec", "sessionAffinityConfig", ifClientIP),
		emptyMap("spec/sessionAffinityConfig", "clientIP"),
		fill("spec/sessionAffinityConfig/clientIP", "timeoutSeconds", int64(10800)),
		fill("spec", "type", "ClusterIP"),
		fill("spec/ports/*", "protocol", "TCP"),
		on("spec/ports/*", "targetPort", isZero, func(port map[string]any) any { return port["port"] }),
		depends("spec", "internalTrafficPolicy", internalTrafficOf),
		depends("spec", "externalTrafficPolicy", externalTrafficOf),
		depends("spec", "allocateLoadBalancerNodePorts", ifLoadBalancer),
	},
	volumeClaim: claimRules("spec"),
	volume: {
		fill("spec", "volumeMode", "Filesystem"),
		fill("spec", "persistentVolumeReclaimPolicy", "Retain"),
	},
	secret: {
		fill("", "type", "Opaque"),
	},
	storageClass: {
		fill("", "reclaimPolicy", "Delete"),
		fill("", "volumeBindingMode", "Immediate"),
	},
	autoscalerV1: {
		fill("spec", "minReplicas", int64(1)),
	},
	autoscaler: {
		fill("spec", "minReplicas", int64(1)),
		on("spec", "metrics", isNoList, func(map[string]any) any { return cpuAt80() }),
	},
	networkPolicy: {
		fill("spec/ingress/*/ports/*", "protocol", "TCP"),
		fill("spec/egress/*/ports/*", "protocol", "TCP"),
		on("spec", "policyTypes", isNoList, policyTypesOf),
	},
	roleBinding:        bindingRules(),
	clusterRoleBinding: bindingRules(),
})

func claimRules(spec string) []rule {
	return []rule{fill(spec, "volumeMode", "Filesystem")}
}

func bindingRules() []rule {
	const group = "rbac.authorization.k8s.io"
	return []rule{
		fill("roleRef", "apiGroup", group),
		depends("subjects/*", "apiGroup", func(subject map[string]any) any {
			if subject["kind"] == "User" || subject["kind"] == "Group" {
				return group
			}
			return nil
		}),
	}
}

func isNoList(v any) bool {
	list, ok := v.([]any)
	return v == nil || ok && len(list) == 0
}

func ifRolling(strategy map[string]any) any {
	if strategy["type"] == "RollingUpdate" {
		return map[string]any{}
	}
	return nil
}

// ifNoType gives a StatefulSet a rollingUpdate only along with the type.
func ifNoType(strategy map[string]any) any {
	if isEmpty(strategy["type"]) {
		return map[string]any{}
	}
	return nil
}

// completionsOf makes one pod of a Job that says neither how many should succeed
// nor how many may run. With a parallelism alone, one success ends the Job.
func completionsOf(job map[string]any) any {
	if job["parallelism"] == nil {
		return int64(1)
	}
	return nil
}

func backoffLimitOf(job map[string]any) any {
	if job["backoffLimitPerIndex"] != nil {
		return int64(math.MaxInt32)
	}
	return int64(6)
}

func podReplacementOf(job map[string]any) any {
	if job["podFailurePolicy"] != nil {
		return "Failed"
	}
	return "TerminatingOrFailed"
}

func ifClientIP(service map[string]any) any {
	if service["sessionAffinity"] == "ClientIP" {
		return map[string]any{}
	}
	return nil
}

func internalTrafficOf(service map[string]any) any {
	if service["type"] == "ExternalName" {
		return nil
	}
	return "Cluster"
}

func externalTrafficOf(service map[string]any) any {
	switch service["type"] {
	case "NodePort", "LoadBalancer":
		return "Cluster"
	case "ClusterIP":
		if !isNoList(service["externalIPs"]) {
			return "Cluster"
		}
	}
	return nil
}

func ifLoadBalancer(service map[string]any) any {
	if service["type"] == "LoadBalancer" {
		return true
	}
	return nil
}

func policyTypesOf(policy map[string]any) any {
	if isNoList(policy["egress"]) {
		return []any{"Ingress"}
	}
	return []any{"Ingress", "Egress"}
}

// cpuAt80 is what an autoscaler without metrics looks at.
func cpuAt80() []any {
	return []any{map[string]any{
		"type": "Resource",
		"resource": map[string]any{
			"name":   "cpu",
			"target": map[string]any{"type": "Utilization", "averageUtilization": int64(80)},
		},
	}}
}
