package kubefleet

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// manifest decodes a strategy, or what takes its place.
func manifest(t *testing.T, text string) *object.Object {
	t.Helper()
	o, ds := object.Single("s.yaml", []byte(text))
	if o == nil {
		t.Fatal(ds)
	}
	return o
}

const careful = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata:
  name: careful
  annotations:
    waybill.dev/max-failures: 10%
    waybill.dev/max-failures.prod: "1"
    waybill.dev/progress-deadline: 20m
    waybill.dev/settle.canary: 0s
    waybill.dev/on-failure: Return
    waybill.dev/newer: Wait
    waybill.dev/unmatched: refuse
    team: web
spec:
  stages:
  - {name: canary, labelSelector: {matchLabels: {ring: canary}}, maxConcurrency: 2, afterStageTasks: [{type: TimedWait, waitTime: 1h30m}]}
  - {name: early, labelSelector: {matchExpressions: [{key: ring, operator: In, values: [early]}]}, maxConcurrency: 50%, afterStageTasks: [{type: Approval}, {type: TimedWait, waitTime: 30s}]}
  - {name: prod, labelSelector: {}, sortingLabelKey: order, beforeStageTasks: [{type: Approval}]}
  - {name: none}
`

func TestReadFillsInWhatIsNotSaid(t *testing.T) {
	got, ds := Read(manifest(t, careful))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	one, tenth, deadline := Amount{Value: 1}, Amount{Value: 10, Percent: true}, 20*time.Minute
	want := &Strategy{
		Name: "careful", OnFailure: Return, Newer: Wait, Unmatched: Refuse,
		Stages: []Stage{
			{
				Name: "canary", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}},
				MaxConcurrency: Amount{Value: 2}, MaxFailures: tenth, ProgressDeadline: deadline,
				After: []Task{{Type: TimedWait, WaitTime: 90 * time.Minute}},
			},
			{
				Name: "early", LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "ring", Operator: "In", Values: []string{"early"}}}},
				MaxConcurrency: Amount{Value: 50, Percent: true}, MaxFailures: tenth, ProgressDeadline: deadline, Settle: time.Minute,
				After: []Task{{Type: Approval}, {Type: TimedWait, WaitTime: 30 * time.Second}},
			},
			{
				Name: "prod", LabelSelector: &metav1.LabelSelector{}, SortingLabel: "order", MaxConcurrency: one, MaxFailures: one,
				ProgressDeadline: deadline, Settle: time.Minute, Before: []Task{{Type: Approval}},
			},
			{Name: "none", MaxConcurrency: one, MaxFailures: tenth, ProgressDeadline: deadline, Settle: time.Minute},
		},
		Rest: Stage{Name: RestStage, MaxConcurrency: one, MaxFailures: tenth, ProgressDeadline: deadline, Settle: time.Minute},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReadTakesBothKindsAndVersionsAlike(t *testing.T) {
	want, _ := Read(manifest(t, careful))
	got, ds := Read(manifest(t, strings.ReplaceAll(careful, "v1beta1", "v1")))
	if len(ds) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("v1 is read as %+v, %v", got, ds)
	}
	namespaced := strings.Replace(strings.Replace(careful, "Cluster", "", 1), "name: careful", "name: careful\n  namespace: team", 1)
	got, ds = Read(manifest(t, namespaced))
	if want.Namespace = "team"; len(ds) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("the namespaced one is read as %+v, %v", got, ds)
	}
}

func TestReadWithoutAnnotations(t *testing.T) {
	text := "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterStagedUpdateStrategy\nmetadata: {name: a}\nspec:\n  stages: [{name: all, labelSelector: null}]\n"
	s, ds := Read(manifest(t, text))
	if s == nil || len(ds) > 0 {
		t.Fatal(ds)
	}
	if s.OnFailure != Stop || s.Newer != Restart || s.Unmatched != Last || s.Stages[0].LabelSelector != nil ||
		s.Stages[0].Tolerates(10) != 0 || s.Stages[0].Concurrency(10) != 1 || s.Stages[0].ProgressDeadline != 30*time.Minute || s.Stages[0].Settle != time.Minute {
		t.Errorf("the defaults are %+v", s)
	}
}

// TestReadRefuses has for each mistake the line in which "HERE" replaces something, and what is said of it.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, put, want string }{
		{"another version", "/v1beta1", "/v1alpha1", `s.yaml:1: error: ClusterStagedUpdateStrategy careful: apiVersion: "placement.kubernetes-fleet.io/v1alpha1" has no strategy that is read [bad-strategy]
	hint: write placement.kubernetes-fleet.io/v1beta1 or placement.kubernetes-fleet.io/v1`},
		{"an unknown field of the document", "spec:", "strategy: {}\nspec:", `s.yaml:14: error: ClusterStagedUpdateStrategy careful: strategy: is not a field here [unknown-field]
	hint: there are kind, apiVersion, metadata, spec`},
		{"an unknown field of the metadata", "  annotations:", "  annotation: {}\n  annotations:", `s.yaml:5: error: ClusterStagedUpdateStrategy careful: metadata.annotation: is not a field here [unknown-field]
	hint: did you mean "annotations"?`},
		{"an unknown field of the spec", "  stages:", "  stage: []\n  stages:", `s.yaml:15: error: ClusterStagedUpdateStrategy careful: spec.stage: is not a field here [unknown-field]
	hint: did you mean "stages"?`},
		{"an unknown field of a stage", "maxConcurrency: 2", "maxconcurrency: 2", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].maxconcurrency: is not a field here [unknown-field]
	hint: did you mean "maxConcurrency"?`},
		{"an unknown field of a selector", "labelSelector: {}", "labelSelector: {ring: prod}", `s.yaml:18: error: ClusterStagedUpdateStrategy careful: spec.stages[2].labelSelector.ring: is not a field here [unknown-field]
	hint: there are matchLabels, matchExpressions`},
		{"an unknown field of an expression", "operator: In", "op: In", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].labelSelector.matchExpressions[0].op: is not a field here [unknown-field]
	hint: there are key, operator, values
