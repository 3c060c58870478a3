// Package updates decides which new versions of images and charts a source takes: from what it subscribes to, what registries have, what
// is remembered, and the time. It reads and writes nothing; package propose, below it, does.
//
// Read finds the subscriptions of a source: its image policies with the values that they write, and the charts that a range
// names, with their entries of the lock file. Judge says of each what
// comes next, and why nothing does. Edit makes the files of a change. Memory is what has to be known the next time, and
// its Learn says what people and roll-outs made of earlier proposals.
//
// Nothing goes down: what a registry does not answer, or answers with fewer tags, changes nothing. What a person
// reverted, a roll-out stopped at, or somebody closed unmerged, is kept back: that version is not proposed again, and a newer
// one is.
package updates
