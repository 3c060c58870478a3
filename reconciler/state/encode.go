package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Content is what a plan wants remembered.
type Content struct {
	Bindings []*karmada.ResourceBinding // what was decided
	// Left is where objects are not as decided: by object, with the indices that Clusters has.
	Left map[object.Ref]groups.By[Left]
	// Unrendered are objects that are not known to be gone, because the release that rendered them cannot be rendered.
	Unrendered map[object.Ref]bool

	Clusters []policies.Cluster // in the order of names
	// Interpreters are the customizations in force: who applies knows of policies no more than
	// these.
	Interpreters []*karmada.ResourceInterpreterCustomization
	Held         map[string]string // why clusters are held
	// Remedies are the actions in force for clusters: their status.remedyActions.
	Remedies map[string][]string
	When     time.Time // of the source commit
	LastGood LastGood
	Random   Random
	Failover Failover
	// Leaving are objects that stay in clusters which they leave for others, in their order.
	Leaving []Leaving
	// Watch is what observers count of replicas that wait for a node; nil for nothing.
	Watch    *deschedule.Watch
	Releases []Release
	Unlisted []Unlisted
	// SourceErrors are the errors of the source.
	SourceErrors sourceerrors.Record
	// Rollouts are what goes out in stages, or did.
	Rollouts []rollouts.Rollout
	// Scripts are health scripts in a ConfigMap for Argo CD.
	Scripts argocd.Scripts
	// Booked are the services that clusters export by their books.
	Booked []services.Booked
	Terms  Terms // the zero value: those of a source without a config
}

// Encode lays content out, after an earlier state, as the folder of the state branch, but
// for what was published. What was observed is that of the earlier state, and a folder that is
// divided there stays so longer than it would become so (see shards.go). Bindings that are those
// of the earlier state are not written again; the folder is the same otherwise. The earlier
// state and the memo may be nil.
func Encode(c Content, earlier *State, m *Memo) (*files.Folder, error) {
	recorded, without := c.recorded(earlier)
	isShortened := shorten(recorded, c.Rollouts, earlier)
	bindings, err := encodeBindings(recorded, earlier)
	if err != nil {
		return nil, err
	}
	clusters, err := c.clusters(earlier, m)
	if err != nil {
		return nil, err
	}
	releases, err := encodeReleases(c.Releases, earlier)
	if err != nil {
		return nil, err
	}
	interpreters, err := encodeInterpreters(c.Interpreters)
	if err != nil {
		return nil, err
	}
	staged, err := c.encodeRollouts(earlier)
	if err != nil {
		return nil, err
	}
	form := format
	switch {
	case isShortened:
		form = stagedFormat
	case isAnyDivided(bindings, releases):
		form = shardedFormat
	}
	top := []files.Entry{files.FileEntry(formatFile, files.NewBlob([]byte(form+"\n")))}
	for name, folder := range map[string]*files.Folder{bindingsDir: bindings, clustersDir: clusters, observedDir: c.observedFolder(earlier), interpretersDir: interpreters, ReleasesFolder: releases, rolloutsDir: staged} {
		if folder != nil {
			top = append(top, files.DirEntry(name, folder))
		}
	}
	for _, f := range []struct {
		isThere bool
		name    string
		value   any
	}{
		{len(without) > 0, keptFile, without},
		{len(c.LastGood.Broken) > 0, lastGoodFile, c.LastGood},
		{len(c.Unlisted) > 0, unlistedFile, c.Unlisted},
		{len(c.SourceErrors.Errors) > 0, sourceerrors.File, c.SourceErrors},
		{len(c.Scripts.ByKind) > 0, scriptsFile, c.Scripts},
		{c.Random.Key != "", randomFile, c.Random},
		{!c.Failover.isEmpty(), failoverFile, c.Failover},
		{len(c.Leaving) > 0, leavingFile, c.Leaving},
		{len(c.Booked) > 0, bookedFile, c.Booked},
		{c.Watch != nil, deschedulerFile, orderOf(c.Watch)},
		{c.Terms.BranchPrefix != "" && !c.Terms.isDefault(), termsFile, c.Terms},
	} {
		if !f.isThere {
			continue
		}
		if top, err = withJSON(top, f.name, f.value); err != nil {
			return nil, err
		}
	}
	return files.NewFolder(top), nil
}

