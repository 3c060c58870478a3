// Package status is what a status branch says: what became of a published branch in its
// cluster, told by whoever applies there, as files of waybill/status/<cluster>:
//
//	status.yaml                      ClusterStatus: the commit that was applied, how it went, counts
//	works/<namespace|_cluster>.yaml  Work (work.karmada.io/v1alpha1): status.manifestStatuses of the objects
//
// It does no I/O and has no clock. A Ledger is told what rounds of applying and watches saw,
// says when a commit is Due, and lays out its files; Read, and Objects, are its readers.
//
// # Facts
//
// Five things can be known of an object, each by evidence of its own, and none stands for
// another:
//
//	seen       a source commit was looked at   the state branch names the one published last
//	rendered   what it gives for a cluster     the tree of the cluster's branch, and its trailers
//	published  that is on the branch           the head of the branch
//	applied    the API server accepted it      stored here: commit, source commit, since
//	healthy    it does what it should          stored here: generations, reason, since
//
// The first three are joined with the others when they are read; only the last two are
// stored, because only a cluster can tell them. Ids of files are not: by the id of a Secret's
// file a guess at the Secret could be tested. Of objects that may hold values of Secrets
// neither messages of servers nor a status is kept.
//
// # When
//
// A commit is due when an object or the cluster changes its phase: whether it is applied, from
// which commit, whether somebody changes it, and its health with the reason. Numbers are not
// phases: replicas that come up, what an autoscaler measures, the words of a message. They
// are written when something else is. Nor is it a phase that the cluster was looked at
// again, so that a quiet fleet makes no commits.
package status
