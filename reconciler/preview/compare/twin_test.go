package compare

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatStaysAsItWasIsNotShown: what a release rendered earlier was made of secrets that neither plan knows, so that a manifest which
// stays as it was is the same in a plan and in its twin. It is not shown, whichever of the two leaves it as it was.
func TestWhatStaysAsItWasIsNotShown(t *testing.T) {
	made := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "made"}
	set := policies.Set{Clusters: []policies.Cluster{{
		Object: one(t, "eu.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\n"),
		Spec:   karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}},
	}}}
	fleet := index.Of(set, nil, &index.Memo{})
	for _, tt := range []struct {
		name           string
		inPlan, inTwin bool // it stays as it was
		isRendered     bool // by a release
		shown          bool
	}{
		{"it stays in neither", false, false, true, true},
		{"it stays in the plan", true, false, true, false},
		{"it stays in the twin", false, true, true, false},
		{"it stays in both, and is a file of the source", true, true, false, true},
	} {
		says := func(value string, stays bool) *plan.Plan {
			text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: shop}\ndata: {v: " + value + "}\n"
			p := &plan.Plan{Clusters: []plan.Cluster{{Name: "eu", Tree: twin.Tree{tree.Path(made): twin.File([]byte(text))}.Folder()}}}
			p.Expanded.Policies = fleet
			if stays {
				p.Left = map[object.Ref]rollout.LeftRow{made: rollout.LeftRow{}.With(rollout.Left{Kept: true, Reason: reason.NotScaled}, groups.Of(0))}
			}
			if tt.isRendered {
				p.Expanded.Releases = []state.Release{{Objects: []object.Ref{made}}}
			}
			return p
		}
		twins := Twins{Base: says("hunter2", tt.inTwin), Head: says("plain", false)}
		c, err := Plans(says("hunter2", tt.inPlan), says("plain", false), Scope{}, twins)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "hunter2") != tt.shown || !strings.Contains(string(text), "plain") {
			t.Errorf("%s: it says %s", tt.name, text)
		}
	}
}
