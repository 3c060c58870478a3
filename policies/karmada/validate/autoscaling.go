package validate

import (
	"fmt"
	"strings"
	"time"
	// The names of time zones are part of the rules, and must not be those of the
	// machine.
	_ "time/tzdata"
	"unicode/utf8"

	"github.com/robfig/cron/v3"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/window"
	"github.com/waybill-dev/waybill/render/diag"
)

// maxRuleName is the length of the longest name of a rule.
const maxRuleName = 32

// checkScaleTarget may leave out the apiVersion.
func checkScaleTarget(fs *findings, at field, r autoscalingv2.CrossVersionObjectReference) {
	fs.apiVersion(at.at("apiVersion"), r.APIVersion)
	checkSegment(fs, at.at("kind"), r.Kind)
	checkSegment(fs, at.at("name"), r.Name)
}

// checkSegment reports what cannot stand in the path of a URL.
func checkSegment(fs *findings, at field, s string) {
	fs.require(at, s, "")
	fs.invalid(at, s, content.IsPathSegmentName(s))
}

// checkFederatedHPA holds bounds and metrics (section E.5).
func checkFederatedHPA(fs *findings, s *karmada.FederatedHPASpec, at field) {
	checkScaleTarget(fs, at.at("scaleTargetRef"), s.ScaleTargetRef)
	fs.atLeast(at.at("maxReplicas"), int64(s.MaxReplicas), 1)
	if s.MinReplicas != nil {
		fs.atLeast(at.at("minReplicas"), int64(*s.MinReplicas), 1)
		if *s.MinReplicas > s.MaxReplicas && s.MaxReplicas > 0 {
			fs.fail(at.at("minReplicas"), diag.ConflictingFields, fmt.Sprintf("%d is more than maxReplicas %d", *s.MinReplicas, s.MaxReplicas), "")
		}
	}
	for i, m := range s.Metrics {
		checkMetric(fs, m, at.at("metrics", i))
	}
	if b := s.Behavior; b != nil {
		checkRates(fs, b.ScaleUp, at.at("behavior", "scaleUp"))
		checkRates(fs, b.ScaleDown, at.at("behavior", "scaleDown"))
	}
}

// The longest window and period of behavior, in seconds.
const (
	maxStabilization = 3600
	maxPeriod        = 1800
)

// checkRates holds how fast replicas come or go.
func checkRates(fs *findings, r *autoscalingv2.HPAScalingRules, at field) {
	if r == nil {
		return
	}
	fs.within(at.at("stabilizationWindowSeconds"), r.StabilizationWindowSeconds, 0, maxStabilization)
	if r.SelectPolicy != nil {
		oneOf(fs, at.at("selectPolicy"), *r.SelectPolicy,
			autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.DisabledPolicySelect)
	}
	for i := range r.Policies {
		p, at := &r.Policies[i], at.at("policies", i)
		oneOf(fs, at.at("type"), p.Type, autoscalingv2.PodsScalingPolicy, autoscalingv2.PercentScalingPolicy)
		fs.atLeast(at.at("value"), int64(p.Value), 1)
		fs.within(at.at("periodSeconds"), &p.PeriodSeconds, 1, maxPeriod)
	}
}

// checkMetric holds that the source is the one that type names.
func checkMetric(fs *findings, m autoscalingv2.MetricSpec, at field) {
	sources := []struct {
		of    autoscalingv2.MetricSourceType
		field string
		given bool
	}{
		{autoscalingv2.ObjectMetricSourceType, "object", m.Object != nil},
		{autoscalingv2.PodsMetricSourceType, "pods", m.Pods != nil},
		{autoscalingv2.ResourceMetricSourceType, "resource", m.Resource != nil},
		{autoscalingv2.ContainerResourceMetricSourceType, "containerResource", m.ContainerResource != nil},
		{autoscalingv2.ExternalMetricSourceType, "external", m.External != nil},
	}
	var names []autoscalingv2.MetricSourceType
	for _, s := range sources {
		names = append(names, s.of)
		if s.given && s.of != m.Type {
			fs.fail(at.at(s.field), diag.ConflictingFields, fmt.Sprintf("cannot be given with type %q", m.Type), "")
		}
		if !s.given && s.of == m.Type {
			fs.fail(at.at(s.field), diag.RequiredField, fmt.Sprintf("is required with type %q", m.Type), "")
		}
	}
	oneOf(fs, at.at("type"), m.Type, names...)
	if m.Type == autoscalingv2.ExternalMetricSourceType {
		fs.warn(at.at("type"), diag.NotKarmadas, "External is read by the HorizontalPodAutoscaler of each cluster; Karmada refuses it", "")
	}
}

