// Package stage decides which version of a unit each cluster shows while a change goes out in stages:
// what its source commit says, or an older one. That the turn of a cluster has not come is a block in the
// table of package rollout; which version it is to have is decided here.
//
// It is one function, of a unit, its strategy, what is known of its clusters, commands, windows, what was
// recorded last and the time. It reads nothing and remembers nothing: what it has to know again is in
// the record (package rollouts).
package stage
