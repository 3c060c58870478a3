package ingress

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies"
	rules "github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// locator finds Services in clusters, by what these are to hold.
type locator struct {
	in        *manifest.Input
	written   *manifest.Result
	exposures map[object.Ref]*policies.Located[karmada.MultiClusterService] // by their Services
	specs     map[int32]*corev1.ServiceSpec                                 // by the numbers of manifests; nil of what cannot be read
}

func newLocator(in *manifest.Input, written *manifest.Result) *locator {
	l := &locator{
		in: in, written: written, specs: map[int32]*corev1.ServiceSpec{},
		exposures: map[object.Ref]*policies.Located[karmada.MultiClusterService]{},
	}
	for i := range in.Policies.Set.Exposures {
		e := &in.Policies.Set.Exposures[i]
		l.exposures[services.Of(e.Object.Ref())] = e
	}
	return l
}

// locate finds the Services that an object sends traffic to in the clusters that it goes to.
func (l *locator) locate(d *schedule.Decision) *located {
	is := &located{of: cmp.Or(d.Template.MadeOf, d.Template.Object), backends: map[string]rules.Found{}}
	if d.Outcome == schedule.Kept {
		return is
	}
	backends := map[*template.Variant][]rules.Backend{} // most clusters have the same
	for _, c := range d.Targets {
		i, ok := l.in.Policies.Position(c.Name)
		if !ok || d.Suspended(c.Name) || d.Template.MadeOf == nil && !rewrites(l.in.Policies, c.Name) {
			continue
		}
		v := d.Template.In(i)
		if v == nil {
			continue
		}
		if _, known := backends[v]; !known {
			backends[v] = rules.Backends(v.Content)
		}
		is.backends[c.Name] = l.found(is, i, c.Name, backends[v])
	}
	return is
}

// found is what there is of backends in a cluster.
func (l *locator) found(is *located, at int, cluster string, backends []rules.Backend) (found rules.Found) {
	names := map[object.Ref]string{}
	for _, b := range backends {
		there, why := l.there(at, b.Service)
		says := lack{at: is.of.FieldPos(b.Path), path: object.FieldPath(b.Path)}
		if why != "" {
			says.code, says.what = diag.IngressBackend, why
			says.hint = fmt.Sprintf("place %s there, or a ServiceImport of that name; or take the cluster out of the policy", b.Service)
			is.lack(cluster, says)
			found.Lacks = true
			continue
		}
		names[b.Service] = there.Name
		if port := l.noPort(at, there, b.Port); port != nil {
			says.code, says.what = diag.IngressPort, fmt.Sprintf("%s has no port with %s", there, port.What)
			says.hint = "it has " + port.Has
			is.lack(cluster, says)
			found.Lacks = true
		}
	}
	found.Names = rules.NamesOf(names)
	return found
}

// there is the Service in a cluster that stands for one: that of a MultiClusterService for the cluster, one that is derived from a
// ServiceImport, or the Service itself; or why there is none.
func (l *locator) there(cluster int, of object.Ref) (there object.Ref, why string) {
	if e := l.exposures[of]; e != nil && l.isFor(cluster, &e.Value.Spec) && l.wants(of, cluster) {
		return of, ""
	}
	imported := services.ImportOf(of)
	if d := schedule.Find(l.in.Decisions, imported); d != nil && l.wants(imported, cluster) {
		derived := of
		if derived.Name = interpret.DerivedName(d.Template.Object.Content()); l.wants(derived, cluster) {
			return derived, ""
		}
		return of, fmt.Sprintf("no Service is derived from %s", imported)
	}
	if l.wants(of, cluster) {
		return of, ""
	}
	return of, fmt.Sprintf("there is neither %s nor a ServiceImport of it", of)
}

// isFor reports whether a cluster provides, or calls, what a MultiClusterService exposes.
func (l *locator) isFor(cluster int, s *karmada.MultiClusterServiceSpec) bool {
	provides, calls := services.Providers(s), services.Consumers(s)
	name := l.in.Policies.Fleet.Clusters()[cluster].Name
	return provides == nil || calls == nil || slices.Contains(provides, name) || slices.Contains(calls, name)
}

// wants reports whether a cluster is to hold an object.
func (l *locator) wants(r object.Ref, cluster int) bool {
	row := l.written.Row(r)
	if row == nil {
		return false
	}
	_, ok := row.Wanted(cluster)
	return ok
}

// noPort is the port that a Service lacks in a cluster; nil if it has it. Of what stays there as it was nothing is known.
func (l *locator) noPort(cluster int, of object.Ref, port rules.Port) *services.NoPort {
	w, _ := l.written.Row(of).Wanted(cluster)
	if w.Blob < 0 || port == (rules.Port{}) {
		return nil
	}
	spec, known := l.specs[w.Blob]
	if !known {
		if content, err := object.ReadCanonical(l.written.Blobs.At(w.Blob)); err == nil {
			spec, _ = services.Service(content) // nil of what an API server would not take either
		}
		l.specs[w.Blob] = spec
	}
	if spec == nil {
		return nil
	}
	if _, lacks := services.Ports([]karmada.ExposurePort{{Name: port.Name, Port: port.Number}}, spec); len(lacks) > 0 {
		return &lacks[0]
	}
	return nil
}
