package virtual

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
)

// template is where pod templates usually are.
const template = "spec.template.spec"

// podTemplates are the paths of pod specs, by kind. A kind that is not here has one at
// spec.template.spec if there is a list of containers there.
var podTemplates = parsed(map[object.GroupKind][]string{
	{Kind: "Pod"}:                       {"spec"},
	{Kind: "PodTemplate"}:               {"template.spec"},
	{Kind: "ReplicationController"}:     {template},
	{Group: "apps", Kind: "Deployment"}: {template}, {Group: "apps", Kind: "StatefulSet"}: {template},
	{Group: "apps", Kind: "DaemonSet"}: {template}, {Group: "apps", Kind: "ReplicaSet"}: {template},
	{Group: "batch", Kind: "Job"}:     {template},
	{Group: "batch", Kind: "CronJob"}: {"spec.jobTemplate." + template},

	{Group: "apps.kruise.io", Kind: "AdvancedCronJob"}: {"spec.template.jobTemplate." + template, "spec.template.broadcastJobTemplate." + template},
	{Group: "apps.kruise.io", Kind: "UnitedDeployment"}: {
		"spec.template.statefulSetTemplate." + template, "spec.template.advancedStatefulSetTemplate." + template,
		"spec.template.cloneSetTemplate." + template, "spec.template.deploymentTemplate." + template,
	},
	{Group: "argoproj.io", Kind: "Workflow"}:                           {"spec"},
	{Group: "argoproj.io", Kind: "CronWorkflow"}:                       {"spec.workflowSpec"},
	{Group: "batch.volcano.sh", Kind: "Job"}:                           {"spec.tasks[].template.spec"},
	{Group: "batch.volcano.sh", Kind: "CronJob"}:                       {"spec.jobTemplate.spec.tasks[].template.spec"},
	{Group: "flink.apache.org", Kind: "FlinkDeployment"}:               {"spec.podTemplate.spec"},
	{Group: "kubeflow.org", Kind: "TFJob"}:                             {"spec.tfReplicaSpecs.{}.template.spec"},
	{Group: "kubeflow.org", Kind: "PyTorchJob"}:                        {"spec.pytorchReplicaSpecs.{}.template.spec"},
	{Group: "kubeflow.org", Kind: "MPIJob"}:                            {"spec.mpiReplicaSpecs.{}.template.spec"},
	{Group: "kubeflow.org", Kind: "XGBoostJob"}:                        {"spec.xgbReplicaSpecs.{}.template.spec"},
	{Group: "kubeflow.org", Kind: "PaddleJob"}:                         {"spec.paddleReplicaSpecs.{}.template.spec"},
	{Group: "kubeflow.org", Kind: "JAXJob"}:                            {"spec.jaxReplicaSpecs.{}.template.spec"},
	{Group: "ray.io", Kind: "RayCluster"}:                              {"spec.headGroupSpec.template.spec", "spec.workerGroupSpecs[].template.spec"},
	{Group: "ray.io", Kind: "RayJob"}:                                  {"spec.submitterPodTemplate.spec", "spec.rayClusterSpec.headGroupSpec.template.spec", "spec.rayClusterSpec.workerGroupSpecs[].template.spec"},
	{Group: "ray.io", Kind: "RayService"}:                              {"spec.rayClusterConfig.headGroupSpec.template.spec", "spec.rayClusterConfig.workerGroupSpecs[].template.spec"},
	{Group: "sparkoperator.k8s.io", Kind: "SparkApplication"}:          {"spec.driver", "spec.executor"},
	{Group: "sparkoperator.k8s.io", Kind: "ScheduledSparkApplication"}: {"spec.template.driver", "spec.template.executor"},
})

// made are the kinds whose pod template is made where there is none: without one they have pods,
// too.
var made = map[object.GroupKind]bool{{Group: "flink.apache.org", Kind: "FlinkDeployment"}: true}

func parsed(texts map[object.GroupKind][]string) map[object.GroupKind][]path {
	paths := make(map[object.GroupKind][]path, len(texts))
	for kind, list := range texts {
		for _, text := range list {
			paths[kind] = append(paths[kind], parsePath(text))
		}
	}
	return paths
}

// podPaths returns where a manifest has pod specs.
func podPaths(kind object.GroupKind, content map[string]any) []path {
	if paths, ok := podTemplates[kind]; ok {
		return paths
	}
	has := false
	usual := parsePath(template)
	_, _ = edit(content, append(slices.Clone(usual), "containers"), func(v any) (any, bool) {
		_, has = v.([]any)
		return v, false
	})
	if !has {
		return nil
	}
	return []path{usual}
}

// pods rewrites the pod specs of a manifest.
func (r *rewriter) pods(content map[string]any) map[string]any {
	for _, p := range podPaths(r.kind, content) {
		if made[r.kind] {
			content = ensured(content, p)
		}
		next, _ := edit(content, p, r.pod)
		content = next.(map[string]any) // edit returns what it was given
	}
	return content
}

// ensured returns content with maps along a path of keys.
func ensured(content map[string]any, p path) map[string]any {
	if len(p) == 0 {
		return content
	}
	below, isMap := content[p[0]].(map[string]any)
	if content[p[0]] != nil && !isMap {
		return content
	}
	content = maps.Clone(content)
	if content == nil {
		content = map[string]any{}
	}
	content[p[0]] = ensured(below, p[1:])
	if below == nil && len(p) == 1 {
		content[p[0]] = map[string]any{}
	}
	return content
}

// pod gives a pod spec the nodes of the virtual cluster, and rewrites what it refers to.
func (r *rewriter) pod(v any) (any, bool) {
	spec, ok := v.(map[string]any)
	if !ok {
		return v, false
	}
	changed := false
	for _, ref := range podReferences {
		next, ok := edit(spec, ref.path, func(v any) (any, bool) { return ref.as(r, v) })
		spec, changed = next.(map[string]any), changed || ok // edit returns what it was given
	}
	if len(r.mapping.Selector) == 0 {
		return spec, changed
	}
	old, _ := spec["nodeSelector"].(map[string]any)
	selector := maps.Clone(old)
	if selector == nil {
		selector = map[string]any{}
	}
	for _, key := range slices.Sorted(maps.Keys(r.mapping.Selector)) {
		want := r.mapping.Selector[key]
		if has, ok := selector[key]; ok && has != want && r.err == nil {
			r.err = &Error{
				Message: fmt.Sprintf("its nodeSelector says %s: %v, and the nodes of the virtual cluster %s have %s: %s, so that no node would take it", key, has, r.mapping.Cluster, key, want),
				Hint:    "take the label out of the template, or override it for this cluster, or do not send it there",
			}
		}
		selector[key] = want
	}
	spec = maps.Clone(spec)
	spec["nodeSelector"] = selector
	return spec, true
}
