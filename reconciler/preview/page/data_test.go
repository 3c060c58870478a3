package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// told is what a script would read of data, a line each.
func told(t *testing.T, d *data) (lines []string) {
	t.Helper()
	say := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	for _, c := range d.Clusters {
		line := fmt.Sprintf("%s of %q: %d %d %d %d, %v %v", c.Name, d.Regions[c.Region], c.Added, c.Changed, c.Removed, c.Left, c.Objects,
			c.Replicas)
		if !c.Listed {
			line += ", not listed"
		}
		say("%s", strings.TrimSpace(line+" "+c.Note))
	}
	for _, c := range d.Changes {
		var objects []string
		for _, r := range c.Objects {
			objects = append(objects, d.Kinds[r.Kind]+" "+d.Namespaces[r.Namespace]+"/"+r.Name)
		}
		say("%s %s %s, %s %v", c.ID, c.Verb, c.Does, strings.Join(objects, ", "), c.Causes)
		if c.Replicas != nil {
			say("  replicas %v", *c.Replicas)
		}
		for _, p := range c.Parts {
			var in []string
			for _, n := range read(t, d.Sets[p.Set]) {
				in = append(in, d.Clusters[n].Name)
			}
			line := fmt.Sprintf("  %s in %s", p.Is, strings.Join(in, " "))
			if p.Scale != nil {
				line += fmt.Sprintf(", %v", *p.Scale)
			}
			if p.Reason != "" {
				line += fmt.Sprintf(", %s, kept %t", p.Reason, p.Kept)
			}
			say("%s", line)
			if p.Diff == nil {
				continue
			}
			for _, f := range d.Diffs[*p.Diff].Fields {
				say("    %s %s %s %s %q %t", f.Op, f.Path, quoted(f.From), quoted(f.To), f.Lines, f.Hidden)
			}
			say("    and %d more", d.Diffs[*p.Diff].Routine)
		}
	}
	return lines
}

// TestTheScriptReadsAllOfAComparison: each cluster and change with what there is to say of it, by the numbers of what repeats.
func TestTheScriptReadsAllOfAComparison(t *testing.T) {
	const want = `a of "eu": 1 1 3 1, [5 5] [2 3] held: it would lose everything
b of "eu": 2 0 0 0, [0 2] [0 0] new
c of "us": 0 0 0 0, [3 3] [0 0] no longer registered; its branch stays
d of "": 0 1 0 0, [1 1] [0 0]
e of "": 0 0 0 0, [0 0] [0 0], not listed
f of "": 0 0 0 0, [0 0] [0 0], not listed
g of "": 0 0 0 0, [0 0] [0 0], not listed
h of "": 0 0 0 0, [0 0] [0 0], not listed
change-deployment.apps-shop-old disappears disappears, Deployment.apps shop/old [[removed old.yaml:1]]
  disappears in a
change-deployment.apps-shop-held held is held, Deployment.apps shop/held [[removed held.yaml:1]]
  held in a, the cluster is held, kept true
change-deployment.apps-shop-frozen frozen is frozen, Deployment.apps shop/frozen []
  frozen in b, an override fails, kept true
  frozen in d, an override fails, kept false
change-deployment.apps-shop-left-behind stays stays, Deployment.apps shop/left-behind [[Cluster c is no longer registered clusters.yaml:9]]
  stays in c
change-deployment.apps-shop-one moves move, Deployment.apps shop/one, Deployment.apps shop/three, Deployment.apps shop/two ` +
		`[[PropagationPolicy shop/all: spec.placement.clusterAffinity.clusterNames[0] goes from a to b policy.yaml:7]]
  replicas [2 3]
  arrives in b
  leaves in a
change-deployment.apps-shop-wide scales scales, Deployment.apps shop/wide [[changed wide.yaml:3]]
  replicas [4 7]
  scales in a b, [2 3]
  scales in d, [0 1]
  changes in a b
    replace data.config - - "@@ -1,2 +1,2 @@\n first\n-second\n+another\n" false
    replace data.password - - "" true
    add spec.template.spec.containers[name=web].env - "- name: A\n  value: b" "" false
    replace spec.template.spec.containers[name=web].image "web:1" "web:2" "" false
    reorder spec.template.spec.initContainers "a, b" "b, a" "" false
    remove spec.template.spec.hostNetwork "true" - "" false
    and 1 more
change-deployment.apps-shop-web changes changes, Deployment.apps shop/web [[changed web.yaml:3]]
  changes in a b c d e f g h
    replace spec.paused "false" "true" "" false
    and 0 more
change-deployment.apps-shop-new appears appears, Deployment.apps shop/new [[new new.yaml:1]]
  appears in a b c d e f g h`
	c := previewtest.Everything()
	d := encode(&c)
	if diff := cmp.Diff(strings.Split(want, "\n"), told(t, &d)); diff != "" {
		t.Error(diff)
	}
}

// TestClustersOfWhatIsLeftAreKnown though nothing changes there, and a cause that stands nowhere has no place.
func TestClustersOfWhatIsLeftAreKnown(t *testing.T) {
	a := object.Ref{Kind: "Namespace", Name: "a"}
	c := preview.Comparison{Changes: []preview.Change{{
		Verb: preview.Frozen, Objects: []object.Ref{a}, Causes: []preview.Cause{{Message: "a draw"}},
		Left: []preview.Left{{Clusters: []string{"x", "y"}, Reason: "it waits"}},
	}}}
	d := encode(&c)
	want := []string{
		"x of \"\": 0 0 0 0, [0 0] [0 0], not listed", "y of \"\": 0 0 0 0, [0 0] [0 0], not listed",
		"change-namespace-a frozen is frozen, Namespace /a [[a draw ]]", "  frozen in x y, it waits, kept false",
	}
	if diff := cmp.Diff(want, told(t, &d)); diff != "" {
		t.Error(diff)
	}
}

// TestWhatThePageCuts: commits to twelve digits, what is none not at all; errors and removals to so many; and anchors to a length.
func TestWhatThePageCuts(t *testing.T) {
	for commit, want := range map[string]string{
		strings.Repeat("ab", 20): "abababababab", "abababababab": "abababababab", "ababababababa": "abababababab", "main": "main",
		"a-branch-with-a-long-name": "a-branch-with-a-long-name", "": "",
	} {
		if got := short(commit); got != want {
			t.Errorf("%q is %q", commit, got)
		}
	}
	var all []diag.Diagnostic
	for n := range 51 {
		lines := mistakes(all)
		if len(lines) != min(n, 50) {
			t.Errorf("of %d errors there are %d lines", n, len(lines))
		}
		all = append(all, diag.Diagnostic{Severity: diag.Error, Message: "no"}, diag.Diagnostic{Severity: diag.Warning, Message: "maybe"})
	}
	if lines := mistakes(all); len(lines) != 51 || lines[50] != "and 1 more" {
		t.Errorf("of 51 errors there are %d lines, the last of which is %q", len(lines), lines[len(lines)-1])
	}
	for n, want := range map[int][2]int{0: {0, 0}, 20: {20, 0}, 21: {20, 1}, 23: {20, 3}} {
		if got := [2]int{len(named(make([]guard.Removal, n))), rest(n)}; got != want {
			t.Errorf("of %d removals %d are shown, and %d not", n, got[0], got[1])
		}
	}
	e := encoder{ids: map[string]int{}}
	long := object.Ref{Kind: "ConfigMap", Name: strings.Repeat("0z9.", 40)}
	if id := e.id(long); id != "change-configmap-"+strings.Repeat("0z9.", 40)[:110] {
		t.Errorf("a long name has the anchor %s", id)
	}
}
