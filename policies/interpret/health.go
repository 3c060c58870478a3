package interpret

import "github.com/waybill-dev/waybill/policies/karmada"

// Health judges an object by what one cluster says of it (Karmada section D.9). A
// kind that has no rule is healthy; a status that cannot be read is unknown.
func (in *Interpreter) Health(observed map[string]any) karmada.ResourceHealth {
	switch healthy, err := in.IsHealthy(observed); {
	case err != nil:
		return karmada.ResourceUnknown
	case healthy:
		return karmada.ResourceHealthy
	default:
		return karmada.ResourceUnhealthy
	}
}

// IsHealthy is Health with the error, which says whose rule cannot read the status, and why.
func (in *Interpreter) IsHealthy(observed map[string]any) (bool, error) {
	h, ok := hook(in, observed, func(l layer) map[kind]healthHook { return l.health })
	if !ok {
		return true, nil
	}
	return h(observed)
}

var nativeHealth = map[kind]healthHook{
	deployment:       rolledOut,
	statefulSet:      rolledOut,
	replicaSet:       replicaSetHealth,
	daemonSet:        daemonSetHealth,
	service:          serviceHealth,
	ingress:          func(obj map[string]any) (bool, error) { return hasAddress(obj), nil },
	volumeClaim:      func(obj map[string]any) (bool, error) { return stringAt(obj, "status", "phase") == "Bound", nil },
	pod:              podHealth,
	disruptionBudget: disruptionBudgetHealth,
}

// numbers reads integers of an object, 0 where there is none, and keeps the first
// error.
type numbers struct {
	obj map[string]any
	err error
}

func (r *numbers) at(path ...string) int64 {
	n, _, err := intAt(r.obj, path...)
	if r.err == nil {
		r.err = err
	}
	return n
}

// current reports whether the status is about the spec as it stands.
func (r *numbers) current() bool {
	return r.at("status", "observedGeneration") == r.at("metadata", "generation")
}

func rolledOut(obj map[string]any) (bool, error) {
	r := numbers{obj: obj}
	updated, available := r.at("status", "updatedReplicas"), r.at("status", "availableReplicas")
	current, wanted := r.current(), r.at("spec", "replicas")
	return current && updated >= wanted && available >= updated, r.err
}

func replicaSetHealth(obj map[string]any) (bool, error) {
	r := numbers{obj: obj}
	current, available, wanted := r.current(), r.at("status", "availableReplicas"), r.at("spec", "replicas")
	return current && available >= wanted, r.err
}

func daemonSetHealth(obj map[string]any) (bool, error) {
	r := numbers{obj: obj}
	updated, available := r.at("status", "updatedNumberScheduled"), r.at("status", "numberAvailable")
	current, wanted := r.current(), r.at("status", "desiredNumberScheduled")
	return current && updated >= wanted && available >= updated, r.err
}

func disruptionBudgetHealth(obj map[string]any) (bool, error) {
	r := numbers{obj: obj}
	have, wanted := r.at("status", "currentHealthy"), r.at("status", "desiredHealthy")
	return have >= wanted, r.err
}

func serviceHealth(obj map[string]any) (bool, error) {
	return !isLoadBalancer(obj) || hasAddress(obj), nil
}

func podHealth(obj map[string]any) (bool, error) {
	switch stringAt(obj, "status", "phase") {
	case "Succeeded":
		return true, nil
	case "Running":
		return isTrue(mapAt(obj, "status"), "Ready"), nil
	default:
		return false, nil
	}
}

func isLoadBalancer(service map[string]any) bool {
	return stringAt(service, "spec", "type") == "LoadBalancer"
}

// hasAddress reports whether a load balancer can be reached somewhere.
func hasAddress(obj map[string]any) bool {
	for _, item := range listAt(obj, "status", "loadBalancer", "ingress") {
		address, _ := item.(map[string]any)
		if stringAt(address, "ip") != "" || stringAt(address, "hostname") != "" {
			return true
		}
	}
	return false
}

// isTrue reports whether a status has a condition, and has it as True.
func isTrue(status map[string]any, condition string) bool {
	for _, item := range listAt(status, "conditions") {
		c, _ := item.(map[string]any)
		if c["type"] == condition {
			return c["status"] == "True"
		}
	}
	return false
}
