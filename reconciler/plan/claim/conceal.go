package claim

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// conceal leaves of the size of a private template, which its binding shows, what the plan
// goes by: numbers of resources. Names of resources and components that hold one of the
// secrets are an error.
func (s *Size) conceal(secrets []string) {
	var names []string
	note := func(resources corev1.ResourceList) {
		for name := range resources {
			names = append(names, string(name))
		}
	}
	if r := s.Requirements; r != nil {
		note(r.ResourceRequest)
		s.Requirements = &karmada.ReplicaRequirements{ResourceRequest: r.ResourceRequest}
	}
	s.Components = slices.Clone(s.Components)
	for i, c := range s.Components {
		names = append(names, c.Name)
		if r := c.ReplicaRequirements; r != nil {
			note(r.ResourceRequest)
			s.Components[i].ReplicaRequirements = &karmada.ComponentReplicaRequirements{ResourceRequest: r.ResourceRequest}
		}
	}
	text := strings.ToLower(strings.Join(names, "\n"))
	if slices.ContainsFunc(secrets, func(secret string) bool { return strings.Contains(text, strings.ToLower(secret)) }) {
		*s = Size{Err: errors.New("what it needs is named by a value of a Secret, which its binding would show")}
	}
}
