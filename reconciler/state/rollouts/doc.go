// Package rollouts has what the state branch records of staged roll-outs, as values: a file for each
// unit, and a file for each of its stages, so that a step rewrites one small file.
//
//	rollouts/<namespace|_cluster|_group>/<name>.yaml           a Rollout without its clusters
//	rollouts/<namespace|_cluster|_group>/<name>/<stage>.yaml   the clusters of a stage
//	rollouts/<namespace|_cluster|_group>/<name>/divided.json   how replicas are divided that no binding tells
//
// Package plan/stage decides what is recorded. Times are those of plans, in whole seconds and UTC,
// and none is before one that was recorded earlier.
package rollouts
