package posts

import (
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/tree"
)

// namesOf are the names of the Kustomizations that get flux prints for a cluster, and of those on its branch.
func namesOf(cluster string, p tree.Published) (names []string, err error) {
	sync := fluxsync.Sync{Cluster: cluster}
	if p.Built == nil {
		return []string{sync.RootName()}, nil
	}
	parts, err := p.Parts()
	if err != nil {
		return nil, err
	}
	if folders := p.Folders(); len(parts) == 0 && len(folders) > 0 {
		for _, folder := range folders {
			names = append(names, sync.FolderName(folder))
		}
		return names, nil
	}
	names = append(names, sync.RootName())
	for i := range parts {
		names = append(names, sync.ChildName(parts[i].Part))
	}
	return names, nil
}
