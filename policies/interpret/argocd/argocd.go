// Package argocd holds Argo CD's health rules: one Lua script a kind, out of Argo CD's own
// module, which imports nothing but embed.
//
// A script is given the live object as the global obj, and returns a status and a message, as
// Argo CD's documentation of custom health checks says. The package runs nothing: package
// interpret does.
package argocd

import (
	"io/fs"

	rules "github.com/argoproj/argo-cd/v3/resource_customizations"
)

// Source is what the rules are named by, with the version of their module.
const Source = "argo-cd v3.5.0"

// Files returns the scripts, each group/Kind/health.lua, beside their cases. In the name of a
// folder _ stands for any text, as * does elsewhere.
func Files() fs.FS { return rules.Embedded }
