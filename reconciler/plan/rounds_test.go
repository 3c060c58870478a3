package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// round is a plan on top of what the one before it published.
type round struct {
	files   twin.Texts // that are other ones; empty ones are gone
	minutes int        // after the one before
	edit    func(*plan.Input)
}

// noon is when the first round is.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// told plans rounds, one after the other, and says what comes of each. What is published of each is what a plan of the record makes again.
func told(t *testing.T, rounds ...round) string {
	t.Helper()
	var said strings.Builder
	texts, now, sources := twin.Texts{}, noon, map[string]render.Source{}
	in := plan.Input{Medium: plan.Branch, Published: map[string]tree.Published{}}
	for n, r := range rounds {
		for path, text := range r.files {
			if texts[path] = text; text == "" {
				delete(texts, path)
			}
		}
		now = now.Add(time.Duration(r.minutes) * time.Minute)
		src, err := render.Load(t.Context(), texts, render.With{})
		if err != nil {
			t.Fatal(err)
		}
		next := plan.Input{Source: src, Medium: plan.Branch, State: in.State, Published: maps.Clone(in.Published), Now: now}
		next.Source.Revision.Commit = fmt.Sprint("commit-", n+1)
		if r.edit != nil {
			r.edit(&next)
		}
		sources[next.Source.Revision.Commit] = src
		p := built(t, &next, sources)
		is, err := state.Decode(p.State, nil)
		if err != nil {
			t.Fatal(err)
		}
		is.Commit = fmt.Sprint("state-", n+1)
		again := next
		again.Memo, again.Allow, again.Evidence, again.Expanded = nil, guard.Allowance{}, nil, nil
		again.Replay = &plan.Replay{State: is, Allowed: p.Released.Held}
		replayed := built(t, &again, sources)
		fmt.Fprintf(&said, "%d\n", n+1)
		tell(&said, &p, &is)
		for i, c := range p.Clusters {
			if is := replayed.Clusters[i]; (c.Held == nil) != (is.Held == nil) || c.Held == nil && c.Tree.ID() != is.Tree.ID() {
				t.Errorf("%d: made again, %s has %v", n+1, c.Name, manifestsOf(is.Tree))
			}
			if c.Held == nil {
				next.Published[c.Name] = tree.Published{Built: c.Tree}
			}
		}
		if held := messages(&replayed, diag.RolloutHeld); len(held) > 0 {
			t.Errorf("%d: made again, a run that began then says %q", n+1, held)
		}
		if p.State.ID() != replayed.State.ID() {
			t.Errorf("%d: made again, the state is another one: %s", n+1, differing(p.State, replayed.State))
		}
		in = plan.Input{State: is, Published: next.Published}
	}
	return said.String()
}

// built is a plan with the older versions of the source for which it asks.
func built(t *testing.T, in *plan.Input, sources map[string]render.Source) plan.Plan {
	t.Helper()
	if err := plan.Expand(in, rendered); err != nil {
		t.Fatal(err)
	}
	for commits := plan.OlderCommits(in); ; {
		for _, commit := range commits {
			src, ok := sources[commit]
			if !ok {
				plan.Unreadable(in, commit)
				continue
			}
			src.Revision.Commit = commit
			if err := plan.ExpandOlder(in, commit, src, rendered); err != nil {
				t.Fatal(err)
			}
		}
		p := plan.Build(*in)
		if len(p.Missing) == 0 {
			return p
		}
		commits = p.Missing
	}
}

// differing lists the files of which two folders have others.
func differing(a, b *files.Folder) (all []string) {
	for c := range files.Diff(a, b) {
		all = append(all, c.Path)
	}
	return all
}

// manifestsOf lists what is in a tree.
func manifestsOf(f *files.Folder) (all []string) {
	for path := range f.All() {
		if name, ok := strings.CutPrefix(path, tree.ManifestDir+"/"); ok {
			parts := strings.Split(strings.TrimSuffix(name, ".yaml"), "/")
			all = append(all, parts[len(parts)-2]+"/"+parts[len(parts)-1])
		}
	}
	return all
}

// short is what an object is called, less its namespace.
func short(r object.Ref) string {
	kind := strings.ToLower(r.Kind)
	if r.Group != "" {
		kind += "." + r.Group
	}
	return kind + "/" + r.Name
}

