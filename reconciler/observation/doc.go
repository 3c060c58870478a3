// Package observation turns what is seen of a cluster into the status that Karmada gives it
// (Karmada sections C.2 and C.3), and says when that is worth recording: when decisions can see
// it. It is pure: time is an argument, and whoever watches clusters hands in what is there.
//
// Decisions see the version and the kinds that a cluster serves, the status of its conditions,
// and how much is free: of each resource, or by grades of nodes. What is free changes with every
// pod, so that it is recorded rounded down to one of eight values for each doubling, and kept as
// long as at least that and at most a quarter more is free. A recorded status is a fixed point:
// as long as nothing leaves its bounds, the next one is the same, byte for byte.
//
// Where Karmada's results depend on the order in which it comes upon nodes and pods, Next and
// Usage go by what it means instead: a node without a free pod is passed over, and ends nothing;
// an init container counts against its own pod.
package observation

// Prefix is that of the branches on which agents say what they observe; the name of the cluster
// follows.
const Prefix = "waybill/observed/"
