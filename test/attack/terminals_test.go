//go:build e2e

package attack

import (
	"strings"
	"testing"
)

// TestAClustersWordsCommandTheTerminal has the agent of eu say escape codes: as the version of the cluster, in a
// condition, and in why its status does not count; and an author, as its region.
func TestAClustersWordsCommandTheTerminal(t *testing.T) {
	t.Parallel()
	const code = `\e]0;mine\a\e[2J`
	p := newPulled(t, nil, "eu")
	p.register("eu", p.keys["eu"], `, region: "r`+code+`"`)
	p.write(map[string]string{"object.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\n", "policy.yaml": everywhere})
	p.publishes()
	texts := observation("eu", "True")
	texts["observed/eu.yaml"] = strings.Replace(strings.Replace(texts["observed/eu.yaml"], "v1.35.0", `"v1`+code+`"`, 1), "it says so", `"m`+code+`"`, 1)
	p.says("waybill/observed/eu", numbered(now()), "eu", texts)
	p.says("waybill/status/eu", "status", "eu", map[string]string{"status.yaml": "metadata: {name: eu}\nstatus:\n  conditions:\n  - {type: Applied, status: \"False\", reason: \"R" + code + "\", message: \"M" + code + "\"}\n"})
	_, _, end := p.starts()
	p.becomes("eu", "v1")
	end()
	for _, args := range [][]string{
		{"get", "clusters"},
		{"get", "clusters", "-o", "wide"},
		{"get", "clusters", "-o", "yaml"},
		{"get", "clusters", "-o", "json"},
		{"status"},
		{"status", "-o", "wide"},
		{"status", "eu"},
		{"status", "eu", "-o", "yaml"},
	} {
		args = append(args, "-C", p.source, "--to", p.branches)
		if args[0] == "status" {
			args = append(args, "--status-repository", p.url)
		}
		out, code := p.run(args...)
		if strings.ContainsAny(out, "\x1b\a") {
			t.Errorf("waybill %s prints %q", strings.Join(args, " "), out)
		}
		if code > 1 {
			t.Errorf("waybill %s ends with %d:\n%s", strings.Join(args, " "), code, out)
		}
	}
}

// everywhere is a policy for ConfigMaps.
const everywhere = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\n" +
	"spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n"
