//go:build e2e && !race

package hostile

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/program"
)

// many is a source with very many of one thing, each of them valid. The main process, which
// has no walls, reads, matches and applies them; it may take as much as is said here, counted
// by the kernel. Time on the clock, which depends on who else uses the machine, is no bound.
type many struct {
	name   string
	files  map[string]string
	memory int // MiB
	cpu    int // seconds of processor time
	status int
	says   []string
}

const (
	memberFiles = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull, region: eu}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull, region: us}
`
	policyHead   = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: all, namespace: a}\nspec:\n  resourceSelectors:\n  - {apiVersion: v1, kind: ConfigMap}\n  - {apiVersion: apps/v1, kind: Deployment}\n"
	overrideHead = "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: apps/v1, kind: Deployment}]\n  overrideRules:\n"
	workload     = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: a}\nspec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n"
)

// each repeats a text, in which every %d is the number of the repetition.
func each(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	return b.String()
}

// with returns a source of a workload on two clusters, and more files.
func with(more map[string]string) map[string]string {
	files := map[string]string{"clusters.yaml": memberFiles, "policy.yaml": policyHead, "web.yaml": workload}
	maps.Copy(files, more)
	return files
}

func multitudes() []many {
	const (
		policyOf   = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p%d, namespace: a}\nspec:\n  priority: 7\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {n: v%d}}}]\n---\n"
		overrideOf = "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o%d, namespace: a}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n  overrideRules:\n  - overriders: {labelsOverrider: [{operator: add, value: {l%d: x}}]}\n---\n"
		clusterOf  = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: ${x}%d, labels: {n: v%d}}\nspec: {syncMode: Pull, region: r%d, taints: [{key: k%d, effect: NoSchedule}]}\n---\n"
		objectOf   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n%d, namespace: a}\ndata: {k: v}\n---\n"
	)
	spread := strings.Replace(policyHead, "spec:\n", "spec:\n  placement: {clusterTolerations: [{operator: Exists}], spreadConstraints: [{spreadByField: region, maxGroups: 50, minGroups: 2}, {spreadByField: cluster, maxGroups: 200, minGroups: 2}]}\n", 1)
	ignoring := func(patterns string) map[string]string {
		files := with(map[string]string{".waybillignore": patterns})
		for i := range 300 {
			files[fmt.Sprintf("deep/er/d%d/f.yaml", i)] = strings.ReplaceAll(objectOf, "%d", strconv.Itoa(i))
		}
		return files
	}
	ignored := ignoring(each(20_000, "**/*a%d*b/**/x*.yaml\n"))
	return []many{
		{name: "override policies", files: with(map[string]string{"o.yaml": each(4_000, overrideOf)}), memory: 600, cpu: 20},
		{name: "rules of an override policy", files: with(map[string]string{"o.yaml": overrideHead + each(4_000, "  - targetCluster: {clusterNames: [eu]}\n    overriders: {annotationsOverrider: [{operator: add, value: {l%d: x}}]}\n")}), memory: 600, cpu: 20},
		{name: "labels of a rule", files: with(map[string]string{"o.yaml": overrideHead + "  - overriders:\n      labelsOverrider:\n" + each(50_000, "      - {operator: add, value: {l%d: x}}\n")}), memory: 1000, cpu: 20},
		{name: "arguments of a rule", files: with(map[string]string{"o.yaml": overrideHead + "  - overriders:\n      argsOverrider:\n" + each(20_000, "      - {containerName: c, operator: add, value: [--x%d]}\n")}), memory: 800, cpu: 20},
		{name: "rules of arguments", files: with(map[string]string{"o.yaml": overrideHead + each(1_500, "  - overriders: {argsOverrider: [{containerName: c, operator: add, value: ["+each(100, "--x%d,")+"]}]}\n")}), memory: 800, cpu: 20},
		{name: "rules of patches", files: with(map[string]string{"o.yaml": overrideHead + each(4_000, "  - overriders: {plaintext: [{path: /metadata/annotations/x%d, operator: add, value: "+strings.Repeat("x", 200)+"}]}\n")}), memory: 800, cpu: 20},
		{name: "overriders of a policy", files: with(map[string]string{"o.yaml": overrideHead + "  - overriders:\n      labelsOverrider:\n" + each(50_001, "      - {operator: add, value: {l%d: x}}\n")}), memory: 1000, cpu: 20, status: 1, says: []string{"o.yaml:", "50001 overriders; an override policy may have at most 50000 [too-many-overriders]"}},
		{name: "patches of a rule", files: with(map[string]string{"o.yaml": overrideHead + "  - overriders:\n      plaintext:\n" + each(4_000, "      - {path: /spec/template/metadata/labels/x%d, operator: add, value: x}\n")}), memory: 600, cpu: 20},
		{name: "policies and objects", files: with(map[string]string{"p.yaml": each(4_000, policyOf), "o.yaml": each(2_000, objectOf)}), memory: 800, cpu: 40, says: []string{"2001 templates, 4002 manifests placed"}},
		{name: "selectors of a policy", files: with(map[string]string{"p.yaml": policyHead + each(20_000, "  - {apiVersion: v1, kind: ConfigMap, name: x%d}\n"), "policy.yaml": "", "o.yaml": each(2_000, objectOf)}), memory: 800, cpu: 40},
		{name: "clusters", files: with(map[string]string{
			"policy.yaml": spread, "a.yaml": strings.ReplaceAll(each(4_900, clusterOf), "${x}", "a"), "b.yaml": strings.ReplaceAll(each(4_900, clusterOf), "${x}", "b"), "o.yaml": each(50, objectOf),
		}), memory: 1000, cpu: 40, says: []string{"9802 clusters, 51 templates"}},
		{name: "names of clusters", files: with(map[string]string{"policy.yaml": policyHead + "  placement:\n    clusterAffinity:\n      clusterNames:\n      - eu\n" + each(50_000, "      - nosuch-%d\n"), "o.yaml": each(100, objectOf)}), memory: 1000, cpu: 40},
		{name: "ignore patterns", files: ignored, memory: 600, cpu: 40},
		{name: "ignored names", files: ignoring(each(100_000, "name-%d.yaml\n/apps/%d/\n")), memory: 800, cpu: 20},
		{name: "ignore patterns that are too much", files: ignoring(each(400_000, "*f*?%d\n")), memory: 600, cpu: 40, status: 1, says: []string{".waybillignore: error: its patterns have to be tried more than", "[bad-config]"}},
		{name: "documents", files: with(map[string]string{"o.yaml": each(5_001, objectOf)}), memory: 600, cpu: 20, status: 1, says: []string{"o.yaml:", "over 5000 documents"}},
		{name: "quotas", files: with(map[string]string{"q.yaml": each(4_000, "apiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {name: q%d, namespace: a}\nspec: {overall: {cpu: \"100\"}}\n---\n")}), memory: 600, cpu: 20},
	}
}

// bounded runs a program that may take so much memory, in MiB, and processor time, in
// seconds, and is killed when it takes more.
func bounded(t *testing.T, memory, cpu int, dir string, program ...string) (said string, state *os.ProcessState) {
	t.Helper()
	script := fmt.Sprintf(`ulimit -c 0; ulimit -d %d; ulimit -t %d; exec "$@"`, memory<<10, cpu)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", script, "sh"}, program...)...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState
}

// TestTheMainProcessBearsMany validates each source with the program that users run.
func TestTheMainProcessBearsMany(t *testing.T) {
	waybill := program.Build(t)
	for _, m := range multitudes() {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range m.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			said, state := bounded(t, m.memory, m.cpu, dir, waybill, "validate", "--for", "publish")
			if state.ExitCode() != m.status {
				t.Errorf("the status is %d (%s), want %d:\n%.2000s", state.ExitCode(), state, m.status, said)
			}
			for _, part := range append(m.says, " manifests placed; ") {
				if !strings.Contains(said, part) {
					t.Errorf("it does not say %q:\n%.2000s", part, said)
				}
			}
			usage := state.SysUsage().(*syscall.Rusage)
			t.Logf("%s of processor time, %d MiB", (state.UserTime() + state.SystemTime()).Round(10*time.Millisecond), usage.Maxrss>>10)
		})
	}
}

// TestBoundsBite makes sure that what takes more than it may is killed.
func TestBoundsBite(t *testing.T) {
	if said, state := bounded(t, 600, 1, "", "/bin/sh", "-c", "while :; do :; done"); state.Exited() {
		t.Errorf("more time than it may have, and it %s: %s", state, said)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if said, state := bounded(t, 16, 10, "", program, "-test.run=^$"); state.Success() {
		t.Errorf("more memory than it may have, and it %s: %s", state, said)
	}
	if said, state := bounded(t, 600, 10, "", program, "-test.run=^$"); !state.Success() {
		t.Errorf("within its bounds it %s: %s", state, said)
	}
}
