// Package e2e runs Waybill's branches on real servers: an API server with its etcd, and, where a
// test needs them, the controllers, the scheduler and simulated nodes, Flux's controllers, and Argo
// CD's engine, of test/controlplane, which builds all of them from the module proxy once.
//
// The tests have the build tag e2e, so that they are no part of `make test`: the build of
// the servers takes minutes.
//
// In TestFlux the test does itself what source-controller does: it serves a branch as an archive
// and writes the revision into the status of the GitRepository. So it decides when Flux sees a
// commit. TestFluxCycle and TestReadme have source-controller fetch the branches.
//
// No kubelet runs here. Where an API server asks one for logs, or has it run a command, the test
// answers in its place.
//
// Each test is a cluster of its own name on the one API server, with namespaces that no
// other test has.
package e2e
