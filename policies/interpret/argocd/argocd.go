// Package argocd judges objects by Argo CD's health rules: one Lua script a kind, out of Argo CD's
// own module, which imports nothing but embed, or out of a ConfigMap like argocd-cm.
//
// A script is given the live object as the global obj, and returns a table with a status and a
// message, as Argo CD's documentation of custom health checks says. It runs in package lua: with
// the base functions, string, table and math, an os without a clock, and the limits of all scripts.
package argocd

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	rules "github.com/argoproj/argo-cd/v3/resource_customizations"
	"github.com/gobwas/glob"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// Source is what the built-in rules are named by, with the version of their module.
const Source = "argo-cd v3.5.0"

// Files returns the built-in scripts, each group/Kind/health.lua, beside their cases. In the name
// of a folder _ stands for any text, as * does elsewhere.
func Files() fs.FS { return rules.Embedded }

// Status is what a script says of an object, in Argo CD's words.
type Status string

// The statuses of Argo CD.
const (
	Healthy     Status = "Healthy"
	Progressing Status = "Progressing" // it is not healthy yet, and may become so
	Degraded    Status = "Degraded"    // it failed, or does not become healthy in time
	Suspended   Status = "Suspended"   // it waits for somebody to go on
	Missing     Status = "Missing"
	Unknown     Status = "Unknown"
)

var statuses = []Status{Healthy, Progressing, Degraded, Suspended, Missing, Unknown}

// Verdict is what a script says of an object. One that says nothing has no status.
type Verdict struct {
	Status  Status
	Message string
}

// Rules are rules by kind.
type Rules struct {
	exact  map[string]*Rule // by group/Kind, or Kind for the core group
	wild   []wildcard       // the longest pattern first, and of equal ones the lowest
	budget *lua.Budget      // that they draw on together; nil for none
}

type wildcard struct {
	pattern string
	matches glob.Glob
	rule    *Rule
}

// Rule is the rule for a kind. It is safe for concurrent use.
type Rule struct {
	// Name is its source and its key: "argo-cd v3.5.0 argoproj.io/Rollout".
	Name   string
	source func() string
	budget *lua.Budget
	once   sync.Once
	code   *lua.Script
	err    error
}

// Builtin are Argo CD's own rules. Their scripts are compiled when a kind is first met.
var Builtin = sync.OnceValue(func() *Rules {
	names, err := fs.Glob(rules.Embedded, "*/*/health.lua")
	if err != nil {
		panic("argocd: a pattern that never changes is wrong: " + err.Error())
	}
	r := &Rules{exact: map[string]*Rule{}}
	for _, name := range names {
		key := strings.TrimSuffix(name, "/health.lua")
		rule := &Rule{Name: Source + " " + key, source: func() string {
			text, err := fs.ReadFile(rules.Embedded, name)
			if err != nil {
				panic("argocd: " + err.Error())
			}
			return string(text)
		}}
		if strings.Contains(key, "_") { // segments apart, as paths
			r.add(strings.ReplaceAll(key, "_", "*"), rule, '/')
		} else {
			r.exact[key] = rule
		}
	}
	r.sort()
	return r
})

// add adds a rule for the kinds that a pattern matches.
func (r *Rules) add(pattern string, rule *Rule, separators ...rune) {
	g, err := glob.Compile(pattern, separators...)
	if err != nil {
		return // nothing matches it, as in Argo CD
	}
	r.wild = append(r.wild, wildcard{pattern, g, rule})
}

func (r *Rules) sort() {
	slices.SortFunc(r.wild, func(a, b wildcard) int {
		if len(a.pattern) != len(b.pattern) {
			return len(b.pattern) - len(a.pattern)
		}
		return strings.Compare(a.pattern, b.pattern)
	})
}

// For returns the rule for a kind: that for exactly this one, before one whose pattern matches; nil
// if there is none. No rule is for Secrets: what a script says is seen by others than those who
// may read Secrets. Nil rules have none.
func (r *Rules) For(group, kind string) *Rule {
	if r == nil || group == "" && kind == "Secret" {
		return nil
	}
	key := kind
	if group != "" {
		key = group + "/" + kind
	}
	if rule := r.exact[key]; rule != nil {
		return rule
	}
	for _, w := range r.wild {
		if w.matches.Match(key) {
			return w.rule
		}
	}
	return nil
}

// Judge judges a live object. An error says which rule failed, and why.
func (r *Rule) Judge(live map[string]any) (Verdict, error) {
	results, err := r.run(live)
	if err != nil {
		return Verdict{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	v, err := verdict(results)
	if err != nil {
		return Verdict{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	return v, nil
}

func (r *Rule) run(live map[string]any) ([]any, error) {
	code, err := r.compiled()
	switch {
	case err != nil:
		return nil, err
	case r.budget != nil:
		return r.budget.Answer().Run(code, lua.Kube{}, "obj", live)
	default:
		return code.Run(lua.Kube{}, "obj", live)
	}
}

func (r *Rule) compiled() (*lua.Script, error) {
	r.once.Do(func() { r.code, r.err = lua.Compile(r.source()) })
	return r.code, r.err
}

// verdict reads what a script returned: the last of it, as Argo CD.
func verdict(results []any) (Verdict, error) {
	if len(results) == 0 || results[len(results)-1] == nil {
		return Verdict{}, nil
	}
	m, ok := results[len(results)-1].(map[string]any)
	if !ok {
		return Verdict{}, fmt.Errorf("it returned a %T, want a table with a status and a message", results[len(results)-1])
	}
	if len(m) == 0 {
		return Verdict{}, nil
	}
	status, _ := m["status"].(string)
	message, _ := m["message"].(string)
	if !slices.Contains(statuses, Status(status)) {
		return Verdict{}, fmt.Errorf("it returned the status %.40q, want one of %v", status, statuses)
	}
	return Verdict{Status(status), message}, nil
}
