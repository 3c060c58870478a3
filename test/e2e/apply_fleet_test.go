//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"
)

// site is a source, the repository that it is published to, and real clusters that waybill
// apply reaches.
type site struct {
	t            *testing.T
	waybill      string
	apis         map[string]*api // by cluster
	source, bare string
	kubeconfigs  string
	folders      bool                                           // the clusters share a branch
	owns         func(cluster string, live map[string]any) bool // that an object is there because of this source
}

// newSite registers clusters and has policies send every kind that the tests use to each.
func newSite(t *testing.T, waybill string, apis map[string]*api) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{
		t: t, waybill: waybill, apis: map[string]*api{},
		source: filepath.Join(dir, "source"), bare: filepath.Join(dir, "fleet.git"), kubeconfigs: filepath.Join(dir, "kubeconfigs"),
	}
	s.owns = func(cluster string, live map[string]any) bool {
		owner := text(live, "metadata", "annotations", "waybill.dev/owner")
		return owner == s.source || owner == s.source+"#"+cluster // of a virtual cluster
	}
	s.git("", "init", "-q", "-b", "main", s.source)
	s.git("", "init", "-q", "--bare", s.bare)
	if err := os.Mkdir(s.kubeconfigs, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, a := range apis {
		s.apis[name] = a.with(t)
		s.write("clusters/"+name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+name+"}\nspec: {syncMode: Push}\n")
		s.reach(name, a.kubeconfig)
	}
	s.policy("")
	return s
}

// kinds are those that the tests place.
var kinds = []string{
	"v1 ConfigMap", "v1 Secret", "v1 Service", "v1 ServiceAccount", "apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet", "batch/v1 CronJob",
	"rbac.authorization.k8s.io/v1 Role", "rbac.authorization.k8s.io/v1 RoleBinding", "networking.k8s.io/v1 Ingress", "autoscaling/v2 HorizontalPodAutoscaler",
	"networking.k8s.io/v1 NetworkPolicy", "apiextensions.k8s.io/v1 CustomResourceDefinition", "example.com/v1 Widget", "policy/v1 PodDisruptionBudget",
	"v1 PersistentVolumeClaim", "batch/v1 Job",
}

// policy sends every kind to every cluster; more is of its spec.
func (s *site) policy(more string) {
	var b strings.Builder
	b.WriteString("apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n  placement: {}\n" + more + "  resourceSelectors:\n")
	for _, k := range kinds {
		version, kind, _ := strings.Cut(k, " ")
		fmt.Fprintf(&b, "  - {apiVersion: %s, kind: %s}\n", version, kind)
	}
	s.write("policy.yaml", b.String())
	s.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {secrets: allow, publish: {appliedBy: waybill}}\n")
}

// reach says by which kubeconfig a cluster is reached.
func (s *site) reach(cluster, kubeconfig string) {
	s.t.Helper()
	data, err := os.ReadFile(kubeconfig)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.kubeconfigs, cluster+".kubeconfig"), data, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.source, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.source, name)); err != nil {
		s.t.Fatal(err)
	}
}

// namespace writes a Namespace and ConfigMaps that hold a value.
func (s *site) namespace(name, value string, n int) {
	s.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name)
	for i := range n {
		fmt.Fprintf(&b, "---\n%s", configMap(name, fmt.Sprintf("c%04d", i), value))
	}
	s.write(name+".yaml", b.String())
}

func configMap(namespace, name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {value: %q}\n", name, namespace, value)
}

func (s *site) git(dir string, args ...string) string {
	s.t.Helper()
	if dir != "" {
		args = append([]string{"-C", dir}, args...)
	}
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// publish commits the source and publishes it.
func (s *site) publish(flags ...string) {
	s.t.Helper()
	s.git(s.source, "add", "-A")
	s.git(s.source, "commit", "-q", "--allow-empty", "-m", "next")
	if status, out := s.run(append([]string{"publish", s.source, "--to", s.bare}, flags...)...); status != 0 {
		s.t.Fatalf("publish: status %d\n%s", status, out)
	}
}

// run runs waybill, and returns its status and all that it printed.
func (s *site) run(args ...string) (status int, output string) {
	s.t.Helper()
	cmd := s.command(args...)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || !exit.Exited()) {
		s.t.Fatalf("waybill %v: %v\n%s", args, err, out)
	}
	if bytes.Contains(out, []byte("\ngoroutine ")) {
		s.t.Fatalf("waybill %v panicked:\n%s", args, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.waybill, args...)
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(s.source), "XDG_CACHE_HOME="+filepath.Join(filepath.Dir(s.source), "cache"))
	return cmd
}

