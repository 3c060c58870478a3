package credential

import (
	"fmt"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/waybill-dev/waybill/render/object"
)

// Secret is the manifest of the Secret that holds a cluster's kubeconfig, as Cluster API names
// it: of the context, with all that it needs, and nothing else of the kubeconfig. Token is the
// content of the file of a token, where the context names one.
func Secret(cluster string, config *api.Config, context, token string) ([]byte, error) {
	one := config.DeepCopy()
	one.CurrentContext = context
	if err := api.MinifyConfig(one); err != nil {
		return nil, err
	}
	if err := api.FlattenConfig(one); err != nil {
		return nil, err
	}
	from := one.Contexts[context]
	server, user := one.Clusters[from.Cluster], one.AuthInfos[from.AuthInfo]
	if user == nil || server == nil {
		return nil, fmt.Errorf("the context %s has no cluster or no user", context)
	}
	if user.Exec != nil {
		return nil, fmt.Errorf("the context %s gets its credential from the program %s, which the controller may not have; use one with a token or a certificate, see docs/clusters.md", context, user.Exec.Command)
	}
	if user.TokenFile != "" {
		user.Token, user.TokenFile = strings.TrimSpace(token), ""
	}
	server.Extensions, user.Extensions = nil, nil // they are for the tools that wrote them
	alone := api.Config{
		Clusters: map[string]*api.Cluster{cluster: server}, AuthInfos: map[string]*api.AuthInfo{cluster: user},
		Contexts: map[string]*api.Context{cluster: {Cluster: cluster, AuthInfo: cluster}}, CurrentContext: cluster,
	}
	text, err := clientcmd.Write(alone)
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of %s: %w", cluster, err)
	}
	return object.Encode(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata":   map[string]any{"name": Name(cluster)},
		"stringData": map[string]any{kubeconfigKey: string(text)},
	}), nil
}
