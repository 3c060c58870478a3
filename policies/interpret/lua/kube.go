package lua

import (
	"fmt"
	"regexp"

	glua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Kube is what the kube module asks of its host. A pod template is a decoded
// PodTemplateSpec.
type Kube struct {
	// Requirements returns what a pod needs, a decoded ReplicaRequirements; nil
	// if that is nothing.
	Requirements func(template map[string]any) (map[string]any, error)
	// Dependencies returns what a pod refers to in its namespace, a list of
	// decoded DependentObjectReferences.
	Dependencies func(template map[string]any, namespace string) ([]any, error)
}

// kubeModule is the kube module of one state.
type kubeModule struct {
	host  Kube
	meter *meter
}

func (k *kubeModule) table(l *glua.LState) *glua.LTable {
	return l.SetFuncs(l.NewTable(), map[string]glua.LGFunction{
		"resourceAdd":             k.resourceAdd,
		"getResourceQuantity":     k.resourceQuantity,
		"accuratePodRequirements": k.requirements,
		"getPodDependencies":      k.dependencies,
	})
}

// resourceAdd returns the sum of quantities as text; nil counts as 0.
func (k *kubeModule) resourceAdd(l *glua.LState) int {
	var sum resource.Quantity
	for i := range l.GetTop() {
		k.meter.pay(l, 20, 0)
		sum.Add(quantity(l, i+1))
	}
	l.Push(glua.LString(sum.String()))
	return 1
}

// resourceQuantity returns a quantity as a number.
func (k *kubeModule) resourceQuantity(l *glua.LState) int {
	k.meter.pay(l, 20, 0)
	q := quantity(l, 1)
	l.Push(glua.LNumber(q.AsApproximateFloat64()))
	return 1
}

// endless matches quantities whose digits take minutes, or all memory, to work out.
var endless = regexp.MustCompile(`[eE][+-]?[0-9]{4,}$`)

// maxQuantity is the size, in bytes, of the longest text of a quantity.
const maxQuantity = 64

// quantity reads an argument that is a quantity; nil is 0.
func quantity(l *glua.LState, n int) resource.Quantity {
	v := l.Get(n)
	switch v.(type) {
	case *glua.LNilType:
		return resource.Quantity{}
	case glua.LString, glua.LNumber:
	default:
		l.ArgError(n, "a quantity is a string, not a "+v.Type().String())
	}
	text := v.String()
	if len(text) > maxQuantity || endless.MatchString(text) {
		l.ArgError(n, fmt.Sprintf("the quantity %.*q is too long", maxQuantity, text))
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		l.ArgError(n, fmt.Sprintf("%q is no quantity", text))
	}
	return q
}

func (k *kubeModule) requirements(l *glua.LState) int {
	v, template := k.template(l)
	needs, err := k.host.Requirements(template)
	if err != nil {
		l.RaiseError("%s", err.Error())
	}
	if needs == nil {
		l.Push(glua.LNil)
		return 1
	}
	return give(v, needs)
}

// dependencies takes a pod template and a namespace, "default" without one.
func (k *kubeModule) dependencies(l *glua.LState) int {
	v, template := k.template(l)
	found, err := k.host.Dependencies(template, l.OptString(2, "default"))
	if err != nil {
		l.RaiseError("%s", err.Error())
	}
	return give(v, found)
}

// templateSteps is what it takes to make sense of a value of a pod template.
const templateSteps = 40

// template reads the first argument.
func (k *kubeModule) template(l *glua.LState) (*values, map[string]any) {
	v := &values{l: l, meter: k.meter}
	out, err := v.out(l.CheckTable(1), nil)
	template, ok := out.(map[string]any)
	k.meter.pay(l, templateSteps*v.read, 0)
	switch {
	case err != nil:
		l.ArgError(1, "reading the pod template: "+err.Error())
	case !ok:
		l.ArgError(1, "a pod template is a map")
	}
	return v, template
}

// give returns a value to the script.
func give(v *values, value any) int {
	result, err := v.in(value)
	if err != nil {
		v.l.RaiseError("%s", err.Error())
	}
	v.l.Push(result)
	return 1
}
