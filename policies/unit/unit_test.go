package unit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/unit"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// strategies are two for all clusters, one of which has a mistake, and two of a namespace.
const strategies = `
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec: {stages: [{name: all, labelSelector: {}}]}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterStagedUpdateStrategy
metadata: {name: broken}
spec: {stages: []}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: StagedUpdateStrategy
metadata: {name: ours, namespace: team}
spec: {stages: [{name: first, labelSelector: {}}, {name: second}]}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: StagedUpdateStrategy
metadata: {name: careful, namespace: other}
spec: {stages: [{name: one, labelSelector: {}}]}
`

// policy writes a policy in a namespace, or one without, with lines of metadata.
func policy(name, metadata string) string {
	kind, namespace := "ClusterPropagationPolicy", ""
	if ns, n, ok := strings.Cut(name, "/"); ok {
		kind, namespace, name = "PropagationPolicy", "  namespace: "+ns+"\n", n
	}
	return "apiVersion: policy.karmada.io/v1alpha1\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n" + namespace + metadata +
		"spec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  placement: {}\n---\n"
}

func rollout(name string) string {
	return "  annotations:\n    waybill.dev/rollout: " + name + "\n"
}

func TestBinding(t *testing.T) {
	const group = "    waybill.dev/rollout-group: g\n"
	tier := "{policies: {matchLabels: {tier: \"1\"}}, strategy: careful}"
	for _, c := range []struct{ name, policies, config, want, wrong string }{
		{"nothing binds", policy("team/web", "") + policy("base", ""), "", "_cluster/base none; team/web none", ""},
		{"an annotation", policy("team/web", rollout("careful")) + policy("base", rollout("careful")), "", "_cluster/base careful; team/web careful", ""},
		{"the namespace is first", policy("other/web", rollout("careful")), "", "other/web other/careful", ""},
		{"of the namespace alone", policy("team/web", rollout("ours")), "", "team/web team/ours", ""},
		{
			"of another namespace", policy("other/web", rollout("ours")), "", `other/web stays: its strategy "ours" is not in the source`,
			`p.yaml:7: error: PropagationPolicy other/web: waybill.dev/rollout is "ours", and there is no StagedUpdateStrategy of the namespace other, and no ClusterStagedUpdateStrategy of this name; what it binds stays as it is [rollout-unknown]
	hint: there are careful; write one of them, or "none"`,
		},
		{
			"a cluster policy sees none of a namespace", policy("base", rollout("ours")), "", `_cluster/base stays: its strategy "ours" is not in the source`,
			`p.yaml:6: error: ClusterPropagationPolicy base: waybill.dev/rollout is "ours", and there is no ClusterStagedUpdateStrategy of this name; what it binds stays as it is [rollout-unknown]
	hint: there are careful; write one of them, or "none"`,
		},
		{
			"a name that is mistyped", policy("team/web", rollout("carefu")), "", `team/web stays: its strategy "carefu" is not in the source`,
			`p.yaml:7: error: PropagationPolicy team/web: waybill.dev/rollout is "carefu", and there is no StagedUpdateStrategy of the namespace team, and no ClusterStagedUpdateStrategy of this name; what it binds stays as it is [rollout-unknown]
	hint: did you mean "careful"?`,
		},
		{"a strategy with a mistake", policy("team/web", rollout("broken")), "", `team/web stays: its strategy "broken" has a mistake`, ""},
		{"the default", policy("team/web", ""), "default: careful", "team/web careful", ""},
		{"an empty annotation opts out", policy("team/web", rollout(`""`)), "default: careful", "team/web none", ""},
		{"an annotation opts out", policy("team/web", rollout("none")), "default: careful, rules: [" + tier + "]", "team/web none", ""},
		{
			"windows of what has no strategy", policy("team/web", "") + policy("team/api", rollout("careful")) + policy("base", rollout("x")),
			"windows: [{kind: deny, schedule: '0 0 * * *', duration: 1h, strategies: [none], stages: [all]}]", `_cluster/base stays: its strategy "x" is not in the source; team/api careful; team/web all at once`,
			`p.yaml:26: error: ClusterPropagationPolicy base: waybill.dev/rollout is "x", and there is no ClusterStagedUpdateStrategy of this name; what it binds stays as it is [rollout-unknown]
	hint: there are careful; write one of them, or "none"`,
		},
		{"a rule", policy("team/web", "  labels: {tier: \"1\"}\n") + policy("base", ""), "rules: [" + tier + "]", "_cluster/base none; team/web careful", ""},
		{"a rule opts out", policy("team/web", "  labels: {tier: \"1\"}\n"), "default: careful, rules: [{policies: {matchLabels: {tier: \"1\"}}, strategy: none}]", "team/web none", ""},
		{"the first rule counts", policy("team/web", "  labels: {tier: \"1\"}\n"), "rules: [{policies: {}, strategy: none}, " + tier + "]", "team/web none", ""},
		{"rules name those of all clusters", policy("other/web", "  labels: {tier: \"1\"}\n"), "rules: [" + tier + "]", "other/web careful", ""},
		{
			"a default that is nowhere", policy("team/web", "") + policy("team/api", rollout("none")), "default: Careful-", `team/api none; team/web stays: its strategy "Careful-" is not in the source`,
			`waybill.yaml:4: error: spec.rollout.default is "Careful-", and there is no ClusterStagedUpdateStrategy of this name; what it binds stays as it is [rollout-unknown]
	hint: did you mean "careful"?`,
		},
		{
			"a rule that is nowhere", "", "rules: [" + tier + ", {policies: {}, strategy: x}]", "",
			`waybill.yaml:4: error: spec.rollout.rules[1].strategy is "x", and there is no ClusterStagedUpdateStrategy of this name; what it binds stays as it is [rollout-unknown]
	hint: there are careful; write one of them, or "none"`,
		},
		{
			"time alone, and nothing to wait for", policy("team/web", rollout("careful")) + policy("base", "") + policy("team/api", rollout("careful")), "evidence: [status, timed]",
			`_cluster/base none; team/api stays: its strategy "careful" waits for nothing after a stage, and time alone is evidence; team/web stays: its strategy "careful" waits for nothing after a stage, and time alone is evidence`,
			`s.yaml:5: error: ClusterStagedUpdateStrategy careful: spec.rollout.evidence has timed, and nothing is waited for after the stage all [bad-strategy]
	hint: give the stage afterStageTasks: a TimedWait or an Approval; or leave timed out of spec.rollout.evidence of waybill.yaml`,
		},
		{"a group", policy("team/web", rollout("careful")+group) + policy("base", rollout("careful")+group), "", "_group/g careful (base, web)", ""},
		{
			"a group of two minds", policy("team/web", rollout("careful")+group) + policy("base", rollout("none")+group), "", "_group/g stays: its policies are bound to different strategies (base, web)",
			`p.yaml:8: error: PropagationPolicy team/web is bound to the strategy "careful", and other policies of the group g to none [rollout-group]
	hint: bind all policies of the group to one strategy; until then what they claim stays as it is`,
		},
		{
			"a group of two minds, the second of which opts out", policy("team/web", rollout("careful")+group) + policy("team/zone", rollout("none")+group), "", "_group/g stays: its policies are bound to different strategies (web, zone)",
			`p.yaml:20: error: PropagationPolicy team/zone is bound to the strategy none, and other policies of the group g to "careful" [rollout-group]
	hint: bind all policies of the group to one strategy; until then what they claim stays as it is`,
		},
		{
			"a group of two namespaces", policy("team/web", rollout("careful")+group) + policy("other/web", rollout("careful")+group), "", "_group/g stays: its policies are bound to different strategies (web, web)",
			`p.yaml:8: error: PropagationPolicy team/web is bound to the strategy "careful", and other policies of the group g to "other/careful" [rollout-group]
	hint: bind all policies of the group to one strategy; until then what they claim stays as it is`,
		},
		{
			"a group without a name", policy("team/web", rollout("careful")+"    waybill.dev/rollout-group: A b\n"), "", `team/web stays: its group "A b" has no name`,
			`p.yaml:8: error: PropagationPolicy team/web: waybill.dev/rollout-group is "A b", which is no name: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*') [rollout-group]
	hint: write small letters, digits and dashes; until then what it claims stays as it is`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			units, said := of(t, c.policies, strategies, c.config)
			if units != c.want {
				t.Errorf("got  %s\nwant %s", units, c.want)
			}
			if got := strings.Join(said, "\n"); got != c.wrong {
				t.Errorf("said\n%s\nwant\n%s", got, c.wrong)
			}
		})
	}
}

