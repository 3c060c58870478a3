// Package reason has the reasons for which an object is left as it is in a cluster: codes, which are
// stored and by which programs tell them apart, and a sentence for each, for people.
package reason

// Reason is why an object is not in a cluster as it is wanted there; empty for none.
type Reason string

// What is in the way of an object in a cluster.
const (
	Suspended   Reason = "DispatchingSuspended"
	Failed      Reason = "OverrideFails"
	NotScaled   Reason = "ReplicasNotSet"
	Plain       Reason = "SecretInPlainText"
	NotRendered Reason = "ReleaseNotRendered"
	NotRead     Reason = "ContentUnknown"
	Moving      Reason = "NewCopiesNotHealthy"
	GivenTime   Reason = "NewCopiesGivenTime"
	LastCopy    Reason = "LastCopy"
	Confirmed   Reason = "StaysWhereItFailed"
	NotGone     Reason = "OldCopyNotGone"
	Lost        Reason = "ClusterNotAnswering"
	HoldsData   Reason = "DataWouldBeDeleted"
	ClustersOwn Reason = "ClustersOwn"
	NotMapped   Reason = "VirtualClusterUnknown"
	Clashes     Reason = "NamespaceClash"
	NotShared   Reason = "VirtualClustersDiffer"
	Unlisted    Reason = "NotListed"
	NoBackend   Reason = "BackendMissing"

	// WaitsForStage is that of a cluster to which a change that goes out in stages has not come.
	WaitsForStage Reason = "WaitsForStage"
	// WaitsToGoOut is that of a change without stages that may not go out now.
	WaitsToGoOut Reason = "WaitsToGoOut"
)

// What the roll-out finds.
const (
	Held    Reason = "ClusterHeld"
	Nowhere Reason = "WouldBeNowhere"
	Twice   Reason = "WouldBeTwice"
	Short   Reason = "WouldBeShort"
	Needed  Reason = "StillNeeded"
	// Together: another object of its unit is left as it is there.
	Together Reason = "UnitStays"
)

var messages = map[Reason]string{
	Suspended:   "dispatching is suspended",
	Failed:      "an override fails",
	NotScaled:   "its replicas cannot be set",
	Plain:       "it is a Secret in plain text",
	NotRendered: "its release cannot be rendered",
	NotRead:     "it cannot be told what it should be",
	Moving:      "its new copies are not known to be healthy yet",
	GivenTime:   "its new copies are given time to come up: nobody says how they are",
	LastCopy:    "it is the last copy: no other is healthy",
	Confirmed:   "its policy says that it stays where it failed",
	NotGone:     "the old copy is not gone yet",
	Lost:        "its cluster does not answer: what left it stays until a plan has seen it return",
	HoldsData:   "deleting it would delete data, and nobody has allowed it",
	ClustersOwn: "each cluster has its own, and removed from the branch it would be removed there",
	NotMapped:   "it cannot be told what its virtual cluster is to hold",
	Clashes:     "its namespace would be that of another cluster, too",
	NotShared:   "virtual clusters of one API server want it otherwise",
	Unlisted:    "no kustomization lists it, and an earlier version of Waybill delivered it",
	NoBackend:   "a Service that it sends traffic to, or a port of it, is not there",
	Held:        "the cluster is held",

	WaitsForStage: "it changes in stages, and the turn of its cluster has not come",
	WaitsToGoOut:  "its change waits until it may go out",
	Nowhere:       "it would be nowhere until all of it can be carried out",
	Twice:         "it would be in two places until all of it can be carried out",
	Short:         "it would run with fewer replicas than it asks for until all of it can be carried out",
	Needed:        "what stays there needs it",
	Together:      "another object that goes out with it stays as it is there",
}

// Message says it in a sentence.
func (r Reason) Message() string { return messages[r] }

// Follows reports a reason that nothing about the object in the cluster gives: it follows from what is in the way elsewhere.
func (r Reason) Follows() bool { return r == Nowhere || r == Twice || r == Short || r == Together }

// IsAside reports a reason that stands for itself: what stays or waits for it keeps nothing from being
// carried out in other clusters.
func (r Reason) IsAside() bool { return r == NotGone || r == Unlisted || r.IsStaged() }

// IsStaged reports that a cluster shows an older version, until its turn comes.
func (r Reason) IsStaged() bool { return r == WaitsForStage || r == WaitsToGoOut }

// Outlasts reports a reason for which a cluster keeps what has left it, after the move is over.
func (r Reason) Outlasts() bool { return r == Lost || r == HoldsData || r == LastCopy }

// Of returns the reason of a sentence. Earlier versions stored sentences without codes; this is the
// one reader of them, for one release.
func Of(message string) Reason {
	for r, said := range messages {
		if said == message {
			return r
		}
	}
	return ""
}
