// Package state is what the state branch remembers: where every template went and why, as
// Karmada's ResourceBindings; the clusters that the decisions saw; what was published last;
// and what is as it was because something is broken. It turns these values into files and
// back, and does no I/O of its own.
//
//	format                                             the form of all this: a number
//	published.json                                     the source commit that was published last
//	bindings/<namespace|_cluster>/<name>-<kind>.yaml   ResourceBinding or ClusterResourceBinding
//	clusters/<name>.yaml                               Cluster, as it is registered
//	observed/<name>.yaml                               Cluster, with what was observed of it
//	interpreters/<name>.yaml                           ResourceInterpreterCustomization in force, for whoever applies
//	releases/<namespace>/<name>-<kind>[.<cluster>].json   what a release rendered to
//	kept.json                                          what clusters keep, or wait for, of objects without a binding
//	random.json                                        which random key was used last, if any was
//	failover.json                                      only where work fails over: taints that last, and its pace
//	leaving.json                                       only while objects leave clusters for others: since when
//	descheduler.json                                   only where replicas are descheduled: what observers count
//	apply.json                                         the config's terms for whoever applies, where it states any
//	last-good.json                                     only while something is broken
//	health.json                                        only where the source has health scripts for Argo CD: those, for whoever applies
//	problems.json                                      only while there are errors: those, and since which commit; see package sourceerrors
//	rollouts/<namespace|_cluster|_group>/<name>.yaml   how far a change is that goes out in stages; see package rollouts
//	unlisted.json                                      only while something stays that kustomizations do not list
//
// A folder of bindings or releases with more than 1,000 files is divided into folders that are
// called as the first two digits of the SHA-256 of each file's name. The format is then 3, and 2
// otherwise.
//
// A binding's spec.clusters is what was decided, and its status.aggregatedStatus lists the
// clusters in which the object is not as decided, with the reason. A held cluster has the
// condition HeldCondition. Objects of state carry no server-made field. A binding's name is
// Karmada's (section A.17), so two kinds of one name in different groups would share it; the
// file of the second then carries its group, too.
package state

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Branch is the name of the state branch.
const Branch = render.StateBranch

// HeldCondition is the type of the condition of a cluster that is held.
const HeldCondition = "waybill.dev/Held"

const (
	// format is the form that is written. What was written before there was a number is
	// read as it was, see older.go.
	format = "2"
	// shardedFormat is the form where some folder is divided: versions that know of none
	// would not find its files.
	shardedFormat = "3"
	// stagedFormat is the form where some binding does not list where its object waits for its
	// stage, and maybe some folder is divided: versions that know of none would count it as there.
	stagedFormat = "4"

	bindingsDir     = "bindings"
	clustersDir     = "clusters"
	observedDir     = "observed"
	interpretersDir = "interpreters"
	// ReleasesFolder has a file for each release.
	ReleasesFolder  = "releases"
	formatFile      = "format"
	publishedFile   = "published.json"
	keptFile        = "kept.json"
	lastGoodFile    = "last-good.json"
	randomFile      = "random.json"
	failoverFile    = "failover.json"
	leavingFile     = "leaving.json"
	termsFile       = "apply.json"
	deschedulerFile = "descheduler.json"
	bookedFile      = "booked.json"
	unlistedFile    = "unlisted.json"
	scriptsFile     = "health.json"
	rolloutsDir     = rollouts.Folder
	clusterScope    = "_cluster"
)

// State is the content of the state branch. The zero value is that of a repository that
// nothing was published from yet.
type State struct {
	// Commit is the head of the state branch; empty where there is none.
	Commit string
	// Published is what was published last.
	Published Publication
	// Bindings are the previous decisions, by template.
	Bindings map[object.Ref]*karmada.ResourceBinding
	// Kept are the clusters that keep an object which has no binding.
	Kept map[object.Ref][]string
	// Missed are the clusters that such an object is not in yet because nothing of it is carried out.
	Missed map[object.Ref][]string
	// Held are the clusters that were held, with the condition that says why.
	Held     map[string]metav1.Condition
	LastGood LastGood
	// Observed is what was observed of clusters, by name. Planned is the commit of the state
	// branch on top of which nothing but that was written; empty where that is Commit.
	Observed map[string]*karmada.ClusterStatus
	Planned  string
	// Random is the random key that was used last.
	Random Random
	// Failover is what moving work goes by.
	Failover Failover
	// Leaving are objects that stay in clusters which they leave for others, in their order.
	Leaving []Leaving
	// Releases are what releases rendered to.
	Releases []Release
	// Unlisted are objects that stay although no kustomization lists them.
	Unlisted []Unlisted
	// Scripts are the health scripts that the source has in a ConfigMap for Argo CD.
	Scripts argocd.Scripts
	// SourceErrors are the errors of the source.
	SourceErrors sourceerrors.Record
	// Rollouts are what goes out in stages, or did, in the order of units; of those of UnreadableRollouts nothing is known.
	Rollouts           []rollouts.Rollout
	UnreadableRollouts map[rollouts.Unit]error
	// Unreadable are the files that cannot be read, in the order of their paths. What they
	// said is not known; nothing else depends on it.
	Unreadable []Unreadable

	root    *files.Folder
	content *files.Folder // root without what was published
	// files are what Bindings were read from, written how they are written there, and read is what each
	// is, so that neither is read nor written twice.
	files    map[object.Ref]*files.Blob
	written  map[object.Ref]*karmada.ResourceBinding
	read     map[files.ID]*karmada.ResourceBinding
	rollouts *rollouts.Record // which Rollouts are of
	// observed are what Observed was read from.
	observed map[string]*files.Blob
}

