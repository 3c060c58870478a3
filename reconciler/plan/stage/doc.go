// Package stage decides which version of a unit each cluster shows while a change goes out in stages:
// what its source commit says, or an older one. That the turn of a cluster has not come is a block in the
// table of package rollout; which version it is to have is decided here.
//
// It is one function, of a unit, its strategy, what is known of its clusters, commands, windows, what was
// recorded last and the time. It reads nothing and remembers nothing: what it has to know again is in
// the record (package rollouts).
//
// A run takes a unit from a base to a target, stage by stage. Its phase is that of the stage that is not
// over, unless all of it is
//
//	Waiting    no cluster of the stage may be released yet: an approval is missing, a window is closed
//	Updating   clusters are released, as many as may be, and have to become healthy
//	Soaking    all were released: they have to be healthy for a time
//	Approving  and somebody has to approve
//	Stopped    nothing is released: too many clusters failed, none was healthy in time, or somebody said so
//	Returning  every cluster shows the base
//	Finishing  every stage is over: clusters that the unit leaves lose it, replicas are divided anew
//	Done       the target is the base of the next run
//
// Each step takes the record as far as it is and returns it further: what becomes of the run in view of the
// source (begin.go), which clusters there are (members.go), what is known of them (evidence.go), whether the
// run fails (end.go), what people say (commands.go), and how far the stages go now (advance.go, tasks.go, release.go).
// A step never looks at what a later one does.
//
// A cluster that was released and is neither healthy nor failed is waited for, until its deadline. One that was
// not released and does not answer, or takes nothing now, is passed over, and released when it can be, after the
// run as well.
package stage
