package status_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

const summary = `apiVersion: waybill.dev/v1alpha1
kind: ClusterStatus
metadata:
  name: eu-1
status:
  branch: waybill/cluster/eu-1
  commit: ` + oneText + `
  conditions:
  - lastTransitionTime: '2026-11-21T12:00:00Z'
    message: not every object is as the branch has it
    reason: Failing
    status: 'False'
    type: Applied
  - reason: Unknown
    status: Unknown
    type: Healthy
  objects:
    applied: 1
    drifting: 0
    failed: 1
    healthy: 1
    leaving: 0
    objects: 2
    pending: 0
    unhealthy: 0
    unknown: 1
  rules: argo-cd v3.5.0, karmada v1.16.0
  source: source of a96f
`

const oneText = "a96f8ba3ab84f3c3a4e0e2e6bb1aaa1dd2ae2b3d"

const shop = `apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata:
  name: shop
  namespace: karmada-es-eu-1
spec:
  workload: {}
status:
  conditions:
  - lastTransitionTime: '2026-11-21T12:00:00Z'
    message: Secret/shop/token is not applied
    reason: AppliedFailed
    status: 'False'
    type: Applied
  manifestStatuses:
  - health: Unknown
    identifier:
      kind: Secret
      name: token
      namespace: shop
      ordinal: 0
      resource: secrets
      version: v1
    waybill:
      applied:
        message: it was refused; why may hold values of Secrets, and is not written here; the log of whoever applies says more
        phase: Failed
        since: '2026-11-21T12:00:00Z'
      healthy:
        reason: Unknown
        since: '2026-11-21T12:00:00Z'
  - health: Healthy
    identifier:
      group: apps
      kind: Deployment
      name: web
      namespace: shop
      ordinal: 1
      resource: deployments
      version: v1
    status:
      replicas: 2
    waybill:
      applied:
        commit: ` + oneText + `
        phase: Applied
        since: '2026-11-21T12:00:00Z'
        source: source of a96f
      healthy:
        generation: 1
        observedGeneration: 1
        since: '2026-11-21T12:00:00Z'
`

// text is a file of a folder.
func text(t *testing.T, root *files.Folder, name string) string {
	t.Helper()
	e, ok := root.Lookup(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestABranchIsLaidOutAsWorks(t *testing.T) {
	l := status.NewLedger("eu-1")
	r := round(one, fact{ref: web, verb: apply.Create}, fact{ref: token, verb: apply.Create, err: errors.New(`data.token: "hunter2" is too short`)})
	h := healthy()
	h.Status = []byte(`{"replicas":2}`)
	r.Health[web] = h
	l.Ended(r, began)
	root := l.Layout()
	named := strings.NewReplacer(oneText, one.String(), "source of a96f", r.Source)
	if d := cmp.Diff(named.Replace(summary), text(t, root, "status.yaml")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(named.Replace(shop), text(t, root, "works/shop.yaml")); d != "" {
		t.Error(d)
	}
	leaving := round(two, fact{ref: web})
	leaving.Report.Inventory.Entries[token] = leaving.Report.Inventory.Entries[web]
	leaving.Report.Outcomes = []apply.Outcome{{Action: apply.Action{Ref: token, Verb: apply.Delete}, Waits: "its finalizers"}}
	leaving.Health[token] = health.Health{State: "Unhealthy", Reason: health.Failed, Message: "hunter2 is wrong", Status: []byte(`{"token":"hunter2"}`)}
	l.Ended(leaving, began.Add(time.Minute))
	got := text(t, l.Layout(), "works/shop.yaml")
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "its finalizers") {
		t.Errorf("of a Secret that leaves it says\n%s", got)
	}
}

// TestWhyASecretDoesNotLeaveIsNotWritten: what an API server says of a Secret may quote it, also where a controller that has
// just begun sees it leave, and of a kind of which only the name says what it holds.
func TestWhyASecretDoesNotLeaveIsNotWritten(t *testing.T) {
	sealed := object.Ref{Group: "bitnami.com", Kind: "SealedSecret", Namespace: "shop", Name: "token"}
	for _, ref := range []object.Ref{token, sealed, {Kind: "ConfigMap", Namespace: "shop", Name: "token"}} {
		l := status.NewLedger("eu-1")
		r := round(one, fact{ref: web})
		r.Report.Inventory.Entries[ref] = inventory.Entry{Source: r.Source}
		r.Report.Outcomes = []apply.Outcome{{Action: apply.Action{Ref: ref, Verb: apply.Delete}, Err: errors.New("hunter2 may not be deleted")}}
		l.Ended(r, began)
		if isTold, want := strings.Contains(text(t, l.Layout(), "works/shop.yaml"), "hunter2"), ref.Kind == "ConfigMap"; isTold != want {
			t.Errorf("why %s does not leave is written: %t, want %t", ref, isTold, want)
		}
	}
}

func TestABranchStartsAnewWhenItIsLongOrOld(t *testing.T) {
	root := settled(began).Layout()
	past := status.Past{}
	for n, tt := range []struct {
		past status.Past
		at   time.Time
		anew bool
	}{
		{past, began, true},
		{status.Past{Head: one, Commits: 1, Since: began}, began.Add(time.Hour), false},
		{status.Past{Head: one, Commits: 999, Since: began}, began.Add(time.Hour), false},
		{status.Past{Head: one, Commits: 1000, Since: began}, began.Add(time.Hour), true},
		{status.Past{Head: one, Commits: 5, Since: began}, began.Add(status.Lasting), true},
	} {
		u := tt.past.Next("eu-1", root, tt.at)
		if u.Anew != tt.anew || u.Branch != "waybill/status/eu-1" || u.Old != tt.past.Head {
			t.Errorf("%d: %+v", n, u)
		}
		next := status.PastOf(git.Head{Commit: two, Message: u.Message, When: u.When})
		want := status.Past{Head: two, Commits: tt.past.Commits + 1, Since: began}
		if tt.anew {
			want.Commits, want.Since = 1, tt.at
		}
		if next != want {
			t.Errorf("%d: the next past is %+v, want %+v", n, next, want)
		}
	}
}
