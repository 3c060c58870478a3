package compare

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// named is a ConfigMap of the namespace shop.
func named(name string) object.Ref {
	return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// among is a comparer of nothing, with items in groups of clusters.
func among(groups []group, all ...*item) *comparer {
	c := &comparer{base: &plan.Plan{}, head: &plan.Plan{}, groups: groups, items: map[object.Ref]*item{}}
	for _, it := range all {
		c.items[it.ref] = it
	}
	return c
}

// TestWhatIsToldAsOne: what two objects do is told once if it is all alike, and because of the same.
func TestWhatIsToldAsOne(t *testing.T) {
	two := []group{{names: []string{"eu"}}, {names: []string{"us"}}}
	says := func(key string) *content { return &content{key: key, fields: []fields.Field{{Path: key}}} }
	held := left{reason.Held, true}
	all := func(r object.Ref) *item {
		return &item{
			ref: r, added: []int{0}, removed: []int{1}, detached: []string{"me"}, elsewhere: 1,
			scaled: []byGroup[[2]int32]{{[2]int32{1, 2}, []int{0}}}, changed: []byGroup[*content]{{says("a"), []int{0}}},
			left: []byGroup[left]{{held, []int{0}}}, stuck: map[left][]string{held: {"eu"}},
			moves: []preview.Move{{From: "eu"}}, replicas: preview.Span{Before: 1, After: 2}, counted: true,
		}
	}
	for _, tt := range []struct {
		name string
		edit func(*item)
		one  bool
	}{
		{"alike", func(*item) {}, true},
		{"added elsewhere", func(it *item) { it.added = []int{1} }, false},
		{"removed elsewhere", func(it *item) { it.removed = []int{0} }, false},
		{"detached elsewhere", func(it *item) { it.detached = []string{"ap"} }, false},
		{"in more clusters besides", func(it *item) { it.elsewhere = 2 }, false},
		{"scaled elsewhere", func(it *item) { it.scaled[0].groups = []int{1} }, false},
		{"scaled otherwise", func(it *item) { it.scaled[0].what[1] = 3 }, false},
		{"changed elsewhere", func(it *item) { it.changed[0].groups = []int{1} }, false},
		{"changed otherwise", func(it *item) { it.changed[0].what = says("b") }, false},
		{"left elsewhere", func(it *item) { it.left[0].groups = []int{1} }, false},
		{"left because of something else", func(it *item) { it.left[0].what.reason = reason.NotScaled }, false},
		{"left, and not there", func(it *item) { it.left[0].what.kept = false }, false},
		{"stuck elsewhere", func(it *item) { it.stuck[held] = []string{"us"} }, false},
		{"stuck because of something else", func(it *item) { it.stuck = map[left][]string{{reason.NotScaled, true}: {"eu"}} }, false},
		{"moved from elsewhere", func(it *item) { it.moves[0].From = "us" }, false},
		{"other replicas", func(it *item) { it.replicas.After = 3 }, false},
		{"without replicas", func(it *item) { it.counted = false }, false},
	} {
		other := all(named("b"))
		tt.edit(other)
		got := among(two, all(named("a")), other).changes()
		if (len(got) == 1) != tt.one {
			t.Errorf("%s: there are %d changes", tt.name, len(got))
		}
		if tt.one && !slices.Equal(got[0].Objects, []object.Ref{named("a"), named("b")}) {
			t.Errorf("%s: it is of %v", tt.name, got[0].Objects)
		}
	}
	// Because of the same is by the same words about the same file.
	for _, tt := range []struct {
		name, file, text string
		one              bool
	}{
		{"of one file", "a.yaml", "\n\n", true},
		{"of another file", "b.yaml", "", false},
	} {
		c := among(two, &item{ref: named("a"), added: []int{0}}, &item{ref: named("b"), added: []int{0}})
		for name, from := range map[string][2]string{"a": {"a.yaml", ""}, "b": {tt.file, tt.text}} {
			o := one(t, from[0], from[1]+"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: shop}\n")
			c.head.Decisions = append(c.head.Decisions, plan.Decision{Template: &template.Template{Variant: template.Variant{Object: o}}})
		}
		if got := c.changes(); (len(got) == 1) != tt.one {
			t.Errorf("%s: there are %d changes: %v", tt.name, len(got), got)
		}
	}
}

// TestInWhichOrderChangesAre: what needs most attention comes first, of that what is about most manifests, and then by names.
func TestInWhichOrderChangesAre(t *testing.T) {
	many := []group{{names: []string{"us"}}, {names: []string{"me", "eu", "ap"}}}
	of := func(name string, edit func(*item, int), group int) *item {
		it := &item{ref: named(name)}
		edit(it, group)
		return it
	}
	for name, edit := range map[string]func(*item, int){
		"added":   func(it *item, g int) { it.added = []int{g} },
		"removed": func(it *item, g int) { it.removed = []int{g} },
		"scaled":  func(it *item, g int) { it.scale([2]int32{1, 2}, g) },
		"changed": func(it *item, g int) { it.change(&content{key: "a", fields: []fields.Field{{Path: "a"}}}, g) },
		"left":    func(it *item, g int) { it.leave(left{reason.Held, true}, g) },
		"detached": func(it *item, g int) {
			it.detached = many[g].names
		},
	} {
		// One in three clusters comes before two in one, and these by their names.
		all := among(many, of("a", edit, 0), of("b", edit, 0), of("c", edit, 1)).changes()
		if len(all) != 2 || all[0].Objects[0] != named("c") || !slices.Equal(all[1].Objects, []object.Ref{named("a"), named("b")}) {
			t.Errorf("%s: the changes are %v", name, all)
		}
		// Four in one cluster come before one in three.
		if all := among(many, of("a", edit, 1), of("b", edit, 0), of("c", edit, 0), of("d", edit, 0), of("e", edit, 0)).changes(); len(all) != 2 || all[0].Objects[0] != named("b") {
			t.Errorf("%s: the changes are %v", name, all)
		}
	}
	gone, comes := &item{ref: named("z"), removed: []int{0}}, &item{ref: named("a"), added: []int{1}}
	if all := among(many, gone, comes).changes(); len(all) != 2 || all[0].Verb != preview.Disappears || all[1].Verb != preview.Appears {
		t.Errorf("what appears comes before what disappears: %v", all)
	}
}

// TestInWhichOrderAChangeListsClusters: by their names, whatever the order of groups, and what is equal is one.
func TestInWhichOrderAChangeListsClusters(t *testing.T) {
	some := []group{{names: []string{"us"}}, {names: []string{"me", "zz"}}, {names: []string{"ap"}}}
	it := &item{ref: named("a"), added: []int{0, 1}, stuck: map[left][]string{{reason.NotScaled, true}: {"us", "ap"}, {reason.NotScaled, false}: {"me"}}}
	for g := range some {
		it.scale([2]int32{1, int32(g + 5)}, g)
		it.change(&content{key: string(rune('z' - g)), fields: []fields.Field{{Path: "a"}}}, g)
	}
	it.scale([2]int32{1, 5}, 1)
	it.change(&content{key: "z", fields: []fields.Field{{Path: "a"}}}, 1)
	it.change(&content{key: "none"}, 1)
	it.leave(left{reason.Held, true}, 1)
	it.leave(left{reason.Held, false}, 2)
	it.leave(left{reason.Held, true}, 0)
	all := among(some, it).changes()
	var got []string
	say := func(what string, clusters []string) { got = append(got, what+strings.Join(clusters, ",")) }
	for _, ch := range all {
		say("added ", ch.Added)
		for _, s := range ch.Scaled {
			say("scaled ", s.Clusters)
		}
		for _, s := range ch.Changed {
			say("changed ", s.Clusters)
		}
		for _, l := range ch.Left {
			say(map[bool]string{true: "kept ", false: "lacks "}[l.Kept], l.Clusters)
		}
	}
	want := []string{"added me,us,zz", "scaled ap", "scaled me,us,zz", "scaled me,zz", "changed ap", "changed me,us,zz", "changed me,zz", "kept me,us,zz", "lacks ap", "kept ap,us", "lacks me"}
	if !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
	l := lister{groups: some, known: map[string][]string{}}
	if a, b := l.names([]int{0, 1}), l.names([]int{0, 1}); &a[0] != &b[0] || l.names(nil) != nil {
		t.Error("equal lists are not one")
	}
}

// indexOf is an index of clusters.
func indexOf(t *testing.T, names ...string) *index.Policies {
	t.Helper()
	set := policies.Set{}
	for _, name := range names {
		set.Clusters = append(set.Clusters, policies.Cluster{
			Object: one(t, name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+name+"}\n"),
			Spec:   karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}},
		})
	}
	return index.Of(set, nil, &index.Memo{})
}

