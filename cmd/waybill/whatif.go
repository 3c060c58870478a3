package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/preview/whatif"
)

// supposeFlags adds the flags of what is supposed.
func supposeFlags(cmd *cobra.Command) func() (whatif.Suppositions, error) {
	flags := cmd.Flags()
	with := flags.StringArray("with-cluster", nil, "suppose the clusters of this file are registered, too")
	without := flags.StringSlice("without-cluster", nil, "suppose these clusters are not registered")
	labels := flags.StringArray("label", nil, "suppose a label of a cluster: CLUSTER=KEY=VALUE, or CLUSTER=KEY- for none")
	taints := flags.StringArray("taint", nil, "suppose a taint of a cluster: CLUSTER=KEY=VALUE:EFFECT, or CLUSTER=KEY- for none")
	capacity := flags.StringArray("capacity", nil, "suppose what the nodes of a cluster have together: CLUSTER=cpu=100,memory=400Gi,pods=1000")
	at := flags.String("at", "", "suppose that it is this time, as 2026-12-24T18:00:00Z")
	return func() (s whatif.Suppositions, err error) {
		s.Without = *without
		for _, file := range *with {
			data, err := os.ReadFile(file)
			if err != nil {
				return s, fmt.Errorf("--with-cluster: %w", err)
			}
			objs, err := whatif.ParseClusters(file, data)
			if err != nil {
				return s, fmt.Errorf("--with-cluster: %w", err)
			}
			s.With = append(s.With, objs...)
		}
		if s.Labels, err = parsed("label", *labels, whatif.ParseLabel); err != nil {
			return s, err
		}
		if s.Taints, err = parsed("taint", *taints, whatif.ParseTaint); err != nil {
			return s, err
		}
		if s.Capacity, err = parsed("capacity", *capacity, whatif.ParseCapacity); err != nil || *at == "" {
			return s, err
		}
		if s.At, err = whatif.ParseTime(*at); err != nil {
			return s, fmt.Errorf("--at: %w", err)
		}
		return s, nil
	}
}

// parsed reads the values of a flag.
func parsed[T any](flag string, values []string, parse func(string) (T, error)) (all []T, err error) {
	for _, v := range values {
		x, err := parse(v)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		all = append(all, x)
	}
	return all, nil
}
