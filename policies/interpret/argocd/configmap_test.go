package argocd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret/argocd"
)

func says(status string) string { return fmt.Sprintf("return {status = %q}", status) }

// TestConfigMap reads the keys of a ConfigMap, and asks which script is for which kind.
func TestConfigMap(t *testing.T) {
	t.Parallel()
	scripts, wrong := argocd.Read("argocd/argocd-cm", map[string]string{
		"url": "https://argocd.example.com",
		"resource.customizations.health.example.com_Thing":      says("Healthy"),
		"resource.customizations.health.Pod":                    says("Progressing"),
		"resource.customizations.health.Secret":                 says("Healthy"),
		"resource.customizations.health.example.com_Empty":      "",
		"resource.customizations.useOpenLibs.example.com_Thing": "not a bool",
		"resource.customizations.actions.example.com_Other":     "discovery.lua: return {}",
		"resource.customizations": `
example.com/Thing: {health.lua: 'return {status = "Missing"}'}
example.com/Old: {health.lua: 'return {status = "Suspended"}', health.lua.useOpenLibs: true}
example.com/Actions: {actions: x}
"*.example.org/*": {health.lua: 'return {status = "Degraded"}'}
"b.example.org/*": {health.lua: 'return {status = "Unknown"}'}
"*.example.org/Bee": {health.lua: 'return {status = "Healthy"}'}
"*.example.[org/X": {health.lua: 'return {status = "Healthy"}'}
`,
	})
	if len(wrong) > 0 {
		t.Error(wrong)
	}
	rules := scripts.Rules()
	for kind, want := range map[string]string{
		"example.com/Thing":   "Healthy example.com/Thing",
		"example.com/Old":     "Suspended example.com/Old",
		"example.com/Other":   "",
		"example.com/Actions": "",
		"example.com/Empty":   "",
		"/Pod":                "Progressing Pod",
		"/Secret":             "",
		"apps/Pod":            "",
		"a.example.org/A":     "Degraded *.example.org/*",
		"b.example.org/A":     "Degraded *.example.org/*", // of those that are as long, the lowest
		"b.example.org/Bee":   "Healthy *.example.org/Bee",
		"a.b.example.org/A":   "Degraded *.example.org/*",
		"example.org/A":       "",
	} {
		group, name, _ := strings.Cut(kind, "/")
		got := ""
		if rule := rules.For(group, name); rule != nil {
			v, err := rule.Judge(map[string]any{})
			if err != nil {
				t.Error(err)
			}
			got = string(v.Status) + strings.TrimPrefix(rule.Name, "ConfigMap argocd/argocd-cm")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	all, _ := argocd.Read("a/b", map[string]string{"resource.customizations.health.all": says("Healthy")})
	if r := all.Rules(); r.For("example.com", "Any") == nil || r.For("", "Pod") != nil {
		t.Error("the key all is not for all kinds of groups")
	}
}

// TestWhatAScriptSays: a status that there is, and the last of what it returned; nothing is no verdict.
func TestWhatAScriptSays(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct {
		verdict argocd.Verdict
		err     string
	}{
		"return {status = 'Healthy', message = 'fine'}":            {verdict: argocd.Verdict{Status: argocd.Healthy, Message: "fine"}},
		"return {status = obj.kind, message = 3}":                  {verdict: argocd.Verdict{Status: argocd.Missing}},
		"return {status = 'Degraded'}, {status = 'Suspended'}":     {verdict: argocd.Verdict{Status: argocd.Suspended}},
		"return {status = 'Healthy'}, nil":                         {},
		"return nil":                                               {},
		"return {}":                                                {},
		"local a = 1":                                              {},
		"return {message = 'fine'}":                                {err: `it returned the status "", want one of`},
		"return {status = 'healthy'}":                              {err: `it returned the status "healthy", want one of`},
		"return 'Healthy'":                                         {err: "it returned a string, want a table with a status and a message"},
		"return obj.no.where":                                      {err: "line 1: "},
		"return {status = '" + strings.Repeat("x", 100) + "'}":     {err: `the status "` + strings.Repeat("x", 40) + `", want`},
		"return {status = 'Unknown', message = obj.metadata.name}": {verdict: argocd.Verdict{Status: argocd.Unknown, Message: "web"}},
	} {
		scripts, _ := argocd.Read("a/b", map[string]string{"resource.customizations.health.example.com_Thing": script})
		got, err := scripts.Rules().For("example.com", "Thing").Judge(map[string]any{"kind": "Missing", "metadata": map[string]any{"name": "web"}})
		if got != want.verdict || (err == nil) != (want.err == "") || err != nil && (!strings.HasPrefix(err.Error(), "ConfigMap a/b example.com/Thing: ") || !strings.Contains(err.Error(), want.err)) {
			t.Errorf("%s: %+v, %v; want %+v", script, got, err, want)
		}
	}
	var none *argocd.Rules
	none.Renew()
	if none.For("example.com", "Thing") != nil || argocd.Builtin().For("", "Secret") != nil || argocd.Builtin().For("argoproj.io", "Rollout") == nil {
		t.Error("there is a rule where there is none, or none where there is one")
	}
}

// TestMistakesInConfigMaps lists what is wrong with keys and scripts.
func TestMistakesInConfigMaps(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("-- "+strings.Repeat("x", 60_000)+"\n", 1) + says("Healthy")
	data := map[string]string{
		"resource.customizations.health.a_b_c":         says("Healthy"),
		"resource.customizations.health._Kind":         says("Healthy"),
		"resource.customizations.health.example.com_A": "local a\nif return",
		"resource.customizations":                      "example.com/B: {health.lua: 'return ='}",
	}
	scripts, wrong := argocd.Read("a/b", data)
	var got []string
	for _, m := range wrong {
		got = append(got, m.String())
	}
	want := []string{
		"resource.customizations (example.com/B), line 1 of the script: syntax error near '='",
		`resource.customizations.health._Kind: "_Kind" is no group_Kind, and no Kind of the core group`,
		`resource.customizations.health.a_b_c: "a_b_c" is no group_Kind, and no Kind of the core group`,
		"resource.customizations.health.example.com_A (example.com/A), line 2 of the script: syntax error near 'return'",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := scripts.Rules().For("example.com", "A").Judge(map[string]any{}); err == nil || err.Error() != "ConfigMap a/b example.com/A: line 2: syntax error near 'return'" {
		t.Errorf("the rule says %v", err)
	}
	if _, wrong := argocd.Read("a/b", map[string]string{"resource.customizations": "a: ["}); len(wrong) != 1 || wrong[0].Key != "resource.customizations" {
		t.Errorf("a block that is no YAML: %v", wrong)
	}
	many := map[string]string{}
	for i := range 20 {
		many[fmt.Sprintf("resource.customizations.health.example.com_K%02d", i)] = long
	}
	scripts, wrong = argocd.Read("a/b", many)
	if len(wrong) != 3 || !strings.Contains(wrong[0].Message, "over 1048576 bytes together") || scripts.ByKind["example.com/K17"] != "" {
		t.Errorf("20 scripts of 60 KB: %v", wrong)
	}
}

// TestScriptsShareABudget: scripts that take many steps fail once they have taken what there is, and
// cheap ones do not.
func TestScriptsShareABudget(t *testing.T) {
	t.Parallel()
	scripts, _ := argocd.Read("a/b", map[string]string{
		"resource.customizations.health.example.com_Dear":  "local s = ('x'):rep(1e6) for i = 1, 11 do s = s:upper() end " + says("Healthy"),
		"resource.customizations.health.example.com_Cheap": says("Healthy"),
	})
	rules := scripts.Rules()
	var err error
	n := 0
	for ; err == nil && n < 50; n++ {
		_, err = rules.For("example.com", "Dear").Judge(map[string]any{})
	}
	if err == nil || !strings.Contains(err.Error(), "steps that they may take together") {
		t.Errorf("after %d runs: %v", n, err)
	}
	if _, err := rules.For("example.com", "Cheap").Judge(map[string]any{}); err != nil {
		t.Error(err)
	}
	if rules.Renew(); err != nil {
		_, err = rules.For("example.com", "Dear").Judge(map[string]any{})
	}
	if err != nil {
		t.Errorf("in the next round: %v", err)
	}
}