// encodeRollouts lays roll-outs out; what cannot be read of an earlier state stays as it is.
func (c *Content) encodeRollouts(earlier *State) (*files.Folder, error) {
	if earlier == nil {
		return rollouts.Encode(c.Rollouts, nil)
	}
	return rollouts.Encode(c.Rollouts, earlier.rollouts)
}

// WithPublication adds to a folder of Encode what was published.
func WithPublication(content *files.Folder, p Publication) (*files.Folder, error) {
	p.When, p.Listed = p.When.UTC(), true
	top, err := withJSON(slices.Clone(content.Entries()), publishedFile, p)
	if err != nil {
		return nil, err
	}
	return files.NewFolder(top), nil
}

func withJSON(top []files.Entry, name string, v any) ([]files.Entry, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", name, err)
	}
	return append(top, files.FileEntry(name, files.NewBlob(append(data, '\n')))), nil
}

// encodeBindings lays bindings out by namespace; nil if there are none.
func encodeBindings(bindings []*karmada.ResourceBinding, earlier *State) (*files.Folder, error) {
	root := map[string][]files.Entry{}
	used := map[string]bool{}
	shared := newWritten()
	for _, b := range bindings {
		blob := earlier.unchanged(b)
		if blob == nil {
			var err error
			if blob, err = shared.encode(b); err != nil {
				return nil, fmt.Errorf("encoding binding %s: %w", b.Name, err)
			}
		}
		dir := clusterScope
		if b.Namespace != "" {
			dir = b.Namespace
		}
		name := b.Name
		if used[dir+"/"+name] {
			group, _ := object.GroupVersion(b.Spec.Resource.APIVersion)
			name += "." + group
		}
		for used[dir+"/"+name] { // names that differ in case, or in ":" and "."
			name += "-2"
		}
		used[dir+"/"+name] = true
		root[dir] = append(root[dir], files.FileEntry(name+".yaml", blob))
	}
	return foldersOf(root, earlier.folder(bindingsDir)), nil
}

func encodeInterpreters(all []*karmada.ResourceInterpreterCustomization) (*files.Folder, error) {
	if len(all) == 0 {
		return nil, nil
	}
	entries := make([]files.Entry, 0, len(all))
	for _, c := range all {
		data, err := encode(c)
		if err != nil {
			return nil, fmt.Errorf("encoding interpreter %s: %w", c.Name, err)
		}
		entries = append(entries, files.FileEntry(c.Name+".yaml", files.NewBlob(data)))
	}
	return files.NewFolder(entries), nil
}

func encodeReleases(releases []Release, earlier *State) (*files.Folder, error) {
	dirs := map[string][]files.Entry{}
	for _, r := range releases {
		dir, name := r.path()
		entries, err := withJSON(dirs[dir], name, r)
		if err != nil {
			return nil, err
		}
		dirs[dir] = entries
	}
	return foldersOf(dirs, earlier.folder(ReleasesFolder)), nil
}

// encode writes a typed object as canonical YAML.
func encode(x any) ([]byte, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(x)
	if err != nil {
		return nil, err
	}
	if status, ok := content["status"].(map[string]any); ok && len(status) == 0 {
		delete(content, "status")
	}
	if meta, ok := content["metadata"].(map[string]any); ok && meta["creationTimestamp"] == nil {
		delete(meta, "creationTimestamp")
	}
	return object.Encode(content), nil
}

// unchanged returns the file of a binding if it is the one of the state; nil if it is
// another one.
func (s *State) unchanged(b *karmada.ResourceBinding) *files.Blob {
	if s == nil {
		return nil
	}
	r := TemplateRef(b)
	was := s.written[r]
	if was == nil || s.files[r] == nil || was != b && !Same(was, b) {
		return nil
	}
	return s.files[r]
}

// Same reports that two bindings say the same. Their clusters are many, and compared
// first.
func Same(a, b *karmada.ResourceBinding) bool {
	if !slices.Equal(a.Spec.Clusters, b.Spec.Clusters) {
		return false
	}
	x, y := *a, *b
	x.Spec.Clusters, y.Spec.Clusters = nil, nil
	return equality.Semantic.DeepEqual(&x, &y)
}

// SameDecision reports that two bindings say the same but for what they record of clusters.
func SameDecision(a, b *karmada.ResourceBinding) bool {
	x, y := *a, *b
	x.Status.AggregatedStatus, y.Status.AggregatedStatus = nil, nil
	return Same(&x, &y)
}

// decodeInto reads a typed object, however it is written.
func decodeInto(data []byte, into any) error {
	return sigsyaml.Unmarshal(data, into)
}
