package kubefleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		amount                      string
		clusters, atOnce, tolerated int
	}{
		{"0", 5, 1, 0},
		{"1", 5, 1, 1},
		{"3", 5, 3, 3},
		{"9", 5, 9, 9},
		{"2", 0, 2, 2},
		{"50%", 5, 2, 2},
		{"10%", 5, 1, 0},
		{"100%", 5, 5, 5},
		{"99%", 100, 99, 99},
		{"33%", 1000, 330, 330},
		{"0%", 5, 1, 0},
		{"50%", 0, 1, 0},
	} {
		a, ok := parseAmount(c.amount)
		s := Stage{MaxConcurrency: a, MaxFailures: a}
		if !ok || a.String() != c.amount || s.Concurrency(c.clusters) != c.atOnce || s.Tolerates(c.clusters) != c.tolerated {
			t.Errorf("%s of %d: %v, at once %d, tolerated %d", c.amount, c.clusters, a, s.Concurrency(c.clusters), s.Tolerates(c.clusters))
		}
	}
	for _, wrong := range []string{"", "-1", "+1", "01", "1.5", "101%", "%", "1 %", " 1", "2147483648", "1e3", "０"} {
		if a, ok := parseAmount(wrong); ok {
			t.Errorf("%q is read as %v", wrong, a)
		}
	}
}

// rings is a strategy of two rings and one for all that have a zone, and says where mistakes are.
const rings = `apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterStagedUpdateStrategy
metadata:
  name: rings
spec:
  stages:
  - name: canary
    labelSelector: {matchLabels: {ring: canary}}
  - name: prod
    labelSelector: {matchLabels: {ring: prod}}
    sortingLabelKey: order
  - name: nothing
  - name: zoned
    labelSelector: {matchExpressions: [{key: zone, operator: Exists}]}
`

func TestAssign(t *testing.T) {
	fleet := func(texts ...string) (clusters []Cluster) {
		for _, text := range texts {
			name, labels, _ := strings.Cut(text, " ")
			c := Cluster{Name: name, Labels: map[string]string{}}
			for pair := range strings.FieldsSeq(labels) {
				key, value, _ := strings.Cut(pair, "=")
				c.Labels[key] = value
			}
			clusters = append(clusters, c)
		}
		return clusters
	}
	for _, c := range []struct {
		name     string
		clusters []Cluster
		refuse   bool
		want     string
		warnings string
	}{
		{"by name", fleet("b ring=canary", "a ring=canary"), false, "canary: a b; prod:; nothing:; zoned:", ""},
		{
			"by a label, as a number, then by name", fleet("p1 ring=prod order=10", "p2 ring=prod order=9", "p4 ring=prod order=9", "p3 ring=prod order=09"), false,
			"canary:; prod: p2 p3 p4 p1; nothing:; zoned:", "",
		},
		{
			"no number comes last", fleet("p1 ring=prod", "p2 ring=prod order=x", "p3 ring=prod order=3", "c ring=canary"), false,
			"canary: c; prod: p3 p1 p2; nothing:; zoned:",
			"s.yaml:11: warning: ClusterStagedUpdateStrategy rings: spec.stages[1].sortingLabelKey: 2 clusters (p1, p2) of the stage have no integer in the label order; they come last in it [rollout-unsorted]\n\thint: label them, as order: \"1\"",
		},
		{
			"the later stage has it", fleet("c1 ring=canary zone=a", "c2 ring=canary", "p1 ring=prod order=1 zone=a"), false,
			"canary: c2; prod:; nothing:; zoned: c1 p1",
			"s.yaml:14: warning: ClusterStagedUpdateStrategy rings: spec.stages[3].labelSelector: selects 1 cluster (c1) that stage canary selects, too; the later stage, zoned, has what both select [rollout-overlap]\n\thint: narrow one of the selectors\n" +
				"s.yaml:14: warning: ClusterStagedUpdateStrategy rings: spec.stages[3].labelSelector: selects 1 cluster (p1) that stage prod selects, too; the later stage, zoned, has what both select [rollout-overlap]\n\thint: narrow one of the selectors",
		},
		{
			"overlaps are in the order of stages, each once", fleet("a ring=prod order=1 zone=a", "c1 ring=canary zone=a", "b ring=prod order=2 zone=a"), false,
			"canary:; prod:; nothing:; zoned: a b c1",
			"s.yaml:14: warning: ClusterStagedUpdateStrategy rings: spec.stages[3].labelSelector: selects 1 cluster (c1) that stage canary selects, too; the later stage, zoned, has what both select [rollout-overlap]\n\thint: narrow one of the selectors\n" +
				"s.yaml:14: warning: ClusterStagedUpdateStrategy rings: spec.stages[3].labelSelector: selects 2 clusters (a, b) that stage prod selects, too; the later stage, zoned, has what both select [rollout-overlap]\n\thint: narrow one of the selectors",
		},
		{
			"unmatched come last", fleet("x", "c ring=canary", "a ring=other"), false, "canary: c; prod:; nothing:; zoned:; _unmatched: a x",
			"s.yaml:6: warning: ClusterStagedUpdateStrategy rings: spec.stages: no stage selects 2 clusters (a, x): such clusters come last [rollout-unmatched]\n\thint: label them as one of the stages selects",
		},
		{
			"unmatched refuse", fleet("x", "c ring=canary"), true, "canary: c; prod:; nothing:; zoned:; refused",
			"s.yaml:6: warning: ClusterStagedUpdateStrategy rings: spec.stages: no stage selects 1 cluster (x): no run starts, because waybill.dev/unmatched is refuse [rollout-unmatched]\n\thint: label them as one of the stages selects",
		},
		{"nobody is unmatched", fleet("c ring=canary"), true, "canary: c; prod:; nothing:; zoned:", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := manifest(t, rings)
			if c.refuse {
				o = o.Annotated(UnmatchedAction, "refuse")
			}
			s, ds := Read(o)
			if s == nil {
				t.Fatal(ds)
			}
			a := s.Assign(c.clusters)
			if got := shownStages(a); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := printed(s.Warnings(a, o)); got != c.warnings {
				t.Errorf("got\n%s\nwant\n%s", got, c.warnings)
			}
			slices.Reverse(c.clusters)
			if got := shownStages(s.Assign(c.clusters)); got != c.want {
				t.Errorf("in another order: %s", got)
			}
		})
	}
}

func shownStages(a Assignment) string {
	var all []string
	for _, m := range a.Stages {
		all = append(all, strings.TrimSuffix(fmt.Sprintf("%s: %s", m.Stage.Name, strings.Join(m.Clusters, " ")), " "))
	}
	if a.Refused {
		all = append(all, "refused")
	}
	return strings.Join(all, "; ")
}
