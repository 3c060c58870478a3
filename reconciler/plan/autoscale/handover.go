package autoscale

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// Who applies a branch.
const (
	waybill = "Waybill"
	flux    = "Flux"
	argoCD  = "Argo CD"
)

// Published is what is known of where templates are published.
type Published struct {
	// Says reports that what is published in a cluster of what a FederatedHPA scales says replicas; of a plan that is made again,
	// that they stayed there. Of a manifest that cannot be read they are where what is made of the FederatedHPA is not.
	Says func(s *Scaler, cluster string) bool
	// By names who applies the branch of a cluster: Waybill, Flux or Argo CD; empty where that is not known.
	By func(cluster string) string
}

// Branches is what is known of templates by what clusters hold now.
func Branches(publish *render.Publish, l *index.Policies, held map[string]tree.Published) Published {
	var manifests Manifests
	return Published{By: appliers(publish, l.Set.Clusters), Says: func(s *Scaler, cluster string) bool {
		i, ok := l.Position(cluster)
		built := held[cluster].Built
		if !ok || built == nil {
			return false
		}
		at := func(r object.Ref) *files.Blob {
			e, _ := built.Lookup(tree.Path(l.Virtual.At(i).Ref(r)))
			return e.Blob
		}
		target := at(s.Target)
		if target == nil {
			return false
		}
		if says, known := manifests.sayReplicas(target); known {
			return says
		}
		return at(s.Ref()) == nil
	}}
}

// Again is what was known of templates by a plan that is made again, of which the bindings are recorded: replicas stayed where what is
// made of the FederatedHPA was not.
func Again(publish *render.Publish, l *index.Policies, recorded map[object.Ref]*karmada.ResourceBinding) Published {
	return Published{By: appliers(publish, l.Set.Clusters), Says: func(s *Scaler, cluster string) bool {
		b := recorded[s.Ref()]
		return b != nil && !slices.ContainsFunc(b.Spec.Clusters, func(c karmada.TargetCluster) bool { return c.Name == cluster })
	}}
}

// appliers names who applies the branches of clusters, as far as the source says so: by annotations of a cluster, by the setting, or by
// settings that only one of them has a use for.
func appliers(publish *render.Publish, clusters []policies.Cluster) func(cluster string) string {
	usual := applier(publish)
	var byFlux map[string]bool // nil until it is asked
	return func(cluster string) string {
		if byFlux == nil {
			byFlux = annotated(clusters)
		}
		if byFlux[cluster] {
			return flux
		}
		return usual
	}
}

func applier(publish *render.Publish) string {
	switch {
	case publish.AppliedBy == render.AppliedByWaybill:
		return waybill
	case publish.AppliedBy == render.AppliedByFlux:
		return flux
	case publish.AppliedBy == render.AppliedByArgoCD, publish.Hooks == render.HooksArgoCD:
		return argoCD
	case publish.Flux != fluxsync.Default():
		return flux
	}
	return ""
}

// annotated are the clusters whose annotations say something for Flux that is not the default.
func annotated(clusters []policies.Cluster) map[string]bool {
	is, usual := map[string]bool{}, fluxsync.Default()
	for i := range clusters {
		name := clusters[i].Spec.Name
		own, _ := usual.For(name, clusters[i].Spec.Annotations)
		plain, _ := usual.For(name, nil)
		is[name] = own.Settings != plain.Settings
	}
	return is
}

// HandOver takes out of shares the clusters in which the template keeps its replicas for now: it was published with replicas there,
// it is not known that Waybill applies it, and an API server sets what nobody applies any longer to 1. Elsewhere it says what comes of it.
func (s *Scaler) HandOver(shares map[string]hpa.Share, labels map[string]string, p Published) []diag.Diagnostic {
	if p.Says == nil || labels[karmada.RetainReplicasLabel] == "true" {
		return nil
	}
	said := map[string][]string{} // clusters by who applies them
	for _, cluster := range slices.Sorted(maps.Keys(shares)) {
		if !p.Says(s, cluster) {
			continue
		}
		by := p.By(cluster)
		said[by] = append(said[by], cluster)
		if by != waybill {
			delete(shares, cluster)
		}
	}
	var diags []diag.Diagnostic
	for _, by := range slices.Sorted(maps.Keys(said)) {
		diags = append(diags, s.handedOver(by, words.List(said[by])))
	}
	return diags
}

// handedOver says what comes of the replicas of the template in clusters, and what to type for it, by who applies them.
func (s *Scaler) handedOver(by, clusters string) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.HPAHandover, Severity: diag.Warning, Pos: s.Object.Origin()}
	name := policies.Name(s.Object)
	d.Hint = fmt.Sprintf("in each of these clusters run: %s; then label the template %s: \"true\"", s.transfer(), karmada.RetainReplicasLabel)
	switch by {
	case waybill:
		d.Severity = diag.Notice
		d.Message = fmt.Sprintf("%s decides how many replicas %s has in %s, which Git no longer says; Waybill leaves as many as there are", name, s.Target, clusters)
		d.Hint = "waybill.yaml says that Waybill applies it there; where Flux or Argo CD do, mend publish.appliedBy first: they would leave them to become 1"
	case "":
		d.Message = fmt.Sprintf("%s waits in %s: it is not known who applies %s there with spec.replicas, and Flux or Argo CD would leave them to become 1",
			name, clusters, s.Target)
		d.Hint = "where Waybill's controller, agent or `apply` does, write publish.appliedBy: waybill into waybill.yaml; else " + d.Hint
	default:
		d.Message = fmt.Sprintf("%s waits in %s: %s applies %s there with spec.replicas, and would leave them to become 1", name, clusters, by, s.Target)
	}
	return d
}

// transfer is the command that has another field manager apply the replicas that there are, so that they stay when Flux or Argo CD
// apply them no longer.
func (s *Scaler) transfer() string {
	r, ref := s.Target, s.Value.Spec.ScaleTargetRef
	kind := strings.ToLower(r.Kind)
	if r.Group != "" {
		kind += "." + r.Group
	}
	manifest := fmt.Sprintf(`{"{apiVersion: %s, kind: %s, metadata: {name: %s, namespace: %s}, spec: {replicas: "}{.spec.replicas}{"}}"}`,
		ref.APIVersion, r.Kind, r.Name, r.Namespace)
	return fmt.Sprintf("kubectl get %s/%s -n %s -o jsonpath='%s' | kubectl apply --server-side --field-manager=waybill-handover -f -",
		kind, r.Name, r.Namespace, manifest)
}

// Returned says which templates get their replicas from Git again: those of which the last state has what is made of a FederatedHPA,
// and the plan has not.
func Returned(was map[object.Ref]*karmada.ResourceBinding, is func(object.Ref) bool) (diags []diag.Diagnostic) {
	for r, b := range was {
		target := b.Annotations[state.ScalesAnnotation]
		if target == "" || len(b.Spec.Clusters) == 0 || is(r) {
			continue
		}
		diags = append(diags, diag.Diagnostic{
			Code: diag.HPAHandover, Severity: diag.Notice,
			Message: fmt.Sprintf("%s goes, and Git says again how many replicas %s has: where Waybill applies it there are not fewer for five minutes; "+
				"Flux and Argo CD set what Git says at once", r, target),
		})
	}
	slices.SortFunc(diags, func(a, b diag.Diagnostic) int { return cmp.Compare(a.Message, b.Message) })
	return diags
}
