//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/helm"
	helmbuild "github.com/waybill-dev/waybill/render/helm/build"
	"github.com/waybill-dev/waybill/test/controlplane"
)

const chartFolder = "../../deploy"

// rendered is what the chart renders to with an example's values, by kind.
func rendered(t *testing.T, example string) map[string]map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(chartFolder, "examples", example))
	values := map[string]any{}
	if err == nil {
		err = sigsyaml.Unmarshal(data, &values)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := helmbuild.Template(os.DirFS(filepath.Join(chartFolder, "chart")), helm.Release{Name: "waybill", Namespace: "waybill", Values: helm.NewValues(values)})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, m := range out.Manifests {
		var o map[string]any
		if err := sigsyaml.Unmarshal(m.Data, &o); err != nil {
			t.Fatal(err)
		}
		if kind := text(o, "kind"); kind != "" {
			all[kind] = o
		}
	}
	return all
}

// within goes down an object.
func within(t *testing.T, o any, path ...string) any {
	t.Helper()
	for _, name := range path {
		m, ok := o.(map[string]any)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		o = m[name]
	}
	return o
}

func yamlOf(t *testing.T, o any) string {
	t.Helper()
	data, err := sigsyaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestChart has an API server admit what the chart renders to, in a namespace with restricted
// pod security, and runs controllers with that chart's flags and the token of its account: so
// its Role allows all that they do.
func TestChart(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	eu := startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu})
	eu.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: waybill, labels: {pod-security.kubernetes.io/enforce: restricted}}\n")
	v := newVault(t, eu, "waybill-clusters")
	all := rendered(t, "replicas.yaml")
	for _, o := range all {
		if within(t, o, "metadata", "namespace") == nil {
			within(t, o, "metadata").(map[string]any)["namespace"] = "waybill"
		}
		eu.apply(yamlOf(t, o))
	}
	template := within(t, all["Deployment"], "spec", "template").(map[string]any)
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "waybill", "namespace": "waybill"}, "spec": template["spec"]}
	admit := func(pod any) string {
		cmd := exec.Command(eu.path, "create", "--dry-run=server", "-f", "-")
		cmd.Env = append(os.Environ(), "KUBECONFIG="+eu.kubeconfig)
		cmd.Stdin = strings.NewReader(yamlOf(t, pod))
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if said := admit(pod); !strings.Contains(said, "pod/waybill created") {
		t.Errorf("the pod is not admitted: %s", said)
	}
	container := within(t, pod, "spec", "containers").([]any)[0].(map[string]any)
	context := container["securityContext"]
	delete(container, "securityContext")
	if said := admit(pod); !strings.Contains(said, "violates PodSecurity") {
		t.Errorf("a pod that is not restricted is admitted: %s", said)
	}
	container["securityContext"] = context

	// its account may do what the Role says, and nothing else
	for question, want := range map[string]string{
		"get secrets -n waybill-clusters": "yes", "list secrets -n waybill-clusters": "no", "get secrets -n waybill": "no",
		"update secrets -n waybill-clusters": "no", "create leases.coordination.k8s.io -n waybill-clusters": "yes", "create pods -n waybill-clusters": "no",
		"get namespaces": "no",
	} {
		args := append([]string{"auth", "can-i", "--as", "system:serviceaccount:waybill:waybill"}, strings.Fields(question)...)
		cmd := exec.Command(eu.path, args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+eu.kubeconfig)
		out, _ := cmd.Output() // no is a status, too
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("may it %s: %s, want %s", question, got, want)
		}
	}

	// two of them, as that account
	account := strings.TrimSpace(eu.kubectl("-n", "waybill", "create", "token", "waybill", "--duration", "2h"))
	kubeconfig, err := os.ReadFile(eu.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	as := filepath.Join(dir, "account")
	if err := os.WriteFile(as, []byte(strings.Replace(string(kubeconfig), controlplane.Token, account, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	v.put("eu-1-kubeconfig", "value", alone(t, eu))
	v.put("sops-age", "anna.agekey", anna)
	s.write("clusters/eu-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu-1, annotations: {waybill.dev/age-recipients: "+toAnna+"}}\nspec: {syncMode: Push}\n")
	s.write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: follow}\nstringData: {password: CANARY}\n")
	s.namespace("follow", "one", 3)
	s.commit()
	flags := []string{"--management-kubeconfig", as}
	for _, arg := range container["args"].([]any) {
		for _, ours := range []string{"--cluster-secrets-namespace", "--sops-secret", "--allow-endpoint", "--leader-elect-resource-name", "--events"} {
			if strings.HasPrefix(arg.(string), ours) {
				flags = append(flags, arg.(string))
			}
		}
	}
	replicas := []*replica{s.replica(flags...), s.replica(flags...)}
	s.becomes("eu-1", "c0000", "one")
	eventually(t, "what SOPS encrypted is there", func() (bool, string) { return s.get("eu-1", at("Secret", "follow", "login")) != nil, "" })
	one(t, "leads", replicas, (*replica).leads).kill()
	s.namespace("follow", "two", 3)
	s.commit()
	s.becomes("eu-1", "c0000", "two")
	eventually(t, "there are Events", func() (bool, string) {
		said := v.kubectl("-n", "waybill-clusters", "get", "events", "--field-selector", "involvedObject.kind=Cluster,involvedObject.name=eu-1,reason=Applied")
		return strings.Contains(said, "objects changed"), said
	})
	for _, r := range replicas {
		data, err := os.ReadFile(r.log)
		if err != nil || strings.Contains(string(data), "forbidden") {
			t.Errorf("%v: something is forbidden to it:\n%s", err, data)
		}
	}
}

// alone is the kubeconfig of an API server, which names no file.
func alone(t *testing.T, a *api) string {
	t.Helper()
	return a.kubectl("config", "view", "--raw", "--flatten")
}
