package render

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/waybill-dev/waybill/render/applying"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources"
)

// ConfigFile is where a source may set the options of Config.
const ConfigFile = "waybill.yaml"

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
	// SkipNamespaces are the namespaces that policies do not place from; see NamespacePattern.
	SkipNamespaces []string          `json:"skipNamespaces"`
	Secrets        string            `json:"secrets"` // SecretsRefuse or SecretsAllow
	Charts         Charts            `json:"charts"`
	Guard          Guard             `json:"guard"`
	Apply          applying.Apply    `json:"apply"`
	Health         Health            `json:"health,omitzero"`
	Failover       Failover          `json:"failover"`
	Descheduler    Descheduler       `json:"descheduler"`
	Rollout        Rollout           `json:"rollout"`
	Updates        subscribe.Updates `json:"updates"`
	Services       exchange.Services `json:"services"`
	Previews       Previews          `json:"previews"`
	Flux           Flux              `json:"flux"`
}

// Previews says of which pull requests the controller shows what they do.
type Previews struct {
	Forks string `json:"forks"` // ForksOpen, ForksApproved or ForksNever
}

// What happens to changes from forks: they are rendered in the sandbox, or only at the head that
// a maintainer names by /waybill preview, or never.
const (
	ForksOpen     = "open"
	ForksApproved = "approved"
	ForksNever    = "never"
)

// Where Namespaces of the source go: where something needs them, to every cluster
// as Karmada sends them, or nowhere without a policy.
const (
	NamespacesUsed = "used"
	NamespacesAll  = "all"
	NamespacesNone = "none"
)

// What happens to plain Secrets on branches.
const (
	SecretsRefuse = "refuse"
	SecretsAllow  = "allow"
)

// What happens to the hooks of charts on branches: they are left out, or get the
// annotations by which Argo CD runs them.
const (
	HooksDrop   = "drop"
	HooksArgoCD = "argocd"
)

// Who applies what is published.
const (
	AppliedByWaybill = "waybill" // its controller, agents or waybill apply
	AppliedByFlux    = "flux"
	AppliedByArgoCD  = "argocd"
)

// LayoutBranches publishes a branch a cluster; LayoutFolders a folder a cluster, all on one branch.
const (
	LayoutBranches = "branches"
	LayoutFolders  = "folders"
)

// Scan says which files are looked at, in gitignore syntax.
type Scan struct {
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
}

// Publish says where trees go; see Addresses.
type Publish struct {
	BranchPrefix string `json:"branchPrefix"` // with LayoutBranches, a cluster's branch is this and its name
	Layout       string `json:"layout"`       // LayoutBranches or LayoutFolders
	Branch       string `json:"branch"`       // with LayoutFolders, the one that has a folder for each cluster
	Repository   string `json:"repository"`
	Hooks        string `json:"hooks"`     // HooksDrop or HooksArgoCD
	AppliedBy    string `json:"appliedBy"` // AppliedByWaybill, AppliedByFlux or AppliedByArgoCD; empty: that is not known
	// Formerly are the repositories that the source was in before it moved: a URL or path, and
	// behind a space the folder of it.
	Formerly []string `json:"formerly"`
	// Links is the URL of the web UI, to which workloads and Kustomizations lead in the UIs of others; empty: they do not.
	Links string `json:"links"`
	// Flux may also be the form alone, as a string.
	Flux  fluxsync.Settings `json:"flux"`
	Moves Moves             `json:"moves"`
}

// Charts says where charts may come from, unless a command line does.
type Charts struct {
	Hosts   []string `json:"hosts"`   // as https://charts.example.com; none: any public one
	Private []string `json:"private"` // ranges of private addresses that these hosts may have
}

