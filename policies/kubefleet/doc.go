// Package kubefleet reads the strategies by which a change reaches clusters in stages: the kinds
// ClusterStagedUpdateStrategy and StagedUpdateStrategy of KubeFleet, unchanged, in the versions v1beta1 and
// v1, which are equal. What these lack is said in annotations. KubeFleet's own module is not imported,
// because it brings a controller's libraries with it.
//
// # A document's way
//
// Read decodes an object strictly and returns a Strategy, in which every default is filled in, or none
// with diagnostics that say where the mistakes are. Strategy.Assign says which clusters are in which
// stage, and in which order; Strategy.Warnings says what of that somebody may not have meant.
//
// # Decisions
//
// KubeFleet refuses a strategy that selects a cluster twice, or that leaves one out, so that one label stops
// a whole fleet. Here the later stage has the first, and the second comes last (or refuses, where the
// strategy says so). KubeFleet aborts where a label to sort by is no integer. Here that cluster comes last in
// its stage. All three are warnings.
//
// A run and a request for approval are what KubeFleet's users and controllers write at a server. Here runs
// follow from commits, and approvals are commands, so that Refusal names these kinds.
package kubefleet
