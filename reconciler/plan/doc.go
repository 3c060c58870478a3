// Package plan is the judgement of the product: Build turns a source, the fleet, the
// previous decisions and what is published into what every cluster should hold and why.
// Controller, preview, command line and tests call it; nothing else decides.
//
// It promises that equal inputs give equal bytes, that what has an error keeps its last
// published files, and that a plan which removes too much says so instead of being carried
// out. It reads and writes nothing.
//
// # The rooms
//
// Each room takes values and returns values, and none knows the next.
//
//	lastgood   before a plan: takes what cannot be read from where it could be read last
//	expand     puts what releases render to in the place of the releases
//	index      makes the policies ready to be asked
//	schedule   decides which policy a template has, which clusters, how many replicas
//	failover   decides how work leaves clusters that fail, for schedule
//	deschedule moves replicas that find no node, for schedule
//	manifest   writes each template for each class of clusters: what is wanted
//	services   finds what services clusters exchange, and says it on their branches
//	ingress    finds which Services Ingresses and routes lead to in each cluster
//	virtual    settles what virtual clusters of one API server share
//	layout     makes a tree a cluster of what is wanted, or left as it is
//	rollout    decides what of it is carried out, with guard as the judge of removals
//	lint       reports what policies say and nothing comes of
//
// Of a plan that is made, shortfall, explain and leaving tell what people ask of it.
//
// What stays as it was published is decided in rollout, by one table, and nowhere else. The
// state records what was decided, and where the clusters differ from it (see package state), so
// that Replay makes the same plan again.
//
// # Cost
//
// The work of schedule grows with templates and, where placement asks every cluster, with
// templates times clusters; that of manifest with the number of different results; that of
// layout with placed manifests, at a few nanoseconds each, and with distinct trees. Memory
// holds every distinct manifest, eight bytes for each placed one and the bindings, whose
// clusters are listed one by one.
package plan
