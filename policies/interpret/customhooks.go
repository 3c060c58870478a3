package interpret

import (
	"errors"
	"fmt"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// first is the first result of a call; nil without one.
func first(results []any) any {
	if len(results) == 0 {
		return nil
	}
	return results[0]
}

// object is a result that has to be a map.
func (s *script) object(result any) (map[string]any, error) {
	m, ok := result.(map[string]any)
	if !ok {
		return nil, s.failed(fmt.Errorf("it returned %s, want an object", described(result)))
	}
	return m, nil
}

// same is a result that has to be the object that was given, changed.
func (s *script) same(result any, obj map[string]any) (map[string]any, error) {
	m, err := s.object(result)
	if err != nil {
		return nil, err
	}
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}} {
		if was, is := at(obj, path...), at(m, path...); !equal(was, is) {
			return nil, s.failed(fmt.Errorf("it changed %s from %v to %v", dotted(path), was, is))
		}
	}
	return m, nil
}

// described says what a result is.
func described(result any) string {
	switch result := result.(type) {
	case nil:
		return "nil"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string" // it may be what a Secret holds
	default:
		return fmt.Sprint(result)
	}
}

// count is a result that has to be a number of replicas.
func count(result any) (int32, error) {
	n, ok := result.(int64)
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("it returned %s for the replicas, want a whole number between 0 and %d", described(result), math.MaxInt32)
	}
	return int32(n), nil
}

func (s *script) replicas(obj map[string]any) (int32, *karmada.ReplicaRequirements, error) {
	results, err := s.call(obj)
	if err != nil {
		return 0, nil, err
	}
	n, err := count(first(results))
	if err != nil {
		return 0, nil, s.failed(err)
	}
	if len(results) < 2 || results[1] == nil {
		return n, nil, nil
	}
	needs, err := s.object(results[1])
	if err != nil {
		return 0, nil, err
	}
	var r karmada.ReplicaRequirements
	if err := decoded(needs, &r); err != nil {
		return 0, nil, s.failed(fmt.Errorf("reading the requirements it returned: %w", err))
	}
	return n, &r, nil
}

// decoded fills out from requirements, unless they hold a quantity that nobody
// should compute with.
func decoded(requirements map[string]any, out any) error {
	for _, v := range mapAt(requirements, "resourceRequest") {
		if q, ok := v.(string); ok && endlessExponent.MatchString(q) {
			return fmt.Errorf("the quantity %q has an exponent of over three digits", q)
		}
	}
	return typed(requirements, out)
}

func (s *script) components(obj map[string]any) ([]karmada.Component, error) {
	list, err := s.list(s.answer(), obj)
	if err != nil {
		return nil, err
	}
	components := make([]karmada.Component, len(list))
	for i, item := range list {
		if err := component(item, &components[i]); err != nil {
			return nil, s.failed(fmt.Errorf("reading component %d that it returned: %w", i+1, err))
		}
	}
	return components, nil
}

func component(item any, out *karmada.Component) error {
	m, ok := item.(map[string]any)
	if !ok {
		return fmt.Errorf("it is %s", described(item))
	}
	if _, err := count(m["replicas"]); err != nil {
		return err
	}
	if stringAt(m, "name") == "" {
		return errors.New("it has no name")
	}
	if err := decoded(mapAt(m, "replicaRequirements"), &karmada.ComponentReplicaRequirements{}); err != nil {
		return err
	}
	return typed(m, out)
}

// list calls for a list; nil and an empty table are empty.
func (s *script) list(a *lua.Answer, obj map[string]any) ([]any, error) {
	results, err := s.callFor(a, obj)
	if err != nil {
		return nil, err
	}
	switch result := first(results).(type) {
	case nil:
		return nil, nil
	case []any:
		return result, nil
	case map[string]any:
		if len(result) == 0 {
			return nil, nil
		}
	}
	return nil, s.failed(fmt.Errorf("it returned %s, want a list", described(first(results))))
}

