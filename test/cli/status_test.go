package cli

import (
	"context"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// tells is a command for scripts: it writes the status branch of a cluster, as one who
// applied the head of its branch at a time, or now, would.
//
//	tells REPOSITORY CLUSTER TIME REASON [KIND[.GROUP]/[NAMESPACE/]NAME=PHASE[,HEALTH[,REASON[@RULE][,MESSAGE[,STATUS]]]]...]
func tells(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: tells REPOSITORY CLUSTER TIME REASON [OBJECT=PHASE[,HEALTH[,REASON[,MESSAGE[,STATUS]]]]...]")
	}
	ctx := context.Background()
	repo, err := git.Open(ctx, git.Options{Location: ts.MkAbs(args[0])})
	ts.Check(err)
	heads, err := repo.Heads(ctx)
	ts.Check(err)
	at := time.Now()
	if args[2] != "now" {
		at, err = time.Parse(time.RFC3339, args[2])
		ts.Check(err)
	}
	round := &status.Round{
		Branch: "waybill/cluster/" + args[1], Commit: heads["waybill/cluster/"+args[1]], Source: "of " + args[1], Health: map[object.Ref]health.Health{},
		Resources: map[schema.GroupKind]string{{Group: "apps", Kind: "Deployment"}: "deployments", {Kind: "ConfigMap"}: "configmaps"},
	}
	round.Report.Inventory.Entries = map[object.Ref]inventory.Entry{}
	if args[3] != status.Applied && args[3] != status.Failing {
		round.Trouble = status.Verdict{Reason: args[3], Message: "as the script says"}
	}
	for _, arg := range args[4:] {
		tell(ts, round, arg)
	}
	past := status.Past{}
	ledger := status.NewLedger(args[1])
	if h, ok, err := repo.Branch(ctx, status.Prefix+args[1]); ok {
		ts.Check(err)
		past = status.PastOf(h)
		ledger, err = status.Reopen(h.Tree, h.When)
		ts.Check(err)
	}
	ledger.Ended(round, at)
	_, err = repo.Publish(ctx, []git.Update{past.Next(args[1], ledger.Layout(), at)})
	ts.Check(err)
}

// tell adds an object to a round.
func tell(ts *testscript.TestScript, round *status.Round, arg string) {
	name, what, _ := strings.Cut(arg, "=")
	parts := strings.Split(name, "/")
	said := append(strings.SplitN(what, ",", 5), "", "", "", "")
	if len(parts) < 2 {
		ts.Fatalf("%q names no object", name)
	}
	r := object.Ref{Name: parts[len(parts)-1]}
	if len(parts) == 3 {
		r.Namespace = parts[1]
	}
	r.Kind, r.Group, _ = strings.Cut(parts[0], ".")
	o := apply.Object{Ref: r, APIVersion: strings.TrimPrefix(r.Group+"/v1", "/"), Content: files.Sum("blob", nil)}
	round.Objects = append(round.Objects, o)
	round.Report.Inventory.Entries[r] = inventory.Entry{Source: round.Source, Content: o.Content}
	if status.Phase(said[0]) == status.PhaseFailed {
		round.Report.Plan.Refused = append(round.Report.Plan.Refused, apply.Action{Ref: r, Why: said[3]})
	}
	h := health.Health{State: karmada.ResourceHealth(said[1]), Message: said[3]}
	h.Reason, h.By, _ = strings.Cut(said[2], "@")
	if said[4] != "" {
		h.Status = []byte(said[4])
	}
	round.Health[r] = h
}
