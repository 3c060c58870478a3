package render

import (
	"fmt"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
)

// ConfigFile is where a source may set the options of Config.
const ConfigFile = "waybill.yaml"

const badConfig = "bad-config"

// Config is a source's waybill.yaml (waybill.dev/v1alpha1, kind Config).
type Config struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Spec       ConfigSpec `json:"spec"`
}

// ConfigSpec holds the options. DefaultConfig gives what a source without a file
// has; a file states only what differs.
type ConfigSpec struct {
	Scan       Scan    `json:"scan"`
	Publish    Publish `json:"publish"`
	Namespaces string  `json:"namespaces"` // NamespacesUsed, NamespacesAll or NamespacesNone
	Secrets    string  `json:"secrets"`    // SecretsRefuse, SecretsAllow or SecretsEncrypt
	Guard      Guard   `json:"guard"`
}

// Where Namespaces of the source go: where something needs them, to every cluster
// as Karmada sends them, or nowhere without a policy.
const (
	NamespacesUsed = "used"
	NamespacesAll  = "all"
	NamespacesNone = "none"
)

// What happens to plain Secrets on branches.
const (
	SecretsRefuse  = "refuse"
	SecretsAllow   = "allow"
	SecretsEncrypt = "encrypt"
)

// LayoutBranches publishes a branch a cluster; LayoutFolders a folder a cluster.
const (
	LayoutBranches = "branches"
	LayoutFolders  = "folders"
)

// Scan says which files are looked at, in gitignore syntax.
type Scan struct {
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
}

// Publish says where trees go.
type Publish struct {
	BranchPrefix string `json:"branchPrefix"`
	Layout       string `json:"layout"`
	Repository   string `json:"repository"`
}

// Guard bounds what one plan may remove from a cluster: MaxRemoved objects or
// MaxRemovedPercent of them, whichever is more, and nothing of the protected kinds.
type Guard struct {
	MaxRemoved        int      `json:"maxRemoved"`
	MaxRemovedPercent int      `json:"maxRemovedPercent"`
	Protect           []string `json:"protect"`
}

// DefaultConfig returns the options of a source without waybill.yaml.
func DefaultConfig() ConfigSpec {
	return ConfigSpec{
		Scan:       Scan{Include: []string{"**"}},
		Publish:    Publish{BranchPrefix: "waybill/cluster/", Layout: LayoutBranches},
		Namespaces: NamespacesUsed,
		Secrets:    SecretsRefuse,
		Guard: Guard{
			MaxRemoved: 10, MaxRemovedPercent: 20,
			Protect: []string{"Namespace", "CustomResourceDefinition", "PersistentVolumeClaim", "PersistentVolume", "StatefulSet"},
		},
	}
}

// ParseConfig reads a waybill.yaml strictly. What it does not say is as
// DefaultConfig has it; with an error diagnostic the default is returned whole.
func ParseConfig(data []byte) (ConfigSpec, []diag.Diagnostic) {
	bad := func(format string, args ...any) (ConfigSpec, []diag.Diagnostic) {
		return DefaultConfig(), []diag.Diagnostic{{
			Code: badConfig, Severity: diag.Error, Pos: diag.Pos{File: ConfigFile}, Message: fmt.Sprintf(format, args...),
			Hint: "the options are listed in docs/config.md",
		}}
	}
	asJSON, err := sigsyaml.YAMLToJSONStrict(data)
	if err != nil {
		return bad("the file is no valid YAML: %v", err)
	}
	c := Config{Spec: DefaultConfig()}
	strict, err := kjson.UnmarshalStrict(asJSON, &c)
	if err != nil {
		return bad("the file cannot be read: %v", err)
	}
	if len(strict) > 0 {
		return bad("%v", strict[0])
	}
	if c.APIVersion != "waybill.dev/v1alpha1" || c.Kind != "Config" {
		return bad("apiVersion is %q and kind %q; want \"waybill.dev/v1alpha1\" and \"Config\"", c.APIVersion, c.Kind)
	}
	if err := c.Spec.check(); err != nil {
		return bad("%v", err)
	}
	return c.Spec, nil
}

// check holds the options against what they may be.
func (c *ConfigSpec) check() error {
	for _, e := range []struct {
		field, value string
		allowed      []string
	}{
		{"spec.namespaces", c.Namespaces, []string{NamespacesUsed, NamespacesAll, NamespacesNone}},
		{"spec.secrets", c.Secrets, []string{SecretsRefuse, SecretsAllow}},
		{"spec.publish.layout", c.Publish.Layout, []string{LayoutBranches}},
	} {
		if !slices.Contains(e.allowed, e.value) {
			return fmt.Errorf("%s is %q; want one of %s", e.field, e.value, strings.Join(e.allowed, ", "))
		}
	}
	if p := c.Publish.BranchPrefix; p == "" || strings.HasPrefix(p, "/") || strings.Contains(p, "//") || strings.ContainsAny(p, " ~^:?*[\\\x7f") || strings.Contains(p, "..") {
		return fmt.Errorf("spec.publish.branchPrefix is %q, which no branch name can begin with", p)
	}
	if g := c.Guard; g.MaxRemoved < 0 || g.MaxRemovedPercent < 0 || g.MaxRemovedPercent > 100 {
		return fmt.Errorf("spec.guard allows %d objects or %d percent; want at least 0, and at most 100 percent", g.MaxRemoved, g.MaxRemovedPercent)
	}
	return nil
}

// BadConfig returns what is wrong with the source's waybill.yaml, if anything is.
// What it says of branches and of the guard is then not known.
func (s *Source) BadConfig() (diag.Diagnostic, bool) {
	i := slices.IndexFunc(s.Diags, func(d diag.Diagnostic) bool { return d.Code == badConfig })
	if i < 0 {
		return diag.Diagnostic{}, false
	}
	return s.Diags[i], true
}
