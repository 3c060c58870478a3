package units_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/units"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func unit(name string, phase rollouts.Phase, message string) rollouts.Rollout {
	return rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "shop", Name: name}, Strategy: rollouts.Strategy{Name: "careful"},
		Status: rollouts.Status{Phase: phase, Message: message, StartTime: metav1.NewTime(now.Add(-time.Hour))},
	}
}

func factsOf(all ...rollouts.Rollout) *facts.Facts {
	unreadable := map[rollouts.Unit]error{}
	for _, name := range []string{"z", "y"} {
		unreadable[rollouts.Unit{Namespace: "shop", Name: name}] = errors.New("it is garbage")
	}
	return &facts.Facts{Rollouts: func() facts.Rollouts { return facts.Rollouts{Units: all, Unreadable: unreadable} }}
}

func parsed(t *testing.T, query string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Those that need somebody are first, and what is asked for counts how many there are in each phase of what the text finds.
func TestOfAll(t *testing.T) {
	f := factsOf(unit("a", rollouts.Done, ""), unit("b", rollouts.Updating, "waits for eu"), unit("c", rollouts.Stopped, "eu failed"), unit("d", rollouts.Updating, ""))
	for query, test := range map[string]struct{ rows, counts string }{
		"":                       {"c b d a", "Stopped 1 Updating 2 Done 1"},
		"sort=name":              {"a b c d", "Stopped 1 Updating 2 Done 1"},
		"phase=Updating":         {"b d", "Stopped 1 Updating 2! Done 1"},
		"q=EU":                   {"c b", "Stopped 1 Updating 1"},
		"q=eu&phase=Done":        {"", "Stopped 1 Updating 1"},
		"q=shop/d+careful":       {"d", "Updating 1"},
		"phase=Stopped&q=nobody": {"", ""},
	} {
		p := units.OfAll(f, parsed(t, query), now)
		var rows, counts []string
		for _, r := range p.Rows {
			rows = append(rows, strings.TrimPrefix(r.Unit, "shop/"))
		}
		for _, c := range p.Counts {
			counts = append(counts, fmt.Sprint(c.Mark.Word, " ", c.N, strings.Repeat("!", map[bool]int{true: 1}[c.On])))
		}
		if strings.Join(rows, " ") != test.rows || strings.Join(counts, " ") != test.counts || p.Total != 4 || p.Pager.Of != len(rows) {
			t.Errorf("%q: %q of %d, %q; want %q, %q", query, rows, p.Total, counts, test.rows, test.counts)
		}
		if want := []string{"shop/y: it is garbage", "shop/z: it is garbage"}; !slices.Equal(p.Unreadable, want) {
			t.Errorf("%q: nothing is known of %q, want %q", query, p.Unreadable, want)
		}
	}
	if p := units.OfAll(&facts.Facts{}, nil, now); p.Total != 0 || len(p.Rows) > 0 {
		t.Errorf("where nothing is published there are %+v", p.Rows)
	}
}

func TestAPageOfManyUnits(t *testing.T) {
	var all []rollouts.Rollout
	for n := range 250 {
		all = append(all, unit(fmt.Sprintf("u%03d", n), rollouts.Updating, ""))
	}
	p := units.OfAll(factsOf(all...), parsed(t, "page=2"), now)
	if len(p.Rows) != 100 || p.Rows[0].Unit != "shop/u100" || p.Rows[99].Unit != "shop/u199" || p.Pager.Of != 250 {
		t.Errorf("the second page has %d of %d, from %+v", len(p.Rows), p.Pager.Of, p.Rows[:1])
	}
}

// going is a run of three stages, whose second one is not over, with a cluster in each state that needs somebody.
func going(phase rollouts.Phase) *rollouts.Rollout {
	at := metav1.NewTime(now.Add(-10 * time.Minute))
	r := unit("web", phase, "")
	r.Status.Stages = []rollouts.StageStatus{
		{Name: "canary", Phase: rollouts.Done, Skipped: true}, {Name: "prod", Phase: rollouts.Updating}, {Name: "rest", Phase: rollouts.Waiting},
	}
	r.Status.Commands = []rollouts.Command{
		{Verb: rollouts.Approve, Stage: "canary", By: "ada", Ref: "first", At: at}, {Verb: rollouts.Stop, Ref: "second", At: at, Refused: true},
	}
	r.Clusters = map[string]rollouts.Cluster{
		"ap": {Stage: "prod", State: rollouts.Released, Deadline: metav1.NewTime(now.Add(5 * time.Minute)), Since: at, Message: "it is behind"},
		"eu": {Stage: "prod", State: rollouts.Failed, Released: at, Message: "no disk", Forgiven: true, WasUnhealthy: true, Deadline: metav1.NewTime(now.Add(5 * time.Minute))},
		"us": {Stage: "canary", State: rollouts.Skipped, Message: "not said"},
		"za": {Stage: "rest", State: rollouts.Released, Deadline: metav1.NewTime(now)},
		"zb": {State: rollouts.Leaving},
	}
	return &r
}

func TestOf(t *testing.T) {
	f := &facts.Facts{Fleet: reports.Fleet{Clusters: []reports.Cluster{{ClusterHealth: status.ClusterHealth{Cluster: "ap"}}}}}
	p := units.Of(f, going(rollouts.Updating), nil, now)
	var bar, members []string
	for _, s := range p.Bar {
		bar = append(bar, fmt.Sprint(s.Name, ": ", s.Mark.Word, " ", s.Finished, "/", s.Of, " ", s.Here))
	}
	if want := []string{"canary: Skipped 1/1 false", "prod: Updating 1/2 true", "rest: Its turn has not come 0/1 false"}; !slices.Equal(bar, want) {
		t.Errorf("the stages are %q, want %q", bar, want)
	}
	for _, m := range p.Members {
		members = append(members, fmt.Sprintf("%s%s %s %s: %s", m.Cluster.Text, m.Cluster.URL, m.Mark.Sign, m.Since.Ago, m.Message))
	}
	if want := []string{
		"us – : it was skipped",
		"ap/clusters/ap ↓ 10m ago: it is behind; it has to be healthy in 5m",
		"eu ✕ : no disk; it was not healthy before, so that its failure does not count; its failure does not count, since the run was resumed",
		"za ↓ : it has to be healthy now",
		"zb – : the new version does not want it: it loses what goes out when every stage is over",
	}; !slices.Equal(members, want) {
		t.Errorf("the clusters are\n%s\nwant\n%s", strings.Join(members, "\n"), strings.Join(want, "\n"))
	}
	if p.Leaving != 1 || len(p.Commanded) != 2 {
		t.Fatalf("%d leave, and %+v is commanded", p.Leaving, p.Commanded)
	}
	if last, first := p.Commanded[0], p.Commanded[1]; last.Says != "stop" || last.Mark.Tone != "bad" || first.Says != "approve canary by ada" || first.Mark.Tone != "good" || first.At.Ago != "10m ago" {
		t.Errorf("%+v is commanded", p.Commanded)
	}
	if stopped := units.Of(f, going(rollouts.Stopped), nil, now); stopped.Bar[1].Mark.Word != "Stopped" || stopped.Bar[2].Mark.Word != "Its turn has not come" {
		t.Errorf("of a run that stopped the stages are %+v", stopped.Bar)
	}
	for query, want := range map[string]string{"q=released": "ap za", "q=PROD": "ap eu", "sort=-name": "zb za us eu ap", "sort=state": "eu zb ap za us"} {
		var names []string
		for _, m := range units.Of(f, going(rollouts.Updating), parsed(t, query), now).Members {
			names = append(names, m.Cluster.Text)
		}
		if is := strings.Join(names, " "); is != want {
			t.Errorf("%s: %s, want %s", query, is, want)
		}
	}
}
