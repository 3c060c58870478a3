package render_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render"
)

// TestBoundsOfAConfig: what is just within is taken, and what is just beyond is a mistake, of which the field and the value are named.
func TestBoundsOfAConfig(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"charts: {hosts: ['https://charts.example.com', 'http://charts.example.com:8080/x'], private: [10.0.0.0/8]}", ""},
		{"charts: {hosts: [charts.example.com]}", `spec.charts.hosts holds "charts.example.com"; want https://HOST`},
		{"charts: {hosts: ['ftp://charts.example.com']}", `spec.charts.hosts holds "ftp://charts.example.com"; want https://HOST`},
		{"charts: {hosts: ['https:///x']}", `spec.charts.hosts holds "https:///x"; want https://HOST`},
		{"charts: {hosts: ['https://a b']}", `spec.charts.hosts holds "https://a b"; want https://HOST`},
		{"charts: {private: [10.0.0.1]}", `spec.charts.private holds "10.0.0.1"; want a range of addresses, as 10.0.0.0/8`},
		{"health: {argocdConfigMap: argocd/argocd-cm}", ""},
		{"health: {argocdConfigMap: argocd-cm}", `spec.health.argocdConfigMap is "argocd-cm"; want the namespace and the name of a ConfigMap`},
		{"health: {argocdConfigMap: argo.cd/argocd-cm}", `spec.health.argocdConfigMap is "argo.cd/argocd-cm"; want the namespace`},
		{"health: {argocdConfigMap: argocd/argocd_cm}", `spec.health.argocdConfigMap is "argocd/argocd_cm"; want the namespace`},
		{"health: {prefer: flux}", `spec.health.prefer is "flux"; want one of both, karmada, argocd`},
		{"previews: {forks: always}", `spec.previews.forks is "always"; want one of open, approved, never`},
		{"publish: {hooks: keep}", `spec.publish.hooks is "keep"; want one of drop, argocd`},
		{"namespaces: some", `spec.namespaces is "some"; want one of used, all, none`},
		{"flux: {self: [GitRepository/flux-system/flux-system]}", ""},
		{"flux: {self: [flux-system]}", `spec.flux.self holds "flux-system"; want Kind/namespace/name, as GitRepository/flux-system/flux-system`},
		{"guard: {maxRemoved: 0, maxRemovedPercent: 0}", ""},
		{"guard: {maxRemovedPercent: 100}", ""},
		{"guard: {maxRemoved: -1}", "spec.guard allows -1 objects or 20 percent"},
		{"guard: {maxRemovedPercent: -1}", "spec.guard allows 10 objects or -1 percent"},
		{"failover: {limits: {unhealthyThreshold: 0, largeFleetUnhealthyThreshold: 100}}", ""},
		{"failover: {limits: {unhealthyThreshold: -1}}", "spec.failover.limits has thresholds of -1 and 30 percent; want 0 to 100"},
		{"failover: {limits: {largeFleetUnhealthyThreshold: -1}}", "spec.failover.limits has thresholds of 55 and -1 percent; want 0 to 100"},
		{"failover: {limits: {largeFleetUnhealthyThreshold: 101}}", "spec.failover.limits has thresholds of 55 and 101 percent; want 0 to 100"},
		{"failover: {limits: {oneIn: 1}, gracefulEvictionTimeout: 0s}", ""},
		{"failover: {evictionRate: -0.5}", "spec.failover.evictionRate is -0.5; want more than 0 in a second"},
		{"publish: {moves: {wait: 0s, timeout: 0s}}", ""},
		{
			"rollout: {windows: [{kind: deny, schedule: '* * * * *', duration: 1h, stages: ['*']}]}",
			`spec.rollout.windows[0] has no strategies, or no stages`,
		},
		{
			"rollout: {windows: [{kind: deny, schedule: '* * * * *', duration: 1h, stages: ['*'], strategies: ['[']}]}",
			`has "[", which is no pattern`,
		},
		{"rollout: {commands: {signers: .}}", `spec.rollout.commands.signers is "."; want a file of the source`},
		{"rollout: {commands: {signers: a/../b}}", `spec.rollout.commands.signers is "a/../b"; want a file of the source`},
		{"skipNamespaces: ['']", `spec.skipNamespaces holds "": it is empty; want a namespace`},
		{"publish: {layout: folders, branch: fleet}", ""},
		{"publish: {branch: 'a..b'}", ""}, // which is not used
	} {
		_, ds := render.ParseConfig([]byte(configHead + "spec: {" + tt.spec + "}\n"))
		got := ""
		if len(ds) > 0 {
			got = ds[0].Message
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: it says %q, want %q", tt.spec, got, tt.want)
		}
		if len(ds) > 0 && (ds[0].Pos.Line != 3 || ds[0].Hint == "") {
			t.Errorf("%s: it is said at line %d, with the hint %q", tt.spec, ds[0].Pos.Line, ds[0].Hint)
		}
	}
}

// TestALineOfAScheduleIsKnown, for only what reads it can say that it is none.
func TestALineOfAScheduleIsKnown(t *testing.T) {
	c, ds := render.ParseConfig([]byte(configHead + "spec:\n  updates:\n    schedule:\n    - 0 6 * * *\n    # at noon\n    - 0 12 * * *\n"))
	if lines := c.Updates.Lines; len(ds) > 0 || len(lines) != 2 || lines[0] != 6 || lines[1] != 8 {
		t.Errorf("the lines are %v; %v", lines, ds)
	}
}
