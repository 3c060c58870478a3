// Package previewtest has comparisons for the tests of what shows them: one with everything
// that there can be, and one with names that try to be more than names.
package previewtest

import (
	"strings"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// refs name Deployments of one namespace.
func refs(names string) (all []object.Ref) {
	for name := range strings.FieldsSeq(names) {
		all = append(all, object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name})
	}
	return all
}

func cause(message, file string, line int) []preview.Cause {
	return []preview.Cause{{Message: message, Pos: diag.Pos{File: file, Line: line}}}
}

// Everything is a comparison in which there is one of everything.
func Everything() preview.Comparison {
	eight := strings.Fields("a b c d e f g h")
	return preview.Comparison{
		APIVersion: preview.APIVersion, Kind: preview.Kind, Base: strings.Repeat("1", 40), Head: strings.Repeat("2", 40),
		Supposed: []string{"without cluster c"},
		Changes: []preview.Change{
			{Verb: preview.Disappears, Objects: refs("old"), Causes: cause("removed", "old.yaml", 1), Removed: []string{"a"}},
			{
				Verb: preview.Held, Objects: refs("held"), Causes: cause("removed", "held.yaml", 1),
				Left: []preview.Left{{Clusters: []string{"a"}, Code: reason.Held, Reason: "the cluster is held", Kept: true}},
			},
			{
				Verb: preview.Frozen, Objects: refs("frozen"),
				Left: []preview.Left{{Clusters: []string{"b"}, Reason: "an override fails", Kept: true}, {Clusters: []string{"d"}, Reason: "an override fails"}},
			},
			{Verb: preview.Stays, Objects: refs("left-behind"), Causes: cause("Cluster c is no longer registered", "clusters.yaml", 9), Detached: []string{"c"}},
			{
				Verb: preview.Moves, Objects: refs("one three two"), Added: []string{"b"}, Removed: []string{"a"}, Replicas: &preview.Span{Before: 2, After: 3},
				Causes: cause("PropagationPolicy shop/all: spec.placement.clusterAffinity.clusterNames[0] goes from a to b", "policy.yaml", 7),
			},
			{
				Verb: preview.Scales, Objects: refs("wide"), Causes: cause("changed", "wide.yaml", 3), Replicas: &preview.Span{Before: 4, After: 7},
				Scaled:  []preview.Scale{{Clusters: []string{"a", "b"}, From: 2, To: 3}, {Clusters: []string{"d"}, From: 0, To: 1}},
				Changed: []preview.Content{{Clusters: []string{"a", "b"}, Fields: values()}},
			},
			{
				Verb: preview.Changes, Objects: refs("web"), Causes: cause("changed", "web.yaml", 3),
				Changed: []preview.Content{{Clusters: eight, Fields: []fields.Field{{Path: "spec.paused", Op: fields.Replace, From: false, To: true}}}},
			},
			{Verb: preview.Appears, Objects: refs("new"), Causes: cause("new", "new.yaml", 1), Added: eight},
		},
		Clusters: []preview.Cluster{
			{Name: "a", Region: "eu", Added: 1, Removed: 3, Changed: 1, Left: 1, Objects: preview.Span{Before: 5, After: 5}, Replicas: preview.Span{Before: 2, After: 3}, Held: "it would lose everything"},
			{Name: "b", Region: "eu", Added: 2, New: true, Objects: preview.Span{After: 2}},
			{Name: "c", Region: "us", Objects: preview.Span{Before: 3, After: 3}, Gone: true},
			{Name: "d", Changed: 1, Objects: preview.Span{Before: 1, After: 1}},
		},
		Regions: []preview.Region{
			{Clusters: 1, Of: 3, Changed: 1},
			{Name: "eu", Clusters: 2, Of: 2, Added: 3, Removed: 3, Changed: 1, Replicas: preview.Span{Before: 2, After: 3}},
			{Name: "us", Clusters: 1, Of: 1},
		},
		Short: []preview.Short{{
			Cluster: "d", Resource: "cpu", Asked: "9", Has: "4",
			By: []preview.Load{{Object: refs("wide")[0], Replicas: 3, Asked: "6"}, {Object: refs("web")[0], Replicas: 1, Asked: "500m"}},
		}},
		Guard: &preview.Guard{
			Digest: "0123456789abcdef0123456789abcdef01234567", Trailer: guard.AllowTrailer + ": 0123456789abcdef", Command: "waybill publish --allow-prune",
			Already: []preview.Hold{{Clusters: []string{"b"}, Reason: "somebody else edited files of the branch"}},
			Holds:   []preview.Hold{{Clusters: []string{"a"}, Reason: "it would lose everything", Removals: []guard.Removal{{Object: refs("held")[0], Cause: "it is no longer in the source"}}}},
		},
		Totals: preview.Totals{
			Objects: 10, Clusters: 4, Of: 6, Added: 11, Removed: 4, Changed: 11, Replicas: preview.Span{Before: 6, After: 10},
			Verbs: map[preview.Verb]int{
				preview.Disappears: 1, preview.Held: 1, preview.Frozen: 1, preview.Stays: 1, preview.Moves: 3, preview.Scales: 1, preview.Changes: 1, preview.Appears: 1,
			},
		},
		Already: []diag.Diagnostic{
			{Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: "worse.yaml"}, Message: "no end"},
			{Code: diag.Waits, Severity: diag.Warning, Message: "it waits"},
		},
		Diags: []diag.Diagnostic{{Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: "bad.yaml", Line: 3}, Message: "no colon", Hint: "write one"}},
	}
}