// Unreadable is a file that cannot be read.
type Unreadable struct {
	Path   string
	Reason string
}

// Publication is what was published.
type Publication struct {
	Commit string    `json:"commit"` // of the source
	When   time.Time `json:"when"`   // the date of that commit
	// Listed says that what kustomizations do not list was not read.
	Listed bool `json:"listed,omitempty"`
}

// LastGood is what is as it was because something is broken.
type LastGood struct {
	// Broken are the parts of the source that could not be read, by name (see
	// render.Broken).
	Broken map[string]Part `json:"broken"`
	// Objects are those that were taken from earlier commits.
	Objects []Good `json:"objects,omitempty"`
	// Also are, by object (see render.Place), the parts that may hold it as well: it was in them
	// when they were sound last, and stands elsewhere now. Where it goes from there, it stays as
	// it was.
	Also map[string][]string `json:"also,omitempty"`
}

// Part is a part of the source that could not be read.
type Part struct {
	Digest string `json:"digest"` // equal for equal content
	// Commit is the one in which the part was sound last; empty if it never was.
	Commit string `json:"commit,omitempty"`
}

// Good is an object that was taken from an earlier commit.
type Good struct {
	Object  object.Ref `json:"object"`
	Cluster string     `json:"cluster,omitempty"` // in whose own directory it stands
	Commit  string     `json:"commit"`            // in which it was sound last
	In      []string   `json:"in"`                // the parts in which it may be now
}

// Release is what a release rendered to: the objects that stay where they are if it cannot
// be rendered once.
type Release struct {
	// Cluster is the one in whose own directory the release stands; empty for one of the
	// whole source.
	Cluster string       `json:"cluster,omitempty"`
	Release object.Ref   `json:"release"`
	Objects []object.Ref `json:"objects"` // sorted
	// Inputs is equal for equal files of the source that it was rendered from, or that it
	// could not be rendered from; empty where it takes none, or where that is not known.
	Inputs string `json:"inputs,omitempty"`
}

// ReleaseID names a release.
type ReleaseID struct {
	Cluster string
	Release object.Ref
}

// ID names the release.
func (r *Release) ID() ReleaseID { return ReleaseID{r.Cluster, r.Release} }

// Compare orders releases by cluster, then by ref.
func (a ReleaseID) Compare(b ReleaseID) int {
	if c := strings.Compare(a.Cluster, b.Cluster); c != 0 {
		return c
	}
	return a.Release.Compare(b.Release)
}

// path is where the release is remembered.
func (r *Release) path() (dir, name string) {
	dir, name = r.Release.Namespace, BindingName(r.Release)
	if dir == "" {
		dir = clusterScope
	}
	if r.Cluster != "" {
		name += "." + r.Cluster
	}
	return dir, name + ".json"
}

// Root returns the folder that the state was read from; nil for the zero value.
func (s *State) Root() *files.Folder { return s.root }

// folder returns a folder of what the state was read from; nil if there is none.
func (s *State) folder(name string) *files.Folder {
	if s == nil {
		return nil
	}
	return folderAt(s.root, name)
}

// Same reports that a folder of Encode says what the state says, whatever was published. One that
// does not say what was passed over does not.
func (s *State) Same(content *files.Folder) bool {
	return s.content != nil && s.Published.Listed && s.content.ID() == content.ID()
}

// IsBindingOf reports whether a path of the state branch is where the binding of a
// template is (see encodeBindings).
func IsBindingOf(path string, r object.Ref) bool {
	dir := r.Namespace
	if dir == "" {
		dir = clusterScope
	}
	rest, ok := strings.CutPrefix(withoutShard(path), bindingsDir+"/"+dir+"/"+BindingName(r))
	rest, isYAML := strings.CutSuffix(rest, ".yaml")
	rest = strings.TrimPrefix(rest, "."+r.Group)
	return ok && isYAML && strings.ReplaceAll(rest, "-2", "") == ""
}

// TemplateRef returns the template that b is for.
func TemplateRef(b *karmada.ResourceBinding) object.Ref {
	r := b.Spec.Resource
	group, _ := object.GroupVersion(r.APIVersion)
	return object.Ref{Group: group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// BindingName returns the name Karmada gives the binding of a template (section A.17): the
// name and the kind in lower case, with ":" turned to ".".
func BindingName(r object.Ref) string {
	return strings.ToLower(strings.ReplaceAll(r.Name, ":", ".") + "-" + r.Kind)
}
