package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/test/twin"
)

// Removals are allowed by the digest that the plan before gave them, and by no other one: what they are is carried out at once, with what
// waited for it.
func TestRemovalsAreAllowedByTheirDigest(t *testing.T) {
	files := func(clusters string) twin.Texts {
		return twin.Texts{
			"waybill.yaml": config("publish: {moves: {wait: 0s, timeout: 0s}}"),
			"policy.yaml":  strings.Replace(policy, "placement: {}", "placement: {clusterAffinity: {clusterNames: ["+clusters+"]}}", 1),
			"a.yaml":       configMap("a") + "---\n" + configMap("b"),
		}
	}
	before := planned(t, files("eu"), func(*plan.Input) {})
	next := func(allow guard.Allowance, message string) plan.Plan {
		return planned(t, files("us"), func(in *plan.Input) {
			in.Published, in.Now, in.Allow = published(&before), noon, allow
			in.Source.Revision.Commit, in.Source.Revision.Message = "commit-2", message
		})
	}
	trailer := "move\n\n" + guard.AllowTrailer + ": "
	held := next(guard.Allowance{}, "")
	if is := where(&held, ref("a")); held.Removals == "" || held.Released.Held || slices.Contains(is, "us") {
		t.Fatalf("nobody allows it, and it is in %q; removals are %q", is, held.Removals)
	}
	for _, tt := range []struct {
		name    string
		allow   guard.Allowance
		message string
		by      string // empty for nobody
	}{
		{"by name", guard.Allowance{Named: held.Removals, Publisher: "ann"}, "", "ann by publish --allow-prune, at 2026-01-01T12:00:00Z"},
		{"by name, of other removals", guard.Allowance{Named: "0123456789abcdef"}, "", ""},
		{"by a trailer", guard.Allowance{}, trailer + held.Removals + "\n", "the trailer of commit commit-2"},
		{"by a comment", guard.Allowance{Approved: []guard.Approval{{By: "bob", PullRequest: 7, Digest: held.Removals}}}, "", "bob on pull request 7"},
		{"by a trailer where comments count", guard.Allowance{ByComment: true}, trailer + held.Removals + "\n", ""},
	} {
		p := next(tt.allow, tt.message)
		was, is := p.Released.Approvers(), where(&p, ref("a"))
		if tt.by == "" {
			if p.Removals == "" || p.Released.Held || len(was) > 0 || slices.Contains(is, "us") {
				t.Errorf("%s: it is allowed by %q, and is in %q", tt.name, was, is)
			}
			continue
		}
		if len(was) != 1 || !strings.HasPrefix(was[0], tt.by) || !p.Released.Held || !slices.Equal(is, []string{"us"}) || p.Removals != "" {
			t.Errorf("%s: it is allowed by %q, and is in %q; still held is %q", tt.name, was, is, p.Removals)
		}
		if !maps.Equal(p.Released.Clusters, map[string]bool{"eu": true}) || p.ByComment {
			t.Errorf("%s: released are %v", tt.name, p.Released.Clusters)
		}
	}
}

// Data that stays where work failed over from is deleted by the digest that the plan before gave it.
func TestDataIsDeletedByItsDigest(t *testing.T) {
	const dead = ", taints: [{key: dead, effect: NoExecute}]"
	claim := "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, " +
		"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n"
	either := strings.Replace(sends("p", "eu", "", "v1 PersistentVolumeClaim"), "clusterAffinity: {clusterNames: [eu]}",
		"clusterAffinities: [{affinityName: one, clusterNames: [eu]}, {affinityName: two, clusterNames: [us]}]", 1)
	files := twin.Texts{
		"waybill.yaml": config("failover: {enabled: true, gracefulEvictionTimeout: 1m}"), "c.yaml": threeOfAll, "clusters/eu/stays.yaml": stays,
		"a.yaml": claim, "p.yaml": either,
	}
	fails := twin.Texts{"c.yaml": cluster("ap", "", "") + cluster("eu", "waybill.dev/path: clusters/eu", dead) + cluster("us", "", "")}
	removals := ""
	tellAll(t, []story{{"it fails over", []round{
		{files: files}, {files: fails, minutes: 1}, {minutes: 10}, {minutes: 1, edit: func(in *plan.Input) {
			p := plan.Build(*in)
			removals = p.Removals
			in.Memo, in.Expanded, in.Allow.Named = nil, nil, removals
		}},
	}, `
1
  ap: 
  eu: configmap/stays persistentvolumeclaim/data
  us: 
2
  us: persistentvolumeclaim/data
  left: persistentvolumeclaim/data in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:01, frozen false, until never
  again at 12:01:01, awaits true
3
  left: persistentvolumeclaim/data in eu, kept true DataWouldBeDeleted
  failover: moved at 12:11, frozen false, until never
  holds-data: PersistentVolumeClaim/shop/data failed over from cluster eu and stays there:
    deleting it would delete data, and nobody has allowed it
  again at 12:11:01, awaits false
4
  eu: configmap/stays
  failover: moved at 12:11, frozen false, until never
  released: [] by []
`}})
	if removals == "" {
		t.Error("what stays has no digest")
	}
}

// What would be held at the end of a run is what clusters lose then, and nothing that stays for another reason.
func TestWhatWouldBeHeldAtTheEndInRounds(t *testing.T) {
	all := inStages(sends("p", "eu, us", "", deployments))
	files := twin.Texts{
		"waybill.yaml": config("rollout: {evidence: [timed]}"), "c.yaml": cluster("eu", "", "") + cluster("us", "", ""),
		"s.yaml": careful("", "eu", "us"), "a.yaml": another("x"), "p.yaml": all, "q.yaml": sends("q", "us", "", "v1 ConfigMap"),
	}
	runs := twin.Texts{"a.yaml": workload("Deployment", "web", "", "")}
	unlisted := func(in *plan.Input) { in.Unlisted = []state.Unlisted{{Object: ref("x"), File: "x.yaml"}} }
	tellAll(t, []story{
		{"it is not listed, and stays", []round{{files: files}, {files: runs, edit: unlisted}}, `
1
  eu: 
  us: configmap/x
  rollout: shop/p Done of commit-1 to commit-1
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
2
  eu: deployment.apps/web
  left: configmap/x in us, kept true NotListed
  left: deployment.apps/web in us, kept false WaitsForStage
  unlisted: configmap/x 
  rollout: shop/p Updating of commit-1 to commit-2
    eu: first Released shows commit-2
    us: then Pending shows commit-1
  unlisted-stays: what an earlier version of Waybill delivered and no kustomization lists stays as it was published:
    ConfigMap/shop/x
  selects-nothing: PropagationPolicy shop/q selects no object of the source that a policy may place
  again at 12:00:01, awaits true
`},
		{"it goes", []round{{files: files}, {files: runs}}, `
1
  eu: 
  us: configmap/x
  rollout: shop/p Done of commit-1 to commit-1
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
2
  eu: deployment.apps/web
  us: 
    held: it would lose all it holds, 1 of 1 object
      configmap/x: it is no longer in the source
  left: configmap/x in us, kept true ClusterHeld
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of commit-1 to commit-2
    eu: first Released shows commit-2
    us: then Pending shows commit-1
  rollout-held: shop/p:
    then:
    us would be held:
    it would lose ConfigMap/shop/x;
    it would lose all it holds, 1 of 1 object
  selects-nothing: PropagationPolicy shop/q selects no object of the source that a policy may place
  again at 12:00:01, awaits true
`},
	})
}
