package preview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// ref is an object of a kind.
func ref(kind, name string) object.Ref { return object.Ref{Kind: kind, Namespace: "shop", Name: name} }

// of is a change of objects of a kind.
func of(verb preview.Verb, kind string, names ...string) preview.Change {
	c := preview.Change{Verb: verb}
	for _, name := range names {
		c.Objects = append(c.Objects, ref(kind, name))
	}
	return c
}

// content is a change of fields in clusters.
func content(c preview.Change, clusters string, all ...fields.Field) preview.Change {
	c.Changed = append(c.Changed, preview.Content{Clusters: strings.Fields(clusters), Fields: all})
	return c
}

func set(path string, from, to any) fields.Field { return fields.Field{Path: path, From: from, To: to} }

// TestVerdicts: what a change does in a sentence, with what needs most care first, and no more than three things.
func TestVerdicts(t *testing.T) {
	gone := of(preview.Disappears, "ConfigMap", "b", "a")
	gone.Removed = []string{"us", "eu"}
	added := of(preview.Appears, "ConfigMap", "a")
	added.Added = []string{"eu", "us"}
	moved := of(preview.Moves, "ConfigMap", "a")
	moved.Removed, moved.Added = []string{"eu"}, []string{"us"}
	about := moved
	about.Removed, about.Added = []string{"a", "b"}, []string{"b", "c"}
	many := moved
	many.Removed, many.Added = []string{"a", "b", "c", "d"}, []string{"e", "f", "g", "h"}
	around := moved
	around.Removed, around.Added = []string{"a", "b", "c", "d"}, []string{"d", "e", "f", "g"}
	stays := of(preview.Stays, "ConfigMap", "a", "b")
	stays.Detached = []string{"old"}
	elsewhere := of(preview.Stays, "ConfigMap", "c")
	elsewhere.Detached, elsewhere.Elsewhere = []string{"old"}, 2
	frozen := of(preview.Frozen, "ConfigMap", "a")
	frozen.Left = []preview.Left{{Clusters: []string{"eu", "us"}, Reason: "an override fails", Kept: true}}
	scaled := of(preview.Scales, "Deployment", "web", "api")
	scaled.Scaled, scaled.Replicas = []preview.Scale{{Clusters: []string{"eu"}, From: 1, To: 2}}, &preview.Span{Before: 1, After: 2}
	error1 := diag.Diagnostic{Severity: diag.Error, Code: diag.BadConfig, Pos: diag.Pos{File: "a.yaml", Line: 3}}
	error2 := diag.Diagnostic{Severity: diag.Error, Code: diag.BadConfig}
	hold := preview.Hold{Clusters: []string{"eu", "us"}, Removals: []guard.Removal{{Object: ref("Deployment", "web")}, {Object: ref("ConfigMap", "a")}}}
	edited := preview.Cause{Message: preview.Edited, Pos: diag.Pos{File: "policy.yaml", Line: 4}}
	caused := func(c preview.Change, causes ...preview.Cause) preview.Change {
		c.Causes = causes
		return c
	}
	for name, tt := range map[string]struct {
		c     preview.Comparison
		level preview.Level
		want  string
	}{
		"nothing":                          {preview.Comparison{}, preview.Nothing, "no cluster changes"},
		"an error that is there already":   {preview.Comparison{Already: []diag.Diagnostic{error1, {Severity: diag.Warning}}}, preview.Nothing, "no cluster changes; 1 error without this change, too"},
		"a cluster that is held already":   {preview.Comparison{Already: []diag.Diagnostic{{Severity: diag.Error, Code: diag.Held}}}, preview.Nothing, "no cluster changes"},
		"a warning":                        {preview.Comparison{Diags: []diag.Diagnostic{{Severity: diag.Warning, Code: diag.BadConfig}}}, preview.Nothing, "no cluster changes"},
		"errors":                           {preview.Comparison{Diags: []diag.Diagnostic{error1, error2}}, preview.Broken, "2 new errors in the source, the first in a.yaml:3"},
		"an error of no place":             {preview.Comparison{Diags: []diag.Diagnostic{error2}}, preview.Broken, "1 new error in the source, the first in " + string(diag.BadConfig)},
		"what goes":                        {preview.Comparison{Changes: []preview.Change{gone}}, preview.Dangerous, "removes shop/a (ConfigMap) and 1 more object from 2 clusters at once, without an approval"},
		"what went":                        {preview.Comparison{Changes: []preview.Change{gone}, IsDone: true}, preview.Dangerous, "removes shop/a (ConfigMap) and 1 more object from 2 clusters"},
		"what is held":                     {preview.Comparison{Guard: &preview.Guard{Holds: []preview.Hold{hold}}}, preview.Dangerous, "removes shop/web (Deployment) and 1 more object from 2 clusters, 4 objects in all, held until approved"},
		"what is held besides":             {preview.Comparison{Changes: []preview.Change{gone}, Guard: &preview.Guard{Holds: []preview.Hold{hold}}}, preview.Dangerous, "removes shop/a (ConfigMap) and 1 more object from 2 clusters at once, without an approval; removes shop/web (Deployment) and 1 more object from 2 other clusters, 4 objects in all, held until approved"},
		"what was held before":             {preview.Comparison{Guard: &preview.Guard{Already: []preview.Hold{hold}}}, preview.Nothing, "no cluster changes"},
		"a move":                           {preview.Comparison{Changes: []preview.Change{moved}}, preview.Careful, "moves shop/a (ConfigMap) from eu to us"},
		"moves that meet":                  {preview.Comparison{Changes: []preview.Change{about}}, preview.Careful, "moves shop/a (ConfigMap) from a, b to b, c"},
		"a move between many":              {preview.Comparison{Changes: []preview.Change{many}}, preview.Careful, "moves shop/a (ConfigMap) from 4 clusters to 4 other clusters"},
		"moves between many that meet":     {preview.Comparison{Changes: []preview.Change{around}}, preview.Careful, "moves shop/a (ConfigMap) from 4 clusters to 4 clusters"},
		"what a cluster that left keeps":   {preview.Comparison{Changes: []preview.Change{stays, elsewhere}}, preview.Careful, "leaves shop/a (ConfigMap) and 2 more objects in old, no longer registered; of them 2 objects in no other cluster"},
		"what it keeps and others have":    {preview.Comparison{Changes: []preview.Change{elsewhere}}, preview.Careful, "leaves shop/c (ConfigMap) in old, no longer registered"},
		"what stays as it is in two":       {preview.Comparison{Changes: []preview.Change{frozen}}, preview.Careful, "leaves shop/a (ConfigMap) as it is in 2 clusters: an override fails"},
		"replicas":                         {preview.Comparison{Changes: []preview.Change{scaled}}, preview.Safe, "scales shop/api (Deployment) and 1 more object from 2 to 4 replicas in all in 1 cluster"},
		"what is new":                      {preview.Comparison{Changes: []preview.Change{added}}, preview.Safe, "adds shop/a (ConfigMap) to 2 clusters"},
		"services":                         {preview.Comparison{Services: make([]preview.Exchange, 2)}, preview.Safe, "2 services exchanged between clusters otherwise"},
		"a cluster that is too small":      {preview.Comparison{Short: []preview.Short{{Cluster: "eu", Resource: "cpu", Asked: "8", Has: "4"}, {Cluster: "eu", Resource: "pods", Asked: "9", Has: "5"}}}, preview.Careful, "what is in eu no longer fits: 8 cpu requested, 4 allocatable"},
		"two clusters that are too small":  {preview.Comparison{Short: []preview.Short{{Cluster: "eu"}, {Cluster: "us"}}}, preview.Careful, "what is in eu, us no longer fits"},
		"four things":                      {preview.Comparison{Diags: []diag.Diagnostic{error1}, Changes: []preview.Change{gone, moved, added}}, preview.Broken, "1 new error in the source, the first in a.yaml:3; removes shop/a (ConfigMap) and 1 more object from 2 clusters at once, without an approval; moves shop/a (ConfigMap) from eu to us; and more"},
		"an image":                         {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "Deployment", "web"), "eu us", set("spec.containers[c].image", "ghcr.io/acme/web:1.0", "ghcr.io/acme/web:1.1"))}}, preview.Safe, "image web 1.0 -> 1.1 in 2 clusters"},
		"an image of two registries":       {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "Deployment", "web"), "eu", set("a.image", "eu.io/web:1", "eu.io/web:2")), content(of(preview.Changes, "Deployment", "web"), "us", set("a.image", "us.io/web:1", "us.io/web:2"))}}, preview.Safe, "image web 1 -> 2 (2 registries) in 2 clusters"},
		"an image by its digest":           {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "Deployment", "web"), "eu", set("a.image", "localhost:5000/web", "localhost:5000/web@sha256:0123456789abcdef"))}}, preview.Safe, "image web latest -> @0123456789ab in 1 cluster"},
		"another image":                    {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "Deployment", "web"), "eu", set("a.image", "api:1", "web:2"))}}, preview.Safe, "image web api:1 -> 2 in 1 cluster"},
		"an image, and what follows of it": {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "Deployment", "web"), "eu", set("a.image", "web:1", "web:2"), fields.Field{Path: "metadata.labels.version", From: "1", To: "2", Routine: true})}}, preview.Safe, "image web 1 -> 2 in 1 cluster"},
		"an image that is hidden":          {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "Secret", "web"), "eu", fields.Field{Path: "a.image", From: "web:1", To: "web:2", Hidden: true})}}, preview.Safe, "changes shop/web (Secret) in 1 cluster: a.image"},
		"an image and something else":      {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "Deployment", "web"), "eu", set("a.image", "web:1", "web:2"), set("a.args", "x", "y"))}}, preview.Safe, "changes shop/web (Deployment) in 1 cluster: a.args x -> y"},
		"four images":                      {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "Deployment", "web"), "eu", set("a.image", "a:1", "a:2"), set("b.image", "b:1", "b:2"), set("c.image", "c:1", "c:2"), set("d.image", "d:1", "d:2"))}}, preview.Safe, "changes shop/web (Deployment) in 1 cluster: a.image a:1 -> a:2"},
		"the field of most objects":        {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "ConfigMap", "a"), "eu", set("data.a", 1, 2)), content(of(preview.Changes, "ConfigMap", "b", "c"), "eu", set("data.z", 1, 2))}}, preview.Safe, "changes shop/a (ConfigMap) and 2 more objects in 1 cluster: data.z 1 -> 2 in 2 objects"},
		"a field that is new":              {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "ConfigMap", "a"), "eu", fields.Field{Path: "data.a", Op: fields.Add, To: strings.Repeat("x", 41)})}}, preview.Safe, "changes shop/a (ConfigMap) in 1 cluster: data.a = " + strings.Repeat("x", 40) + "..."},
		"a field that is gone":             {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "ConfigMap", "a"), "eu", fields.Field{Path: "data.a", Op: fields.Remove, From: "x"})}}, preview.Safe, "changes shop/a (ConfigMap) in 1 cluster: no data.a"},
		"lines of a field":                 {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "ConfigMap", "a"), "eu", fields.Field{Path: "data.a", Lines: "-a\n+b"})}}, preview.Safe, "changes shop/a (ConfigMap) in 1 cluster: data.a"},
		"what is routine":                  {preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "ConfigMap", "a"), "eu", fields.Field{Path: "metadata.labels.version", Routine: true})}}, preview.Safe, "changes shop/a (ConfigMap) in 1 cluster"},
		"an edit of a file":                {preview.Comparison{Changes: []preview.Change{caused(scaled, edited)}}, preview.Safe, "scales shop/api (Deployment) and 1 more object from 2 to 4 replicas in all in 1 cluster, because policy.yaml:4 changed"},
		"two causes of one":                {preview.Comparison{Changes: []preview.Change{caused(scaled, edited, preview.Cause{Message: "the fleet"})}}, preview.Safe, "scales shop/api (Deployment) and 1 more object from 2 to 4 replicas in all in 1 cluster"},
	} {
		v := tt.c.Verdict()
		if d := cmp.Diff(tt.want, v.String()); d != "" || v.Level != tt.level {
			t.Errorf("%s is %s, want %s: %s", name, v.Level, tt.level, d)
		}
	}
}

