package argocd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// Scripts are the health scripts of a ConfigMap like argocd-cm.
type Scripts struct {
	// ConfigMap is the one that they are from, as namespace/name.
	ConfigMap string `json:"configMap"`
	// ByKind has them by group/Kind, or Kind for the core group. A key may be a pattern, in which *
	// stands for any text.
	ByKind map[string]string `json:"scripts"`
}

// Mistake is what is wrong with a script, or with the key that it stands at.
type Mistake struct {
	Key     string // of the ConfigMap
	Kind    string // as in Scripts; empty where that is not known
	Line    int    // of the script, from 1; 0 if it is not known
	Shared  bool   // the key has the scripts of several kinds
	Message string
}

// String says where the mistake is, and what.
func (m Mistake) String() string {
	where := m.Key
	if m.Kind != "" {
		where += " (" + m.Kind + ")"
	}
	if m.Line > 0 {
		where += fmt.Sprintf(", line %d of the script", m.Line)
	}
	return where + ": " + m.Message
}

// Where Argo CD looks for scripts: one a key, behind which the kind stands, and all in one.
const (
	customizations = "resource.customizations"
	healthOf       = customizations + ".health."
)

// maxScripts is how many bytes the scripts of a ConfigMap may have together, and maxSpent how many
// steps they may take in a round beyond what each may take by itself: as for customizations.
const (
	maxScripts = 1 << 20
	maxSpent   = 100_000_000
)

// Read reads the health scripts of a ConfigMap, as Argo CD does. A key for one kind comes before the
// key for all. A script that does not compile is a mistake, and among the scripts: whoever is judged
// by it hears of it.
func Read(configMap string, data map[string]string) (Scripts, []Mistake) {
	r := reader{scripts: map[string]string{}, from: map[string]string{}}
	r.block(data[customizations])
	for key, script := range data {
		if name, is := strings.CutPrefix(key, healthOf); is && script != "" {
			r.one(key, name, script)
		}
	}
	r.compile()
	slices.SortStableFunc(r.wrong, func(a, b Mistake) int { return cmp.Compare(a.Key, b.Key) })
	return Scripts{ConfigMap: configMap, ByKind: r.scripts}, r.wrong
}

// reader reads a ConfigMap.
type reader struct {
	scripts map[string]string // by kind
	from    map[string]string // keys, by the kind of the script
	wrong   []Mistake
}

// block reads the key that has the scripts of several kinds.
func (r *reader) block(text string) {
	var all map[string]struct {
		Health string `json:"health.lua"`
	}
	if err := yaml.Unmarshal([]byte(text), &all); err != nil {
		r.wrong = append(r.wrong, Mistake{Key: customizations, Message: lua.Brief(err.Error())})
	}
	for kind, c := range all {
		if c.Health != "" {
			r.scripts[kind], r.from[kind] = c.Health, customizations
		}
	}
}

// one reads a key that has the script of one kind.
func (r *reader) one(key, name, script string) {
	kind, err := kindOf(name)
	if err != nil {
		r.wrong = append(r.wrong, Mistake{Key: key, Message: err.Error()})
		return
	}
	r.scripts[kind], r.from[kind] = script, key
}

// compile finds what is wrong with scripts, and leaves out those beyond what all may have.
func (r *reader) compile() {
	left := maxScripts
	for _, kind := range slices.Sorted(maps.Keys(r.scripts)) {
		m := Mistake{Key: r.from[kind], Kind: kind, Shared: r.from[kind] == customizations}
		if left -= len(r.scripts[kind]); left < 0 {
			m.Message = fmt.Sprintf("the scripts up to this one have over %d bytes together", maxScripts)
			r.wrong = append(r.wrong, m)
			delete(r.scripts, kind)
			continue
		}
		_, err := lua.Compile(r.scripts[kind])
		if e, ok := errors.AsType[*lua.Error](err); ok {
			m.Line, m.Message = e.Line, e.Message
			r.wrong = append(r.wrong, m)
		}
	}
}

// kindOf reads the end of a key: group_Kind, Kind for the core group, or all.
func kindOf(name string) (string, error) {
	switch parts := strings.Split(name, "_"); {
	case name == "all":
		return "*/*", nil
	case len(parts) == 2 && parts[0] != "" && parts[1] != "":
		return parts[0] + "/" + parts[1], nil
	case len(parts) == 1 && name != "":
		return name, nil
	}
	return "", fmt.Errorf("%q is no group_Kind, and no Kind of the core group", name)
}

// Rules are the scripts as rules, each named by its ConfigMap and its kind.
func (s *Scripts) Rules() *Rules {
	r := &Rules{exact: map[string]*Rule{}, budget: lua.NewBudget(maxSpent)}
	for kind, text := range s.ByKind {
		rule := &Rule{Name: "ConfigMap " + s.ConfigMap + " " + kind, source: func() string { return text }, budget: r.budget}
		r.exact[kind] = rule
		if strings.ContainsAny(kind, `*?[{\`) {
			r.add(kind, rule)
		}
	}
	r.sort()
	return r
}

// Renew gives rules back what they have spent; those of Argo CD's own spend nothing.
func (r *Rules) Renew() {
	if r != nil && r.budget != nil {
		r.budget.Renew()
	}
}