// check names a field with a problem.
func (c *Charts) check() (field, problem string) {
	for _, h := range c.Hosts {
		if u, err := url.Parse(h); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return "hosts", fmt.Sprintf("holds %q; want https://HOST", h)
		}
	}
	for _, p := range c.Private {
		if _, err := netip.ParsePrefix(p); err != nil {
			return "private", fmt.Sprintf("holds %q; want a range of addresses, as 10.0.0.0/8", p)
		}
	}
	return "", ""
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
		Publish:    Publish{BranchPrefix: "waybill/cluster/", Layout: LayoutBranches, Branch: "waybill/clusters", Hooks: HooksDrop, Flux: fluxsync.Default(), Moves: defaultMoves()},
		Namespaces: NamespacesUsed,
		Secrets:    SecretsRefuse,
		Guard: Guard{
			MaxRemoved: 10, MaxRemovedPercent: 20,
			Protect: []string{"Namespace", "CustomResourceDefinition", "PersistentVolumeClaim", "PersistentVolume", "StatefulSet"},
		},
		Health:   Health{Prefer: HealthBoth},
		Failover: defaultFailover(), Descheduler: defaultDescheduler(), Rollout: defaultRollout(), Updates: subscribe.Default(),
		Services: exchange.Default(),
		Previews: Previews{Forks: ForksApproved},
	}
}

// ConfigOf reads the options of a source, which are DefaultConfig where it sets none. The
// diagnostics are ParseConfig's; the error is that the file cannot be read.
func ConfigOf(s sources.Snapshot) (ConfigSpec, []diag.Diagnostic, error) {
	data, err := s.ReadFile(ConfigFile)
	if errors.Is(err, fs.ErrNotExist) {
		return DefaultConfig(), nil, nil
	}
	if err != nil {
		return DefaultConfig(), nil, fmt.Errorf("reading %s: %w", ConfigFile, err)
	}
	c, ds := ParseConfig(data)
	return c, ds, nil
}

// ParseConfig reads a waybill.yaml strictly. What it does not say is as
// DefaultConfig has it; with an error diagnostic the default is returned whole.
func ParseConfig(data []byte) (ConfigSpec, []diag.Diagnostic) {
	o, ds := object.Single(ConfigFile, data)
	if o == nil {
		for i := range ds {
			ds[i].Code, ds[i].Hint = diag.BadConfig, configHint
		}
		return DefaultConfig(), ds
	}
	c := Config{Spec: DefaultConfig()}
	problems := c.read(o)
	if len(problems) == 0 {
		c.Spec.Rollout.located(o)
		for i := range c.Spec.Updates.Schedule {
			c.Spec.Updates.Lines = append(c.Spec.Updates.Lines, o.FieldPos([]any{"spec", "updates", "schedule", i}).Line)
		}
		return c.Spec, nil
	}
	for _, p := range problems {
		ds = append(ds, diag.Diagnostic{
			Code: diag.BadConfig, Severity: diag.Error, Pos: o.FieldPos(object.ParseFieldPath(p.field)), Message: p.message, Hint: cmp.Or(p.hint, configHint),
		})
	}
	return DefaultConfig(), ds
}

const configHint = "the options are listed in docs/config.md"

// configProblem is something that a waybill.yaml may not say.
type configProblem struct {
	field   string // empty: the whole file
	message string
	hint    string // empty: configHint
}

// read takes over what a manifest says, and returns what it may not say: every field that there is not, or else the first problem.
func (c *Config) read(o *object.Object) []configProblem {
	var strict []error
	asJSON, err := json.Marshal(spelledOut(o.Content()))
	if err == nil {
		strict, err = kjson.UnmarshalStrict(asJSON, c)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return []configProblem{{field: wrong.Field, message: fmt.Sprintf("%s is a %s; want a value of type %s", wrong.Field, wrong.Value, wrong.Type)}}
	}
	if err != nil {
		return []configProblem{{message: fmt.Sprintf("the file cannot be read: %v", err)}}
	}
	var problems []configProblem
	for _, s := range strict {
		p := configProblem{message: s.Error()}
		if unknown, ok := errors.AsType[kjson.FieldError](s); ok {
			p.field, p.hint = unknown.FieldPath(), unknownHint(unknown.FieldPath())
		}
		problems = append(problems, p)
	}
	if len(problems) > 0 {
		return problems
	}
	if c.APIVersion != "waybill.dev/v1alpha1" || c.Kind != "Config" {
		return []configProblem{{message: fmt.Sprintf("apiVersion is %q and kind %q; want \"waybill.dev/v1alpha1\" and \"Config\"", c.APIVersion, c.Kind)}}
	}
	if field, message := c.Spec.check(); message != "" {
		return []configProblem{{field: field, message: message}}
	}
	return nil
}