// TestWhatSomebodyElseWroteIsQuoted: names, and what fields say, are told from our own words.
func TestWhatSomebodyElseWroteIsQuoted(t *testing.T) {
	c := preview.Comparison{Changes: []preview.Change{content(of(preview.Changes, "ConfigMap", "a"), "eu", set("data.a", "one", "two"))}}
	var quoted []string
	v := c.Verdict()
	for _, p := range v.Parts {
		if p.Quoted {
			quoted = append(quoted, p.Text)
		}
	}
	if d := cmp.Diff([]string{"shop/a (ConfigMap)", "data.a one -> two"}, quoted); d != "" {
		t.Error(d)
	}
}

// TestLines: how exchanges and shortages read, and what totals count.
func TestLines(t *testing.T) {
	c := preview.Comparison{
		Services: []preview.Exchange{{
			Service: ref("Service", "web"), Exported: preview.Clusters{Added: []string{"a"}, Removed: []string{"b"}},
			Imported: preview.Clusters{Added: []string{"c"}, Removed: []string{"d"}, Changed: []string{"e"}},
		}, {Service: ref("Service", "api"), Imported: preview.Clusters{Added: strings.Fields("a b c d e f g")}}},
		Short: []preview.Short{
			{Cluster: "eu", Resource: "cpu", Asked: "8", Has: "4"},
			{Cluster: "us", Resource: "pods", Asked: "8", Has: "4", By: []preview.Load{{ref("Deployment", "a"), 1, "4"}, {ref("Deployment", "b"), 2, "2"}, {ref("Deployment", "c"), 1, "1"}, {ref("Deployment", "d"), 1, "1"}}},
		},
	}
	totals := preview.Totals{Objects: 3, Clusters: 2, Of: 10, Added: 1, Removed: 2, Changed: 3, Verbs: map[preview.Verb]int{preview.Moves: 1, preview.Frozen: 2, preview.Appears: 0}}
	none := preview.Totals{Of: 1}
	want := `Service/shop/web: exported by a; no longer exported by b; imported by c; no longer imported by d; imported otherwise by e
Service/shop/api: imported by a, b, c, d, e, f and 1 more
what is in eu no longer fits: 8 cpu requested, 4 allocatable; nothing is scheduled anew because of it
what is in us no longer fits: 8 pods requested, 4 allocatable; requested by Deployment/shop/a 4 (1 replica), Deployment/shop/b 2 (2 replicas), Deployment/shop/c 1 (1 replica) and 1 more; nothing is scheduled anew because of it
3 objects in 2 of 10 clusters: 1 moves, 2 are frozen
1 added, 3 changed, 2 removed
0 objects in 0 of 1 cluster
`
	got := strings.Join(append(c.Exchanges(), c.Shortages()...), "\n") + "\n" + totals.String() + "\n" + totals.Manifests() + "\n" + none.String() + "\n" + none.Manifests()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, tt := range []struct {
		c    preview.Comparison
		want bool
	}{{preview.Comparison{}, true}, {preview.Comparison{Changes: make([]preview.Change, 1)}, false}, {preview.Comparison{Clusters: make([]preview.Cluster, 1)}, false}, {preview.Comparison{Services: make([]preview.Exchange, 1)}, false}, {preview.Comparison{Short: make([]preview.Short, 1)}, true}} {
		if tt.c.Empty() != tt.want {
			t.Errorf("%+v changes nothing: %t", tt.c, !tt.want)
		}
	}
}

