package pages_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/forge"
)

// publication is one of a source commit, so long ago.
func publication(digit, source string, subject string, was time.Duration) facts.Change {
	return facts.Change{Commit: id(digit), Source: strings.Repeat(source, 40), Subject: subject, When: ago(was)}
}

// to is a template with a policy that goes to clusters, each as name:replicas:why it is left.
func to(policy string, targets ...string) *facts.Template {
	t := &facts.Template{Ref: web, Policy: policy, Divided: true}
	for _, target := range targets {
		parts := strings.Split(target, ":")
		t.Targets = append(t.Targets, facts.Target{Cluster: parts[0], Replicas: int32(len(parts[1])), Left: parts[2]})
	}
	return t
}

// past is what happened to the template web: it came, was divided otherwise, was held, and went out in stages.
func past() facts.Past {
	ada := &facts.Author{Name: "Ada", When: ago(time.Hour)}
	stage := func(phase rollouts.Phase) []rollouts.StageStatus {
		return []rollouts.StageStatus{{Name: "canary", Phase: phase}}
	}
	unit := rollouts.Unit{Namespace: "shop", Name: "web"}
	run := rollouts.Status{
		Run: "0123456789abcdef", Phase: rollouts.Updating, Base: rollouts.Version{Commit: "b1"}, Target: rollouts.Version{Commit: "b2"}, Stages: stage(rollouts.Updating),
	}
	stopped := run
	stopped.Phase, stopped.Message, stopped.Stages = rollouts.Stopped, "2 of 3 failed", stage(rollouts.Done)
	stopped.Commands = []rollouts.Command{
		{Verb: "approve", Stage: "canary", By: "ada@example", Via: "comment", Ref: "1"}, {
			Verb: "skip", Cluster: "eu", Says: "bob",
			Via: "cli", Ref: "2", Refused: true,
		},
	}
	returning := stopped
	returning.Phase, returning.Message, returning.Commands = rollouts.Returning, "", append(stopped.Commands[:2:2],
		rollouts.Command{Verb: "skip", By: "ada", Ref: "1"})
	away := to("shop/web", "eu:99:", "nz:9:", "pe:9:it is short of seats", "us:9:the cluster is held", "za:9:it is short of seats")
	away.Leaving = []karmada.GracefulEvictionTask{
		{FromCluster: "us", Reason: "Unreachable"},
		{FromCluster: "za", Reason: "R", Message: "it left"},
	}
	away.Scheduled = metav1.Condition{Status: metav1.ConditionFalse, Message: "no room"}
	begun := to("", "eu:9:", "nz:9:it has to wait", "us:999:")
	released := to("shop/web", "eu:99:", "nz:9:", "pe:9:it is short of seats", "us:9:", "za:9:") // pe waits still
	released.Leaving = away.Leaving[:1]
	held := publication("2", "2", "divide it", 4*time.Hour)
	held.Released, held.ReleasedBy, held.Later = true, []string{"Ada", "Bob"}, ago(2*time.Hour)
	return facts.Past{
		More: true,
		Steps: []facts.Step{
			{Change: publication("6", "6", "remove it", 5*time.Minute), Was: to("shop/web", "eu:9:nobody knows since when")},
			{
				Change: publication("5", "5", "back", 10*time.Minute), RunWas: &rollouts.Rollout{Unit: unit, Status: stopped},
				RunIs: &rollouts.Rollout{Unit: unit, Status: returning},
			},
			{
				Change: publication("4", "4", "on it goes", 20*time.Minute), RunWas: &rollouts.Rollout{Unit: unit, Status: run},
				RunIs: &rollouts.Rollout{Unit: unit, Status: stopped},
			},
			{
				Change: publication("3", "3", "seats", time.Hour), Author: ada, Was: away, Is: released,
				RunIs: &rollouts.Rollout{Unit: unit, Status: run},
			},
			{Change: publication("7", "a", "move it", 150*time.Minute), Was: to("", "eu:9:"), Is: to("", "us:9:")},
			{Change: held, Author: ada, Was: begun, Is: away},
			{Change: publication("1", "1", "begin", 6*time.Hour), Is: begun},
			{Change: publication("0", "0", "nothing", 7*time.Hour), Was: begun, Is: begun},
		},
		Edits: []facts.Edit{
			{Change: publication("5", "5", "back", 10*time.Minute), Changed: facts.Changed{
				Verb: "changed", Clusters: []string{"eu", "us"},
				Fields: []fields.Field{
					{Path: "spec.replicas", Op: fields.Replace, From: 1, To: 3},
					{Path: "metadata.labels.a", Op: fields.Add, To: "b"},
					{Path: "spec.template.spec.containers[name=main].image", Op: fields.Replace, From: "web:1", To: "web:2"},
					{Path: "metadata.labels.b", Op: fields.Remove, From: "c"},
					{Path: "data.key", Hidden: true},
					{Path: "data.text", Lines: "+one"},
					{Path: "spec.list", Op: fields.Reorder},
				},
			}},
			{Change: publication("2", "2", "divide it", 4*time.Hour), Changed: facts.Changed{
				Verb:     "changed",
				Clusters: []string{"a", "b", "c", "d"}, Fields: []fields.Field{
					{Path: "spec.replicas", Op: fields.Replace, From: 1, To: 3},
					{Path: "metadata.labels.version", Op: fields.Add, To: "2", Routine: true},
					{Path: "spec.paused", Op: fields.Add, To: true},
				},
			}},
			{Change: publication("1", "1", "begin", 6*time.Hour), Changed: facts.Changed{Verb: "added", Clusters: []string{"eu"}}},
			{Change: facts.Change{Source: strings.Repeat("8", 40), Subject: "old", When: ago(8 * time.Hour)}, Author: ada, Changed: facts.Changed{
				Verb: "added", Clusters: []string{"a", "b", "c"},
			}},
			{
				Change:  facts.Change{Source: strings.Repeat("9", 40), When: ago(9 * time.Hour)},
				Changed: facts.Changed{Verb: "removed", Clusters: []string{"a", "b", "c", "d"}},
			},
			{
				Change:  facts.Change{Source: strings.Repeat("c", 40), Subject: "web: 3", When: ago(9 * time.Hour)},
				Changed: facts.Changed{Verb: "changed"},
			},
		},
	}
}