// values are fields of every form.
func values() []fields.Field {
	return []fields.Field{
		{Path: "data.config", Op: fields.Replace, Lines: "@@ -1,2 +1,2 @@\n first\n-second\n+another\n"},
		{Path: "data.password", Op: fields.Replace, Hidden: true},
		{Path: `metadata.labels["helm.sh/chart"]`, Op: fields.Replace, From: "web-1.0.0", To: "web-1.1.0", Routine: true},
		{Path: "spec.template.spec.containers[name=web].env", Op: fields.Add, To: []any{map[string]any{"name": "A", "value": "b"}}},
		{Path: "spec.template.spec.containers[name=web].image", Op: fields.Replace, From: "web:1", To: "web:2"},
		{Path: "spec.template.spec.initContainers", Op: fields.Reorder, From: "a, b", To: "b, a"},
		{Path: "spec.template.spec.hostNetwork", Op: fields.Remove, From: true},
	}
}

// Hostile are texts that people may give as names and values, and that are to be shown as texts.
func Hostile() []string {
	return []string{
		"@everyone", "#1", "fixes #1", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![ref](https://evil.example.com/x.png)", "[click](javascript:alert(1))",
		"https://evil.example.com", "www.evil.example.com", "user@example.com", "`code`", "```\n# heading\n", "~~~\n", "| a | b |", "<!-- waybill", "-->", "</details>", "a\n\n# heading", "\x1b[31mred", "&lt;b&gt;",
		"**bold** _it_ ~~gone~~", "$\\alpha$", ":tada:", "\u202egnp.exe", "'\"><svg onload=alert(1)>", "{{constructor}}", "]]>", "org/repo#12", "0123456789012345678901234567890123456789",
	}
}

// Filled is Everything with a text in every place where people can write one.
func Filled(text string) preview.Comparison {
	c := Everything()
	c.Base, c.Head = text, text
	c.Supposed = []string{text}
	for i := range c.Changes {
		ch := &c.Changes[i]
		for n := range ch.Objects {
			ch.Objects[n] = object.Ref{Group: text, Kind: text, Namespace: text, Name: text}
		}
		for n := range ch.Causes {
			ch.Causes[n] = preview.Cause{Message: text, Pos: diag.Pos{File: text, Line: 1}}
		}
		names := []string{text}
		fill(&ch.Added, names)
		fill(&ch.Removed, names)
		fill(&ch.Detached, names)
		for n := range ch.Scaled {
			ch.Scaled[n].Clusters = names
		}
		for n := range ch.Left {
			ch.Left[n].Clusters, ch.Left[n].Reason = names, text
		}
		for n := range ch.Changed {
			ch.Changed[n].Clusters = names
			ch.Changed[n].Fields = []fields.Field{
				{Path: text, Op: fields.Replace, From: text, To: text},
				{Path: text, Op: fields.Add, To: map[string]any{text: text}},
				{Path: text, Op: fields.Replace, Lines: "@@ -1 +1 @@\n-" + text + "\n+" + text + "\n"},
				{Path: text, Op: fields.Reorder, From: text, To: text},
			}
		}
	}
	for i := range c.Clusters {
		c.Clusters[i].Name, c.Clusters[i].Region = text, text
	}
	c.Clusters[0].Held = text
	for i := range c.Regions {
		c.Regions[i].Name = text
	}
	c.Rollouts = []preview.Rollout{{
		Unit: text, Strategy: text, Supersedes: text, Held: []string{text},
		Stages: []preview.Stage{{Name: text, Clusters: 2, Width: 1, After: []string{text}}},
	}}
	c.Short = []preview.Short{{
		Cluster: text, Resource: text, Asked: text, Has: text, By: []preview.Load{{Object: object.Ref{Kind: text, Name: text}, Asked: text}},
	}}
	c.Services = []preview.Exchange{{
		Service: object.Ref{Kind: "Service", Namespace: text, Name: text}, Exported: preview.Clusters{Added: []string{text}},
		Imported: preview.Clusters{Removed: []string{text}, Changed: []string{text}},
	}}
	c.Guard.Already = []preview.Hold{{Clusters: []string{text}, Reason: text}}
	c.Guard.Holds = []preview.Hold{{Clusters: []string{text}, Reason: text, Removals: []guard.Removal{{Object: object.Ref{Kind: text, Name: text}, Cause: text}}}}
	c.Already = []diag.Diagnostic{{Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: text}, Message: text}}
	c.Diags = []diag.Diagnostic{{Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: text, Line: 3}, Message: text, Hint: text}}
	return c
}

func fill(names *[]string, with []string) {
	if len(*names) > 0 {
		*names = with
	}
}
