package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// messages are the messages of a plan with a code.
func messages(p *plan.Plan, code diag.Code) (all []string) {
	for _, d := range p.Diags {
		if d.Code == code {
			all = append(all, d.Message)
		}
	}
	return all
}

// How clusters are synced follows from the config and from what is said of each.
func TestHowClustersAreSynced(t *testing.T) {
	p := planned(t, twin.Texts{
		"waybill.yaml": config("publish: {links: 'https://waybill.example.com/', layout: folders, branch: all, flux: {namespace: gitops}}"),
		"za.yaml":      cluster("za", "waybill.dev/flux-namespace: other, waybill.dev/age-recipients: age1x", ""),
	}, func(*plan.Input) {})
	for _, c := range p.Clusters {
		is, isOther := c.Sync, c.Name == "za"
		want := fluxsync.Sync{Settings: is.Settings, Cluster: c.Name, Folder: c.Name, Encrypted: isOther, Links: "https://waybill.example.com"}
		if want.Namespace = map[bool]string{false: "gitops", true: "other"}[isOther]; is != want {
			t.Errorf("%s is synced by %+v", c.Name, is)
		}
	}
}

// What syncs branches is told what is wrong with its settings, and where branches are published from now on; folders are synced by nobody.
func TestWhoSyncsBranchesIsTold(t *testing.T) {
	files := twin.Texts{"za.yaml": cluster("za", "waybill.dev/flux-form: roots", ""), "p.yaml": policy, "a.yaml": configMap("a")}
	before := planned(t, files, func(*plan.Input) {})
	other := with(files, twin.Texts{"waybill.yaml": config("publish: {branchPrefix: other/}")})
	for _, tt := range []struct {
		name         string
		files        twin.Texts
		edit         func(*plan.Input)
		wrong, moved int
	}{
		{"nothing moves", files, func(*plan.Input) {}, 1, 0},
		{"they move", other, func(*plan.Input) {}, 1, 1},
		{"nothing is published", other, func(in *plan.Input) { in.Published = nil }, 1, 0},
		{"nothing is recorded", other, func(in *plan.Input) { in.State = state.State{} }, 1, 0},
		{"what is recorded cannot be read", other, func(in *plan.Input) {
			in.State = decoded(t, twin.Tree{"apply.json": twin.File([]byte("{"))}.Folder())
		}, 1, 0},
		{"it is a folder", other, func(in *plan.Input) { in.Medium = plan.Folder }, 0, 0},
	} {
		p := planned(t, tt.files, func(in *plan.Input) {
			in.State, in.Published = decoded(t, before.State), published(&before)
			tt.edit(in)
		})
		if wrong, moved := messages(&p, diag.BadFlux), messages(&p, diag.ClustersMoved); len(wrong) != tt.wrong || len(moved) != tt.moved {
			t.Errorf("%s: it says %q, %q", tt.name, wrong, moved)
		}
	}
}

