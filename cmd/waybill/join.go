package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/cmd/waybill/newagent"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/signing"
)

// joining is what a command line says of a cluster that is to be registered.
type joining struct {
	edition

	access *clusters.Access
	member registration.Member
	file   string
	secret bool
	agent  *newagent.Agent
}

func joinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "join NAME", Short: "Write the file that registers a cluster", Args: cobra.ExactArgs(1),
		Long: `Join asks a cluster who it is, as --context and the kubeconfig say how, and writes the
file that registers it, with that id. No credential is written there: whoever applies has
its own. With --secret, the Secret that a controller in a cluster reads is printed, and
the change of the file goes to standard error. With --agent, so are the manifests of the
agent that applies to the cluster from inside, with its key: the public half is in the file.`,
		Example: `  waybill cluster join eu-1 --context kind-eu
  waybill cluster join ke-beijing --virtual-of edge --node-selector location=beijing
  waybill cluster join eu-1 --context kind-eu --secret | kubectl -n waybill apply -f -
  waybill cluster join edge-7 --context edge --sync-mode Pull --agent --repository https://git.example.com/fleet/branches.git \
    --status-repository https://git.example.com/fleet/status.git | kubectl --context edge apply -f -`,
	}
	j := joining{edition: addEditFlags(cmd), access: addAccessFlags(cmd, cmd.Flags())}
	addContextFlag(cmd.Flags(), j.access)
	flags := cmd.Flags()
	mode := j.describeFlags(flags, karmada.Push)
	flags.StringVar(&j.member.VirtualOf, "virtual-of", "", "the Cluster whose API server it is a part of")
	flags.StringVar(&j.member.Suffix, "namespace-suffix", "", "of a virtual cluster: what is appended to the names of namespaces, as -beijing (default: a dash and NAME)")
	flags.StringVar(&j.member.Selector, "node-selector", "", "of a virtual cluster: the labels of its nodes, as location=beijing")
	flags.BoolVar(&j.secret, "secret", false, "print a Secret with the credential that was used, for the cluster of the controller")
	j.agent = newagent.Flags(flags)
	cmd.MarkFlagsMutuallyExclusive("secret", "agent")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		j.member.Name, j.member.SyncMode = args[0], karmada.ClusterSyncMode(*mode)
		return failure(2, j.run())
	}
	return cmd
}

// describeFlags adds the flags that say what the Cluster is; the result is its syncMode.
func (j *joining) describeFlags(flags *pflag.FlagSet, usual karmada.ClusterSyncMode) *string {
	flags.StringVar(&j.member.Provider, "provider", "", "provider of the cluster, for policies to select by")
	flags.StringVar(&j.member.Region, "region", "", "region of the cluster")
	flags.StringSliceVar(&j.member.Zones, "zone", nil, "zone of the cluster; repeat for more")
	flags.StringToStringVar(&j.member.Labels, "label", nil, "label of the Cluster, as stage=production; repeat for more")
	flags.StringVar(&j.file, "file", "", "file to write, relative to the source (default clusters/NAME.yaml)")
	return flags.String("sync-mode", string(usual), "Push: a controller applies to it; Pull: something in it does")
}

func (j *joining) run() error {
	if j.file == "" {
		j.file = "clusters/" + j.member.Name + ".yaml"
	}
	j.file = filepath.ToSlash(filepath.Clean(j.file))
	if err := j.agent.Check(j.member.SyncMode); err != nil {
		return err
	}
	registered, err := j.registered()
	if err != nil {
		return err
	}
	if _, err := registration.Join(j.file, j.member, registered); err != nil { // before anybody is asked
		return err
	}
	if !filepath.IsLocal(j.file) {
		return fmt.Errorf("--file %s is outside of the source; name a file relative to it", j.file)
	}
	if _, err := os.Lstat(j.edition.file(j.file)); err == nil {
		return fmt.Errorf("%s is there already, and nothing is overwritten; name another with --file", j.file)
	}
	version, err := j.identify()
	if err != nil {
		return err
	}
	printed, err := j.printed()
	if err != nil {
		return err
	}
	text, err := registration.Join(j.file, j.member, registered)
	if err != nil {
		return err
	}
	if err := j.isRead(text); err != nil {
		return err
	}
	fmt.Fprintf(j.cmd.ErrOrStderr(), "%s runs Kubernetes %s, and its id is %s\n", j.member.Name, version, j.member.ID)
	if err := j.write(j.file, nil, text); err != nil {
		return err
	}
	_, err = j.cmd.OutOrStdout().Write(printed)
	return err
}

