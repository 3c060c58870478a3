package argocd

import (
	"cmp"
	"errors"
	"fmt"
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
	s := Scripts{ConfigMap: configMap, ByKind: map[string]string{}}
	var wrong []Mistake
	from := map[string]string{} // keys, by the kind of the script
	if text := data[customizations]; text != "" {
		var all map[string]struct {
			Health string `json:"health.lua"`
		}
		if err := yaml.Unmarshal([]byte(text), &all); err != nil {
			wrong = append(wrong, Mistake{Key: customizations, Message: lua.Brief(err.Error())})
		}
		for kind, c := range all {
			if c.Health != "" {
				s.ByKind[kind], from[kind] = c.Health, customizations
			}
		}
	}
	for key, script := range data {
		name, is := strings.CutPrefix(key, healthOf)
		if !is || script == "" {
			continue
		}
		kind, err := kindOf(name)
		if err != nil {
			wrong = append(wrong, Mistake{Key: key, Message: err.Error()})
			continue
		}
		s.ByKind[kind], from[kind] = script, key
	}
	left := maxScripts
	for _, kind := range sorted(s.ByKind) {
		if left -= len(s.ByKind[kind]); left < 0 {
			wrong = append(wrong, Mistake{Key: from[kind], Kind: kind, Message: fmt.Sprintf("the scripts up to this one have over %d bytes together", maxScripts)})
			delete(s.ByKind, kind)
			continue
		}
		if _, err := lua.Compile(s.ByKind[kind]); err != nil {
			m := Mistake{Key: from[kind], Kind: kind, Shared: from[kind] == customizations, Message: err.Error()}
			if e, ok := errors.AsType[*lua.Error](err); ok {
				m.Line, m.Message = e.Line, e.Message
			}
			wrong = append(wrong, m)
		}
	}
	slices.SortStableFunc(wrong, func(a, b Mistake) int { return cmp.Compare(a.Key, b.Key) })
	return s, wrong
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

func sorted(scripts map[string]string) []string {
	names := make([]string, 0, len(scripts))
	for name := range scripts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
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