// of makes the units of policies and strategies, and says what is wrong, by what waybill.yaml says of roll-outs.
func of(t *testing.T, ofPolicies, ofStrategies, rollout string) (units string, said []string) {
	t.Helper()
	d, s := object.Decode("p.yaml", []byte(ofPolicies)), object.Decode("s.yaml", []byte(ofStrategies))
	set, _, _ := policies.Load(append(d.Objects, s.Objects...), nil)
	config, ds := render.ParseConfig([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  rollout: {" + rollout + "}\n"))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	all, wrong := unit.Of(&set, config.Rollout)
	for _, d := range wrong {
		said = append(said, d.String())
	}
	return shown(all), said
}

// strategy writes a strategy for all clusters whose stages are waited for, where they say so: "first second*" waits after the second.
func strategy(name, stages string) string {
	var all []string
	for stage := range strings.FieldsSeq(stages) {
		text := "{name: " + strings.TrimSuffix(stage, "*") + ", labelSelector: {}"
		if strings.HasSuffix(stage, "*") {
			text += ", afterStageTasks: [{type: TimedWait, waitTime: 1h}]"
		}
		all = append(all, text+"}")
	}
	return "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateStrategy\nmetadata: {name: " + name + "}\nspec: {stages: [" + strings.Join(all, ", ") + "]}\n---\n"
}

// TestWhatStrategiesThereAre holds what is said of a strategy that waits for nothing where time alone is evidence, and of those there are.
func TestWhatStrategiesThereAre(t *testing.T) {
	const timed = "evidence: [status, timed]"
	hasty := func(unit, name string) string {
		return unit + ` stays: its strategy "` + name + `" waits for nothing after a stage, and time alone is evidence`
	}
	for _, c := range []struct {
		name, policies, strategies, config, want string
		wrong                                    []string // a part of each
	}{
		{"each stage is waited for", policy("base", rollout("slow")), strategy("slow", "one* two*"), timed, "_cluster/base slow", nil},
		{
			"the second stage is not waited for", policy("base", rollout("slow")), strategy("slow", "one* two"), timed, hasty("_cluster/base", "slow"),
			[]string{"ClusterStagedUpdateStrategy slow: spec.rollout.evidence has timed, and nothing is waited for after the stage two"},
		},
		{"time alone is no evidence", policy("base", rollout("slow")), strategy("slow", "one* two"), "evidence: [status]", "_cluster/base slow", nil},
		{
			"two strategies wait for nothing, and one that nobody names", policy("base", rollout("a")) + policy("last", rollout("b")) + policy("more", rollout("a")),
			strategy("a", "one") + strategy("b", "two") + strategy("c", "three"), timed, hasty("_cluster/base", "a") + "; " + hasty("_cluster/last", "b") + "; " + hasty("_cluster/more", "a"),
			[]string{"ClusterStagedUpdateStrategy a: spec.rollout.evidence has timed", "ClusterStagedUpdateStrategy b: spec.rollout.evidence has timed"},
		},
		{
			"one waits for nothing, and one is nowhere", policy("base", rollout("none-such")) + policy("last", rollout("a")), strategy("a", "one"), timed,
			`_cluster/base stays: its strategy "none-such" is not in the source; ` + hasty("_cluster/last", "a"),
			[]string{`there are a; write one of them, or "none"`, "ClusterStagedUpdateStrategy a: spec.rollout.evidence has timed"},
		},
		{
			"there are none", policy("base", rollout("slow")), "", "", `_cluster/base stays: its strategy "slow" is not in the source`,
			[]string{`add the strategy to the source, or write "none"`},
		},
		{
			"there are several, in order", policy("team/web", rollout("slow")),
			strategy("z", "one") + strategy("a", "one") + strategy("ours", "one") + strategies, "",
			`team/web stays: its strategy "slow" is not in the source`,
			[]string{`there are a, careful, ours and 1 more; write one of them, or "none"`},
		},
		{
			"there are some of the namespace, too", policy("team/web", rollout("slow")), strategies, "",
			`team/web stays: its strategy "slow" is not in the source`,
			[]string{`there are careful, ours; write one of them, or "none"`},
		},
		{
			"units are in order", policy("z", "") + policy("team/z", "") + policy("team/a", "") + policy("a/z", "") + policy("a", ""), "", "",
			"_cluster/a none; _cluster/z none; a/z none; team/a none; team/z none", nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			units, said := of(t, c.policies, c.strategies, c.config)
			if units != c.want {
				t.Errorf("got  %s\nwant %s", units, c.want)
			}
			if !slices.EqualFunc(said, c.wrong, strings.Contains) {
				t.Errorf("said %q\nwant %q", said, c.wrong)
			}
		})
	}
}

func shown(units []unit.Unit) string {
	var all []string
	for _, u := range units {
		text := u.Name.String() + " none"
		switch {
		case u.Stays != "" && u.Strategy != nil:
			text = "stays with a strategy"
		case u.Stays != "":
			text = u.Name.String() + " stays: " + u.Stays
		case u.Strategy != nil && u.Strategy.Name == render.NoStrategy:
			text = u.Name.String() + " all at once"
		case u.Strategy != nil:
			text = u.Name.String() + " " + strings.TrimPrefix(u.Strategy.Namespace+"/"+u.Strategy.Name, "/")
		}
		var names []string
		for _, p := range u.Policies {
			names = append(names, p.Name)
		}
		if len(names) > 1 {
			text += " (" + strings.Join(names, ", ") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestWindowsAreOfStagesOfStrategies(t *testing.T) {
	config, ds := render.ParseConfig([]byte(`apiVersion: waybill.dev/v1alpha1
kind: Config
spec:
  rollout:
    windows:
    - {kind: deny, schedule: "0 18 * * 5", duration: 62h, timeZone: Europe/Berlin, strategies: ["*"], stages: [prod]}
    - {kind: deny, schedule: "0 12 * * *", duration: 1h, strategies: [none], stages: [all]}
    - {kind: deny, schedule: "0 8 * * 1", duration: 1h, strategies: [careful], stages: [prod]}
`))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	windows, wrong := unit.ReadWindows(config.Rollout.Windows)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for _, c := range []struct {
		strategy, stage, now string
		closed               bool
	}{
		{"careful", "prod", "2026-03-06T16:59:00Z", false},
		{"careful", "prod", "2026-03-06T17:00:00Z", true},
		{"careful", "prod", "2026-03-09T06:59:00Z", true},
		{"careful", "prod", "2026-03-09T07:00:00Z", false},
		{"careful", "prod", "2026-03-09T08:30:00Z", true}, // two windows are for it
		{"other", "prod", "2026-03-09T08:30:00Z", false},
		{"careful", "early", "2026-03-07T00:00:00Z", false},
		{render.NoStrategy, unit.AllStages, "2026-03-07T12:30:00Z", true},
		{render.NoStrategy, unit.AllStages, "2026-03-07T13:00:00Z", false},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if _, closed := windows.Of(c.strategy, c.stage).Closed(now); closed != c.closed {
			t.Errorf("%s of %s at %s: closed is %v", c.stage, c.strategy, c.now, closed)
		}
	}
}

func TestAScheduleThatCannotBeReadIsLocated(t *testing.T) {
	config, ds := render.ParseConfig([]byte(`apiVersion: waybill.dev/v1alpha1
kind: Config
spec:
  rollout:
    windows:
    - {kind: deny, schedule: "0 18 * * 5", duration: 1h, strategies: ["*"], stages: ["*"]}
    - kind: allow
      schedule: "0 18 * *"
      duration: 1h
      strategies: ["*"]
      stages: ["*"]
`))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	windows, wrong := unit.ReadWindows(config.Rollout.Windows)
	want := `waybill.yaml:8: error: spec.rollout.windows[1]: schedule "0 18 * *" is no cron line of five fields`
	if len(windows) != 1 || len(wrong) != 1 || !strings.HasPrefix(wrong[0].String(), want) {
		t.Errorf("got %v", wrong)
	}
}