s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].labelSelector.matchExpressions[0]: has no key, or no operator [bad-strategy]
	hint: write key and operator, as in {key: ring, operator: Exists}`},
		{"an unknown field of a task", "waitTime: 1h30m", "wait: 1h30m", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].afterStageTasks[0].wait: is not a field here [unknown-field]
	hint: there are type, waitTime
s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].afterStageTasks[0]: is a TimedWait without waitTime [bad-strategy]
	hint: a wait stands after a stage and needs waitTime, as in afterStageTasks: [{type: TimedWait, waitTime: 30m}]`},
		{"a wait before a stage", "beforeStageTasks: [{type: Approval}]", "beforeStageTasks: [{type: TimedWait, waitTime: 5m}]", `s.yaml:18: error: ClusterStagedUpdateStrategy careful: spec.stages[2].beforeStageTasks[0]: is a TimedWait before the stage [bad-strategy]
	hint: a wait stands after a stage and needs waitTime, as in afterStageTasks: [{type: TimedWait, waitTime: 30m}]`},
		{"an approval that waits", "[{type: Approval}, ", "[{type: Approval, waitTime: 1h}, ", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].afterStageTasks[0].waitTime: has no meaning with type Approval [bad-strategy]
	hint: remove it, or add a task of type TimedWait`},
		{"two tasks of a type", "{type: TimedWait, waitTime: 30s}", "{type: Approval}", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].afterStageTasks[1]: is a second Approval [bad-strategy]
	hint: remove one of them`},
		{"a task of no type", "{type: TimedWait, waitTime: 30s}", "{type: Wait}", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].afterStageTasks[1].type: is "Wait"; want TimedWait or Approval [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a wait in days", "waitTime: 1h30m", "waitTime: 1d", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].afterStageTasks[0].waitTime: is "1d"; want hours, minutes and seconds, as 1h30m [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a wait in less than seconds", "waitTime: 1h30m", "waitTime: 500ms", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].afterStageTasks[0].waitTime: is "500ms"; want hours, minutes and seconds, as 1h30m [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a task that is null", "[{type: Approval}, ", "[null, ", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].afterStageTasks[0]: is null, which no item of a list may be [bad-strategy]
	hint: write the item, or remove it`},
		{"an expression without a key", "{key: ring, operator: In, values: [early]}", "{operator: Exists}", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].labelSelector.matchExpressions[0]: has no key, or no operator [bad-strategy]
	hint: write key and operator, as in {key: ring, operator: Exists}`},
		{"more concurrency than there can be", "maxConcurrency: 2", "maxConcurrency: 2147483648", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].maxConcurrency: is 2147483648; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"no percent", "maxConcurrency: 50%", "maxConcurrency: 0%", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].maxConcurrency: is "0%"; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"percent with a zero before", "maxConcurrency: 50%", "maxConcurrency: 050%", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].maxConcurrency: is "050%"; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a deadline without a unit", "progress-deadline: 20m", `progress-deadline: "20"`, `s.yaml:8: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/progress-deadline: is "20"; want hours, minutes and seconds, as 1h30m [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"more failures than can be", `max-failures.prod: "1"`, `max-failures.prod: "2147483648"`, `s.yaml:7: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/max-failures.prod: is "2147483648"; want a number, or a percentage, as 10% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"no concurrency", "maxConcurrency: 2", "maxConcurrency: 0", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].maxConcurrency: is 0; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"less than no concurrency", "maxConcurrency: 2", "maxConcurrency: -1", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].maxConcurrency: is -1; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a wait that is too long to be one", "waitTime: 1h30m", "waitTime: 9999999h", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].afterStageTasks[0].waitTime: is "9999999h"; want hours, minutes and seconds, as 1h30m [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a time that is none", "  annotations:\n", "  creationTimestamp: today\n  annotations:\n", `s.yaml:3: error: ClusterStagedUpdateStrategy careful: metadata: cannot be read: parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006" [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"too many percent", "maxConcurrency: 50%", "maxConcurrency: 101%", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].maxConcurrency: is "101%"; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a number in quotes", "maxConcurrency: 2", `maxConcurrency: "2"`, `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].maxConcurrency: is "2"; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a name that is none", "name: early", "name: early-bird", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].name: is "early-bird"; want at most 63 small letters and digits, and nothing else [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a name that stands twice", "name: none", "name: early", `s.yaml:19: error: ClusterStagedUpdateStrategy careful: spec.stages[3].name: "early" is the name of another stage [bad-strategy]
	hint: rename one of them`},
		{"a label that is none", "sortingLabelKey: order", "sortingLabelKey: a b", `s.yaml:18: error: ClusterStagedUpdateStrategy careful: spec.stages[2].sortingLabelKey: "a b" is no key of a label: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a value that is none", "values: [early]", "values: []", `s.yaml:17: error: ClusterStagedUpdateStrategy careful: spec.stages[1].labelSelector.matchExpressions[0]: cannot be read: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a label that is a number", "{ring: canary}", "{ring: 1}", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].labelSelector.matchLabels.ring: 1 is not a string [bad-strategy]
	hint: quote it`},
		{"a label whose value is none", "{ring: canary}", "{ring: a b}", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].labelSelector.matchLabels.ring: cannot be read: values[0][ring]: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?') [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a long text", "maxConcurrency: 2", "maxConcurrency: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].maxConcurrency: is "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a text that is cut", "maxConcurrency: 2", "maxConcurrency: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].maxConcurrency: is "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...; want a number of at least 1, or a percentage, as 50% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a label without a value", "{ring: canary}", "{ring: null}", `s.yaml:16: error: ClusterStagedUpdateStrategy careful: spec.stages[0].labelSelector.matchLabels.ring: has no value [bad-strategy]
	hint: write the value, or "" for an empty one`},
		{"a stage that is a text", "{name: none}", "none", `s.yaml:19: error: ClusterStagedUpdateStrategy careful: spec.stages[3]: "none" is not a mapping [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"a stage that is null", "{name: none}", "null", `s.yaml:19: error: ClusterStagedUpdateStrategy careful: spec.stages[3]: is null, which no item of a list may be [bad-strategy]
	hint: write the item, or remove it`},
		{"failures of no stage", "max-failures.prod", "max-failures.pord", `s.yaml:7: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/max-failures.pord: "pord" is no stage of the strategy [bad-strategy]
	hint: the stages are canary, early, prod, none`},
		{"failures that are no number", `max-failures.prod: "1"`, `max-failures.prod: "-1"`, `s.yaml:7: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/max-failures.prod: is "-1"; want a number, or a percentage, as 10% [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"failures without quotes", `max-failures.prod: "1"`, "max-failures.prod: 1", `s.yaml:7: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/max-failures.prod: 1 is not a string [bad-strategy]
	hint: quote it`},
		{"finalizers that are a mapping", "  annotations:\n", "  finalizers: {}\n  annotations:\n", `s.yaml:5: error: ClusterStagedUpdateStrategy careful: metadata.finalizers: is of the type object; want []string [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"no deadline", "progress-deadline: 20m", "progress-deadline: 0s", `s.yaml:8: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/progress-deadline: is "0s"; want more than 0s [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"an action that is none", "on-failure: Return", "on-failure: Rollback", `s.yaml:10: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/on-failure: is "Rollback"; want Stop or Return [bad-strategy]
	hint: until it is mended, what is bound to the strategy stays as it is`},
		{"an action of one stage", "on-failure: Return", "on-failure.prod: Return", `s.yaml:10: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/on-failure.prod: is of the whole strategy, not of a stage [bad-strategy]
	hint: write waybill.dev/on-failure`},
		{"an annotation that is none", "on-failure: Return", "onfailure: Return", `s.yaml:10: error: ClusterStagedUpdateStrategy careful: metadata.annotations.waybill.dev/onfailure: is not an annotation of a strategy [unknown-field]
	hint: did you mean "waybill.dev/on-failure"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n := strings.Count(careful, c.old); n != 1 {
				t.Fatalf("%q stands %d times in the strategy", c.old, n)
			}
			s, ds := Read(manifest(t, strings.Replace(careful, c.old, c.put, 1)))
			if got := printed(ds); s != nil || got != c.want {
				t.Errorf("read as %v\ngot\n%s\nwant\n%s", s, got, c.want)
			}
		})
	}
}