// TestWhatIsNotCarriedOut: what the head leaves as it is, where the base does not, and neither where a cluster is held nor beyond what is
// asked for.
func TestWhatIsNotCarriedOut(t *testing.T) {
	r := named("a")
	of := func(why reason.Reason, at ...int) *plan.Plan {
		p := &plan.Plan{Clusters: []plan.Cluster{{Name: "ap"}, {Name: "eu"}}}
		p.Expanded.Policies = indexOf(t, "ap", "eu")
		row := rollout.LeftRow{}
		for _, n := range at {
			row = row.With(rollout.Left{Kept: true, Reason: why}, groups.Of(n))
		}
		if len(at) > 0 {
			p.Left = map[object.Ref]rollout.LeftRow{r: row}
		}
		return p
	}
	for _, tt := range []struct {
		name       string
		base, head *plan.Plan
		scope      Scope
		want       string
	}{
		{"in both", of(""), of(reason.NotScaled, 0, 1), Scope{}, "ap eu"},
		{"in one", of(""), of(reason.NotScaled, 1), Scope{}, "eu"},
		{"held", of(""), of(reason.Held, 0, 1), Scope{}, ""},
		{"as in the base", of(reason.NotScaled, 0, 1), of(reason.NotScaled, 0, 1), Scope{}, ""},
		{"as in the base, but for one", of(reason.NotScaled, 0), of(reason.NotScaled, 0, 1), Scope{}, "eu"},
		{"because of something else", of(reason.Held, 0, 1), of(reason.NotScaled, 0, 1), Scope{}, "ap eu"},
		{"of one cluster", of(""), of(reason.NotScaled, 0, 1), Scope{Clusters: []string{"eu"}}, "eu"},
		{"of its namespace", of(""), of(reason.NotScaled, 0, 1), Scope{Namespaces: []string{"shop"}}, "ap eu"},
		{"of another namespace", of(""), of(reason.NotScaled, 0, 1), Scope{Namespaces: []string{"team"}}, ""},
	} {
		c := comparer{base: tt.base, head: tt.head, within: tt.scope, items: map[object.Ref]*item{}}
		c.left()
		got := ""
		if it := c.items[r]; it != nil {
			got = strings.Join(it.stuck[left{reason.NotScaled, true}], " ")
		}
		if got != tt.want || got == "" && len(c.items) > 0 {
			t.Errorf("%s: it is stuck in %q of %d objects, want %q", tt.name, got, len(c.items), tt.want)
		}
	}
}

