// Package place decides which clusters get a template, and with how many
// replicas: the work of Karmada's scheduler, as a function of a placement, a
// fleet and a request. References to sections (A.9 and so on) are to
// docs/karmada.md.
//
// It promises that equal arguments give equal decisions, whatever the order of
// clusters and previous targets; that a decision gives away every replica or says
// why not, in Karmada's words; and that judging a cluster costs no allocation, so
// that a thousand templates over a thousand clusters take well under a second.
// It does not know templates, policies or the interpretation of kinds: the request
// carries the numbers. It does not decide whether to schedule at all, except for
// Settled, and it does not fail over: evictions come in by the request.
//
// A Scheduler is compiled once per policy, with all that no template can change:
// which affinity group and tier matches each cluster, its first untolerated
// taint, its static weight, its region. Schedule then runs the five steps below
// for one template. Explain runs the same steps and tells all the numbers.
//
// # Filters
//
// A cluster is a candidate when it passes every filter (A.9). They are asked in
// Karmada's order, because the first that fails is the one that is reported: the
// cluster is not being deleted; it serves the kind; it has no untolerated taint of
// effect NoSchedule or NoExecute; the affinity matches; it has a region, zone or
// provider where a spread constraint names one; the template is not being evicted
// from it. Clusters that have the template already pass the filters for kind and
// taint. A cluster whose served kinds are not known passes the filter for kind.
//
// # Score order
//
// Candidates are ordered by tier of the affinity group, then by score, which is
// 100 where the template is already and 0 elsewhere, then by available replicas,
// then by name. Available is the room for more replicas (fleet.Cluster.Room) plus
// what is there already. What is no workload, and a workload of no replicas, has
// math.MaxInt32 of room everywhere.
//
// # Spread constraints
//
// Without constraints every candidate is chosen; likewise with static weights,
// which make constraints moot, though not with a weightPreference that is there
// and empty (A.10). With a cluster constraint alone the first candidates in score
// order are chosen, as many as max allows. If replicas are divided and these have
// too little room, they are exchanged from the last to the first for the one with
// the most room among the others, until it is enough.
//
// With a region constraint, regions are chosen first, and clusters in these: the
// first of each region, then more in score order up to max of the cluster
// constraint. A region scores 1000 for each cluster that could hold all replicas
// where they are duplicated. Where they are divided, its part is the replicas by
// min of the region constraint, rounded up, and it scores 1000 for each replica of
// that part it has room for. Below the thousands counts the mean score of the
// clusters looked at.
//
// # Choosing regions
//
// Karmada walks depth first through all combinations of regions, in search order:
// fewer clusters first, then higher score, then name. A combination will do when
// it has between min and max regions and at least as many clusters as min of the
// cluster constraint; it is then listed and not extended. Of the list the one with
// the highest sum of scores wins, then the one with most clusters, then the one
// listed first. Written by descending score, it then gives way to any listed
// combination that is a beginning of it, over and over.
//
// The list grows exponentially with the number of regions, so it is not made here.
// Two facts make that possible. First, whether a combination will do depends only
// on how many regions and clusters it has, and sums of scores and clusters are
// additive: the best way to go on after the first t regions is a function of
// (t, regions taken, clusters taken), with clusters cut off at what is needed.
// That table is filled from the end; where taking the next region is worth as
// much as passing it over it is taken, which is the combination listed first.
// When any min regions have enough clusters, no table is needed: all listed
// combinations have min regions, and the best single ones win. Second, of the
// beginnings of the winner a shorter one is always sorted after a longer one, as
// its sums are no larger, so that the shortest listed one is where giving way
// ends. A beginning that will do is always listed: if it still did without its
// largest region, so would the winner without its own, and not be listed itself.
//
// A fuzz test holds this against the list. Beyond some 4 million states (more than
// 50 regions that may all be chosen, with 1,600 clusters needed), where Karmada
// would not end, the best single regions are taken until they have enough
// clusters; if max is reached before, the smallest are exchanged for the largest.
//
// # Division
//
// A workload has replicas or requirements, and at most one component; anything
// else goes whole to every chosen cluster (A.12). Duplicated gives all replicas to
// each. The others divide them by weight, and clusters that get none are no
// targets. Static weights are the policy's, and look neither at capacity nor at
// what was. Dynamic weights are the room there is, less what already runs stays
// where it runs: with more replicas than before, the additional ones are divided
// by free room; with fewer, all are divided by what was there. Aggregated does the
// same with as few clusters as will do: those that have replicas first, then by
// weight, until they have room for all. A fresh request forgets what was, and
// weighs what was there as room.
//
// Where an affinity group overflows, its tiers are filled one after the other,
// each with what it has room for and each divided as above.
//
// # Dividing at once
//
// Seats are given one by one to the party with the largest weight/(2s+1), where s
// is its seats so far; quotients are compared exactly, by multiplying crosswise.
// The quotients of a party fall with each seat, so that giving N seats means
// taking the N first of all quotients in one order. Any threshold splits that
// order into a beginning and a rest. For k parties of weights that add up to W,
// and T seats in all, including initial ones, take the threshold W/q with
// q = 2T-k. A party reaches it with floor((wq/W+1)/2) seats, which is at most
// wq/2W + 1/2; the sum is at most q/2 + k/2 = T. So those seats can be given at
// once, and as the sum is also more than q/2 - k/2 = T-k, at most k seats remain for the
// heap. A party with more initial seats than its share breaks the sum. Without
// it the threshold is higher, so it would still get nothing: it is left out and
// the threshold taken anew.
//
// # Decisions
//
//   - Ties that Karmada breaks by the parity of a hash of the object's UID are
//     broken by name, ascending, which is its answer for an even hash and for no
//     UID. Objects in Git have no UID; two Karmada installations differ here too.
//   - Where Karmada sorts with an unstable sort, the sort here is stable. Up to 12
//     clusters that is the same.
//   - Affinity groups are tried from the first each time, as Karmada does after a
//     WorkloadRebalancer. Otherwise Karmada starts at the group used last and never
//     comes back by itself, which people take for an error. If no group will do, the
//     error of the one in use decides, so that what runs there stays.
//   - Karmada weighs scaling down also by clusters that are no longer candidates,
//     in some versions. Here they have no part: what they had is given out again.
//   - Clusters without a list of served APIs pass for every kind. Karmada always
//     has the list; a repository often does not.
//   - SpreadStrict does for zone, provider or a label what Karmada does for region.
//     A cluster in several zones counts in its first. Only one property can
//     group, since Karmada's algorithm knows one level. Without a cluster
//     constraint every cluster of the chosen groups is chosen. Static weights
//     still make constraints moot.
//   - Messages of failures are Karmada's to the letter, so that tools that read
//     them go on working. They are data, not errors of this program.
//   - Karmada's workload affinity, remote estimators, scheduling of several
//     components and zero-replica propagation are behind gates that are off, and
//     left out.
package place