func (s *site) applyArgs(more ...string) []string {
	return append([]string{"apply", "-C", s.source, "--to", s.bare, "--kubeconfig-dir", s.kubeconfigs}, more...)
}

// apply runs waybill apply, which must end with a status, and returns what it printed.
func (s *site) apply(status int, more ...string) string {
	s.t.Helper()
	got, out := s.run(s.applyArgs(more...)...)
	if got != status {
		s.t.Fatalf("apply %v: status %d, want %d\n%s", more, got, status, out)
	}
	return out
}

// done is what apply -o json says of a cluster.
type done struct {
	Cluster   string
	Commit    string
	Unchanged int
	Actions   []struct {
		Object             map[string]string
		Verb, Error, Waits string
	}
	Refused  []struct{ Error string }
	Adoption *struct{ Digest string }
}

// verbs counts what was done.
func (d done) verbs() map[string]int {
	n := map[string]int{}
	for _, a := range d.Actions {
		if a.Error == "" {
			n[a.Verb]++
		}
	}
	return n
}

// applied runs waybill apply for one cluster, and returns what it did.
func (s *site) applied(status int, cluster string, more ...string) done {
	s.t.Helper()
	out := s.apply(status, append([]string{cluster, "-o", "json"}, more...)...)
	var l struct{ Clusters []done }
	at := strings.Index(out, "{")
	if err := json.NewDecoder(strings.NewReader(out[max(at, 0):])).Decode(&l); err != nil || len(l.Clusters) != 1 {
		s.t.Fatalf("apply printed %v\n%s", err, out)
	}
	return l.Clusters[0]
}

// check reads nothing but the branch and the API server, and holds that the cluster has what
// the branch has, and nothing else that it ever had from this source.
func (s *site) check(cluster string) {
	s.t.Helper()
	for _, wrong := range s.lacks(cluster) {
		s.t.Errorf("%s: %s", cluster, wrong)
	}
}

// lacks says in what a cluster is not as check wants it.
func (s *site) lacks(cluster string) (wrong []string) {
	s.t.Helper()
	branch, file := "waybill/cluster/"+cluster, "waybill/cluster/"+cluster+":"
	if s.folders {
		branch, file = "waybill/clusters:"+cluster, "waybill/clusters:"+cluster+"/"
	}
	wanted := map[string]bool{}
	for path := range strings.FieldsSeq(s.git(s.bare, "ls-tree", "-r", "--name-only", branch, "manifests/")) {
		var want map[string]any
		if err := sigsyaml.Unmarshal([]byte(s.git(s.bare, "show", file+path)), &want); err != nil {
			s.t.Fatalf("%s: %v", path, err)
		}
		live, where := s.live(cluster, want)
		wanted[where] = true
		if live == nil {
			wrong = append(wrong, path+" is on the branch, and not there")
			continue
		}
		if at := cmp.Or(sealed(want, live), differs("", want, live)); at != "" {
			wrong = append(wrong, path+": "+at)
		}
	}
	owned := s.owned(cluster)
	if len(owned) == 0 && len(wanted) > 0 {
		wrong = append(wrong, "nothing that is there is known to be of this source")
	}
	for _, where := range owned {
		if !wanted[where] {
			wrong = append(wrong, where+" is there, and not on the branch")
		}
	}
	return wrong
}

// resources are the paths of the kinds that the tests use, by kind.
var resources = map[string]string{
	"Namespace": "/api/v1/namespaces", "ConfigMap": "/api/v1/configmaps", "Secret": "/api/v1/secrets", "Service": "/api/v1/services", "ServiceAccount": "/api/v1/serviceaccounts",
	"Deployment": "/apis/apps/v1/deployments", "StatefulSet": "/apis/apps/v1/statefulsets", "DaemonSet": "/apis/apps/v1/daemonsets", "CronJob": "/apis/batch/v1/cronjobs",
	"Role": "/apis/rbac.authorization.k8s.io/v1/roles", "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/rolebindings", "Ingress": "/apis/networking.k8s.io/v1/ingresses",
	"Job": "/apis/batch/v1/jobs", "PersistentVolumeClaim": "/api/v1/persistentvolumeclaims",
	"NetworkPolicy":           "/apis/networking.k8s.io/v1/networkpolicies",
	"HorizontalPodAutoscaler": "/apis/autoscaling/v2/horizontalpodautoscalers", "PodDisruptionBudget": "/apis/policy/v1/poddisruptionbudgets",
	"CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "Widget": "/apis/example.com/v1/widgets",
}

