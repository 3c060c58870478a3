package build

import "testing"

// inStages has what goes out go to one cluster after the other.
var inStages = map[string]string{
	"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {default: careful}}\n",
	"careful.yaml": `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec: {stages: [{name: all, labelSelector: {}, maxConcurrency: 1}]}
`,
}

// Another version of a chart in waybill.lock goes out in stages, as any change does: the cluster whose turn has not come keeps what
// the version before rendered to.
func TestALockedVersionGoesOutInStages(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.2.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.lock()
	f.commit(nil)
	f.publish().exits(0)
	f.commit(inStages)
	f.publish().exits(0).lacks("this was a step")

	shelf.add(shop("shop", "1.3.0"))
	f.publish().exits(0).lacks("this was a step")
	f.lock()
	f.publish().exits(0, "this was a step", "shop/all by careful: Updating in all")
	f.holds("eu", shopFile, "chart: shop-1.3.0")
	f.holds("us", shopFile, "chart: shop-1.2.0")
	for _, branch := range []string{"waybill/cluster/us", "waybill/state"} {
		f.waybill("verify", branch, "--to", f.bare).exits(0)
	}
}
