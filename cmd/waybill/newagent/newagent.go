// Package newagent makes what runs an agent in a cluster: a key, and manifests.
package newagent

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/waybill-dev/waybill/deploy"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/helm/build"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/signing"
)

// keySecret is the Secret with the agent's key, and keyOfSecret the key of it.
const (
	keySecret   = "waybill-agent-key"
	keyOfSecret = "identity"
)

// Agent is what a command line says of the agent of a cluster that is to be registered.
type Agent struct {
	Wanted   bool
	Statuses string // URL of the repository that it writes to; empty: it writes nowhere

	servicesOnly             bool
	branches                 string // URL of a repository
	namespace, image         string
	branchSecret, statSecret string // with the credentials for the repositories

	flags *pflag.FlagSet // that say this
}

// Flags adds the flags that say it.
func Flags(flags *pflag.FlagSet) *Agent {
	a := &Agent{flags: pflag.NewFlagSet("agent", pflag.ContinueOnError)}
	flags.BoolVar(&a.Wanted, "agent", false, "with --sync-mode Pull: make a key, and print all that runs the agent in the cluster")
	a.flags.BoolVar(&a.servicesOnly, "services-only", false, "with --agent: something else applies the branch, as Flux or Argo CD, and the agent brings endpoints of services, and does no more")
	a.flags.StringVar(&a.branches, "repository", "", "with --agent: URL by which the agent reads the branches")
	a.flags.StringVar(&a.Statuses, "status-repository", "", "with --agent: URL of the repository that it writes to; empty: it tells nobody")
	a.flags.StringVar(&a.branchSecret, "repository-secret", "", "with --agent: Secret with the credentials for --repository, made by you beside the agent")
	a.flags.StringVar(&a.statSecret, "status-secret", "", "with --agent: Secret with the credentials for --status-repository")
	a.flags.StringVar(&a.namespace, "agent-namespace", "waybill", "with --agent: namespace in which it runs")
	a.flags.StringVar(&a.image, "agent-image", "", "with --agent: image that it runs, as registry.example.com/waybill:0.1.0 (default: as the chart says)")
	flags.AddFlagSet(a.flags)
	return a
}

// Check refuses what makes no agent.
func (a *Agent) Check(mode karmada.ClusterSyncMode) error {
	switch {
	case !a.Wanted:
		return a.unwanted()
	case mode != karmada.Pull:
		return fmt.Errorf("--agent is for clusters that are pulled to, and --sync-mode is %s; say --sync-mode Pull", mode)
	case a.branches == "":
		return errors.New("--repository is missing: the URL by which the agent reads the branches")
	case a.servicesOnly && a.Statuses == "":
		return errors.New("--services-only needs --status-repository: books of endpoints are there")
	case a.Statuses == a.branches:
		return errors.New("--status-repository is that of the branches, and whoever may write to a repository may write to every branch that nothing protects; name another one")
	}
	return nil
}

// unwanted refuses what is said of an agent that nobody asked for.
func (a *Agent) unwanted() (err error) {
	a.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && err == nil {
			err = fmt.Errorf("--%s says how the agent runs, and without --agent none is made; say --sync-mode Pull --agent as well", f.Name)
		}
	})
	return err
}

// Manifests makes a key, and returns its public half and what runs the agent.
func (a *Agent) Manifests(cluster string) (signing.Public, []byte, error) {
	key, private, err := signing.NewKey(rand.Reader, "waybill-agent-"+cluster)
	if err != nil {
		return signing.Public{}, nil, err
	}
	values := map[string]any{
		"cluster":    cluster,
		"repository": map[string]any{"url": a.branches, "credentials": a.branchSecret},
		"status":     map[string]any{"url": a.Statuses, "credentials": a.statSecret}, "servicesOnly": a.servicesOnly,
	}
	if a.Statuses != "" {
		values["key"] = keySecret
	}
	if a.image != "" {
		values["image"] = imageOf(a.image)
	}
	out, err := build.Template(deploy.Agent(), helm.Release{Name: "waybill-agent", Namespace: a.namespace, Values: helm.NewValues(values)})
	if err != nil {
		return signing.Public{}, nil, fmt.Errorf("preparing the agent: %w", err)
	}
	var b strings.Builder
	write := func(o map[string]any) { fmt.Fprintf(&b, "---\n%s", object.Encode(o)) }
	write(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": a.namespace, "labels": map[string]any{"pod-security.kubernetes.io/enforce": "restricted"},
	}})
	if a.Statuses != "" {
		write(map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": map[string]any{"name": keySecret, "namespace": a.namespace},
			"stringData": map[string]any{keyOfSecret: string(private)},
		})
	}
	for _, m := range out.Manifests {
		for _, o := range object.Decode("the chart of the agent", m.Data).Objects {
			content := o.Content()
			if meta, ok := content["metadata"].(map[string]any); ok && meta["namespace"] == nil && !slices.Contains(clusterScoped, o.Ref().Kind) {
				meta["namespace"] = a.namespace
			}
			write(content)
		}
	}
	return key.Public(), []byte(b.String()), nil
}

// clusterScoped are the kinds of the chart that are in no namespace.
var clusterScoped = []string{"ClusterRole", "ClusterRoleBinding", "Namespace"}

// imageOf is an image in the words of the chart.
func imageOf(image string) map[string]any {
	if name, digest, ok := strings.Cut(image, "@"); ok {
		return map[string]any{"repository": name, "digest": digest}
	}
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		return map[string]any{"repository": image[:i], "tag": image[i+1:]}
	}
	return map[string]any{"repository": image}
}
