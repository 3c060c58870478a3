// Package stagemodel says what a staged roll-out may do and must do, apart from the code that does it.
//
// It imports nothing of the product. A System takes one Event after the other, makes one plan for each, and shows
// what is published and recorded then. A Model follows the same events by the table of states alone, and finds the
// first observation that breaks one of the laws I1 to I11. Next makes events at random, such as a person, a cluster
// or a forge may bring them about, given what was observed last.
//
// I9 (a state that is lost) is no law of its own here: stages are open again then, and I1 and I3 hold.
//
// Where the table leaves room, the model has two answers: what may be, which it forbids nothing beyond, and what is
// sure, which it demands nothing beyond.
package stagemodel
