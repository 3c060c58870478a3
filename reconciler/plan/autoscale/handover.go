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

// RetainLabel on a template says that its replicas are handed over, or may be lost, where Flux or Argo CD sync it.
const RetainLabel = "resourcetemplate.karmada.io/retain-replicas"

// Published is what is known of where templates are published.
type Published struct {
	// Says reports that what is published in a cluster of what a FederatedHPA scales says replicas; of a plan that is made again,
	// that they stayed there.
	Says func(s *Scaler, cluster string) bool
	// By names who syncs the branch of a cluster: Flux or Argo CD; empty where the source does not say.
	By func(cluster string) string
}

// Branches is what is known of templates by what clusters hold now.
func Branches(config *render.ConfigSpec, l *index.Policies, held map[string]tree.Published) Published {
	return Published{By: syncers(config, l.Set.Clusters), Says: func(s *Scaler, cluster string) bool {
		i, ok := l.Position(cluster)
		built := held[cluster].Built
		if !ok || built == nil {
			return false
		}
		e, _ := built.Lookup(tree.Path(l.Virtual.At(i).Ref(s.Target)))
		return says(e.Blob)
	}}
}

// Again is what was known of templates by a plan that is made again, of which the bindings are recorded: replicas stayed where what is
// made of the FederatedHPA was not.
func Again(config *render.ConfigSpec, l *index.Policies, recorded map[object.Ref]*karmada.ResourceBinding) Published {
	return Published{By: syncers(config, l.Set.Clusters), Says: func(s *Scaler, cluster string) bool {
		b := recorded[s.Ref()]
		return b != nil && !slices.ContainsFunc(b.Spec.Clusters, func(c karmada.TargetCluster) bool { return c.Name == cluster })
	}}
}

// syncers names who syncs the branches of clusters, as far as the source says so: by settings for Flux or Argo CD.
func syncers(config *render.ConfigSpec, clusters []policies.Cluster) func(cluster string) string {
	var by map[string]string // nil until it is asked
	return func(cluster string) string {
		if by == nil {
			by = syncedBy(config, clusters)
		}
		return by[cluster]
	}
}

func syncedBy(config *render.ConfigSpec, clusters []policies.Cluster) map[string]string {
	by, usual := map[string]string{}, fluxsync.Default()
	for i := range clusters {
		c := &clusters[i].Spec
		is, _ := config.Publish.Flux.For(c.Name, c.Annotations)
		plain, _ := usual.For(c.Name, nil)
		switch {
		case config.Publish.Hooks == render.HooksArgoCD:
			by[c.Name] = "Argo CD"
		case is.Settings != plain.Settings:
			by[c.Name] = "Flux"
		}
	}
	return by
}

// says reports that a manifest says replicas; nil says nothing.
func says(b *files.Blob) bool {
	if b == nil {
		return false
	}
	data, err := b.Bytes()
	if err != nil {
		return false
	}
	content, err := object.DecodeCanonical(data)
	if err != nil {
		return false
	}
	spec, _ := content["spec"].(map[string]any)
	return spec["replicas"] != nil
}

// HandOver takes out of shares the clusters in which the template keeps its replicas for now: Flux or Argo CD sync it there, it was
// published with replicas, and an API server sets what nobody applies any longer to 1. Elsewhere it says what comes of it.
func (s *Scaler) HandOver(shares map[string]hpa.Share, labels map[string]string, p Published) []diag.Diagnostic {
	if p.Says == nil || labels[RetainLabel] == "true" {
		return nil
	}
	var waits, goes []string
	by := ""
	for _, cluster := range slices.Sorted(maps.Keys(shares)) {
		if !p.Says(s, cluster) {
			continue
		}
		if who := p.By(cluster); who != "" {
			by, waits = who, append(waits, cluster)
			delete(shares, cluster)
		} else {
			goes = append(goes, cluster)
		}
	}
	var diags []diag.Diagnostic
	if len(waits) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.HPAHandover, Severity: diag.Warning, Pos: s.Object.Origin(),
			Message: fmt.Sprintf("%s waits in %s: %s applies %s there with spec.replicas, and would leave them to become 1",
				policies.Name(s.Object), words.List(waits), by, s.Target),
			Hint: fmt.Sprintf("in each of these clusters run: %s; then label the template %s: \"true\"", s.transfer(), RetainLabel),
		})
	}
	if len(goes) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.HPAHandover, Severity: diag.Notice, Pos: s.Object.Origin(),
			Message: fmt.Sprintf("%s decides how many replicas %s has in %s, which Git no longer says; Waybill leaves as many as there are",
				policies.Name(s.Object), s.Target, words.List(goes)),
			Hint: "where Flux or Argo CD apply it, say so first (docs/autoscaling.md): they would leave them to become 1",
		})
	}
	return diags
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
		if target == "" || is(r) {
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
