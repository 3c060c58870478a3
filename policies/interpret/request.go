package interpret

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// podNeeds is the part of a pod's spec that says what the pod needs.
type podNeeds struct {
	Containers     []containerNeeds    `json:"containers"`
	InitContainers []containerNeeds    `json:"initContainers"`
	Overhead       corev1.ResourceList `json:"overhead"`
	NodeSelector   map[string]string   `json:"nodeSelector"`
	Tolerations    []corev1.Toleration `json:"tolerations"`
	Affinity       struct {
		NodeAffinity struct {
			Required *corev1.NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution"`
		} `json:"nodeAffinity"`
	} `json:"affinity"`
}

type containerNeeds struct {
	Resources struct {
		Limits   corev1.ResourceList `json:"limits"`
		Requests corev1.ResourceList `json:"requests"`
	} `json:"resources"`
}

// requirements returns what a pod needs whose spec stands at the end of path; nil
// if that is nothing (Karmada section A.13).
func requirements(obj map[string]any, path ...string) (*karmada.ReplicaRequirements, error) {
	spec := mapAt(obj, path...)
	if spec == nil {
		return nil, nil
	}
	if q, found := endless(spec); found {
		return nil, fmt.Errorf("reading what the pods of %s need: the quantity %q has an exponent of over three digits", dotted(path), q)
	}
	var p podNeeds
	if err := typed(spec, &p); err != nil {
		return nil, fmt.Errorf("reading what the pods of %s need: %w", dotted(path), err)
	}
	needs := &karmada.ReplicaRequirements{NodeClaim: p.nodeClaim(), ResourceRequest: p.request().list()}
	if needs.NodeClaim == nil && needs.ResourceRequest == nil {
		return nil, nil
	}
	return needs, nil
}

// endlessExponent matches quantities that take their library minutes, or all
// memory, to compute with: it works out every digit.
var endlessExponent = regexp.MustCompile(`^[+-]?[0-9.]+[eE][+-]?[0-9]{4,}$`)

// endless finds a quantity among the requests of a pod spec that nobody should
// compute with.
func endless(spec map[string]any) (quantity string, found bool) {
	needs := []any{spec["overhead"]}
	for _, field := range []string{"containers", "initContainers"} {
		list, _ := spec[field].([]any)
		for _, c := range list {
			container, _ := c.(map[string]any)
			resources, _ := container["resources"].(map[string]any)
			needs = append(needs, resources["limits"], resources["requests"])
		}
	}
	for _, n := range needs {
		amounts, _ := n.(map[string]any)
		for _, v := range amounts {
			if s, ok := v.(string); ok && endlessExponent.MatchString(s) {
				return s, true
			}
		}
	}
	return "", false
}

func (p *podNeeds) nodeClaim() *karmada.NodeClaim {
	required := p.Affinity.NodeAffinity.Required
	if len(p.NodeSelector) == 0 {
		p.NodeSelector = nil // an API server drops one that is empty
	}
	if required == nil && p.NodeSelector == nil && len(p.Tolerations) == 0 {
		return nil
	}
	return &karmada.NodeClaim{HardNodeAffinity: required, NodeSelector: p.NodeSelector, Tolerations: p.Tolerations}
}

// request is the effective request of the pod. Containers run together; each init
// container runs alone.
func (p *podNeeds) request() amounts {
	total := amounts{}
	for _, c := range p.Containers {
		total.add(c.amounts())
	}
	for _, c := range p.InitContainers {
		for name, n := range c.amounts() {
			total[name] = max(total[name], n)
		}
	}
	total.add(amountsOf(p.Overhead))
	return total
}

// amounts are the requests of a container; a limit stands in for a request that
// is missing.
func (c *containerNeeds) amounts() amounts {
	a := amountsOf(c.Resources.Limits)
	maps.Copy(a, amountsOf(c.Resources.Requests))
	return a
}

// amounts counts resources: CPU in thousandths, everything else in whole units,
// both rounded up.
type amounts map[corev1.ResourceName]int64

func amountsOf(list corev1.ResourceList) amounts {
	a := make(amounts, len(list))
	for name, q := range list {
		switch {
		case name == corev1.ResourceCPU:
			a[name] = q.MilliValue()
		case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, isScalar(name):
			a[name] = q.Value()
		}
	}
	return a
}

func (a amounts) add(b amounts) {
	for name, n := range b {
		a[name] += n
	}
}

// list is the amounts as Karmada writes them; nil if there are none.
func (a amounts) list() corev1.ResourceList {
	var list corev1.ResourceList
	for name, n := range a {
		if n <= 0 {
			continue
		}
		if list == nil {
			list = corev1.ResourceList{}
		}
		switch {
		case name == corev1.ResourceCPU:
			list[name] = *resource.NewMilliQuantity(n, resource.DecimalSI)
		case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, isHugePages(name):
			list[name] = *resource.NewQuantity(n, resource.BinarySI)
		default:
			list[name] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	return list
}

// isScalar reports a countable resource: an extended one such as example.com/gpu,
// huge pages or attachable volumes. Any other name that Kubernetes does not know
// is no resource of a node.
func isScalar(name corev1.ResourceName) bool {
	s := string(name)
	return isHugePages(name) || strings.HasPrefix(s, corev1.ResourceAttachableVolumesPrefix) ||
		strings.Contains(s, "/") && !strings.HasPrefix(s, corev1.DefaultResourceRequestsPrefix)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