// TestWhichMovesAreTold: those of what changes that begin with the head.
func TestWhichMovesAreTold(t *testing.T) {
	move := plan.Move{Object: named("a"), From: "eu", To: []string{"us"}}
	began := move
	began.Began = true
	for _, tt := range []struct {
		name       string
		base, head []plan.Move
		item       object.Ref
		scope      Scope
		want       int
	}{
		{"one that begins", nil, []plan.Move{move}, move.Object, Scope{}, 1},
		{"one that began", nil, []plan.Move{began}, move.Object, Scope{}, 0},
		{"one that the base begins, too", []plan.Move{move}, []plan.Move{move}, move.Object, Scope{}, 0},
		{"one of what does not change", nil, []plan.Move{move}, named("b"), Scope{}, 0},
		{"one from another cluster", nil, []plan.Move{move}, move.Object, Scope{Clusters: []string{"us"}}, 0},
		{"two", nil, []plan.Move{move, {Object: named("a"), From: "me", To: []string{"us"}}}, move.Object, Scope{}, 2},
	} {
		c := among(nil, &item{ref: tt.item})
		c.base.Moves, c.head.Moves, c.within = tt.base, tt.head, tt.scope
		moving(c, c.items)
		all := c.items[tt.item].moves
		if len(all) != tt.want || len(all) > 0 && all[0] != (preview.Move{From: "eu", How: move.How(), Nowhere: move.Nowhere()}) {
			t.Errorf("%s: there are %v, want %d", tt.name, all, tt.want)
		}
	}
}

