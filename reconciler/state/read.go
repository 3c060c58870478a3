package state

import (
	"encoding/json"
	"fmt"

	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/files"
)

// Clusters reads the registered clusters of the state branch's folder, in the order of their
// names.
func Clusters(root *files.Folder) ([]*karmada.Cluster, error) {
	return allOf[karmada.Cluster](root, clustersDir)
}

// IsNew reports a cluster that was not registered when a state was written; false where nothing is recorded.
func IsNew(s *State, cluster string) bool {
	if s.root == nil {
		return false
	}
	_, isKnown := s.root.Lookup(clustersDir + "/" + cluster + ".yaml")
	return !isKnown
}

// Published reads what was published last from the state branch's folder.
func Published(root *files.Folder) (Publication, error) {
	e, ok := root.Lookup(publishedFile)
	if !ok || e.Blob == nil {
		return Publication{}, nil // the older form leaves it to the commit
	}
	data, err := e.Blob.Bytes()
	p := Publication{}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, fmt.Errorf("reading %s of %s: %w", publishedFile, Branch, err)
	}
	return p, nil
}

// Rollouts reads what is recorded of what goes out in stages from the state branch's folder, in the order of units. A unit
// of which a file cannot be read is named with why.
func Rollouts(root *files.Folder) ([]rollouts.Rollout, map[rollouts.Unit]error) {
	return rollouts.Decode(folderAt(root, rolloutsDir))
}

// Interpreters reads the customizations of the state branch's folder, in the order of their
// names.
func Interpreters(root *files.Folder) ([]*karmada.ResourceInterpreterCustomization, error) {
	return allOf[karmada.ResourceInterpreterCustomization](root, interpretersDir)
}

// HealthScripts reads the health scripts of the state branch's folder; nil if there are none.
func HealthScripts(root *files.Folder) (*argocd.Scripts, error) {
	e, ok := root.Lookup(scriptsFile)
	if !ok || e.Blob == nil {
		return nil, nil
	}
	data, err := e.Blob.Bytes()
	s := new(argocd.Scripts)
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", scriptsFile, Branch, err)
	}
	return s, nil
}

// allOf reads the objects of a folder.
func allOf[T any](root *files.Folder, dir string) ([]*T, error) {
	e, ok := root.Lookup(dir)
	if !ok || e.Dir == nil {
		return nil, nil
	}
	var all []*T
	for path, f := range e.Dir.All() {
		if f.Blob == nil {
			continue
		}
		data, err := f.Blob.Bytes()
		x := new(T)
		if err == nil {
			err = decodeInto(data, x)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s/%s of %s: %w", dir, path, Branch, err)
		}
		all = append(all, x)
	}
	return all, nil
}
