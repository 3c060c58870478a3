// Package deploy holds the chart of the controller against helm template, against the
// controller's own flags, and against what a namespace with restricted pod security admits.
package deploy

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/helm/charts"
	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/program"
)

var update = flag.Bool("update", false, "rewrite the plain manifests")

const (
	folder    = "../../deploy"
	chart     = folder + "/chart"
	plain     = folder + "/waybill.yaml"
	namespace = "waybill"
)

// examples are files of values.
func examples(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(folder + "/examples/*.yaml")
	if err != nil || len(all) < 2 {
		t.Fatal(all, err)
	}
	return all
}

// rendered is the chart with the values of a file, as Waybill renders it.
func rendered(t *testing.T, file string) ([]string, error) {
	t.Helper()
	values := map[string]any{}
	if file != "" {
		read(t, file, &values)
	}
	return template(os.DirFS(chart), "waybill", values)
}

// template renders a chart as Waybill does.
func template(chart fs.FS, release string, values map[string]any) ([]string, error) {
	out, err := charts.Template(chart, helm.Release{Name: release, Namespace: namespace, Values: helm.NewValues(values)})
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(out.Manifests))
	for i, m := range out.Manifests {
		texts[i] = string(m.Data)
	}
	return texts, nil
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// objects decodes manifests, by kind.
func objects(t *testing.T, texts []string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, text := range texts {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		if kind, ok := o["kind"].(string); ok {
			all[kind] = o
		}
	}
	return all
}

func TestTheChartIsWhatHelmTemplateGives(t *testing.T) {
	for _, file := range examples(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ours, err := rendered(t, file)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), peers.Build(t).Helm, "template", "waybill", chart, "--namespace", namespace, "--values", file)
			cmd.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=/dev/null"}
			theirs, err := peers.Output(cmd)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(objects(t, strings.Split(theirs, "\n---\n")), objects(t, ours)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAChartWithoutASourceIsRefused(t *testing.T) {
	if _, err := rendered(t, ""); err == nil || !strings.Contains(err.Error(), "source") {
		t.Errorf("the error is %v", err)
	}
}

// The plain manifests are for who does not use Helm.
func TestThePlainManifestsAreThoseOfTheChart(t *testing.T) {
	texts, err := rendered(t, folder+"/examples/https.yaml")
	if err != nil {
		t.Fatal(err)
	}
	isPlain(t, plain, "# What deploy/chart renders to with deploy/examples/https.yaml. Edit the URL of the repository,\n# the name of the Secret and the image.\n", texts)
}

// isPlain holds a file to a comment and manifests.
func isPlain(t *testing.T, file, comment string, texts []string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(comment)
	for _, text := range texts {
		b.WriteString("---\n" + strings.TrimRight(text, "\n") + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b.String(), string(got)); d != "" {
		t.Error(d)
	}
}

func TestTheCommandsKnowTheirArguments(t *testing.T) {
	waybill := program.Build(t)
	for _, file := range examples(t) {
		args, _ := container(t, file)["args"].([]any)
		if len(args) < 4 {
			t.Fatalf("%s: the arguments are %v", file, args)
		}
		knows(t, waybill, "controller", args[2:])
	}
	for _, file := range agentExamples(t) {
		args, _ := agentContainer(t, file)["args"].([]any)
		if len(args) < 4 {
			t.Fatalf("%s: the arguments are %v", file, args)
		}
		knows(t, waybill, "agent", args[1:])
	}
}

// knows fails the test if a command does not know an argument.
func knows(t *testing.T, waybill, command string, args []any) {
	t.Helper()
	help, err := exec.CommandContext(t.Context(), waybill, command, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`).FindAllStringSubmatch(string(help), -1) {
		known = append(known, m[1])
	}
	for _, a := range args {
		name, _, _ := strings.Cut(a.(string), "=")
		if !slices.Contains(known, name) {
			t.Errorf("waybill %s does not know %s", command, a)
		}
	}
}

// podOf is the Deployment's pod.
func podOf(t *testing.T, file string) map[string]any {
	t.Helper()
	texts, err := rendered(t, file)
	if err != nil {
		t.Fatal(err)
	}
	spec := objects(t, texts)["Deployment"]["spec"].(map[string]any)
	return spec["template"].(map[string]any)["spec"].(map[string]any)
}

func container(t *testing.T, file string) map[string]any {
	t.Helper()
	all := podOf(t, file)["containers"].([]any)
	if len(all) != 1 {
		t.Fatalf("there are %d containers", len(all))
	}
	return all[0].(map[string]any)
}

// managed reports whether the controller may do something in its cluster.
func managed(t *testing.T, file string) bool {
	t.Helper()
	texts, err := rendered(t, file)
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, texts)["Role"] != nil
}

// A controller has a token only if there is something that it may do with it, and that is in
// one namespace.
func TestTheRoleIsSmall(t *testing.T) {
	const several = folder + "/examples/replicas.yaml"
	texts, err := rendered(t, several)
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, texts)
	want := []any{
		map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"get"}},
		map[string]any{"apiGroups": []any{"coordination.k8s.io"}, "resources": []any{"leases"}, "verbs": []any{"get", "list", "create", "update", "delete"}},
		map[string]any{"apiGroups": []any{""}, "resources": []any{"events"}, "verbs": []any{"create", "patch"}},
	}
	if d := cmp.Diff(want, all["Role"]["rules"]); d != "" {
		t.Error(d)
	}
	for _, kind := range []string{"Role", "RoleBinding"} {
		if in := all[kind]["metadata"].(map[string]any)["namespace"]; in != "waybill-clusters" {
			t.Errorf("the %s is in %v", kind, in)
		}
	}
	if all["ClusterRole"] != nil || all["ClusterRoleBinding"] != nil {
		t.Error("it may do something everywhere")
	}
	if all["PodDisruptionBudget"] == nil || podOf(t, several)["topologySpreadConstraints"] == nil {
		t.Error("nothing keeps the replicas apart")
	}
	for _, file := range examples(t) {
		if file != several && managed(t, file) {
			t.Errorf("%s needs no Role", file)
		}
	}
}

// What the Pod Security Standard "restricted" asks of a pod, and what it does not: a root
// file system that cannot be written to, and no token of an account.
func TestThePodIsRestricted(t *testing.T) {
	for _, file := range examples(t) {
		pod, c := podOf(t, file), container(t, file)
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
		if pod["automountServiceAccountToken"] != managed(t, file) || pod["hostNetwork"] != nil || pod["hostPID"] != nil {
			t.Errorf("%s: the pod is %v", file, pod)
		}
		for _, v := range pod["volumes"].([]any) {
			v := v.(map[string]any)
			if v["emptyDir"] == nil && v["secret"] == nil {
				t.Errorf("%s: the volume %v", file, v)
			}
		}
	}
}
