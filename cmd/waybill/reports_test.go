package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

const staged = `
-- all.yaml --
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: c1, labels: {ring: canary}}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: p1, labels: {ring: prod}}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: team}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: apps/v1, kind: Deployment}]
  placement:
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "x:1"}]}}}
---
apiVersion: example.com/v1
kind: Deployment
metadata: {name: web, namespace: team}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: other}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: other, namespace: other}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}
-- web.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: team, labels: {app: web}}
data: {v: one}
-- fleet/c1/cluster.yaml --
apiVersion: v1
kind: Secret
metadata: {name: own, namespace: team}
`

const careful = `
-- careful.yaml --
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
  - {name: canary, labelSelector: {matchLabels: {ring: canary}}, beforeStageTasks: [{type: Approval}]}
  - {name: prod, labelSelector: {matchLabels: {ring: prod}}}
-- waybill.yaml --
apiVersion: waybill.dev/v1alpha1
kind: Config
spec: {rollout: {default: careful}}
`

const two = `
-- web.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: team, labels: {app: web}}
data: {v: two}
`

// TestWhatIsSaidOfASource: what it has, where that goes, how it goes out in stages and who commands that, in the source and in clones of
// it, while what is published answers and while it does not.
func TestWhatIsSaidOfASource(t *testing.T) {
	at := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(at, "cache"))
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(at, "gitconfig"))
	unpack(t, at, "-- gitconfig --\n[user]\n\tname = t\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n")
	src := filepath.Join(at, "src")
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	commit := func(message, date string) {
		t.Setenv("GIT_COMMITTER_DATE", date)
		git("-C", src, "add", "-A")
		git("-C", src, "commit", "-qm", message)
	}
	places := map[string]string{"SRC": src, "AT": at, "BARE": filepath.Join(at, "bare.git"), "CLONE": filepath.Join(at, "clone")}
	git("init", "-q", src)
	git("init", "-q", "--bare", places["BARE"])
	unpack(t, src, staged)
	commit("first", "2026-11-20T00:00:00Z")
	hold(t, places, []saying{
		{"explain cm/web -C SRC", 2, []string{`cm/web may be any of ConfigMap/other/web,ConfigMap/team/web; add -n NAMESPACE or the group`}},
		{"explain configmaps web -n team -C SRC", 0, []string{`ConfigMap/team/web`, `^c1 `}},
		{"explain deploy.apps/web -C SRC", 0, []string{`Deployment.apps/team/web`, "!round"}},
		{"explain deploy.apps/web -C SRC --rounds", 0, []string{"Deployment.apps/team/web"}},
		{"explain deploy.none/web -C SRC", 2, []string{"has no template deploy.none/web"}},
		{"explain cm/web -n none -C SRC", 2, []string{"has no template"}},
		{"explain /web -C SRC", 2, []string{"names no object"}},
		{"get templates -C SRC -n team -o name", 0, []string{`web`, "!other"}},
		{"get templates -C SRC -n team -A -o name", 0, []string{"web"}},
		{"get templates -C SRC -l app=web", 0, []string{"team"}},
		{"get templates/web -C SRC -n other -o json", 0, []string{`"web"`}},
		{"get templates web none -C SRC -n other", 1, []string{"web", "none"}},
		{"get templates -C SRC --sort-by .metadata.name", 0, []string{"web"}},
		{"get templates -C SRC -o custom-columns", 2, []string{"custom-columns"}},
		{"get templates -C SRC --no-headers", 0, []string{"!NAMESPACE"}},
		{"get templates -C SRC --password-file none", 2, []string{"reading --password-file"}},
		{"explain deploy/web -C SRC", 2, []string{"Deployment.apps/team/web,Deployment.example.com/team/web"}},
		{"get frobs -C SRC", 2, []string{"^error: "}},
		{"get argocd -C SRC --url https://git.example.com/fleet", 2, []string{"publish first"}},
		{"get rollouts -C SRC", 0, []string{"No rollouts found"}},
		{"rollout status team/web -C SRC", 2, []string{"nothing was published"}},
		{"publish SRC --to nowhere", 2, []string{"^error: "}},
		{"publish SRC --allow-prune=c1", 0, []string{"p1"}},
		{"rollout status team/web -C SRC", 2, []string{"nothing goes out in stages"}},
		{
			"get argocd -C SRC --url https://git.example.com/fleet --cluster c1 --argocd-namespace cd", 0,
			[]string{"cluster: c1$", "namespace: cd$", "!cluster: p1"},
		},
		{"get flux -C SRC --url https://git.example.com/fleet --cluster c1", 0, []string{"waybill/cluster/c1", "!cluster/p1"}},
		{"get flux -C SRC --url https://git.example.com/fleet --cluster none", 2, []string{`"none"`}},
		{"status -C SRC", 0, []string{"^c1 .*Untold", "^p1 "}},
		{"status -C SRC none", 2, []string{"none"}},
		{"problems SRC", 0, []string{"^nothing is broken", "nobody reports of c1 and p1|nobody reports of c1, p1"}},
		{"verify c1 -C SRC", 0, []string{"byte for byte"}},
		{"verify waybill/state -C SRC", 0, nil},
	})
	unpack(t, src, careful)
	commit("careful", "2026-11-21T00:00:00Z")
	hold(t, places, []saying{{"publish SRC", 0, nil}, {"rollout status web -C SRC", 0, []string{"^team/web  careful  Done$"}}})
	unpack(t, src, two)
	commit("two", "2026-11-22T00:00:00Z")
	hold(t, places, []saying{
		{"publish SRC", 0, nil},
		{"rollout status web -C SRC", 0, []string{"^team/web  careful  Waiting$", "^canary  Waiting$"}},
		{"get rollouts -C SRC", 0, []string{"web"}},
		{"__completeNoDesc rollout approve -C SRC t", 0, []string{"^team/web$"}},
		{"__completeNoDesc rollout approve team/web -C SRC c", 0, []string{"^canary$"}},
		{"__completeNoDesc rollout skip team/web -C SRC p", 0, []string{"^p1$|^prod$"}},
		{"__completeNoDesc rollout status team/web -C SRC c", 0, []string{"!canary"}},
		{"__completeNoDesc get rollouts -C SRC -n team w", 0, []string{"^web$"}},
		{"rollout stop team/wed -C SRC", 2, []string{`did you mean "team/web"`}},
		{"rollout approve web prod -C SRC", 2, []string{"approve of team/web would do nothing: it is canary that is at work"}},
		{"rollout skip web c3 -C SRC", 2, []string{"c3 is no cluster of the run"}},
		{"rollout stop web -C SRC --to nowhere", 2, []string{"^error: "}},
		{"rollout approve web canary -C SRC --by Ada", 0, []string{
			"^approve: canary may begin; it is 1 cluster$",
			"is the commit [0-9a-f]{12} of waybill/orders$",
		}},
		{"rollout approve web canary -C SRC", 0, []string{"^approve: canary may begin"}},
		{"problems SRC -o name", 0, nil},
		{"update SRC --check", 0, nil},
		{"update SRC", 0, nil},
		{"get updates -C SRC", 2, []string{"updates.mode of waybill.yaml is off"}},
		{"validate SRC --for publish -o json", 0, nil},
	})
	authors, err := exec.CommandContext(t.Context(), "git", "-C", src, "log", "--format=%an %s", "waybill/orders").CombinedOutput()
	given := regexp.MustCompile(`(?s)^t rollout approve.*, by t@example.com \(cli\)\nAda rollout approve .*, by Ada \(cli\)\n`)
	if err != nil || !given.Match(authors) {
		t.Errorf("the commands are %s: %v", authors, err)
	}

	// a clone, of which is known what was fetched
	git("clone", "-q", src, places["CLONE"])
	git("-C", places["CLONE"], "fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
	hold(t, places, []saying{
		{"status -C CLONE", 0, []string{"^c1 "}},
		{"publish CLONE", 0, []string{"this is a clone of .*src, and the branches are written to the clone alone; --to origin publishes there"}},
		{"publish CLONE --to origin --dry-run", 0, []string{"!this is a clone"}},
		{"publish CLONE --to BARE", 0, []string{"!this is a clone", "c1"}},
		{"status -C CLONE --to BARE", 0, []string{"^c1 "}},
		{"status -C CLONE --to nowhere", 2, []string{"nowhere.*the remotes of .* are origin"}},
		{
			"get templates -C CLONE --offline", 0,
			[]string{"origin: it is not asked, because of --offline; what is published there is as it was fetched at .*, .* ago", "web"},
		},
		{"get templates -C CLONE --to AT/none", 2, []string{"^error: "}},
		{"diff HEAD~1 HEAD -C CLONE", 1, []string{"web"}},
	})
	if err := os.Rename(src, src+".away"); err != nil {
		t.Fatal(err)
	}
	hold(t, places, []saying{
		{"status -C CLONE", 0, []string{"warning: origin: .*; what is published there is as it was fetched at .* seconds ago", "^c1 "}},
		{"explain cm/web -n team -C CLONE", 0, []string{"as it was fetched at"}},
	})
	git("-C", places["CLONE"], "update-ref", "-d", "refs/remotes/origin/waybill/state")
	hold(t, places, []saying{
		{
			"status -C CLONE", 2,
			[]string{"origin: .*; and nothing of what is published there was fetched; with --offline this is as if nothing were"},
		},
		{"explain cm/web -n team -C CLONE", 0, []string{"nothing of what is published there was fetched, so this is as if nothing were"}},
	})
	if err := os.Rename(src+".away", src); err != nil {
		t.Fatal(err)
	}
	hold(t, places, []saying{
		{"explain cm/web -n team -C CLONE --offline", 0, []string{"it is not asked, because of --offline; nothing of what is published"}},
	})
}