// checkCronFederatedHPA holds rules (section E.6). What a rule sets depends on whether
// it scales a template or a FederatedHPA.
func checkCronFederatedHPA(fs *findings, s *karmada.CronFederatedHPASpec, at field) {
	target := s.ScaleTargetRef
	checkScaleTarget(fs, at.at("scaleTargetRef"), target)
	federated := target.APIVersion == "autoscaling.karmada.io/v1alpha1"
	if federated && target.Kind != "" {
		oneOf(fs, at.at("scaleTargetRef", "kind"), target.Kind, "FederatedHPA")
	}
	if s.Rules == nil {
		fs.missing(at.at("rules"))
	}
	names := map[string]bool{}
	for i := range s.Rules {
		r, at := &s.Rules[i], at.at("rules", i)
		checkCronRule(fs, r, at)
		if names[r.Name] && r.Name != "" {
			fs.fail(at.at("name"), diag.DuplicateValue, fmt.Sprintf("%q is the name of another rule", r.Name), "")
		}
		names[r.Name] = true
		if federated {
			checkCronBounds(fs, r, at)
		} else {
			checkCronReplicas(fs, r, target.Kind, at)
		}
	}
}

func checkCronRule(fs *findings, r *karmada.CronFederatedHPARule, at field) {
	fs.require(at.at("name"), r.Name, "")
	if n := utf8.RuneCountInString(r.Name); n > maxRuleName {
		fs.fail(at.at("name"), diag.InvalidValue, fmt.Sprintf("%q has %d characters; at most %d are allowed", r.Name, n, maxRuleName), "")
	}
	checkSchedule(fs, at.at("schedule"), r.Schedule)
	if r.TimeZone != nil {
		checkTimeZone(fs, at.at("timeZone"), *r.TimeZone)
	}
	fs.within(at.at("successfulHistoryLimit"), r.SuccessfulHistoryLimit, 1, 32)
	fs.within(at.at("failedHistoryLimit"), r.FailedHistoryLimit, 0, 32)
}

// checkTimeZone refuses Local too: it is another zone on another machine.
func checkTimeZone(fs *findings, at field, name string) {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is not a time zone", name), "write a name such as Europe/Berlin or UTC")
	}
}

// checkSchedule allows what every cron has: five fields, or a word such as @daily.
func checkSchedule(fs *findings, at field, schedule string) {
	const hint = "write minute, hour, day of month, month and day of week, as in 0 8 * * 1-5"
	if schedule == "" {
		fs.require(at, schedule, hint)
		return
	}
	if foreign(schedule) {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is not a schedule", schedule), hint)
		return
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	if _, err := parser.Parse(window.Sundays(schedule)); err != nil {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is not a schedule: %s", schedule, err), hint)
		return
	}
	if window.Sundays(schedule) != schedule {
		fs.warn(at, diag.UncheckedValue, fmt.Sprintf("%q has weekday 7, which is read as Sunday; Karmada takes the rule and never runs it", schedule), "write 0 for Sunday")
	}
}

// foreign reports what the parser takes, and Karmada's webhook does not: intervals,
// time zones, other words, lists with nothing between commas, ranges and steps of
// anything that have no number, and lines that do not end in themselves.
func foreign(schedule string) bool {
	if strings.HasPrefix(schedule, "@every") || schedule == "@midnight" || strings.Contains(schedule, "=") ||
		strings.Trim(schedule, " \t") != strings.TrimSpace(schedule) {
		return true
	}
	for f := range strings.FieldsSeq(schedule) {
		for part := range strings.SplitSeq(f, ",") {
			if part == "" || strings.HasPrefix(part, "*-") || strings.HasPrefix(part, "?-") || strings.HasPrefix(part, "?/") {
				return true
			}
		}
	}
	return false
}

func checkCronReplicas(fs *findings, r *karmada.CronFederatedHPARule, kind string, at field) {
	if r.TargetReplicas == nil {
		fs.fail(at.at("targetReplicas"), diag.RequiredField, "is required to scale a "+kind, "")
		return
	}
	fs.atLeast(at.at("targetReplicas"), int64(*r.TargetReplicas), 0)
}

func checkCronBounds(fs *findings, r *karmada.CronFederatedHPARule, at field) {
	least, most := r.TargetMinReplicas, r.TargetMaxReplicas
	if least == nil && most == nil {
		fs.fail(at.at("targetMaxReplicas"), diag.RequiredField, "is required to scale a FederatedHPA", "write targetMinReplicas, targetMaxReplicas or both")
		return
	}
	if least != nil {
		fs.atLeast(at.at("targetMinReplicas"), int64(*least), 1)
	}
	if most != nil {
		fs.atLeast(at.at("targetMaxReplicas"), int64(*most), 1)
	}
	if least != nil && most != nil && *least > *most {
		fs.fail(at.at("targetMinReplicas"), diag.ConflictingFields, fmt.Sprintf("%d is more than targetMaxReplicas %d", *least, *most), "")
	}
}
