package kubefleet

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	strictjson "sigs.k8s.io/json"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// maxStages is how many stages a strategy may have.
const maxStages = 31

// Read reads a strategy: an object of which IsStrategy. It is nil if anything in it is wrong but for what
// is only a warning; the diagnostics say what is, with file and line.
func Read(o *object.Object) (*Strategy, []diag.Diagnostic) {
	r := &reader{object: o}
	w := r.strategy()
	s := resolve(r, w)
	if diag.HasErrors(r.wrong) {
		return nil, r.wrong
	}
	return s, r.wrong
}

// strategy reads what is written.
func (r *reader) strategy() *StagedUpdateStrategy {
	content := r.object.Content()
	w := &StagedUpdateStrategy{}
	w.APIVersion, w.Kind = r.object.APIVersion(), r.object.Ref().Kind
	r.metadata(content["metadata"], &w.ObjectMeta)
	if r.object.APIVersion() != versions[0] && r.object.APIVersion() != versions[1] {
		r.fail(field{"apiVersion"}, "write "+versions[0]+" or "+versions[1], "%q has no strategy that is read", r.object.APIVersion())
	}
	known := object.FieldNames(reflect.TypeOf(*w))
	for _, key := range slices.Sorted(maps.Keys(content)) {
		switch {
		case key == "status":
			r.add(field{key}, diag.NotAPolicy, diag.Warning, "is what a controller writes, and is passed over", "remove it")
		case !slices.Contains(known, key):
			r.unknown(field{key}, key, known, "a field here")
		}
	}
	r.spec(content["spec"], &w.Spec)
	return w
}

// metadata reads the metadata that all objects have.
func (r *reader) metadata(v any, to *metav1.ObjectMeta) {
	at := field{"metadata"}
	fields, _ := v.(map[string]any)
	for _, name := range []string{"annotations", "labels"} {
		texts, _ := fields[name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			r.text(texts[key], at.at(name, key))
		}
	}
	if len(r.wrong) > 0 {
		return
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic("kubefleet: a decoded manifest is no JSON: " + err.Error())
	}
	strict, err := strictjson.UnmarshalStrict(data, to, strictjson.DisallowUnknownFields)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		r.fail(at.at(wrong.Field), "", "is of the type %s; want %s", wrong.Value, wrong.Type)
	} else if err != nil {
		r.fail(at, "", "cannot be read: %s", err)
	}
	for _, e := range strict {
		if unknown, ok := errors.AsType[strictjson.FieldError](e); ok {
			name := unknown.FieldPath()
			r.unknown(at.at(name), name, object.FieldNames(reflect.TypeFor[metav1.ObjectMeta]()), "a field here")
		}
	}
}

func (r *reader) spec(v any, to *UpdateStrategySpec) {
	at := field{"spec"}
	fields := r.mapping(v, at, reflect.TypeOf(*to))
	at = at.at("stages")
	stages := r.list(fields["stages"], at)
	if n := len(stages); n == 0 || n > maxStages {
		r.fail(at, "", "has %d stages; want 1 to %d", n, maxStages)
	}
	seen := map[string]bool{}
	for i, v := range stages {
		s := r.stage(v, at.at(i))
		if seen[s.Name] && s.Name != "" {
			r.fail(at.at(i, "name"), "rename one of them", "%q is the name of another stage", s.Name)
		}
		seen[s.Name] = true
		to.Stages = append(to.Stages, s)
	}
}

var stageName = regexp.MustCompile(`^[a-z0-9]{1,63}$`)

func (r *reader) stage(v any, at field) (s StageConfig) {
	fields := r.mapping(v, at, reflect.TypeOf(s))
	if fields == nil {
		return s
	}
	if s.Name = r.text(fields["name"], at.at("name")); !stageName.MatchString(s.Name) {
		r.fail(at.at("name"), "", "is %q; want at most 63 small letters and digits, and nothing else", s.Name)
	}
	s.LabelSelector = r.selector(fields["labelSelector"], at.at("labelSelector"))
	if v := fields["sortingLabelKey"]; v != nil {
		key := r.text(v, at.at("sortingLabelKey"))
		if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
			r.fail(at.at("sortingLabelKey"), "", "%q is no key of a label: %s", key, strings.Join(wrong, "; "))
		}
		s.SortingLabelKey = &key
	}
	s.MaxConcurrency = r.concurrency(fields["maxConcurrency"], at.at("maxConcurrency"))
	s.AfterStageTasks = r.tasks(fields["afterStageTasks"], at.at("afterStageTasks"), false)
	s.BeforeStageTasks = r.tasks(fields["beforeStageTasks"], at.at("beforeStageTasks"), true)
	return s
}

// waitHint says how a TimedWait is written.
const waitHint = "a wait stands after a stage and needs waitTime, as in afterStageTasks: [{type: TimedWait, waitTime: 30m}]"

// concurrency reads a number of at least 1, or a percentage of at least 1%.
func (r *reader) concurrency(v any, at field) *intstr.IntOrString {
	if v == nil {
		return nil
	}
	a, ok := amountOf(v)
	if !ok || a.Value < 1 {
		r.fail(at, "", "is %s; want a number of at least 1, or a percentage, as 50%%", shown(v))
		return nil
	}
	written := intstr.FromInt32(int32(a.Value)) //nolint:gosec // amountOf bounds it
	if a.Percent {
		written = intstr.FromString(a.String())
	}
	return &written
}

// tasks reads what is waited for before a stage, or after it.
func (r *reader) tasks(v any, at field, isBefore bool) (tasks []StageTask) {
	seen := map[TaskType]bool{}
	for i, v := range r.list(v, at) {
		t, at := StageTask{}, at.at(i)
		fields := r.mapping(v, at, reflect.TypeOf(t))
		if fields == nil {
			continue
		}
		t.Type = TaskType(r.text(fields["type"], at.at("type")))
		if w := fields["waitTime"]; w != nil {
			t.WaitTime = &metav1.Duration{Duration: r.duration(r.text(w, at.at("waitTime")), at.at("waitTime"))}
		}
		switch {
		case t.Type != TimedWait && t.Type != Approval:
			r.fail(at.at("type"), "", "is %q; want %s or %s", t.Type, TimedWait, Approval)
		case seen[t.Type]:
			r.fail(at, "remove one of them", "is a second %s", t.Type)
		case t.Type == TimedWait && isBefore:
			r.fail(at, waitHint, "is a TimedWait before the stage")
		case t.Type == TimedWait && t.WaitTime == nil:
			r.fail(at, waitHint, "is a TimedWait without waitTime")
		case t.Type == Approval && t.WaitTime != nil:
			r.fail(at.at("waitTime"), "remove it, or add a task of type TimedWait", "has no meaning with type %s", Approval)
		}
		seen[t.Type] = true
		tasks = append(tasks, t)
	}
	return tasks
}

var duration = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?[smh])+$`)

// duration reads hours, minutes and seconds, as KubeFleet writes them.
func (r *reader) duration(text string, at field) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || !duration.MatchString(text) {
		r.fail(at, "", "is %q; want hours, minutes and seconds, as 1h30m", text)
		return 0
	}
	return d
}
