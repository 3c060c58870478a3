//go:build race

package worker

// raced says that children run with the race detector, which takes memory without
// end and ends in its own ways.
const raced = true