func at(kind, namespace, name string) string {
	path := resources[kind]
	if namespace != "" {
		i := strings.LastIndexByte(path, '/')
		path = path[:i] + "/namespaces/" + namespace + path[i:]
	}
	return path + "/" + name
}

func text(o map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(map[string]any)
	}
	s, _ := o[path[len(path)-1]].(string)
	return s
}

// live returns an object as it is in a cluster, nil for none, and where that is.
func (s *site) live(cluster string, o map[string]any) (live map[string]any, where string) {
	s.t.Helper()
	where = at(text(o, "kind"), text(o, "metadata", "namespace"), text(o, "metadata", "name"))
	return s.get(cluster, where), where
}

// get returns an object by its path; nil for none.
func (s *site) get(cluster, where string) map[string]any {
	s.t.Helper()
	status, body := s.apis[cluster].do(http.MethodGet, where, "", nil)
	if status == http.StatusNotFound {
		return nil
	}
	var live map[string]any
	if err := json.Unmarshal(body, &live); status != http.StatusOK || err != nil {
		s.t.Fatalf("GET %s: %d, %v\n%.500s", where, status, err, body)
	}
	return live
}

// owned lists what a cluster has because of this source.
func (s *site) owned(cluster string) []string {
	s.t.Helper()
	var all []string
	for kind, path := range resources {
		status, body := s.apis[cluster].do(http.MethodGet, path, "", nil)
		if status == http.StatusNotFound {
			continue
		}
		var l struct{ Items []map[string]any }
		if err := json.Unmarshal(body, &l); status != http.StatusOK || err != nil {
			s.t.Fatalf("GET %s: %d, %v", path, status, err)
		}
		for _, o := range l.Items {
			namespace := text(o, "metadata", "namespace")
			if namespace != "waybill-system" && s.owns(cluster, o) {
				all = append(all, at(kind, namespace, text(o, "metadata", "name")))
			}
		}
	}
	slices.Sort(all)
	return all
}

// uids are those of all that is in the clusters because of this source.
func (s *site) uids() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for cluster := range s.apis {
		for _, where := range s.owned(cluster) {
			all[cluster+where] = text(s.get(cluster, where), "metadata", "uid")
		}
	}
	return all
}

// sealed returns where a live object is not what a document of SOPS was decrypted to, as far as can be
// told without the key, and leaves of the document what is not encrypted. Other documents it leaves alone.
func sealed(want, live map[string]any) string {
	if want["sops"] == nil {
		return ""
	}
	data, _ := live["data"].(map[string]any)
	for _, field := range []string{"data", "stringData"} {
		values, _ := want[field].(map[string]any)
		for key := range values {
			decoded, err := base64.StdEncoding.DecodeString(text(data, key))
			if text(data, key) == "" || err != nil || strings.Contains(string(decoded), "ENC[") {
				return field + "." + key + " is not decrypted"
			}
		}
		delete(want, field)
	}
	delete(want, "sops")
	if text(live, "sops", "mac") != "" {
		return "sops is there"
	}
	return ""
}

// differs returns where a live object lacks what is wanted; "" for nowhere.
func differs(path string, want, live any) string {
	switch w := want.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		for k, v := range w {
			if d := differs(path+"."+k, v, l[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		l, _ := live.([]any)
		if len(l) != len(w) {
			return fmt.Sprintf("%s has %d elements, want %d", path, len(l), len(w))
		}
		for i := range w {
			if d := differs(fmt.Sprintf("%s[%d]", path, i), w[i], l[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if fmt.Sprint(want) != fmt.Sprint(live) {
		return fmt.Sprintf("%s is %v, want %v", path, live, want)
	}
	return ""
}
