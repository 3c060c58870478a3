// Package e2e runs Waybill's branches on real servers: an API server with its etcd, and
// Flux's kustomize-controller, and, where a test needs it, the controllers, the scheduler and
// simulated nodes of test/controlplane, which builds all of them from the module proxy once.
//
// The tests have the build tag e2e, so that they are no part of `make test`: the build of
// the servers takes minutes.
//
// What source-controller does, the test does itself: it serves a branch as an archive and
// writes the revision into the status of the GitRepository. So a test decides when Flux
// sees a commit.
//
// No kubelet runs here. Where an API server asks one for logs, or has it run a command, the test
// answers in its place.
//
// Each test is a cluster of its own name on the one API server, with namespaces that no
// other test has.
package e2e