// decoded is a state that was recorded.
func decoded(t *testing.T, folder *files.Folder) state.State {
	t.Helper()
	is, err := state.Decode(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// In a folder nothing is judged, and nothing waits for a stage.
func TestNothingIsHeldInAFolder(t *testing.T) {
	files := twin.Texts{"s.yaml": careful("", "eu", "ap, us"), "p.yaml": inStages(policy), "a.yaml": configMap("a")}
	before := planned(t, files, func(in *plan.Input) { in.Medium = plan.Folder })
	if is := where(&before, ref("a")); len(is) != 3 || before.Rollouts != nil {
		t.Errorf("it is in %q, and goes out by %v", is, before.Rollouts)
	}
	p := planned(t, twin.Texts{}, func(in *plan.Input) { in.Medium, in.Published = plan.Folder, published(&before) })
	if slices.ContainsFunc(p.Clusters, func(c plan.Cluster) bool { return c.Held != nil }) || p.Removals != "" {
		t.Errorf("clusters are held, and would lose %q", p.Removals)
	}
	staged := planned(t, files, func(*plan.Input) {})
	if is := where(&staged, ref("a")); len(is) == 3 {
		t.Errorf("on branches it is in %q", is)
	}
	end := planned(t, files, func(in *plan.Input) { in.AtTheEnd = true })
	if is := where(&end, ref("a")); len(is) != 3 {
		t.Errorf("when all of it is out it is in %q", is)
	}
}

// What scripts say of kinds is recorded for those who apply.
func TestScriptsOfKindsAreRecorded(t *testing.T) {
	const script = "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: jobs}\n" +
		"spec: {target: {apiVersion: example.com/v1, kind: Job},\n  customizations: {replicaResource: {luaScript: 'function GetReplicas(o) return 1 end'}}}\n"
	p := planned(t, twin.Texts{"script.yaml": script}, func(*plan.Input) {})
	all, err := state.Interpreters(p.State)
	if err != nil || len(all) != 1 || all[0].Name != "jobs" {
		t.Errorf("recorded is %v, %v", all, err)
	}
}

// What stays for others to come up is said once of each cluster, for each reason; what needs it is not.
func TestWhatWaitsIsSaid(t *testing.T) {
	wait := config("publish: {moves: {wait: 5m, timeout: 10m}}")
	at := func(clusters string) twin.Texts {
		return twin.Texts{
			"waybill.yaml": wait, "a.yaml": workload("Deployment", "web", "", "") + workload("Deployment", "api", "", "") + settings,
			"p.yaml": sends("p", clusters, deps, deployments), "clusters/eu/stays.yaml": stays,
		}
	}
	before := planned(t, at("eu"), func(*plan.Input) {})
	seenAt := func(is evict.Seen) evict.Evidence {
		return evict.Evidence{web: {"eu": evict.Seen{Health: karmada.ResourceHealthy, Done: true, Current: true, UpToDate: true}, "us": is}}
	}
	begun := planned(t, at("us"), func(in *plan.Input) {
		in.Published, in.Now, in.Evidence = published(&before), noon, seenAt(evict.Seen{})
	})
	want := []string{
		"ConfigMap/shop/settings, Deployment.apps/shop/api: from cluster eu to others; " +
			"the old copy stays for 5m0s: nobody says how the new ones are",
		"Deployment.apps/shop/web: from cluster eu to others; " +
			"the old copy stays until the new ones are healthy; after 10m0s one of them is enough",
	}
	if is := messages(&begun, diag.MoveWaits); !slices.Equal(is, want) {
		t.Errorf("it says %q, want %q", is, want)
	}
	p := planned(t, at("us"), func(in *plan.Input) {
		in.State, in.Published = decoded(t, begun.State), published(&begun)
		in.Now, in.Evidence = noon.Add(20*time.Minute), seenAt(evict.Seen{Health: karmada.ResourceUnhealthy, Current: true, UpToDate: true})
	})
	i := slices.IndexFunc(p.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.LastCopy })
	if i < 0 || len(messages(&p, diag.MoveWaits)) > 0 {
		t.Fatalf("it says %v", p.Diags)
	}
	const copies = "Deployment.apps/shop/web: from cluster eu to others; the old copy stays although its time is over: no new one is healthy"
	d, hint := p.Diags[i], "look at the new copies; to give the old one up, annotate Deployment.apps/shop/web with waybill.dev/move: direct"
	if d.Message != copies || d.Severity != diag.Warning || d.Hint != hint {
		t.Errorf("it says %v", d)
	}
}

// Argo CD is said to apply what SOPS encrypted as it is.
func TestWhatArgoCDCannotDecryptIsSaid(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\n" +
		"stringData: {k: 'ENC[AES256_GCM,data:x,type:str]'}\nsops: {mac: 'ENC[x]', version: 3.9.0}\n"
	p := planned(t, twin.Texts{
		"waybill.yaml": config("publish: {hooks: argocd}"), "s.yaml": secret, "a.yaml": configMap("a"),
		"p.yaml": strings.Replace(policy, "kind: ConfigMap}], placement: {}", "kind: Secret}], placement: {clusterAffinity: {clusterNames: [us]}}", 1),
	}, func(*plan.Input) {})
	if is := messages(&p, diag.NotDecrypted); len(is) != 1 || !strings.HasPrefix(is[0], "the branches of us hold documents that SOPS encrypted") {
		t.Errorf("it says %q of %v", is, p.Diags)
	}
}

// What hands replicas over matters on branches alone: in a folder an autoscaler comes with its workload, whatever was there.
func TestNobodyHandsReplicasOverInAFolder(t *testing.T) {
	const scaler = "apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: web, namespace: shop}\n" +
		"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 4, maxReplicas: 8}\n"
	files := twin.Texts{
		"waybill.yaml": config("publish: {appliedBy: flux}"), "web.yaml": workload("Deployment", "web", "", ""), "p.yaml": sends("p", "eu", "", deployments),
	}
	before := planned(t, files, func(*plan.Input) {})
	for medium, want := range map[plan.Medium]int{plan.Folder: 0, plan.Branch: 1} {
		p := planned(t, with(files, twin.Texts{"h.yaml": scaler}), func(in *plan.Input) {
			in.Medium, in.State, in.Published = medium, decoded(t, before.State), published(&before)
		})
		if is := messages(&p, diag.HPAHandover); len(is) != want {
			t.Errorf("it says %q", is)
		}
	}
}
