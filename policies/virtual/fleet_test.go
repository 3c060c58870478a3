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
		{"only one knows its id", []karmada.Cluster{host(""), with(cluster("a"), "u")}, ""},
		{"no host", []karmada.Cluster{*cluster("a")}, `a: its host "edge" is not registered`},
		{
			"no host for two, with one suffix",
			[]karmada.Cluster{*cluster("a", karmada.SuffixAnnotation, "-x"), *cluster("b", karmada.SuffixAnnotation, "-x")},
			`a: its host "edge" is not registered; b: its host "edge" is not registered`,
		},
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
	none := virtual.New(fleet.New([]karmada.Cluster{host("")}))
	if none != nil || none.Problems() != nil || none.At(0) != nil || none.Wrong(0) || none.Host(0) != 0 || none.Clashes(map[string][]bool{"shop": {true}}) != nil {
		t.Error("a fleet without virtual clusters has some")
	}
}

// TestClashes holds that one namespace of an API server is of one cluster: of those of which that is known.
func TestClashes(t *testing.T) {
	f := fleet.New([]karmada.Cluster{
		hostNamed("edge"), *cluster("a", karmada.SuffixAnnotation, "-x"), *cluster("b", karmada.SuffixAnnotation, "-y-x"),
		*cluster("c", karmada.VirtualOfAnnotation, "gone", karmada.SuffixAnnotation, "-x"), hostNamed("far"),
		*cluster("d", karmada.SuffixAnnotation, "-z"), *cluster("e", karmada.SuffixAnnotation, "-z"),
	})
	v := virtual.New(f)
	for _, tt := range []struct {
		name string
		used string // namespaces of templates in clusters
		want string // as namespaces of API servers
	}{
		{"each has its own", "shop@a shop@b shop@edge shop@far", ""},
		{"two virtual ones have one", "shop@b shop-y@a", "shop-y-x: b's shop and a's shop-y"},
		{"a virtual one has one of its host", "shop@a shop-x@edge", "shop-x: a's shop and edge's shop-x"},
		{"a cluster beside has the same", "shop@a shop-x@far", ""},
		{"three have one", "shop@b shop-y@a shop-y-x@edge", "shop-y-x: b's shop and a's shop-y; shop-y-x: b's shop and edge's shop-y-x"},
		{"the host of one is not known", "shop@c shop-x@far", ""},
		{"what is wrong with two is said already", "shop@d shop@e shop-z@edge", ""},
		{"what has no namespace has none", "@a @edge", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			used := map[string][]bool{}
			for claim := range strings.FieldsSeq(tt.used) {
				namespace, name, _ := strings.Cut(claim, "@")
				if used[namespace] == nil {
					used[namespace] = make([]bool, len(f.Clusters()))
				}
				used[namespace][slices.IndexFunc(f.Clusters(), func(c *fleet.Cluster) bool { return c.Name == name })] = true
			}
			var got []string
			of := func(c virtual.Claim) string { return f.Clusters()[c.Cluster].Name + "'s " + c.Namespace }
			for _, c := range v.Clashes(used) {
				got = append(got, c.Namespace+": "+of(c.A)+" and "+of(c.B))
			}
			if got := strings.Join(got, "; "); got != tt.want {
				t.Errorf("clashes are %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestHost holds on whose API server a cluster is.
func TestHost(t *testing.T) {
	f := fleet.New([]karmada.Cluster{*cluster("a"), *cluster("b", karmada.VirtualOfAnnotation, "gone"), hostNamed("edge")})
	v := virtual.New(f)
	for i, want := range []int{2, virtual.Nowhere, 2} {
		if got := v.Host(i); got != want {
			t.Errorf("%s is on the API server of %d, want %d", f.Clusters()[i].Name, got, want)
		}
	}
}

// TestSharedServer holds whose API server a cluster is reached by, if others are on it, too.
func TestSharedServer(t *testing.T) {
	edge, alone := hostNamed("edge"), hostNamed("alone")
	registered := []*karmada.Cluster{&alone, &edge, cluster("a")}
	for i, want := range []string{"", "edge", "edge"} {
		if got := virtual.SharedServer(registered, registered[i]); got != want {
			t.Errorf("%s shares the API server of %q, want %q", registered[i].Name, got, want)
		}
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
