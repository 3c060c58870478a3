// Package cell writes what stands in a column of what the commands print.
package cell

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
)

// Short lists names in the width of a column: "a,b,+3".
func Short(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ",")
	}
	return fmt.Sprintf("%s,+%d", strings.Join(names[:most], ","), len(names)-most)
}

// Commit shortens the id of a commit.
func Commit(commit string) string { return commit[:min(12, len(commit))] }

// Dash stands in a column for nothing.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Age is how long ago something was.
func Age(at *time.Time, now time.Time) string {
	if at == nil || at.IsZero() {
		return "-"
	}
	return duration.HumanDuration(now.Sub(*at))
}

// Targets prints clusters, each with its replicas if it has any.
func Targets(ts []schedule.Target) []string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = t.Name
		if t.Replicas > 0 {
			names[i] += ":" + strconv.Itoa(int(t.Replicas))
		}
	}
	return names
}
