// Package thirdparty holds what the kinds of other projects mean: Karmada's own customizations, out
// of Karmada's module, and a Lua file each for the kinds that the module lacks: the versions of
// HelmRelease after v2beta1, RayService, which newer versions of Karmada know, and Argo Rollouts.
//
// A file is named group/version/Kind.lua. It defines, as globals, functions that
// Karmada's ResourceInterpreterCustomization has scripts for, with its names and
// arguments: GetReplicas, GetComponents, ReviseReplica, GetDependencies,
// InterpretHealth, ReflectStatus, AggregateStatus and Retain. The package promises
// that every file is Lua 5.1, needs no library but kube, and defines no other
// global. It runs nothing: package interpret does.
//
// # Rules
//
// The files say of their kinds what package interpret says of the built-in
// ones (Karmada sections A.6 and D.5 to D.9):
//
//   - An object is healthy if its status is about the spec as it stands, where the
//     status says so, and what its controller was asked for is there. Of a rollout
//     that is held back, the pods after that are not asked for.
//   - ReflectStatus picks the fields that AggregateStatus uses, and notes the
//     object's generation and that of its template.
//   - AggregateStatus sums counters. The template's generation counts as observed
//     once every cluster has observed it. A state is the worst that a cluster
//     reports. A condition is True if it is in all clusters or, where it tells of
//     trouble or of progress, in one; its message says which cluster says what. It
//     takes no time but those that clusters report.
//   - Dependencies are those of the pods, and what the spec refers to by name. A
//     HelmRelease has its source and the objects that it waits for among them.
//   - ReviseReplica changes a field that is there, and adds none.
//   - Retain keeps what people and controllers set in a cluster: a pause of a
//     HelmRelease is kept while the template says nothing of pauses.
//
// Where a controller gives a field a default, it is the default that counts.
//
// # Repetition
//
// A file is whole: it shares no code with the others, so that it can be read, and
// copied into a customization, by itself. Local functions that several files need
// are repeated; those of one name are the same in all files.
package thirdparty

import (
	"embed"
	"io/fs"

	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/thirdparty/resourcecustomizations"
)

//go:embed */*/*.lua
var files embed.FS

// Files returns our Lua files, each named group/version/Kind.lua.
func Files() fs.FS { return files }

// Source is what Karmada's own customizations are named by, with the version of their module.
const Source = "karmada v1.16.0"

// Karmada returns Karmada's own customizations for kinds of other projects, each
// group/version/Kind/customizations.yaml, beside their cases.
func Karmada() fs.FS { return resourcecustomizations.Embedded }