// The page of a template says where it goes, how it is there, and what happened to it, the last first.
func TestThePageOfATemplate(t *testing.T) {
	f := everything()
	at := pages.Asked{Now: noon, Said: told}
	shown := []page{{"web", pages.OfTemplate(f, f.Templates()[4], past(), nil, at)}}
	for _, asked := range []string{"group=region&sort=-replicas", "q=un&sort=health", "sort=since", "sort=applied", "sort=status&q=e"} {
		shown = append(shown, page{"clusters of web?" + asked, pages.OfTemplate(f, f.Templates()[4], facts.Past{}, query(t, asked), at).Targets})
	}
	gone := *f.Templates()[1]
	gone.Gone = true
	for _, x := range []*facts.Template{f.Templates()[0], f.Templates()[2], f.Templates()[5], &gone} {
		shown = append(shown, page{x.Ref.String(), pages.OfTemplate(f, x, facts.Past{}, nil, at)})
	}
	golden(t, "template", shown...)
}

// The page of a publication says what was decided, where branches moved, and what is in manifests now.
func TestThePageOfAPublication(t *testing.T) {
	changed := func(r object.Ref, verb string, clusters []string, of ...fields.Field) facts.Changed {
		return facts.Changed{Path: "a/file.yaml", Ref: r, Verb: verb, Clusters: clusters, Fields: of, Hidden: true}
	}
	replaced := func(from, to any) fields.Field {
		return fields.Field{Path: "spec.a", Op: fields.Replace, From: from, To: to}
	}
	many := []string{"a", "b", "c", "d", "e", "f", "g"}
	e := facts.Effect{
		Change: publication("3", "3", "seats", time.Hour), Author: &facts.Author{
			Name: "Ada", Message: "\nseats\n\nmore of them\n",
			When: ago(2 * time.Hour),
		},
		MoreDecisions: 2, MoreObjects: 1, Cut: true,
		Clusters: []facts.Touched{{Cluster: "eu", Commit: id("a"), Added: 1, Changed: 2, Removed: 3}, {Cluster: "us/1", Commit: id("b")}},
		Objects: []facts.Changed{
			changed(object.Ref{}, "changed", many[:1]), changed(settings, "added", many[:2]), changed(settings, "removed",
				many[2:3]), changed(front, "removed", many),
			changed(web, "changed", many[:6], replaced("", strings.Repeat("ä", 151)), replaced(1, strings.Repeat("b", 300)),
				replaced(func() {}, nil),
				fields.Field{Path: "metadata.labels.version", Routine: true}, fields.Field{Path: "metadata.labels.chart", Routine: true}),
			changed(api, "changed", many[:1], fields.Field{Path: "metadata.labels.version", Routine: true, Op: fields.Add, To: []string{"x"}}),
			changed(reader, "added", many[:1]),
		},
	}
	e.Change.Released = true
	for range 22 {
		e.Decisions = append(e.Decisions, facts.Decided{Ref: api, Was: to("", "eu:9:"), Is: to("", "us:9:")})
	}
	left := to("", "eu:9:it is short of seats")
	e.Decisions = append(e.Decisions, facts.Decided{Ref: web, Was: left}, facts.Decided{Ref: front, Is: left},
		facts.Decided{Ref: settings}, facts.Decided{Ref: database, Was: to("", "us:9:"), Is: to("", "us:9:")})
	unknown := facts.Effect{Change: publication("1", "1", "begin", time.Hour)}
	golden(t, "change",
		page{"/changes/3", pages.OfChange(everything(), e, "", noon)}, page{
			"/changes/1?cluster=eu",
			pages.OfChange(everything(), unknown, "eu", noon),
		})
}