// TestWhatAGuardAdds: what an approval is for is what the change adds, of every cluster that would lose it.
func TestWhatAGuardAdds(t *testing.T) {
	removal := []guard.Removal{{Object: ref("ConfigMap", "a")}, {Object: ref("ConfigMap", "b")}}
	g := &preview.Guard{
		Holds:   []preview.Hold{{Clusters: []string{"eu", "us"}, Removals: removal}, {Clusters: []string{"ap"}}},
		Already: []preview.Hold{{Clusters: []string{"old"}, Removals: removal}},
	}
	want := guard.Removals{{Clusters: []string{"eu", "us"}, Objects: []object.Ref{ref("ConfigMap", "a"), ref("ConfigMap", "b")}}}
	if d := cmp.Diff(want, g.Adds()); d != "" {
		t.Error(d)
	}
	if all := (*preview.Guard)(nil).Adds(); all != nil {
		t.Errorf("where nothing is held it adds %v", all)
	}
}

// TestRoutineChangesAreOne: labels and checksums that follow from one cause are one change, of the clusters and fields of all; what is more
// than routine, or comes from elsewhere, is told apart.
func TestRoutineChangesAreOne(t *testing.T) {
	label := func(path ...any) fields.Field {
		return fields.Field{Path: fmt.Sprint(path...), Steps: path, From: "1", To: "2", Routine: true}
	}
	of := func(name, cause, clusters string, all ...fields.Field) preview.Change {
		c := content(of(preview.Changes, "ConfigMap", name), clusters, all...)
		c.Causes = []preview.Cause{{Message: cause}}
		return c
	}
	more := of("d", "the chart", "eu", label("metadata", "labels", "version"), set("data.a", 1, 2))
	scaled := of("e", "the chart", "eu", label("metadata", "labels", "version"))
	scaled.Scaled = []preview.Scale{{Clusters: []string{"eu"}, From: 1, To: 2}}
	left := of("f", "the chart", "eu", label("metadata", "labels", "version"))
	left.Left = []preview.Left{{Clusters: []string{"us"}}}
	all := []preview.Change{
		left,
		of("b", "the chart", "us eu", label("metadata", "labels", "version")),
		more,
		of("a", "the chart", "ap us", label("spec", "template", "metadata", "labels", "version"), label("metadata", "annotations", "checksum")),
		of("c", "an edit", "eu", label("metadata", "labels", "version")),
		scaled,
	}
	var got []string
	for _, c := range preview.Fold(all) {
		var paths []string
		for _, f := range c.Changed[0].Fields {
			paths = append(paths, f.Path)
		}
		got = append(got, fmt.Sprint(c.Title(), " ", c.Changed[0].Clusters, " ", paths, " ", c.IsRoutine()))
	}
	want := []string{
		"ConfigMap/shop/f [eu] [metadatalabelsversion] false",
		"ConfigMap/shop/a and 1 more [ap eu us] [version checksum] true",
		"ConfigMap/shop/d [eu] [metadatalabelsversion data.a] false",
		"ConfigMap/shop/c [eu] [metadatalabelsversion] true",
		"ConfigMap/shop/e [eu] [metadatalabelsversion] false",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(all[1].Objects) != 1 || all[1].Changed[0].Fields[0].Path != "metadatalabelsversion" {
		t.Errorf("what was folded is changed: %+v", all[1])
	}
}
