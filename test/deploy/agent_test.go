package deploy

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	charts "github.com/waybill-dev/waybill/deploy"
	"github.com/waybill-dev/waybill/test/peers"
)

const plainAgent = folder + "/waybill-agent.yaml"

// agentExamples are files of values of the agent's chart.
func agentExamples(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(folder + "/examples/agent/*.yaml")
	if err != nil || len(all) < 2 {
		t.Fatal(all, err)
	}
	return all
}

// agent is the agent's chart with the values of a file.
func agent(t *testing.T, file string) []string {
	t.Helper()
	values := map[string]any{}
	read(t, file, &values)
	texts, err := template(charts.Agent(), "waybill-agent", values)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func agentContainer(t *testing.T, file string) map[string]any {
	t.Helper()
	return agentPod(t, file)["containers"].([]any)[0].(map[string]any)
}

func agentPod(t *testing.T, file string) map[string]any {
	t.Helper()
	spec := objects(t, agent(t, file))["Deployment"]["spec"].(map[string]any)
	return spec["template"].(map[string]any)["spec"].(map[string]any)
}

func TestTheAgentsChartIsWhatHelmTemplateGives(t *testing.T) {
	for _, file := range agentExamples(t) {
		cmd := exec.CommandContext(t.Context(), peers.Build(t).Helm, "template", "waybill-agent", folder+"/agent", "--namespace", namespace, "--values", file)
		cmd.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=/dev/null"}
		theirs, err := peers.Output(cmd)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(objects(t, strings.Split(theirs, "\n---\n")), objects(t, agent(t, file))); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

func TestThePlainManifestsOfTheAgentAreThoseOfTheChart(t *testing.T) {
	isPlain(t, plainAgent, "# What deploy/agent renders to with deploy/examples/agent/https.yaml. Edit the name of the cluster, the\n# URLs of the repositories, the names of the Secrets and the image.\n",
		agent(t, folder+"/examples/agent/https.yaml"))
}

func TestAnAgentThatLacksSomethingIsRefused(t *testing.T) {
	branches := map[string]any{"url": "https://git.example.com/b.git"}
	for _, c := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{"repository": branches}, "cluster"},
		{map[string]any{"cluster": "eu-1"}, "url"},
		{map[string]any{"cluster": "eu-1", "repository": branches, "status": map[string]any{"url": "https://git.example.com/s.git"}}, "key is missing"},
		{map[string]any{"cluster": "eu-1", "repository": branches, "key": "k", "status": map[string]any{"url": "https://git.example.com/s.git", "shared": true}}, "keep one"},
		{map[string]any{"cluster": "eu-1", "repository": branches, "rbac": map[string]any{"clusterRole": ""}}, "both empty"},
		{map[string]any{"cluster": "eu-1", "repository": branches, "servicesOnly": true}, "books of endpoints are there"},
		{map[string]any{"cluster": "eu-1", "repository": branches, "key": "k", "status": map[string]any{"url": "https://git.example.com/s.git"}, "servicesOnly": true, "heartbeat": "git"}, "no heartbeats"},
		{map[string]any{"cluster": "eu-1", "repository": branches, "rbac": map[string]any{"rules": []any{map[string]any{"verbs": []any{"get"}}}}}, "keep one"},
	} {
		if _, err := template(charts.Agent(), "waybill-agent", c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: the error is %v, want %q", c.values, err, c.want)
		}
	}
}

// What the Pod Security Standard "restricted" asks of a pod, and a root file system that cannot be
// written to.
func TestTheAgentsPodIsRestricted(t *testing.T) {
	for _, file := range agentExamples(t) {
		pod, c := agentPod(t, file), agentContainer(t, file)
		want := map[string]any{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
			"capabilities": map[string]any{"drop": []any{"ALL"}},
		}
		if d := cmp.Diff(want, c["securityContext"]); d != "" {
			t.Errorf("%s: %s", file, d)
		}
		of := pod["securityContext"].(map[string]any)
		if of["runAsNonRoot"] != true || of["runAsUser"] == 0.0 || cmp.Diff(of["seccompProfile"], map[string]any{"type": "RuntimeDefault"}) != "" {
			t.Errorf("%s: the pod's security context is %v", file, of)
		}
		if pod["hostNetwork"] != nil || pod["hostPID"] != nil {
			t.Errorf("%s: the pod is %v", file, pod)
		}
	}
}

// With rules of its own an agent may do what they say, and what it needs to look around.
func TestTheAgentsRoleIsSmall(t *testing.T) {
	var rules []any
	for _, text := range agent(t, folder+"/examples/agent/rules.yaml") {
		all := objects(t, []string{text})
		if role := all["ClusterRole"]; role != nil {
			rules = role["rules"].([]any)
		}
		if binding := all["ClusterRoleBinding"]; binding != nil && binding["roleRef"].(map[string]any)["name"] != "waybill-agent" {
			t.Errorf("it is bound to %v", binding["roleRef"])
		}
	}
	if len(rules) != 7 {
		t.Fatalf("the rules are %v", rules)
	}
	for _, r := range rules[:6] {
		if of, _ := r.(map[string]any)["resources"].([]any); slices.Equal(of, []any{"endpointslices"}) {
			continue // those of other clusters are written
		}
		for _, verb := range r.(map[string]any)["verbs"].([]any) {
			if !slices.Contains([]any{"get", "list", "watch"}, verb) {
				t.Errorf("it may %v by %v", verb, r)
			}
		}
	}
}

// Where something else applies the branch, an agent that brings endpoints may ask who the cluster is, and change EndpointSlices.
func TestTheRoleOfAnAgentForServicesOnlyIsSmaller(t *testing.T) {
	file := folder + "/examples/agent/services.yaml"
	all := objects(t, agent(t, file))
	want := []any{
		map[string]any{"apiGroups": []any{""}, "resources": []any{"namespaces"}, "resourceNames": []any{"kube-system"}, "verbs": []any{"get"}},
		map[string]any{"apiGroups": []any{"discovery.k8s.io"}, "resources": []any{"endpointslices"}, "verbs": []any{"get", "list", "watch", "create", "patch", "delete"}},
	}
	if d := cmp.Diff(want, all["ClusterRole"]["rules"]); d != "" {
		t.Error(d)
	}
	if bound := all["ClusterRoleBinding"]["roleRef"].(map[string]any)["name"]; bound != "waybill-agent" {
		t.Errorf("it is bound to %v", bound)
	}
	var rules []any
	for _, r := range all["Role"]["rules"].([]any) {
		rules = append(rules, r.(map[string]any)["resources"])
	}
	if d := cmp.Diff([]any{[]any{"leases"}, []any{"leases"}}, rules); d != "" {
		t.Error(d)
	}
	if args := agentContainer(t, file)["args"].([]any); !slices.Contains(args, any("--services-only")) {
		t.Errorf("it runs with %v", args)
	}
}
