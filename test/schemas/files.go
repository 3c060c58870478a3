package schemas

import (
	"reflect"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/applying"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources/lock"
)

const (
	own     = "waybill.dev/v1alpha1"
	policy  = "policy.karmada.io/v1alpha1"
	cluster = "cluster.karmada.io/v1alpha1"
	staged  = "placement.kubernetes-fleet.io/v1beta1"
)

// equal are versions with the same fields as another one.
var equal = map[string]string{staged: "placement.kubernetes-fleet.io/v1"}

// file is a schema of docs/schemas.
type file struct {
	name, apiVersion, kind string
	of                     reflect.Type
}

// version is the schema of the apiVersion.
func (f *file) version() Schema {
	if other := equal[f.apiVersion]; other != "" {
		return Schema{"enum": []string{f.apiVersion, other}}
	}
	return Schema{"const": f.apiVersion}
}

// lockFile is waybill.lock.
type lockFile struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Charts     []lock.Entry `json:"charts"`
}

// files are the schemas, in the order of the page.
var files = []file{
	{"config", own, "Config", reflect.TypeFor[render.Config]()},
	{"lock", own, "Lock", reflect.TypeFor[lockFile]()},
	{"cluster", cluster, "Cluster", reflect.TypeFor[karmada.Cluster]()},
	{"propagationpolicy", policy, "PropagationPolicy", reflect.TypeFor[karmada.PropagationPolicy]()},
	{"clusterpropagationpolicy", policy, "ClusterPropagationPolicy", reflect.TypeFor[karmada.PropagationPolicy]()},
	{"overridepolicy", policy, "OverridePolicy", reflect.TypeFor[karmada.OverridePolicy]()},
	{"clusteroverridepolicy", policy, "ClusterOverridePolicy", reflect.TypeFor[karmada.OverridePolicy]()},
	{"clustertaintpolicy", policy, "ClusterTaintPolicy", reflect.TypeFor[karmada.ClusterTaintPolicy]()},
	{"federatedresourcequota", policy, "FederatedResourceQuota", reflect.TypeFor[karmada.FederatedResourceQuota]()},
	{"federatedhpa", "autoscaling.karmada.io/v1alpha1", "FederatedHPA", reflect.TypeFor[karmada.FederatedHPA]()},
	{"cronfederatedhpa", "autoscaling.karmada.io/v1alpha1", "CronFederatedHPA", reflect.TypeFor[karmada.CronFederatedHPA]()},
	{"multiclusterservice", "networking.karmada.io/v1alpha1", "MultiClusterService", reflect.TypeFor[karmada.MultiClusterService]()},
	{"workloadrebalancer", "apps.karmada.io/v1alpha1", "WorkloadRebalancer", reflect.TypeFor[karmada.WorkloadRebalancer]()},
	{"remedy", "remedy.karmada.io/v1alpha1", "Remedy", reflect.TypeFor[karmada.Remedy]()},
	{"clusterstagedupdatestrategy", staged, kubefleet.ClusterKind, reflect.TypeFor[kubefleet.StagedUpdateStrategy]()},
	{"stagedupdatestrategy", staged, kubefleet.NamespacedKind, reflect.TypeFor[kubefleet.StagedUpdateStrategy]()},
	{"resourceinterpretercustomization", "config.karmada.io/v1alpha1", "ResourceInterpreterCustomization", reflect.TypeFor[karmada.ResourceInterpreterCustomization]()},
}

// words are what fields take whose type is a plain string.
var words = map[string][]string{
	"ConfigSpec.Namespaces": {render.NamespacesUsed, render.NamespacesAll, render.NamespacesNone},
	"ConfigSpec.Secrets":    {render.SecretsRefuse, render.SecretsAllow},
	"Publish.Layout":        {render.LayoutBranches, render.LayoutFolders},
	"Publish.Hooks":         {render.HooksDrop, render.HooksArgoCD},
	"Publish.AppliedBy":     {"", render.AppliedByWaybill, render.AppliedByFlux, render.AppliedByArgoCD},
	"Failover.LastCopy":     {render.LastCopyKeep, render.LastCopyDelete},
	"SyncWindow.Kind":       {applying.WindowAllow, applying.WindowDeny},
	"RolloutWindow.Kind":    {applying.WindowAllow, applying.WindowDeny},
	"Updates.Group":         {subscribe.GroupEach, subscribe.GroupNamespace, subscribe.GroupAll},
	"Rollout.Bypass":        {render.BypassAllowed, render.BypassSigned, render.BypassNever},
}

// All are the schemas by the names of their files. The code is read at root. "source" is one for all
// files of a source: it goes by what a document says that it is.
func All(root string) (map[string]Schema, error) {
	comments, err := ReadComments(root, "policies/karmada", "policies/kubefleet", "render", "render/applying", "render/exchange", "render/fluxsync", "render/subscribe", "sources/lock")
	if err != nil {
		return nil, err
	}
	all := map[string]Schema{}
	var kinds []Schema
	for _, f := range files {
		m := Maker{Comments: comments, Words: words, Requires: f.apiVersion != own && f.apiVersion != cluster}
		s := m.Document(f.of, f.version(), f.kind)
		if f.name == "config" {
			anyForm(s)
		}
		if f.name == "lock" {
			s["required"] = []string{"apiVersion", "kind", "charts"}
		}
		all[f.name] = s
		kinds = append(kinds, Schema{
			"if":   Schema{"properties": Schema{"apiVersion": f.version(), "kind": Schema{"const": f.kind}}, "required": []string{"apiVersion", "kind"}},
			"then": Schema{"$ref": f.name + ".json"},
		})
	}
	all["source"] = Schema{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": "What Waybill reads",
		"description": "Any document of a source: one of these kinds is held to its schema, and every other is taken.", "allOf": kinds,
	}
	return all, nil
}

// anyForm lets publish.flux be its form alone.
func anyForm(config Schema) {
	publish := config["definitions"].(Schema)["Publish"].(Schema)["properties"].(Schema)
	publish["flux"] = Schema{"anyOf": []any{publish["flux"], Schema{"type": "string", "description": "the form alone"}}}
}
