package main

import (
	"errors"
	"os"
	"sync"

	"github.com/spf13/pflag"

	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/management"
)

// managementFlags say which cluster a controller belongs to.
type managementFlags struct {
	kubeconfig, namespace string
	events                bool // tell them

	// open finds the cluster, once.
	open func() (*management.Cluster, error)
}

func addManagementFlags(flags *pflag.FlagSet) *managementFlags {
	f := &managementFlags{}
	flags.StringVar(&f.kubeconfig, "management-kubeconfig", "", "kubeconfig of the cluster that holds the Secrets by which clusters are reached (default: the one that this runs in)")
	flags.StringVar(&f.namespace, "cluster-secrets-namespace", "", "the one namespace in which Secrets are read (default: that of the context or the Pod)")
	f.open = sync.OnceValues(func() (*management.Cluster, error) {
		return management.Open(f.kubeconfig, f.namespace, "waybill/"+buildVersion())
	})
	return f
}

// secretsOf has clusters be reached by Secrets, if there is a management cluster. That of a Pod
// is one only if nothing else says how clusters are reached: a job of somebody else's that has a
// token and a kubeconfig means the kubeconfig.
func (m *managementFlags) secretsOf(a *clusters.Access) {
	a.Secrets = func() (clusters.Secrets, error) {
		named := m.kubeconfig != "" || m.namespace != ""
		if !named && (a.Folder != "" || a.Kubeconfig != "" || a.Context != "" || os.Getenv("KUBECONFIG") != "") {
			return nil, nil
		}
		c, err := m.open()
		if errors.Is(err, management.ErrNone) && m.namespace == "" {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}
