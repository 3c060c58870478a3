package virtual_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render/object"
)

func TestNewFindsWhatIsWrong(t *testing.T) {
	with := func(c *karmada.Cluster, id string) karmada.Cluster { c.Spec.ID = id; return *c }
	host := func(id string) karmada.Cluster {
		c := karmada.Cluster{}
		c.Name, c.Spec.ID = "edge", id
		return c
	}
	for _, tt := range []struct {
		name     string
		clusters []karmada.Cluster
		want     string
	}{
		{"two locations", []karmada.Cluster{host("u"), with(cluster("a"), "u"), with(cluster("b"), "")}, ""},
		{"no host", []karmada.Cluster{*cluster("a")}, `a: its host "edge" is not registered`},
		{"a host that is virtual", []karmada.Cluster{host(""), *cluster("a"), *cluster("b", karmada.VirtualOfAnnotation, "a")}, "b: its host a is virtual itself, of edge"},
		{
			"one suffix",
			[]karmada.Cluster{host(""), *cluster("a", karmada.SuffixAnnotation, "-x"), *cluster("b", karmada.SuffixAnnotation, "-x")},
			"b: its namespaces have the suffix -x, as those of a, which is on the same API server; a: its namespaces have the suffix -x, as those of b, which is on the same API server",
		},
		{"another API server", []karmada.Cluster{host("u"), with(cluster("a"), "v")}, "a: its spec.id is v, and that of its host edge is u, so that they are two API servers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fleet.New(tt.clusters)
			v := virtual.New(f)
			var said []string
			for _, p := range v.Problems() {
				said = append(said, p.Cluster+": "+p.Message)
			}
			if got := strings.Join(said, "; "); got != tt.want {
				t.Errorf("it says  %s\nwant     %s", got, tt.want)
			}
			for i, c := range f.Clusters() {
				wrong := slices.ContainsFunc(v.Problems(), func(p virtual.Problem) bool { return p.Cluster == c.Name })
				if v.Wrong(i) != wrong {
					t.Errorf("%s is wrong: %v", c.Name, !wrong)
				}
			}
		})
	}
	if virtual.New(fleet.New([]karmada.Cluster{host("")})) != nil {
		t.Error("a fleet without virtual clusters has some")
	}
}

// FuzzNames holds the laws of names: a name comes back from the API server, and as long as no
// clash is reported, no two clusters of an API server have one name for two objects.
func FuzzNames(f *testing.F) {
	f.Add("a-b", "-c", "a", "-b-c")
	f.Add("shop", "-beijing", "shop", "-hangzhou")
	f.Add("x-a", "-a", "x", "-a-a")
	f.Fuzz(func(t *testing.T, ns1, suffix1, ns2, suffix2 string) {
		for _, s := range []string{suffix1, suffix2} {
			if len(s) < 2 || s[0] != '-' {
				t.Skip()
			}
		}
		if ns1 == "" || ns2 == "" || suffix1 == suffix2 {
			t.Skip()
		}
		clusters := fleet.New([]karmada.Cluster{
			*cluster("a", karmada.SuffixAnnotation, suffix1), *cluster("b", karmada.SuffixAnnotation, suffix2), hostNamed("edge"),
		})
		v := virtual.New(clusters)
		used := map[string][]bool{}
		for i, c := range clusters.Clusters() {
			for _, ns := range []string{ns1, ns2} {
				if used[ns] == nil {
					used[ns] = make([]bool, 3)
				}
				used[ns][i] = c.Name != "edge" || ns == ns1
			}
		}
		clashes := v.Clashes(used)
		seen := map[object.Ref]virtual.Claim{}
		for i := range clusters.Clusters() {
			for ns, uses := range used {
				if !uses[i] {
					continue
				}
				r := object.Ref{Kind: "ConfigMap", Namespace: ns, Name: "x"}
				if back := v.At(i).Template(v.At(i).Ref(r)); back != r {
					t.Errorf("%v comes back as %v", r, back)
				}
				namespace := object.Ref{Kind: "Namespace", Name: ns}
				if back := v.At(i).Template(v.At(i).Ref(namespace)); back != namespace {
					t.Errorf("%v comes back as %v", namespace, back)
				}
				on, claim := v.At(i).Ref(r), virtual.Claim{Cluster: i, Namespace: ns}
				if other, taken := seen[on]; taken && !clashing(clashes, other, claim) {
					t.Errorf("%v and %v are both %v, and no clash", other, claim, on)
				}
				seen[on] = claim
			}
		}
	})
}

func clashing(all []virtual.Clash, a, b virtual.Claim) bool {
	var of []string
	for _, c := range all {
		if c.A == a || c.B == a || c.A == b || c.B == b {
			of = append(of, c.Namespace)
		}
	}
	return len(of) > 0
}

func hostNamed(name string) karmada.Cluster {
	c := karmada.Cluster{}
	c.Name = name
	return c
}