// TestWhatStaysInClustersThatGo: what is delivered, and for which nothing else is done.
func TestWhatStaysInClustersThatGo(t *testing.T) {
	const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n"
	decision := func(usedUp bool, clusters ...string) plan.Decision {
		d := plan.Decision{Template: &template.Template{Variant: template.Variant{Object: one(t, "a.yaml", manifest)}, UsedUp: usedUp}}
		for _, name := range clusters {
			d.Targets = append(d.Targets, plan.Target{Name: name})
		}
		return d
	}
	some := []group{{names: []string{"eu", "me"}}, {names: []string{"us"}, head: &plan.Cluster{Name: "us"}}}
	for _, tt := range []struct {
		name       string
		base, head []plan.Decision
		item       *item
		scope      Scope
		detached   string
		elsewhere  int
	}{
		{"in one", []plan.Decision{decision(false, "eu", "us")}, []plan.Decision{decision(false, "us")}, nil, Scope{}, "eu", 1},
		{"in two", []plan.Decision{decision(false, "eu", "me")}, []plan.Decision{decision(false)}, nil, Scope{}, "eu me", 0},
		{"it goes from the source", []plan.Decision{decision(false, "eu")}, nil, nil, Scope{}, "eu", 0},
		{"in none that goes", []plan.Decision{decision(false, "us")}, []plan.Decision{decision(false, "us")}, nil, Scope{}, "", 0},
		{"what is not delivered", []plan.Decision{decision(true, "eu")}, nil, nil, Scope{}, "", 0},
		{"of another namespace", []plan.Decision{decision(false, "eu")}, nil, nil, Scope{Namespaces: []string{"team"}}, "", 0},
		{"it goes elsewhere", []plan.Decision{decision(false, "eu")}, nil, &item{added: []int{1}}, Scope{}, "", 0},
		{"it is scaled elsewhere", []plan.Decision{decision(false, "eu")}, nil, &item{scaled: []byGroup[[2]int32]{{}}}, Scope{}, "", 0},
		{"it changes elsewhere", []plan.Decision{decision(false, "eu")}, []plan.Decision{decision(false, "us")}, &item{changed: []byGroup[*content]{{}}}, Scope{}, "eu", 1},
	} {
		c := among(some)
		c.base.Decisions, c.head.Decisions, c.within = tt.base, tt.head, tt.scope
		if tt.item != nil {
			c.items[named("a")] = tt.item
		}
		c.detached()
		got, elsewhere := "", 0
		if it := c.items[named("a")]; it != nil {
			got, elsewhere = strings.Join(it.detached, " "), it.elsewhere
		} else if len(c.items) > 0 {
			t.Errorf("%s: there are %v", tt.name, c.items)
		}
		if got != tt.detached || elsewhere != tt.elsewhere {
			t.Errorf("%s: it stays in %q, and is in %d besides, want %q and %d", tt.name, got, elsewhere, tt.detached, tt.elsewhere)
		}
	}
}

// TestWhichClustersAreComparedOnce: those that go from one tree to another alike, and are held alike.
func TestWhichClustersAreComparedOnce(t *testing.T) {
	folder := func(text string) *files.Folder {
		return files.NewFolder([]files.Entry{files.FileEntry("a", files.NewBlob([]byte(text)))})
	}
	is := func(name, text, held string) plan.Cluster {
		c := plan.Cluster{Name: name, Tree: folder(text)}
		if held != "" {
			c.Held = &guard.Hold{Reason: held}
		}
		return c
	}
	base := &plan.Plan{
		Clusters:  []plan.Cluster{is("a", "1", ""), is("b", "1", ""), is("c", "2", ""), is("d", "1", ""), is("e", "1", ""), is("g", "1", "it is held"), is("h", "9", "it is held"), is("j", "1", "it is held")},
		Published: map[string]tree.Published{"g": {Built: folder("5")}, "h": {Built: folder("1")}, "j": {Built: folder("6")}},
	}
	head := &plan.Plan{Clusters: []plan.Cluster{is("a", "3", ""), is("b", "3", ""), is("c", "3", ""), is("d", "4", ""), is("f", "3", ""), is("g", "1", "it is held"), is("h", "3", ""), is("i", "1", "it is held"), is("j", "1", "it is held")}}
	head.Expanded.Policies = indexOf(t, "a", "b", "c", "d", "f", "g", "h", "i", "j")
	groups := func(within Scope) (all []string) {
		c := comparer{base: base, head: head, within: within}
		for _, g := range c.grouped() {
			all = append(all, strings.Join(g.names, ""))
		}
		return all
	}
	// What was held and is not goes from what is published to its tree.
	if got, want := groups(Scope{}), []string{"abh", "c", "d", "e", "f", "gj", "i"}; !slices.Equal(got, want) {
		t.Errorf("the groups are %v, want %v", got, want)
	}
	if got, want := groups(Scope{Clusters: []string{"h", "b", "e"}}), []string{"bh", "e"}; !slices.Equal(got, want) {
		t.Errorf("of three clusters the groups are %v, want %v", got, want)
	}
}