// spelledOut returns content with the form of publish.flux in its field, where it stands
// alone.
func spelledOut(content map[string]any) map[string]any {
	spec, _ := content["spec"].(map[string]any)
	publish, _ := spec["publish"].(map[string]any)
	form, ok := publish["flux"].(string)
	if !ok {
		return content
	}
	content, spec, publish = maps.Clone(content), maps.Clone(spec), maps.Clone(publish)
	publish["flux"] = map[string]any{"form": form}
	spec["publish"], content["spec"] = publish, spec
	return content
}

// check holds the options against what they may be. It names the first field with a
// problem.
func (c *ConfigSpec) check() (field, problem string) {
	for _, e := range []struct {
		field, value string
		allowed      []string
	}{
		{"spec.namespaces", c.Namespaces, []string{NamespacesUsed, NamespacesAll, NamespacesNone}},
		{"spec.secrets", c.Secrets, []string{SecretsRefuse, SecretsAllow}},
		{"spec.publish.layout", c.Publish.Layout, []string{LayoutBranches, LayoutFolders}},
		{"spec.publish.hooks", c.Publish.Hooks, []string{HooksDrop, HooksArgoCD}},
		{"spec.publish.appliedBy", cmp.Or(c.Publish.AppliedBy, AppliedByWaybill), []string{AppliedByWaybill, AppliedByFlux, AppliedByArgoCD}},
		{"spec.health.prefer", cmp.Or(c.Health.Prefer, HealthBoth), []string{HealthBoth, HealthKarmada, HealthArgoCD}},
		{"spec.previews.forks", c.Previews.Forks, []string{ForksOpen, ForksApproved, ForksNever}},
	} {
		if !slices.Contains(e.allowed, e.value) {
			return e.field, fmt.Sprintf("%s is %q; want one of %s", e.field, e.value, strings.Join(e.allowed, ", "))
		}
	}
	if p := prefixProblem(c.Publish.BranchPrefix); p != "" {
		return "spec.publish.branchPrefix", fmt.Sprintf("spec.publish.branchPrefix is %q, %s", c.Publish.BranchPrefix, p)
	}
	if _, err := links.Parse(c.Publish.Links); err != nil {
		return "spec.publish.links", "spec.publish.links " + err.Error()
	}
	if p := c.Health.problem(); p != "" {
		return "spec.health.argocdConfigMap", p
	}
	if c.Publish.Layout == LayoutFolders {
		if p := sharedProblem(c.Publish.Branch, c.Publish.BranchPrefix); p != "" {
			return "spec.publish.branch", fmt.Sprintf("spec.publish.branch is %q, %s", c.Publish.Branch, p)
		}
	}
	for _, e := range c.SkipNamespaces {
		if _, err := NamespacePattern(e); err != nil {
			return "spec.skipNamespaces", fmt.Sprintf("spec.skipNamespaces holds %q: %v", e, err)
		}
	}
	for _, part := range []struct {
		name  string
		check func() (field, problem string)
	}{
		{"charts", c.Charts.check},
		{"apply", c.Apply.Check},
		{"failover", c.Failover.check},
		{"descheduler", c.Descheduler.check},
		{"flux", c.Flux.check},
		{"publish.flux", c.Publish.Flux.Check},
		{"publish.moves", c.Publish.Moves.check},
		{"rollout", c.Rollout.check},
		{"updates", c.Updates.Check},
		{"services", c.Services.Check},
	} {
		if field, p := part.check(); p != "" {
			field = "spec." + part.name + "." + field
			return field, field + " " + p
		}
	}
	if g := c.Guard; g.MaxRemoved < 0 || g.MaxRemovedPercent < 0 || g.MaxRemovedPercent > 100 {
		return "spec.guard", fmt.Sprintf("spec.guard allows %d objects or %d percent; want at least 0, and at most 100 percent", g.MaxRemoved, g.MaxRemovedPercent)
	}
	return "", ""
}

// BadConfig returns what is wrong with the source's waybill.yaml, if anything is.
// What it says of branches and of the guard is then not known.
func (s *Source) BadConfig() (diag.Diagnostic, bool) {
	i := slices.IndexFunc(s.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.BadConfig })
	if i < 0 {
		return diag.Diagnostic{}, false
	}
	return s.Diags[i], true
}
