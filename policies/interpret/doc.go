// Package interpret says what a kind means: how many replicas an object asks for
// and what each needs, what it depends on, what an API server adds to it and what
// only a cluster knows of it, whether it is healthy and how the status of many
// clusters becomes one (Karmada sections A.6, A.12, D.4 to D.9, and T.1).
//
// It works on decoded manifests, whose values are string, bool, int64, float64,
// nil, []any and map[string]any. It promises that no argument is ever modified,
// that a result may share parts with the arguments, and that the same arguments
// give the same result. It does not place anything, does not divide replicas or
// completions, does not validate objects, and does not call webhooks.
//
// # Layers
//
// What Karmada's interpreters can be asked, an Interpreter can be asked: replicas,
// components, revision, dependencies, health, reflection, aggregation and
// retention. The answer is that of the first layer that has a hook for the operation
// and the exact apiVersion and kind (section E.9):
//
//   - ResourceInterpreterCustomizations. Of several for one kind, the first by name
//     that has a script for the operation; for dependencies all of them together.
//   - The kinds of other projects, which package thirdparty has Lua files for.
//   - The built-in kinds.
//
// Package lua runs the scripts, and says what they can do and what they cost. What
// they return is checked: a number of replicas is one, a revised or a retained object
// is still the same object, a dependency can be found, and of an aggregated object
// only the status counts. A script that does not compile, or does not define its
// function, makes its operation fail; no other layer answers in its place.
//
// An answer of customizations may take as many steps as lua.Answer gives it, and beyond
// those what an Interpreter has for all answers together. When that is spent, answers that
// take more than their own are errors. Which answers those are follows from the questions
// and their order alone, so an Interpreter serves one plan.
//
// Customizations are not asked about Secrets: what they answer is seen by others than those
// who may read Secrets.
//
// What Karmada fixes in code, such as pruning, is plain functions.
//
// # Defaults
//
// In Karmada templates live in an API server, so every policy sees an object with
// its defaults: "replace /spec/replicas" finds something to replace in a
// Deployment that says nothing of replicas. Default adds them and remembers where.
// On a branch they would be noise, so Undefault takes them away again.
//
// A default is a rule: in the maps that a path leads to, a key that is not set
// gets a value, which may depend on the rest of its map. The rules of one map apply
// in the order of their table, which is that of an API server; a rule may rely on
// those before it. An explicit null and, where the API has no pointer, an explicit
// zero or "" are not set either.
//
// Undefault removes a default that still has the value it was given, and puts back
// what was there before it. Objects change between the two calls, so an item of a
// list is found again by its index and its name (or port): if another item stands
// at the index, the one item of that name is meant; if none has the name and the
// list is as long as it was, the item was renamed.
//
// Two laws hold for every object x, every change f and the additions a of x:
//
//	Undefault(Default(x)) = x
//	Default(Undefault(f(Default(x)), a)) = Default(f(Default(x)))
//
// The second says that an API server makes the same of the short manifest as of
// the long one. It is what keeps imagePullPolicy IfNotPresent in the output after an
// override has changed an image from 1.2 to latest: Karmada's template was given
// the policy when its image was 1.2, and delivers it. The same goes for the
// completions of a Job that got a parallelism and the targetPort of a Service that
// got another port. Undefault takes every unchanged default away, defaults the
// result, and puts back those that did not come again, until all do. Where a change
// removed a default that would come back by itself, it takes nothing away.
//
// # Status
//
// Reflect picks from a status what one cluster reports; Aggregate makes one status
// of the reports of all. For a workload both know the same counters. A counter
// that is not there is 0, and a sum of 0 is left out.
//
// # Decisions
//
// Defaults cover the kinds and fields that people patch. Left out are those of
// storage that few use (rbd, iscsi, scaleIO, azureDisk), the behavior of an
// autoscaler, host ports, and requests taken from limits of a bare Pod; a patch
// that wants to replace one of them has to add it. What an API server allocates is
// no default: ipFamilies, clusterIP, nodePort.
//
// A Job without labels gets those of its pods from an API server. They are left
// out: a delivered Job has Waybill's label and so would not get them again, and
// putting them into the output would break the first law.
//
// An Ingress rule for TLS without a secretName names no dependency. In Karmada it
// fails the interpretation of the whole Ingress.
//
// Prune takes from an object of Git what its server set only if a server did: if it
// carries a uid, a resourceVersion or managedFields. Karmada takes finalizers, the
// address of a Service and the time to live of a Job from every template, because its
// API server sets them; in Git a person wrote them. Of a ServiceAccount Prune removes
// every token secret; Karmada leaves the second of two neighbours.
//
// Reflect reports the observedGeneration of a StatefulSet. Karmada does not, so
// that the template's never advances. A workload that does not say of which generation
// of its template it is, is an error in Karmada; a template in Git has no generation, so
// that here none is reported.
//
// Replicas refuses a number of replicas that no workload can have. A conversion to
// int32 would wrap it.
//
// The conditions that Aggregate gives to a Job carry no times: they would be the
// time of the aggregation, which is no function of its arguments.
//
// A script whose result has a mistake in it is an error. Karmada wraps a number of
// replicas that is too large and truncates one that is not whole. A status that a
// script does not report, nil, is an error in Karmada; here there is none.
//
// Karmada lists dependencies and addresses in the order of a hash; here they are
// sorted.
package interpret
