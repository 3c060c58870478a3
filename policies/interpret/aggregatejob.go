package interpret

import (
	"fmt"
	"strings"
	"time"
)

// jobStatus sums, and says that the Job has failed if it has in any cluster, and is
// complete if it is in all. A Job that is finished stays as it is.
func jobStatus(template map[string]any, reports []report) (map[string]any, error) {
	old := mapAt(template, "status")
	if isTrue(old, "Complete") || isTrue(old, "Failed") {
		return template, nil
	}
	changes, err := sum(reports, jobCounters)
	if err != nil {
		return nil, err
	}
	changes["conditions"] = jobConditions(reports)
	started, finished, err := jobTimes(reports)
	if err != nil {
		return nil, err
	}
	if old["startTime"] == nil {
		changes["startTime"] = started
	}
	changes["completionTime"] = finished
	return withStatus(template, changes), nil
}

// jobConditions is a list, or nil where there is no condition.
func jobConditions(reports []report) any {
	var failed []string
	complete, criteria := 0, 0
	for _, r := range reports {
		if isTrue(r.status, "Failed") {
			failed = append(failed, r.cluster)
		}
		if isTrue(r.status, "Complete") {
			complete++
		}
		if isTrue(r.status, "SuccessCriteriaMet") {
			criteria++
		}
	}
	var conditions []any
	if len(failed) > 0 {
		conditions = append(conditions, condition("Failed", "JobFailed", "the Job failed in "+strings.Join(failed, ", ")))
	}
	if complete == len(reports) && complete > 0 {
		if criteria == len(reports) {
			conditions = append(conditions, condition("SuccessCriteriaMet", "Completed", "the Job met its criteria in every cluster"))
		}
		conditions = append(conditions, condition("Complete", "Completed", "the Job is complete in every cluster"))
	}
	if conditions == nil {
		return nil
	}
	return conditions
}

func condition(name, reason, message string) map[string]any {
	return map[string]any{"type": name, "status": "True", "reason": reason, "message": message}
}

// jobTimes returns the first start and the last completion; nil unless every
// cluster has one.
func jobTimes(reports []report) (started, finished any, err error) {
	started, first, err := extreme(reports, "startTime", time.Time.Before)
	if err != nil {
		return nil, nil, err
	}
	finished, last, err := extreme(reports, "completionTime", time.Time.After)
	if err != nil {
		return nil, nil, err
	}
	if first < len(reports) {
		started = nil
	}
	if last < len(reports) {
		finished = nil
	}
	return started, finished, nil
}

// extreme returns the time of a field that comes before all others in an order,
// as it is written, and how many clusters have one. It is nil if none has.
func extreme(reports []report, field string, before func(a, b time.Time) bool) (written any, count int, err error) {
	var best time.Time
	for _, r := range reports {
		s := stringAt(r.status, field)
		if s == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return nil, 0, inCluster(r, fmt.Errorf("reading .%s: %w", field, err))
		}
		if count++; count == 1 || before(t, best) {
			written, best = s, t
		}
	}
	return written, count, nil
}

// cronJobStatus joins the lists of active Jobs and takes the latest times.
func cronJobStatus(template map[string]any, reports []report) (map[string]any, error) {
	var active []any
	for _, r := range reports {
		active = append(active, listAt(r.status, "active")...)
	}
	changes := map[string]any{"active": nil}
	if active != nil {
		changes["active"] = active
	}
	for _, field := range []string{"lastScheduleTime", "lastSuccessfulTime"} {
		latest, _, err := extreme(reports, field, time.Time.After)
		if err != nil {
			return nil, err
		}
		changes[field] = latest
	}
	return withStatus(template, changes), nil
}