// tell says what comes of a plan: of what clusters hold, where it is another than before.
func tell(b *strings.Builder, p *plan.Plan, is *state.State) {
	for _, c := range p.Clusters {
		if before := p.Published[c.Name].Built; before == nil || before.ID() != c.Tree.ID() {
			fmt.Fprintf(b, "  %s: %s\n", c.Name, strings.Join(manifestsOf(c.Tree), " "))
		}
		if c.Held != nil {
			fmt.Fprintf(b, "    held: %s\n", c.Held.Reason)
			for _, r := range c.Held.Removals {
				fmt.Fprintf(b, "      %s: %s\n", short(r.Object), r.Cause)
			}
		}
	}
	for _, m := range p.Moves {
		fmt.Fprintf(b, "  move: %s from %s to %v by %v: %s%s until %s, %s, began %t\n",
			short(m.Object), m.From, m.To, m.Way, strings.Replace(string(m.Direct), "what needs", "\n    what needs", 1), m.Stays,
			clock(m.Until), m.Within, m.Began)
	}
	for _, l := range is.Leaving {
		fmt.Fprintf(b, "  leaving: %s from %s since %s, allowed %t\n", short(l.Object), l.Cluster, clock(l.Since.Time), l.Allowed)
	}
	left := is.Left()
	for _, r := range slices.SortedFunc(maps.Keys(left), object.Ref.Compare) {
		for _, l := range left[r] {
			fmt.Fprintf(b, "  left: %s in %s, kept %t %s\n", short(r), l.Cluster, l.Kept, l.Reason)
		}
	}
	for _, r := range slices.SortedFunc(maps.Keys(p.Asks), object.Ref.Compare) {
		fmt.Fprintf(b, "  asks: %s of %v\n", short(r), p.Asks[r])
	}
	for _, u := range is.Unlisted {
		fmt.Fprintf(b, "  unlisted: %s %s\n", short(u.Object), u.Cluster)
	}
	for _, r := range is.Rollouts {
		fmt.Fprintf(b, "  rollout: %s %s of %s to %s\n", r.Unit, r.Status.Phase, r.Status.Base.Commit, r.Status.Target.Commit)
		for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
			fmt.Fprintf(b, "    %s: %s %s shows %s\n", name, r.Clusters[name].Stage, r.Clusters[name].State, r.Clusters[name].Shows)
		}
	}
	for _, r := range is.Releases {
		fmt.Fprintf(b, "  release: %s %v of %q, made from %q\n", short(r.Release), r.Objects, r.Cluster, r.Inputs)
	}
	for path, e := range p.State.All() {
		data, _ := e.Blob.Bytes()
		_, actions, isRemedied := strings.Cut(string(data), "remedyActions:")
		if path == "descheduler.json" || isRemedied && strings.HasPrefix(path, "clusters/") {
			if isRemedied {
				data = []byte(actions)
			}
			fmt.Fprintf(b, "  %s: %s\n", path, strings.Join(strings.Fields(string(data)), " "))
		}
	}
	if f := is.Failover; !f.Moved.IsZero() || f.Frozen || !f.DelayedUntil.IsZero() {
		fmt.Fprintf(b, "  failover: moved at %s, frozen %t, until %s\n", clock(f.Moved.Time), f.Frozen, clock(f.DelayedUntil.Time))
	}
	if p.Released.Held {
		fmt.Fprintf(b, "  released: %v by %v\n", slices.Sorted(maps.Keys(p.Released.Clusters)), p.Released.Approvers())
	}
	for _, d := range p.Diags {
		if d.Severity != diag.Notice && !slices.Contains([]diag.Code{diag.Held, diag.EmptyFolder, diag.CapacityIgnored}, d.Code) {
			fmt.Fprintf(b, "  %s: %s\n", d.Code, wrapped.Replace(d.Message))
		}
	}
	if p.Basis.Scheduled || p.Basis.Awaits {
		fmt.Fprintf(b, "  again at %s, awaits %t\n", clock(p.Basis.RecheckAt), p.Basis.Awaits)
	}
}

// wrapped keeps lines short.
var wrapped = strings.NewReplacer(", because ", "\n    because ", ": ", ":\n    ", "; ", ";\n    ")

func clock(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return strings.TrimSuffix(at.UTC().Format("15:04:05"), ":00")
}

// cluster is a Cluster.
func cluster(name, annotations, spec string) string {
	return "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n" +
		"metadata: {name: " + name + ", labels: {is: " + name + "}, annotations: {" + annotations + "}}\nspec: {syncMode: Pull" + spec + "}\n"
}

// sends has a policy of the namespace shop send kinds to clusters.
func sends(name, clusters, more string, kinds ...string) string {
	var selectors []string
	for _, k := range kinds {
		version, kind, _ := strings.Cut(k, " ")
		selectors = append(selectors, "{apiVersion: "+version+", kind: "+kind+"}")
	}
	return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name + ", namespace: shop}\n" +
		"spec: {resourceSelectors: [" + strings.Join(selectors, ", ") + "],\n" +
		" placement: {clusterAffinity: {clusterNames: [" + clusters + "]}}" + more + "}\n"
}

// workload is one of the namespace shop, which needs the ConfigMap settings.
func workload(kind, name, annotations, spec string) string {
	return "---\napiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: shop,\n" +
		" annotations: {" + annotations + "}}\n" +
		"spec: {replicas: 4, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},\n" +
		"  spec: {containers: [{name: c, image: x, envFrom: [{configMapRef: {name: settings}}]}]}}" + spec + "}\n"
}

func config(spec string) string {
	return "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {namespaces: none, " + spec + "}\n"
}

const (
	deployments = "apps/v1 Deployment"
	settings    = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}\n"
	stays       = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: stays, namespace: shop}}\n"
)

// another is one of the namespace shop, after others.
func another(name string) string { return "---\n" + configMap(name) }
