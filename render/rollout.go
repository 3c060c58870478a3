package render

import (
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/render/applying"
	"github.com/waybill-dev/waybill/render/object"
)

// Rollout says by which strategies changes reach clusters in stages, and what they wait for.
type Rollout struct {
	// Default is the ClusterStagedUpdateStrategy of what no annotation and no rule binds; empty, or "none": none.
	Default string `json:"default"`
	// Rules bind policies by their labels. The first that selects a policy counts.
	Rules []RolloutRule `json:"rules"`
	// Evidence is what says that a cluster has a change and is healthy: status, commitStatus and timed. The
	// first that speaks for a cluster counts.
	Evidence []string `json:"evidence"`
	// Windows are when clusters may get a change.
	Windows      []RolloutWindow `json:"windows"`
	Commands     RolloutCommands `json:"commands"`
	Bypass       string          `json:"bypass"` // BypassAllowed, BypassSigned or BypassNever
	CommitStatus CommitStatus    `json:"commitStatus"`
	// DefaultLine is the line of Default; 0 if it is not written.
	DefaultLine int `json:"-"`
}

// RolloutRule binds the policies that have some labels.
type RolloutRule struct {
	Policies metav1.LabelSelector `json:"policies"`
	Strategy string               `json:"strategy"` // a ClusterStagedUpdateStrategy, or "none"
	Line     int                  `json:"-"`
}

// RolloutWindow is a time at which clusters get changes, or get none, in the words of Argo CD's sync windows.
type RolloutWindow struct {
	Kind       string          `json:"kind"`     // WindowAllow or WindowDeny
	Schedule   string          `json:"schedule"` // a cron line
	Duration   metav1.Duration `json:"duration"`
	TimeZone   string          `json:"timeZone"`   // of the IANA database; empty is UTC
	Strategies []string        `json:"strategies"` // names, with wildcards; "none" is what has no strategy
	Stages     []string        `json:"stages"`     // names, with wildcards; "all" is the one of what has no strategy
	Line       int             `json:"-"`
}

// RolloutCommands say which commands of people count.
type RolloutCommands struct {
	// Signed takes only signed commits, by keys that Signers lists, a file of the source.
	Signed  bool   `json:"signed"`
	Signers string `json:"signers"`
	// NotAuthor refuses an approval by an author of what is approved.
	NotAuthor bool `json:"notAuthor"`
}

// CommitStatus says whose commit statuses are believed. Whoever may write one may speak for every cluster.
type CommitStatus struct {
	Creators []string `json:"creators"` // accounts of the forge; none: no commit status counts
}

// NoStrategy is the name by which a policy says that it has no strategy.
const NoStrategy = "none"

// What says that a cluster has a change and is healthy: its status branch, a commit status of a forge, or time alone since it
// was published.
const (
	EvidenceStatus       = "status"
	EvidenceCommitStatus = "commitStatus"
	EvidenceTimed        = "timed"
)

// Who may have a change reach all clusters at once.
const (
	BypassAllowed = "allowed"
	BypassSigned  = "signed"
	BypassNever   = "never"
)

// defaultRollout binds nothing.
func defaultRollout() Rollout {
	return Rollout{
		Evidence: []string{EvidenceStatus, EvidenceCommitStatus},
		Commands: RolloutCommands{Signers: ".waybill/allowed_signers"}, Bypass: BypassAllowed,
	}
}

// check names the first field with a problem.
func (r *Rollout) check() (field, problem string) {
	for i := range r.Rules {
		if p := r.Rules[i].problem(); p != "" {
			return fmt.Sprintf("rules[%d]", i), p
		}
	}
	for i := range r.Windows {
		if p := r.Windows[i].problem(); p != "" {
			return fmt.Sprintf("windows[%d]", i), p
		}
	}
	evidence := []string{EvidenceStatus, EvidenceCommitStatus, EvidenceTimed}
	for i, e := range r.Evidence {
		if !slices.Contains(evidence, e) || slices.Contains(r.Evidence[:i], e) {
			return "evidence", fmt.Sprintf("holds %q; want each of %s at most once", e, strings.Join(evidence, ", "))
		}
	}
	switch c := r.Commands; {
	case len(r.Evidence) == 0:
		return "evidence", "is empty; no stage would ever end"
	case !slices.Contains([]string{BypassAllowed, BypassSigned, BypassNever}, r.Bypass):
		return "bypass", fmt.Sprintf("is %q; want one of %s, %s, %s", r.Bypass, BypassAllowed, BypassSigned, BypassNever)
	case c.Signers != path.Clean(c.Signers) || path.IsAbs(c.Signers) || strings.HasPrefix(c.Signers, "..") || c.Signers == ".":
		return "commands.signers", fmt.Sprintf("is %q; want a file of the source, as .waybill/allowed_signers", c.Signers)
	case slices.Contains(r.CommitStatus.Creators, ""):
		return "commitStatus.creators", "holds an empty name; want accounts of the forge"
	}
	return "", ""
}

// problem says what is wrong with a rule, but for whether there is such a strategy.
func (r *RolloutRule) problem() string {
	if r.Strategy == "" {
		return "has no strategy; write the name of one, or none"
	}
	if _, err := metav1.LabelSelectorAsSelector(&r.Policies); err != nil {
		return fmt.Sprintf("selects by what cannot be read: %v", err)
	}
	return ""
}

// problem says what is wrong with a window, but for what only a reader of cron lines knows.
func (w *RolloutWindow) problem() string {
	switch {
	case w.Kind != applying.WindowAllow && w.Kind != applying.WindowDeny:
		return fmt.Sprintf("has the kind %q; want %s or %s", w.Kind, applying.WindowAllow, applying.WindowDeny)
	case w.Duration.Duration <= 0:
		return "has no duration, such as 1h30m"
	case w.Schedule == "":
		return "has no schedule"
	case len(w.Strategies) == 0 || len(w.Stages) == 0:
		return `has no strategies, or no stages; all are ["*"]`
	}
	for _, pattern := range slices.Concat(w.Strategies, w.Stages) {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Sprintf("has %q, which is no pattern", pattern)
		}
	}
	return ""
}

// Covers reports whether the window is of a stage of a strategy.
func (w *RolloutWindow) Covers(strategy, stage string) bool {
	matches := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
	}
	return matches(w.Strategies, strategy) && matches(w.Stages, stage)
}

// located notes the lines of what can only be judged beside all of the source.
func (r *Rollout) located(o *object.Object) {
	line := func(path ...any) int { return o.FieldPos(append([]any{"spec", "rollout"}, path...)).Line }
	if r.Default != "" {
		r.DefaultLine = line("default")
	}
	for i := range r.Rules {
		r.Rules[i].Line = line("rules", i, "strategy")
	}
	for i := range r.Windows {
		r.Windows[i].Line = line("windows", i, "schedule")
	}
}