func (s *script) revise(obj map[string]any, replicas int32) (map[string]any, error) {
	results, err := s.call(obj, int64(replicas))
	if err != nil {
		return nil, err
	}
	return s.same(first(results), obj)
}

func (s *script) health(observed map[string]any) (bool, error) {
	results, err := s.call(observed)
	if err != nil {
		return false, err
	}
	healthy, ok := first(results).(bool)
	if !ok {
		return false, s.failed(fmt.Errorf("it returned %s, want true or false", described(first(results))))
	}
	return healthy, nil
}

func (s *script) reflect(observed map[string]any) (any, error) {
	results, err := s.call(observed)
	if err != nil || first(results) == nil {
		return nil, err
	}
	return s.object(first(results))
}

// aggregate takes the status, and nothing else, of what the script returns: in
// Karmada it updates the status only.
func (s *script) aggregate(template map[string]any, reports []report) (map[string]any, error) {
	items := make([]any, len(reports))
	for i, r := range reports {
		items[i] = r.decoded()
	}
	results, err := s.call(template, items)
	if err != nil {
		return nil, err
	}
	out, err := s.object(first(results))
	switch status, ok := out["status"]; {
	case err != nil:
		return nil, err
	case !ok:
		return without(template, nil, "status"), nil
	default:
		return with(template, status, "status"), nil
	}
}

// decoded is a report as an AggregatedStatusItem reads.
func (r report) decoded() map[string]any {
	item := map[string]any{"clusterName": r.cluster}
	if r.status != nil {
		item["status"] = r.status
	}
	if r.applied {
		item["applied"] = true
	}
	if r.message != "" {
		item["appliedMessage"] = r.message
	}
	if r.health != "" {
		item["health"] = string(r.health)
	}
	return item
}

func (s *script) retain(desired, observed map[string]any) (map[string]any, error) {
	results, err := s.call(desired, observed)
	if err != nil {
		return nil, err
	}
	return s.same(first(results), desired)
}

// united makes a hook that finds what any of scripts finds, each once.
func united(scripts []script) dependenciesHook {
	return func(obj map[string]any) ([]Dependency, error) {
		var all []Dependency
		answer := scripts[0].answer()
		for i := range scripts {
			list, err := scripts[i].list(answer, obj)
			if err != nil {
				return nil, err
			}
			for j, item := range list {
				d, err := dependency(item)
				if err != nil {
					return nil, scripts[i].failed(fmt.Errorf("reading dependency %d that it returned: %w", j+1, err))
				}
				all = append(all, d)
			}
		}
		slices.SortStableFunc(all, compareDependencies)
		return slices.CompactFunc(all, func(a, b Dependency) bool { return compareDependencies(a, b) == 0 }), nil
	}
}

// dependency reads a DependentObjectReference.
func dependency(item any) (Dependency, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return Dependency{}, fmt.Errorf("it is %s", described(item))
	}
	var d struct {
		APIVersion    string                `json:"apiVersion"`
		Kind          string                `json:"kind"`
		Namespace     string                `json:"namespace"`
		Name          string                `json:"name"`
		LabelSelector *metav1.LabelSelector `json:"labelSelector"`
	}
	if err := typed(m, &d); err != nil {
		return Dependency{}, err
	}
	switch {
	case d.APIVersion == "" || d.Kind == "":
		return Dependency{}, errors.New("it has no apiVersion or no kind")
	case d.Name == "" && d.LabelSelector == nil:
		return Dependency{}, errors.New("it has neither name nor labelSelector")
	}
	if d.Name != "" {
		d.LabelSelector = nil
	}
	if _, err := metav1.LabelSelectorAsSelector(d.LabelSelector); err != nil {
		return Dependency{}, err
	}
	return Dependency{APIVersion: d.APIVersion, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name, LabelSelector: d.LabelSelector}, nil
}
