package images

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// Group is the API group of the kinds.
const Group = "image.toolkit.fluxcd.io"

// The kinds.
const (
	repositoryKind = "ImageRepository"
	policyKind     = "ImagePolicy"
	automationKind = "ImageUpdateAutomation"
)

// versions are those that are read. Their fields are equal.
var versions = []string{Group + "/v1", Group + "/v1beta2"}

// Is reports an object of one of the kinds, in any version.
func Is(r object.Ref) bool {
	return r.Group == Group && slices.Contains([]string{repositoryKind, policyKind, automationKind}, r.Kind)
}

// Name is a name in a namespace.
type Name struct{ Namespace, Name string }

func (n Name) String() string { return n.Namespace + "/" + n.Name }

// Compare orders names.
func (n Name) Compare(o Name) int {
	return cmp.Or(cmp.Compare(n.Namespace, o.Namespace), cmp.Compare(n.Name, o.Name))
}

// Repository is an ImageRepository: an image that is looked at.
type Repository struct {
	Name      Name
	Pos       diag.Pos
	Image     string // without a tag
	Suspended bool
	// Interval is how long its registry is left alone between two looks: at least a minute.
	Interval time.Duration
	excluded []string
}

// Pinning says what becomes of digests: Flux's digestReflectionPolicy.
type Pinning string

// The ways: no digest is written; the one that the tag has now; or the one that it had when the version was taken.
const (
	PinNever        Pinning = "Never"
	PinAlways       Pinning = "Always"
	PinIfNotPresent Pinning = "IfNotPresent"
)

// Policy is an ImagePolicy: which versions of a repository are wanted.
type Policy struct {
	Name       Name
	Pos        diag.Pos
	Repository *Repository
	Rule       *imagepolicy.Rule
	Pinning    Pinning
	// Suspended says that the policy, or its repository, is not looked at.
	Suspended bool
	labels    labels.Set
	ref       Name
}

// Automation is an ImageUpdateAutomation: which policies are written, and where.
type Automation struct {
	Name      Name
	Pos       diag.Pos
	Path      string // folder of the source; "." for all of it
	Branch    string // of git.push; empty: one a policy
	Message   string // of commits; empty: Waybill's own
	Suspended bool
	selects   labels.Selector
}

// Covers reports whether the automation writes a policy. It writes those of its own namespace, as in Flux.
func (a *Automation) Covers(p *Policy) bool {
	return a.Name.Namespace == p.Name.Namespace && a.selects.Matches(p.labels)
}

// Set is what a source subscribes to, each in the order of names.
type Set struct {
	Repositories []*Repository
	Policies     []*Policy
	Automations  []*Automation
	// Broken are the policies that have a mistake, or whose repository has: of them nothing is known.
	Broken map[Name]bool
	// BrokenAutomations are the namespaces in which an automation has a mistake: which policies it covers is not known.
	BrokenAutomations map[string]bool
}

// Policy returns a policy by its name; nil for none that has no mistake.
func (s *Set) Policy(n Name) *Policy {
	i := slices.IndexFunc(s.Policies, func(p *Policy) bool { return p.Name == n })
	if i < 0 {
		return nil
	}
	return s.Policies[i]
}

// Split reads the objects of a source of which Is, and returns the others. Repository is the one that the source is in.
func Split(
	config *render.ConfigSpec, repository *flux.Repository, objs []*object.Object,
) (s Set, others []*object.Object, wrong []diag.Diagnostic) {
	var own []*object.Object
	for _, o := range objs {
		if Is(o.Ref()) {
			own = append(own, o)
		} else {
			others = append(others, o)
		}
	}
	lookup := flux.NewIndex(others)
	s, wrong = Read(own, func(source object.Ref) string { return repository.Foreign(source, lookup) }, config.Publish.BranchProblem)
	return s, others, wrong
}

// Read reads the objects of which Is. Foreign says why a source of Flux's, as an automation names it, is another
// repository than this one; empty if it is this one. Taken says why a branch may not be pushed; empty if it may. The diagnostics
// are in the order of objects.
func Read(objs []*object.Object, foreign func(object.Ref) string, taken func(branch string) string) (Set, []diag.Diagnostic) {
	s := Set{Broken: map[Name]bool{}, BrokenAutomations: map[string]bool{}}
	repositories := map[Name]*Repository{}
	var all []diag.Diagnostic
	var policies []*object.Object
	for _, o := range objs {
		r := reader{object: o}
		switch o.Ref().Kind {
		case repositoryKind:
			if x := r.repository(); x != nil {
				repositories[x.Name] = x
				s.Repositories = append(s.Repositories, x)
			}
		case automationKind:
			if x := r.automation(foreign, taken); x != nil {
				s.Automations = append(s.Automations, x)
			} else {
				s.BrokenAutomations[o.Ref().Namespace] = true
			}
		case policyKind:
			policies = append(policies, o)
			continue // when all repositories are known
		}
		all = append(all, r.wrong...)
	}
	for _, o := range policies {
		r := reader{object: o}
		if x := r.policy(repositories); x != nil {
			s.Policies = append(s.Policies, x)
		} else {
			s.Broken[nameOf(o)] = true
		}
		all = append(all, r.wrong...)
	}
	slices.SortFunc(s.Repositories, func(a, b *Repository) int { return a.Name.Compare(b.Name) })
	slices.SortFunc(s.Policies, func(a, b *Policy) int { return a.Name.Compare(b.Name) })
	slices.SortFunc(s.Automations, func(a, b *Automation) int { return a.Name.Compare(b.Name) })
	return s, all
}

func nameOf(o *object.Object) Name { return Name{o.Ref().Namespace, o.Ref().Name} }