// The list of publications says of each that is of the same source commit as one before why it was made.
func TestTheListOfPublications(t *testing.T) {
	all := []facts.Change{
		publication("9", "a", "web: 2", time.Minute), publication("8", "b", "other", 2*time.Minute), publication("7", "a", "web: 2",
			3*time.Minute),
		publication("6", "a", "web: 2", 4*time.Minute), publication("5", "a", "web: 2", 5*time.Minute), publication("4", "a", "web: 2",
			6*time.Minute),
	}
	all[2].Body, all[3].Body, all[3].Later = "web moves", "web moves", ago(30*time.Second)
	all[0].Later = ago(10 * time.Second)
	all[4].Released, all[4].ReleasedBy = true, []string{"Ada", "Bob"}
	all[5].Released = true
	golden(t, "changes",
		page{"/changes", pages.OfChanges(everything(), all, 6, nil, noon)}, page{
			"/changes?sort=-subject",
			pages.OfChanges(everything(), all, 5, query(t, "sort=-subject"), noon),
		})
	for asked, want := range map[string]string{"sort=when": "457869", "sort=-source": "897654", "sort=": "987654"} {
		var order strings.Builder
		for _, r := range pages.OfChanges(everything(), all, 7, query(t, asked), noon).Rows {
			order.WriteString(r.Change.URL[len(r.Change.URL)-1:])
		}
		if order.String() != want {
			t.Errorf("%s: they are %s, want %s", asked, order.String(), want)
		}
	}
}

// The page of a pull request says how its head stands, and why there is no report, or one of an earlier head.
func TestThePagesOfPullRequests(t *testing.T) {
	head := strings.Repeat("a", 40)
	member := forge.PullRequest{Number: 7, Head: head, Title: "web: 3", Author: forge.User{Login: "ada"}, Member: true}
	stranger := forge.PullRequest{Number: 8, Head: head, Title: strings.Repeat("ä", 161)}
	long := forge.PullRequest{Number: 9, Head: head, Title: strings.Repeat("ö", 160), Fork: true}
	of, before := &store.Report{Head: head, At: ago(time.Minute)}, &store.Report{Head: strings.Repeat("b", 40), At: ago(time.Hour)}
	all := []store.Preview{
		{Pull: member, State: forge.Success, Line: "nothing changes", Since: ago(time.Minute), Report: of},
		{Pull: stranger, State: forge.Failure, Report: of},
		{Pull: long, State: forge.Failure, Report: &store.Report{Head: head, Mistaken: true}},
		{Pull: forge.PullRequest{Number: 10, Member: true}, State: forge.Failure, Report: before},
		{Pull: member, State: forge.Failure},
		{Pull: member, State: forge.Broken, Report: before},
		{Pull: member, State: forge.Pending, Line: "say /waybill diff 7", Report: of},
		{Pull: member, State: forge.Pending, Line: "it is its turn soon"},
		{Pull: member, Report: before},
		{Pull: member, State: forge.Success, Report: &store.Report{Head: head, Long: true}},
	}
	shown := []page{
		{"/previews", pages.OfPreviews(all, "main", true, noon)},
		{"/previews of nobody", pages.OfPreviews(nil, "main", false, noon)},
	}
	for i := range all {
		var report []byte
		if all[i].Report == of {
			report = []byte("<p>")
		}
		shown = append(shown, page{"/previews/" + string(rune('0'+i)), pages.OfPreview(&all[i], report, noon)})
	}
	golden(t, "previews", shown...)
	for n, full := range map[int]int{store.Most - 1: 0, store.Most: store.Most, store.Most + 1: store.Most} {
		if p := pages.OfPreviews(make([]store.Preview, n), "main", true, noon); p.Full != full {
			t.Errorf("of %d it says that %d are kept", n, p.Full)
		}
	}
}
