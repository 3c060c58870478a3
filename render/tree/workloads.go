package tree

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
)

// workloads are the kinds of apps/v1 whose health tells whether what runs is well.
var workloads = []string{"Deployment", "StatefulSet", "DaemonSet"}

// RootedWorkloads lists the workloads that the root kustomization lists itself, as references with apiVersion, kind, name and
// namespace.
func (p *Published) RootedWorkloads() ([]map[string]any, error) {
	paths, err := rooted(p.Built)
	if err != nil {
		return nil, err
	}
	var found []map[string]any
	for _, path := range paths {
		e, ok := p.Built.Lookup(path)
		if !ok || e.Blob == nil {
			continue
		}
		data, err := e.Blob.Bytes()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		o, err := object.DecodeCanonical(data)
		kind, _ := o["kind"].(string)
		if err != nil || o["apiVersion"] != "apps/v1" || !slices.Contains(workloads, kind) {
			continue
		}
		meta, _ := o["metadata"].(map[string]any)
		w := map[string]any{"apiVersion": "apps/v1", "kind": kind, "name": meta["name"]}
		if ns, ok := meta["namespace"]; ok {
			w["namespace"] = ns
		}
		found = append(found, w)
	}
	return found, nil
}
