package clusters_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// retains has a client keep fields of a kind of v1 by a script.
func retains(c *clusters.Client, kind, script string) {
	custom := &karmada.ResourceInterpreterCustomization{}
	custom.Name = "keeps"
	custom.Spec.Target = karmada.CustomizationTarget{APIVersion: "v1", Kind: kind}
	custom.Spec.Customizations.Retention = &karmada.LuaScript{LuaScript: "function Retain(desiredObj, observedObj)\n" + script + "\nend"}
	c.Judge = &health.Judge{Kinds: interpret.New(custom)}
}

// TestWhatACustomizationKeeps of an object that is there stays as it is in the cluster: of the object that is meant, and of no other. Where
// the script fails nothing is changed.
func TestWhatACustomizationKeeps(t *testing.T) {
	t.Parallel()
	const keeps = "desiredObj.data.k = observedObj.data.k\nreturn desiredObj"
	for name, tt := range map[string]struct {
		kind, script string
		uid          string // that the action has; "same": that of the object
		read         int    // what reading it comes to
		private      bool
		want         string // of the field; empty: it is not changed
		says         string
	}{
		"it is kept":                        {kind: "ConfigMap", script: keeps, uid: "same", want: "v"},
		"it is of another kind":             {kind: "Service", script: keeps, uid: "same", want: "w"},
		"whose object is another one":       {kind: "ConfigMap", script: keeps, uid: "another", says: "somebody replaced it meanwhile"},
		"nor is that one judged":            {kind: "ConfigMap", script: `error("no")`, uid: "another", says: "somebody replaced it meanwhile"},
		"it is applied for the first time":  {kind: "ConfigMap", script: keeps, uid: "", want: "w"},
		"it may not be read":                {kind: "ConfigMap", script: keeps, uid: "same", read: http.StatusForbidden, says: "Forbidden"},
		"the script fails":                  {kind: "ConfigMap", script: `error("no " .. observedObj.data.k .. "alue")`, uid: "same", says: "it stays as it is: "},
		"the script fails, and says why":    {kind: "ConfigMap", script: `error("no " .. observedObj.data.k .. "alue")`, uid: "same", says: "no value"},
		"the script fails about a Secret":   {kind: "ConfigMap", script: `error("no " .. observedObj.data.k .. "alue")`, uid: "same", private: true, says: "it stays as it is: "},
		"it is kept of what holds a Secret": {kind: "ConfigMap", script: keeps, uid: "same", private: true, want: "v"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apiserver.InMemory("shop")
			there := configMap("somebody", owner)
			s.Put(maps+"a", there)
			s.Before(func(r *http.Request) int {
				if r.Method == http.MethodGet && r.URL.Path == maps+"a" {
					return tt.read
				}
				return 0
			})
			c := calling(t, s)
			retains(c, tt.kind, tt.script)
			if _, err := c.Observe(t.Context(), map[object.Ref]bool{ref: true}); err != nil {
				t.Fatal(err)
			}
			o := with(apiserver.Object{"k": "w"})
			o.Private = tt.private
			a := apply.Action{Ref: ref, Verb: apply.Update, Object: o, UID: tt.uid, Take: apply.TakeAll}
			if a.UID == "same" {
				a.UID = uid(s, maps+"a")
			}
			out := does(t, c, a)
			if (out.Err != nil) != (tt.says != "") || out.Err != nil && !strings.Contains(out.Err.Error(), tt.says) {
				t.Errorf("it comes to %v", out.Err)
			}
			if out.Err != nil && tt.private && strings.Contains(out.Err.Error(), "no value") {
				t.Errorf("it says what is secret: %v", out.Err)
			}
			data, _ := s.Get(maps + "a")["data"].(apiserver.Object)
			if changed := len(s.Writes()) > 0; changed != (tt.want != "") || changed && data["k"] != tt.want {
				t.Errorf("it is %v, by %v", data, s.Writes())
			}
		})
	}
}

// TestReplicasGoBackToTheManifest by what the workload has when it is changed, and not by what it had when that was planned: they are not
// lowered before it is time.
func TestReplicasGoBackToTheManifest(t *testing.T) {
	t.Parallel()
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	for name, tt := range map[string]struct {
		live, want int64
		scaler     string
		lowers     bool
	}{
		"more than the manifest says":     {live: 7, want: 7, lowers: true},
		"fewer":                           {live: 2, want: 3},
		"while they are the autoscaler's": {live: 7, want: 7, scaler: "web"},
	} {
		s := apiserver.InMemory("shop")
		o := deployment("web", 1)
		o["spec"].(apiserver.Object)["replicas"] = tt.live
		s.Put(deployments+"web", o)
		c := calling(t, s)
		if _, err := c.Observe(t.Context(), map[object.Ref]bool{web: true}); err != nil {
			t.Fatal(err)
		}
		manifest := apiserver.Object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": apiserver.Object{"name": "web", "namespace": "shop"}, "spec": apiserver.Object{"replicas": int64(3)}}
		out := does(t, c, apply.Action{
			Ref: web, Verb: apply.Update, Object: &apply.Object{Ref: web, APIVersion: "apps/v1", Manifest: manifest}, UID: uid(s, deployments+"web"), Take: apply.TakeAll,
			Back: &apply.Back{Scaler: tt.scaler, Until: time.Unix(1_000_000_000, 0).UTC()},
		})
		is := s.Get(deployments + "web")
		annotations, _ := is["metadata"].(apiserver.Object)["annotations"].(apiserver.Object)
		replicas, _ := is["spec"].(apiserver.Object)["replicas"].(float64)
		if out.Err != nil || int64(replicas) != tt.want || (annotations[apply.LowersAnnotation] != nil) != tt.lowers || tt.scaler != "" && annotations[apply.ScalerAnnotation] != tt.scaler {
			t.Errorf("%s: there are %v, %v; %v", name, replicas, annotations, out.Err)
		}
	}
}
