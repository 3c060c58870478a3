package interpret

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Size is what an object asks for.
type Size struct {
	Replicas     int32
	Requirements *karmada.ReplicaRequirements
	Components   []karmada.Component // pod templates, of a kind that has several
	Err          error               // why it cannot be told
}

// IsWorkload reports whether a binding of the object has replicas (Karmada section A.12).
func (s *Size) IsWorkload() bool {
	return len(s.Components) <= 1 && (s.Replicas > 0 || s.Requirements != nil)
}

// Size returns what an object asks for, by its content with the API server's defaults. Of
// an object that may hold values of Secrets it says what the plan goes by, and no more.
func (in *Interpreter) Size(o *object.Object, content map[string]any) (s Size) {
	in = in.About(o)
	if s.Replicas, s.Requirements, _, s.Err = in.Replicas(content); s.Err == nil {
		s.Components, _, s.Err = in.Components(content)
	}
	if s.Err == nil && o.Private() {
		s.conceal(o.Secrets())
	}
	return s
}

// About returns the interpreter to ask about an object: one that does not say why something
// is wrong with what is private.
func (in *Interpreter) About(o *object.Object) *Interpreter {
	if o.Private() {
		return in.Hushed()
	}
	return in
}

// conceal leaves of the size of a private object, which its binding shows, the numbers of
// resources. Names of resources and components that hold one of the secrets are an error.
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