func TestReadRefusesTooManyStagesAndNone(t *testing.T) {
	head := "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterStagedUpdateStrategy\nmetadata: {name: a}\n"
	for stages, want := range map[string]string{
		"":                   "spec.stages: has 0 stages; want 1 to 31",
		"spec: {stages: []}": "spec.stages: has 0 stages; want 1 to 31",
		"spec: {stages: {}}": "spec.stages: a mapping is not a list",
		"spec:\n  stages:\n" + strings.Repeat("  - {}\n", 32): "spec.stages: has 32 stages; want 1 to 31",
	} {
		s, ds := Read(manifest(t, head+stages+"\n"))
		if got := printed(ds); s != nil || !strings.Contains(got, want) || strings.Contains(got, "is the name of another") {
			t.Errorf("%q: got %s, want %s", stages, got, want)
		}
	}
	var most strings.Builder
	for i := range 31 {
		fmt.Fprintf(&most, "  - {name: s%d}\n", i)
	}
	if s, ds := Read(manifest(t, head+"spec:\n  stages:\n"+most.String())); s == nil || len(s.Stages) != 31 {
		t.Errorf("31 stages: got %v, %s", s, printed(ds))
	}
}

// TestReadTakesWhatIsAtItsBounds holds the least and the most of each field, and words that say what is so without them.
func TestReadTakesWhatIsAtItsBounds(t *testing.T) {
	s, ds := Read(manifest(t, `apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterStagedUpdateStrategy
metadata:
  name: a
  annotations:
    waybill.dev/max-failures: "150"
    waybill.dev/max-failures.two: "2147483647"
    waybill.dev/on-failure: Stop
    waybill.dev/newer: Restart
    waybill.dev/unmatched: last
spec:
  stages:
  - {name: one, maxConcurrency: 1, labelSelector: {matchLabels: {ring: a, tier: b}}}
  - {name: two, maxConcurrency: 2147483647}
  - {name: three, maxConcurrency: 1%}
  - {name: four, maxConcurrency: 100%}
`))
	if s == nil || len(ds) > 0 {
		t.Fatal(printed(ds))
	}
	var got []string
	for _, stage := range s.Stages {
		got = append(got, stage.MaxConcurrency.String()+"/"+stage.MaxFailures.String())
	}
	if got, want := strings.Join(got, " "), "1/150 2147483647/2147483647 1%/150 100%/150"; got != want {
		t.Errorf("concurrency and failures are %s, want %s", got, want)
	}
	if s.OnFailure != Stop || s.Newer != Restart || s.Unmatched != Last || len(s.Stages[0].LabelSelector.MatchLabels) != 2 {
		t.Errorf("read as %+v", s)
	}
}

