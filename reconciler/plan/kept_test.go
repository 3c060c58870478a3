package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/lastgood"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/test/twin"
)

// ending is a story of which the last round says something.
type ending struct {
	name   string
	rounds []round
	says   string
}

func endAll(t *testing.T, stories []ending) {
	t.Helper()
	for _, tt := range stories {
		t.Run(tt.name, func(t *testing.T) {
			said := told(t, tt.rounds...)
			last := said[strings.LastIndex(said, fmt.Sprintf("\n%d\n", len(tt.rounds))):]
			if !strings.Contains(last, tt.says) {
				t.Errorf("the last round does not say %q:\n%s", tt.says, said)
			}
		})
	}
}

func allowing(clusters ...string) func(*plan.Input) {
	return func(in *plan.Input) {
		var named []string
		for _, c := range clusters {
			named = append(named, guard.OfCluster(c))
		}
		in.Allow.Named = strings.Join(named, " ")
	}
}

// guarded is a source of three clusters, of which eu has more than what comes and goes, by a config in which the guard allows no removal.
func guarded(more string, files twin.Texts) twin.Texts {
	return with(twin.Texts{
		"waybill.yaml": strings.Replace(config("guard: {maxRemoved: 0, maxRemovedPercent: 1}"+more), "namespaces: none", "namespaces: used", 1),
		"c.yaml":       threeOfAll, "chart/Chart.yaml": chart, "clusters/eu/stays.yaml": strings.ReplaceAll(stays, "shop", "blog"),
	}, files)
}

const (
	shop       = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
	definition = "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: foos.x.io}, spec: {group: x.io,\n" +
		" names: {kind: Foo, plural: foos}, scope: Namespaced, versions: [{name: v1, served: true, storage: true,\n" +
		" schema: {openAPIV3Schema: {type: object}}}]}}\n"
	foo = "---\n{apiVersion: x.io/v1, kind: Foo, metadata: {name: web, namespace: shop}}\n"
	// dead is where eu fails.
	dead = ", taints: [{key: dead, effect: NoExecute}]"
)

// orUS is a policy that sends to eu, or else to us.
func orUS(policy string) string {
	return strings.Replace(policy, "placement: {clusterAffinity: {clusterNames: [eu]}}",
		"placement: {clusterAffinities: [{affinityName: one, clusterNames: [eu]}, {affinityName: two, clusterNames: [us]}]}", 1)
}

func euFails() twin.Texts {
	return twin.Texts{"c.yaml": cluster("ap", "", "") + cluster("eu", "waybill.dev/path: clusters/eu", dead) + cluster("us", "", "")}
}

// chartOf is a release with values.
func chartOf(name, values string) string {
	return "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: shop}\n" +
		"spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}, values: {" + values + "}}\n"
}

// TestWhatStaysKeepsWhatItIsDeletedWith: its Namespace, and the definition of its kind, whatever it stays for, also where the removals of
// the cluster are allowed.
func TestWhatStaysKeepsWhatItIsDeletedWith(t *testing.T) {
	const (
		namespaceStays  = "left: namespace/shop in eu, kept true"
		definitionStays = "left: customresourcedefinition.apiextensions.k8s.io/foos.x.io in eu, kept true"
	)
	namespaces := func(clusters string) string { return ofAll(sends("n", clusters, "", "v1 Namespace")) }
	definitions := func(clusters string) string {
		return ofAll(sends("d", clusters, "", "apiextensions.k8s.io/v1 CustomResourceDefinition"))
	}
	waits := ", publish: {moves: {wait: 5m, timeout: 10m}}"
	failsOver := ", failover: {enabled: true, gracefulEvictionTimeout: 10m}"
	web := workload("Deployment", "web", "", "")
	endAll(t, []ending{
		{"it moves, and its namespace leaves with it", []round{
			{files: guarded(waits, twin.Texts{"n.yaml": shop, "q.yaml": namespaces("eu, us"), "a.yaml": web, "p.yaml": sends("p", "eu", "", deployments)})},
			{files: twin.Texts{"q.yaml": namespaces("us"), "p.yaml": sends("p", "us", "", deployments)}, minutes: 1},
			{edit: allowing("eu")},
		}, namespaceStays},
		{"it moves, and its definition leaves with it", []round{
			{files: guarded(waits, twin.Texts{"n.yaml": definition, "q.yaml": definitions("eu, us"), "a.yaml": foo, "p.yaml": sends("p", "eu", "", "x.io/v1 Foo")})},
			{files: twin.Texts{"q.yaml": definitions("us"), "p.yaml": sends("p", "us", "", "x.io/v1 Foo")}, minutes: 1, edit: allowing("eu")},
		}, definitionStays},
		{"its release cannot be rendered", []round{
			{files: guarded("", twin.Texts{"n.yaml": shop, "a.yaml": chartOf("web", ""), "p.yaml": sends("p", "eu", "", "helm.toolkit.fluxcd.io/v2 HelmRelease")})},
			{files: twin.Texts{"n.yaml": "", "a.yaml": chartOf("web", "fails: true")}, edit: allowing("eu")},
		}, namespaceStays},
		{"it is not listed, and its definition is gone", []round{
			{files: guarded("", twin.Texts{"n.yaml": definition, "q.yaml": definitions("eu, us"), "a.yaml": foo, "p.yaml": sends("p", "eu", "", "x.io/v1 Foo")})},
			{files: twin.Texts{"n.yaml": "", "a.yaml": ""}, edit: func(in *plan.Input) {
				allowing("eu", "us")(in)
				in.Unlisted = []state.Unlisted{{Object: ref("web"), File: "a.yaml"}}
				in.Unlisted[0].Object.Group, in.Unlisted[0].Object.Kind = "x.io", "Foo"
			}},
		}, definitionStays},
		{"it is the last copy of what failed over", []round{
			{files: guarded(failsOver, twin.Texts{"n.yaml": shop, "a.yaml": web, "p.yaml": orUS(sends("p", "eu", "", deployments)), "q.yaml": orUS(namespaces("eu"))})},
			{files: euFails(), minutes: 1, edit: seen("eu")},
			{minutes: 1, edit: seen("eu")},
			{minutes: 10, edit: sick("us", seen("eu"))},
			{minutes: 1, edit: func(in *plan.Input) { sick("us", seen("eu"))(in); allowing("eu")(in) }},
		}, namespaceStays},
	})
}