// printed is what goes to standard output instead of the change of the file: manifests with a
// credential, which are in no file of the source.
func (j *joining) printed() (manifests []byte, err error) {
	switch {
	case j.secret:
		manifests, err = j.access.Secret(j.cmd.Context(), j.cluster())
	case j.agent.Wanted:
		var key signing.Public
		key, manifests, err = j.agent.Manifests(j.member.Name)
		if err == nil && j.agent.Statuses != "" {
			j.member.AgentKey = key.String()
		}
	default:
		return nil, nil
	}
	j.out = j.cmd.ErrOrStderr()
	return manifests, err
}

// identify asks the cluster who it is, and returns its version.
func (j *joining) identify() (version string, err error) {
	const deadline = 15 * time.Second
	ctx, cancel := context.WithTimeout(j.cmd.Context(), deadline)
	defer cancel()
	host := karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: j.member.VirtualOf}}
	config, err := j.access.Among([]*karmada.Cluster{&host}).Config(ctx, j.cluster())
	if err != nil {
		return "", fmt.Errorf("%s: %w", j.member.Name, err)
	}
	identity, err := clusters.Identify(ctx, j.member.Name, config)
	j.member.ID = identity.ID
	return identity.Version, err
}

// cluster is the Cluster before there is one.
func (j *joining) cluster() *karmada.Cluster {
	return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: j.member.Name, Annotations: j.member.Annotations()}}
}

// isRead returns an error if the source would not read the file as a Cluster.
func (j *joining) isRead(text []byte) error {
	r, s, err := j.opened()
	if err != nil {
		return err
	}
	all, err := clustersOf(j.cmd.Context(), r, registration.With(s, j.file, text))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(o *object.Object) bool { return o.Ref().Name == j.member.Name && o.Pos().File == j.file }) {
		return nil
	}
	return fmt.Errorf("the source would not read %s as a Cluster: it is no .yaml file, is passed over by %s or spec.scan, or belongs to a kustomization or a chart; name another with --file", j.file, render.IgnoreFile)
}

func unjoinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "unjoin NAME", Short: "Remove what registers a cluster", Args: cobra.ExactArgs(1),
		Long: `Unjoin removes a Cluster from the file that it is in. Once that is published, nothing is
published or applied to the cluster any more. Every object in it stays, and so does its
branch.`,
	}
	e := addEditFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error { return failure(2, e.unjoin(args[0])) }
	return cmd
}

func (e edition) unjoin(name string) error {
	o, err := e.find(name)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(e.file(o.Pos().File))
	if err != nil {
		return err
	}
	after, err := registration.Unjoin(o.Pos(), before, name)
	if err != nil {
		return err
	}
	out := e.cmd.ErrOrStderr()
	fmt.Fprintf(out, "once this is published, nothing is published or applied to %s any more; every object in it stays, and so does its branch\n", name)
	if dir := o.Annotations()[render.PathAnnotation]; dir != "" {
		fmt.Fprintf(out, "warning: %s was bound to it (%s), and policies may place what is in there elsewhere then; remove it, too, if it was for this cluster only\n", dir, render.PathAnnotation)
	}
	return e.write(o.Pos().File, before, after)
}