func TestStatusIsPassedOver(t *testing.T) {
	s, ds := Read(manifest(t, careful+"status: {}\n"))
	want := "s.yaml:20: warning: ClusterStagedUpdateStrategy careful: status: is what a controller writes, and is passed over [not-a-policy]\n\thint: remove it"
	if got := printed(ds); s == nil || got != want {
		t.Errorf("got %s", got)
	}
}

func TestRefusal(t *testing.T) {
	for kind, hint := range map[string]string{
		"ClusterStagedUpdateRun":   "remove the file; to hold one: waybill rollout stop UNIT",
		"StagedUpdateRun":          "remove the file; to hold one: waybill rollout stop UNIT",
		"ClusterApprovalRequest":   "remove the file; approve with: waybill rollout approve UNIT STAGE",
		"ApprovalRequest":          "remove the file; approve with: waybill rollout approve UNIT STAGE",
		"ClusterResourcePlacement": "", "ClusterStagedUpdateStrategy": "",
	} {
		for _, version := range []string{"v1beta1", "v1", "v1alpha1"} {
			o := manifest(t, "apiVersion: placement.kubernetes-fleet.io/"+version+"\nkind: "+kind+"\nmetadata: {name: a, namespace: team}\n")
			d, refused := Refusal(o)
			if refused != (hint != "") || d.Hint != hint || refused && (d.Severity != diag.Error || d.Code != diag.NotAPolicy || !strings.HasPrefix(d.Message, kind+" team/a: ") || !strings.HasSuffix(d.Message, ", and not read from files")) {
				t.Errorf("%s %s: %v", version, kind, d)
			}
		}
	}
	if d, refused := Refusal(manifest(t, "apiVersion: example.com/v1\nkind: ApprovalRequest\nmetadata: {name: a}\n")); refused {
		t.Errorf("a kind of another group: %v", d)
	}
}

func printed(ds []diag.Diagnostic) string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}