// TestWhatIsAllowedOfOneClusterSettlesNothingOfAnother: what another is held for is not forgotten with it.
func TestWhatIsAllowedOfOneClusterSettlesNothingOfAnother(t *testing.T) {
	earlier := map[string]render.Source{}
	after := func(last string, allowed ...string) func(*plan.Input) {
		return func(in *plan.Input) {
			earlier[in.Source.Revision.Commit] = in.Source
			in.State.Published.Commit = last
			if last != "" {
				in.Source, in.Unresolved = lastgood.Restore(lastgood.Input{
					Source: in.Source, State: &in.State, Earlier: map[string]render.Source{last: earlier[last]},
				})
			}
			allowing(allowed...)(in)
		}
	}
	both := guarded("", twin.Texts{
		"waybill.yaml": config(""), "a.yaml": another("a"), "b.yaml": another("b"),
		"p.yaml": sends("p", "eu, us", "", "v1 ConfigMap", "helm.toolkit.fluxcd.io/v2 HelmRelease"),
	})
	const stays = "left: configmap/b in eu, kept true"
	endAll(t, []ending{
		{"what a new release that cannot be rendered may have", []round{
			{files: both}, {files: twin.Texts{"b.yaml": chartOf("db", "fails: true, from: x")}}, {edit: allowing("us")}, {minutes: 1},
		}, stays},
		{"what a file that cannot be read may have", []round{
			{files: both, edit: after("")},
			{files: twin.Texts{"b.yaml": "a: [\n"}, edit: after("commit-1")},
			{edit: after("commit-2", "us")},
			{minutes: 1, edit: after("commit-3")},
		}, stays},
	})
}

// TestWhatMayLeaveForAnotherClusterMayNotJustGo: that it moves, or fails over, asks nobody, or was allowed; once it goes nowhere else, the
// guard is asked.
func TestWhatMayLeaveForAnotherClusterMayNotJustGo(t *testing.T) {
	web := workload("Deployment", "web", "", "")
	protected := strings.Replace(web, "namespace: shop,", "namespace: shop, labels: {resourcetemplate.karmada.io/deletion-protected: Always},", 1)
	failed := []round{
		{files: guarded(", failover: {enabled: true, gracefulEvictionTimeout: 10m}", twin.Texts{"a.yaml": web, "p.yaml": orUS(sends("p", "eu", "", deployments))})},
		{files: euFails(), minutes: 1, edit: seen("eu")},
		{minutes: 12, edit: sick("us", seen("eu"))},
	}
	endAll(t, []ending{
		{"its move was allowed, and it is deleted", []round{
			{files: guarded(", publish: {moves: {wait: 5m, timeout: 10m}}", twin.Texts{"a.yaml": protected, "p.yaml": sends("p", "eu", "", deployments)})},
			{files: twin.Texts{"p.yaml": sends("p", "us", "", deployments)}, edit: allowing("eu")},
			{files: twin.Texts{"a.yaml": ""}, minutes: 1},
		}, "left: deployment.apps/web in eu, kept true ClusterHeld"},
		{"it is the last copy, and its policy is gone", append(failed[:3:3], round{
			files: twin.Texts{"p.yaml": ""}, minutes: 1, edit: sick("us", seen("eu")),
		}), "left: deployment.apps/web in eu, kept true"},
		{"it is the last copy, and fits no cluster", append(failed[:3:3], round{
			files: twin.Texts{"p.yaml": sends("p", "none", "", deployments)}, minutes: 1, edit: sick("us", seen("eu")),
		}), "left: deployment.apps/web in eu, kept true"},
	})
}
