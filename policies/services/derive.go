package services

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// copied are the fields of a ServiceImport that the Service derived from it has as they are written.
var copied = []string{"ipFamilies", "trafficDistribution"}

// sticky are those of them that a headless Service has no use for.
var sticky = []string{"sessionAffinity", "sessionAffinityConfig"}

// Derivation is the Service that is derived from a ServiceImport, nil for none, and what there is to say of that.
type Derivation struct {
	Service *object.Object
	Said    []diag.Diagnostic
}

// Derive derives a Service from a ServiceImport (section E.2): without a selector, with the ports of the import. There is none
// of one that has a mistake or a name that no Service may have, nor of one of type ClusterSetIP without ports.
func Derive(o *object.Object) Derivation {
	spec, wrong := Imported(o.Content())
	d := Derivation{Said: policies.Mistakes(o, wrong)}
	if !diag.HasErrors(d.Said) {
		d.Service = derived(o, spec)
		d.Said = append(d.Said, said(o, spec, d.Service)...)
	}
	return d
}

func derived(o *object.Object, spec *mcs.ServiceImportSpec) *object.Object {
	written, _ := o.Content()["spec"].(map[string]any)
	ports := portsOf(written)
	if len(ports) == 0 && spec.Type == mcs.ClusterSetIP {
		return nil
	}
	is := map[string]any{"type": string(corev1.ServiceTypeClusterIP)}
	if len(ports) > 0 {
		is["ports"] = ports
	}
	fields := copied
	if spec.Type == mcs.Headless {
		is["clusterIP"] = corev1.ClusterIPNone
	} else {
		fields = slices.Concat(copied, sticky)
	}
	for _, f := range fields {
		if v, ok := written[f]; ok {
			is[f] = v
		}
	}
	name := interpret.DerivedName(o.Content())
	if len(validation.IsDNS1035Label(name)) > 0 {
		return nil
	}
	return object.Made(o, map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name, "namespace": o.Ref().Namespace}, "spec": is,
	})
}

// portsOf are the ports of a ServiceImport as a Service has them.
func portsOf(spec map[string]any) []any {
	list, _ := spec["ports"].([]any)
	ports := make([]any, 0, len(list))
	for _, p := range list {
		from, _ := p.(map[string]any)
		port := map[string]any{}
		for _, key := range []string{"name", "protocol", "port", "appProtocol"} {
			if v, ok := from[key]; ok {
				port[key] = v
			}
		}
		ports = append(ports, port)
	}
	return ports
}

// WithDerived adds to objects the Services that are derived from the ServiceImports among them, and says what is wrong with these.
// One whose name the source has already is left out. By is Derive, or remembers what that returned.
func WithDerived(objs []*object.Object, by func(*object.Object) Derivation) ([]*object.Object, []diag.Diagnostic) {
	var imports []*object.Object
	for _, o := range objs {
		if interpret.IsServiceImport(o) {
			imports = append(imports, o)
		}
	}
	if len(imports) == 0 {
		return objs, nil
	}
	slices.SortFunc(imports, func(a, b *object.Object) int { return a.Ref().Compare(b.Ref()) })
	have := map[object.Ref]*object.Object{}
	for _, o := range objs {
		have[o.Ref()] = o
	}
	var diags []diag.Diagnostic
	objs = slices.Clip(objs)
	for _, o := range imports {
		d := by(o)
		diags = append(diags, d.Said...)
		s := d.Service
		if s == nil {
			continue
		}
		if other := have[s.Ref()]; other != nil {
			diags = append(diags, twice(o, other))
			continue
		}
		have[s.Ref()] = s
		objs = append(objs, s)
	}
	return objs, diags
}

// twice says that the Service which is derived from an import has the name of another one.
func twice(o, other *object.Object) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.DuplicateObject, Severity: diag.Error, Pos: o.Origin(),
		Message: fmt.Sprintf("the Service that is derived from %s is %s, which is also at %s; it stays as it was published",
			policies.Name(o), other.Ref(), other.Origin()),
		Hint: "rename one of them: the annotation " + interpret.DerivedAnnotation + " of the ServiceImport names the derived one",
	}
}

// said says what of an import does not act, or acts otherwise than with Karmada.
func said(o *object.Object, spec *mcs.ServiceImportSpec, derived *object.Object) (diags []diag.Diagnostic) {
	report := func(code diag.Code, severity diag.Severity, path []any, message, hint string) {
		message = policies.Name(o) + ": " + message
		diags = append(diags, diag.Diagnostic{Code: code, Severity: severity, Pos: o.FieldPos(path), Message: message, Hint: hint})
	}
	name := interpret.DerivedName(o.Content())
	if wrong := validation.IsDNS1035Label(name); len(wrong) > 0 {
		report(diag.InvalidValue, diag.Error, []any{"metadata", "annotations", interpret.DerivedAnnotation},
			fmt.Sprintf("%q is no name of a Service: %s", name, wrong[0]), "write a name such as "+o.Ref().Name)
	}
	at := func(f string) []any { return []any{"spec", f} }
	if spec.Type == mcs.Headless && derived != nil {
		report(diag.NotKarmadas, diag.Notice, at("type"), fmt.Sprintf("Service %s is derived from it with clusterIP: None; Karmada passes it over", name), "")
	}
	if len(spec.IPs) > 0 {
		report(diag.UnusedField, diag.Warning, at("ips"), "spec.ips is read by nobody: each cluster chooses an address of its own", "remove it")
	}
	if p := spec.InternalTrafficPolicy; p != nil && *p == corev1.ServiceInternalTrafficPolicyLocal {
		report(diag.UnusedField, diag.Warning, at("internalTrafficPolicy"), "spec.internalTrafficPolicy is not copied: no endpoint of another cluster is local to a node",
			"remove it")
	}
	return diags
}

// Completed is a derived Service with what the Services say that clusters export: their ports where these differ, what labels and
// annotations are exported, and the session affinity where the import has none. It is the derived one itself if they add nothing.
func Completed(derived *object.Object, m *Merged) *object.Object {
	content := maps.Clone(derived.Content())
	spec, _ := content["spec"].(map[string]any)
	spec = maps.Clone(spec)
	isChanged := false
	if m.Conflicting(mcs.ServiceExportReasonPortConflict) {
		if ports, added := union(spec["ports"], m.Ports); added {
			spec["ports"], isChanged = ports, true
		}
	}
	if _, has := spec["sessionAffinity"]; !has && m.Affinity == corev1.ServiceAffinityClientIP && spec["clusterIP"] != corev1.ClusterIPNone {
		spec["sessionAffinity"], isChanged = string(m.Affinity), true
		if m.AffinityConfig != nil {
			spec["sessionAffinityConfig"] = m.AffinityConfig
		}
	}
	content["spec"] = spec
	for key, add := range map[string]map[string]string{"labels": m.Labels, "annotations": m.Annotations} {
		if len(add) > 0 {
			content, isChanged = with(content, key, add), true
		}
	}
	if !isChanged {
		return derived
	}
	return object.Made(derived, content)
}

// with is a manifest with labels or annotations.
func with(content map[string]any, key string, add map[string]string) map[string]any {
	content = maps.Clone(content)
	meta, _ := content["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	all := map[string]any{}
	for k, v := range add {
		all[k] = v
	}
	meta[key], content["metadata"] = all, meta
	return content
}
