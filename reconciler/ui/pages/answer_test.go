package pages

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/render/object"
)

// What a publication did is said of what it did: what moved is no removal, and what had waited before it is not its doing.
func TestWhatAPublicationDid(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name} }
	manifest := func(name, verb string, clusters ...string) facts.Changed {
		return facts.Changed{Ref: ref(name), Verb: verb, Clusters: clusters}
	}
	waits := &facts.Template{Ref: ref("a"), Targets: []facts.Target{{Cluster: "eu", Left: "the cluster is held", Kept: true}}}
	for _, tt := range []struct {
		name   string
		effect facts.Effect
		want   string
	}{
		{"nothing", facts.Effect{}, ""},
		{"a move", facts.Effect{Objects: []facts.Changed{manifest("a", "removed", "eu"), manifest("a", "added", "us")}}, "moves shop/a (ConfigMap) from eu to us"},
		{"a removal", facts.Effect{Objects: []facts.Changed{manifest("a", "removed", "eu", "us")}}, "removes shop/a (ConfigMap) from 2 clusters"},
		{"what is new", facts.Effect{Objects: []facts.Changed{manifest("a", "added", "eu")}}, "adds shop/a (ConfigMap) to 1 cluster"},
		{"more than is listed", facts.Effect{Objects: []facts.Changed{manifest("a", "added", "eu")}, MoreObjects: 7}, "adds shop/a (ConfigMap) to 1 cluster; and 7 more objects"},
		{"what waits", facts.Effect{Decisions: []facts.Decided{{Ref: ref("a"), Is: waits}}}, "leaves shop/a (ConfigMap) as it is: the cluster is held"},
		{"what had waited before", facts.Effect{Decisions: []facts.Decided{{Ref: ref("a"), Was: waits, Is: waits}}}, ""},
		{"what cannot be read", facts.Effect{Objects: []facts.Changed{{Path: "waybill.metadata", Verb: "changed", Clusters: []string{"eu"}}}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			for _, p := range answerOf(&tt.effect) {
				b.WriteString(p.Text)
			}
			if b.String() != tt.want {
				t.Errorf("it is %q, want %q", b.String(), tt.want)
			}
		})
	}
}

// Workloads come before what they need.
func TestWhatChangedMostComesFirst(t *testing.T) {
	e := facts.Effect{Objects: []facts.Changed{
		{Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}, Verb: "changed"},
		{Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "b"}, Verb: "changed"},
	}}
	p := OfChange(&facts.Facts{}, e, "", time.Time{})
	if len(p.Objects) != 2 || p.Objects[0].Name != "Deployment.apps/shop/b" || e.Objects[0].Ref.Kind != "ConfigMap" {
		t.Errorf("they are %+v", p.Objects)
	}
}
