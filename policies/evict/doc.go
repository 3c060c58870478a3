// Package evict decides what leaves a cluster because of its taints, or because it is not
// healthy there, and when the old copy goes: what Karmada's taint manager, its application
// failover and its graceful eviction decide (Karmada section A.14), as functions of values. It
// does not know templates or clusters, and does not choose where work goes instead: package
// place does.
//
// # Taints
//
// Each taint of effect NoExecute is judged by the first toleration that matches it. One without
// a match drives work out at once, one without seconds never does, and one with seconds does
// when they are over, counted from the taint's timeAdded. The earliest of them decides.
//
// # Tasks
//
// What leaves a cluster has a task: Karmada's gracefulEvictionTasks of its binding. As long as
// it is there the cluster is no candidate. Gracefully, the old copy stays until the task is
// over: all new copies are healthy with all replicas they should have, or the timeout has
// passed. Directly, the old copy goes at once and the new ones come when it is gone, or when
// the timeout has passed. Never, the old copy stays.
//
// After the timeout the last copy stays, unless the rules say otherwise: one for which no other
// could be placed, or for which all others are known not to be healthy. Where nothing is known
// of health, the timeout decides.
//
// # Bounds
//
// Three templates leave at once, then Rate of them a second (a Pace). At most one cluster in
// OneIn is left at a time. Nothing moves while so many clusters are not ready that whoever
// watches them is the likelier cause.
package evict
