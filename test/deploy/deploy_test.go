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
	"github.com/waybill-dev/waybill/render/helm/build"
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
	out, err := build.Template(chart, helm.Release{Name: release, Namespace: namespace, Values: helm.NewValues(values)})
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

// TestUpdatesHaveACredentialOfTheirOwn: what looks for new versions is given Secrets that nothing else uses, and the ports of registries.
func TestUpdatesHaveACredentialOfTheirOwn(t *testing.T) {
	const file = folder + "/examples/updates.yaml"
	pod, c := podOf(t, file), container(t, file)
	secrets, mounted := map[string]string{}, map[string]string{}
	for _, v := range pod["volumes"].([]any) {
		v := v.(map[string]any)
		if of, is := v["secret"].(map[string]any); is {
			secrets[v["name"].(string)] = of["secretName"].(string)
		}
	}
	for _, m := range c["volumeMounts"].([]any) {
		m := m.(map[string]any)
		mounted[m["mountPath"].(string)] = secrets[m["name"].(string)]
	}
	username := map[string]any{"name": "UPDATES_USERNAME", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "waybill-updates", "key": "username"}}}
	if !slices.ContainsFunc(c["env"].([]any), func(e any) bool { return cmp.Equal(e, any(username)) }) {
		t.Errorf("the environment is %v", c["env"])
	}
	for flag, secret := range map[string]string{
		"--updates-password-file=/credentials/updates/password":  "waybill-updates",
		"--updates-token-file=/credentials/updates-token/token":  "waybill-updates-token",
		"--password-file=/credentials/publish/password":          "fleet",
		"--token-file=/credentials/forge/token":                  "waybill-forge",
		"--registry-credentials=/credentials/charts/charts.yaml": "registries",
		"--updates": "", "--updates-username=$(UPDATES_USERNAME)": "",
	} {
		_, at, _ := strings.Cut(flag, "=")
		if !slices.Contains(c["args"].([]any), any(flag)) || mounted[filepath.Dir(at)] != secret {
			t.Errorf("%s is not there, or not by the Secret %s: %v, %v", flag, secret, c["args"], mounted)
		}
	}
	texts, err := rendered(t, file)
	if err != nil {
		t.Fatal(err)
	}
	egress := objects(t, texts)["NetworkPolicy"]["spec"].(map[string]any)["egress"].([]any)
	ports := egress[1].(map[string]any)["ports"]
	if d := cmp.Diff([]any{map[string]any{"port": 443.0, "protocol": "TCP"}, map[string]any{"port": 5000.0, "protocol": "TCP"}}, ports); d != "" {
		t.Error(d)
	}
}

// TestValuesOfUpdates: over SSH there are a key and hosts, and what would not start is refused before.
func TestValuesOfUpdates(t *testing.T) {
	overSSH := map[string]any{"url": "ssh://git@git.example.com/team/fleet.git"}
	on, own := map[string]any{"enabled": true}, map[string]any{"updates": "waybill-updates"}
	forge := map[string]any{"kind": "gitea", "url": "https://git.example.com", "repository": "team/fleet"}
	for _, c := range []struct {
		values    map[string]any
		says, has string // an error, or what is rendered
		hasNot    string
	}{
		{values: map[string]any{"source": overSSH, "updates": on}, says: "credentials.updates"},
		{values: map[string]any{"source": overSSH, "updates": on, "credentials": own, "forge": forge}, says: "updates.token"},
		{values: map[string]any{"source": overSSH, "updates": map[string]any{"enable": true}}, says: "enable"},
		{
			values: map[string]any{"source": overSSH, "updates": on, "credentials": own},
			has:    "- --updates-ssh-key=/credentials/updates/identity\n        - --updates-known-hosts=/credentials/updates/known_hosts\n", hasNot: "UPDATES_USERNAME",
		},
		{
			values: map[string]any{"source": map[string]any{"url": "https://git.example.com/fleet.git"}, "updates": on, "credentials": own, "forge": forge},
			has:    "--updates-password-file", hasNot: "--updates-token-file",
		},
		{values: map[string]any{"source": overSSH, "credentials": own}, has: "kind: Deployment", hasNot: "updates"},
	} {
		texts, err := template(os.DirFS(chart), "waybill", c.values)
		switch all := strings.Join(texts, ""); {
		case c.says != "":
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: the error is %v, want %q", c.values, err, c.says)
			}
		case err != nil || !strings.Contains(all, c.has) || strings.Contains(all, c.hasNot):
			t.Errorf("%v: %v, want %q and not %q in\n%s", c.values, err, c.has, c.hasNot, all)
		}
	}
}
