package images

import (
	"cmp"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/distribution/reference"
	automationv1 "github.com/fluxcd/image-automation-controller/api/v1"
	reflectorv1 "github.com/fluxcd/image-reflector-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

const (
	// leastInterval is the least that counts.
	leastInterval = time.Minute
	// byHost says where credentials are.
	byHost = "credentials come from --registry-credentials, by host"
	// signatures is Flux's default of exclusionList.
	signatures = `^.*\.sig$`
)

// repository reads an ImageRepository; nil if it has a mistake.
func (r *reader) repository() *Repository {
	var w reflectorv1.ImageRepository
	if !r.decode(&w) {
		return nil
	}
	spec := &w.Spec
	x := &Repository{Name: nameOf(r.object), Pos: r.object.Pos(), Image: spec.Image, Suspended: spec.Suspend, excluded: spec.ExclusionList}
	x.Interval = max(spec.Interval.Duration, leastInterval)
	if spec.ExclusionList == nil {
		x.excluded = []string{signatures}
	}
	if every := spec.Interval.Duration; every != 0 && every < leastInterval {
		r.add(field{"spec", "interval"}, diag.SubscriptionIgnored, diag.Warning, "is less than a minute, and counts as one", "write 1m, or more")
	}
	named, err := reference.ParseNormalizedNamed(spec.Image)
	switch {
	case spec.Image == "":
		r.fail(field{"spec", "image"}, "write the image without a tag, as ghcr.io/acme/app", "is not there")
	case strings.Contains(spec.Image, "://"):
		r.fail(field{"spec", "image"}, "remove the scheme", "is %q, which has a scheme", spec.Image)
	case err != nil:
		r.fail(field{"spec", "image"}, "write it as ghcr.io/acme/app", "is %q, which is no image: %v", spec.Image, err)
	case !reference.IsNameOnly(named):
		r.fail(field{"spec", "image"}, "remove the tag and the digest", "is %q; want an image without a tag", spec.Image)
	}
	if spec.Insecure {
		r.fail(field{"spec", "insecure"}, "remove it, and serve the registry over https", "is refused: whoever is on the way could choose the image")
	}
	r.passedOver(spec)
	if _, err := imagepolicy.Read(imagepolicy.Spec{Excluded: x.excluded}); err != nil {
		r.badRule(err)
	}
	if r.failed() {
		return nil
	}
	return x
}

// passedOver warns of what an ImageRepository sets that has no meaning here.
func (r *reader) passedOver(spec *reflectorv1.ImageRepositorySpec) {
	for _, f := range []struct {
		isSet      bool
		field, why string
	}{
		{spec.SecretRef != nil, "secretRef", byHost},
		{spec.ProxySecretRef != nil, "proxySecretRef", "no proxy is used"},
		{spec.CertSecretRef != nil, "certSecretRef", byHost},
		{spec.ServiceAccountName != "", "serviceAccountName", byHost},
		{spec.Provider != "" && spec.Provider != "generic", "provider", byHost},
		{spec.AccessFrom != nil, "accessFrom", "whoever writes to the source may use every repository of it"},
		{spec.Timeout != nil, "timeout", "a request has 30 seconds"},
	} {
		if f.isSet {
			r.ignored(f.why, "spec", f.field)
		}
	}
}

// badRule notes what is wrong with a rule, at the field that says it.
func (r *reader) badRule(err error) {
	wrong, ok := errors.AsType[*imagepolicy.FieldError](err)
	if !ok {
		panic("images: a rule is wrong, and in no field: " + err.Error())
	}
	at := map[string]field{
		"Range": {"spec", "policy", "semver", "range"}, "Numerical": {"spec", "policy", "numerical", "order"},
		"Alphabetical": {"spec", "policy", "alphabetical", "order"}, "Pattern": {"spec", "filterTags", "pattern"},
		"Excluded": {"spec", "exclusionList", wrong.Index},
	}[wrong.Field]
	hint := map[string]string{
		"Range": "write a range as in Helm, such as 1.x or >=1.2.0 <2.0.0", "Numerical": "write asc or desc", "Alphabetical": "write asc or desc",
	}[wrong.Field]
	r.fail(at, cmp.Or(hint, "write an expression of RE2, which has no look-around"), "is wrong: %s", wrong.Problem)
}

// policy reads an ImagePolicy; nil if it, or its repository, has a mistake.
func (r *reader) policy(repositories map[Name]*Repository) *Policy {
	var w reflectorv1.ImagePolicy
	if !r.decode(&w) {
		return nil
	}
	spec := &w.Spec
	x := &Policy{
		Name: nameOf(r.object), Pos: r.object.Pos(), Suspended: spec.Suspend, labels: r.object.Labels(),
		Pinning: Pinning(cmp.Or(string(spec.DigestReflectionPolicy), string(PinNever))),
		ref:     Name{cmp.Or(spec.ImageRepositoryRef.Namespace, r.object.Ref().Namespace), spec.ImageRepositoryRef.Name},
	}
	if x.Pinning != PinNever && x.Pinning != PinAlways && x.Pinning != PinIfNotPresent {
		r.fail(field{"spec", "digestReflectionPolicy"}, "write Never, Always or IfNotPresent", "is %q", x.Pinning)
	}
	if spec.Interval != nil && x.Pinning != PinAlways {
		r.fail(field{"spec", "interval"}, "remove it; it is for digestReflectionPolicy: Always", "has no meaning with digestReflectionPolicy: %s", x.Pinning)
	}
	rule, ok := r.spec(spec)
	if x.Repository = repositories[x.ref]; x.Repository == nil {
		r.fail(field{"spec", "imageRepositoryRef", "name"}, "add it, or mend the name", "names the ImageRepository %s, which is not in the source or has a mistake", x.ref)
	} else {
		rule.Excluded = x.Repository.excluded
		x.Suspended = x.Suspended || x.Repository.Suspended
	}
	if !ok {
		return nil
	}
	var err error
	if x.Rule, err = imagepolicy.Read(rule); err != nil {
		r.badRule(err)
		return nil
	}
	if x.Rule.FitsOne() && x.Pinning != PinAlways {
		r.add(field{"spec", "filterTags", "pattern"}, diag.MovingTag, diag.Warning, "lets one tag pass, so that no version is ever newer",
			"to follow a tag that moves write digestReflectionPolicy: Always")
	}
	if r.failed() {
		return nil
	}
	return x
}

// spec reads which versions are wanted; false if it does not say.
func (r *reader) spec(spec *reflectorv1.ImagePolicySpec) (imagepolicy.Spec, bool) {
	var s imagepolicy.Spec
	n := 0
	if p := spec.Policy.SemVer; p != nil {
		if n, s.Range = n+1, p.Range; p.Range == "" {
			r.fail(field{"spec", "policy", "semver", "range"}, "write a range, such as 1.x", "is not there")
		}
	}
	if p := spec.Policy.Numerical; p != nil {
		n, s.Numerical = n+1, imagepolicy.Direction(cmp.Or(p.Order, string(imagepolicy.Ascending)))
	}
	if p := spec.Policy.Alphabetical; p != nil {
		n, s.Alphabetical = n+1, imagepolicy.Direction(cmp.Or(p.Order, string(imagepolicy.Ascending)))
	}
	if n != 1 {
		r.fail(field{"spec", "policy"}, "write one of semver, numerical and alphabetical", "has %d orders", n)
	}
	if f := spec.FilterTags; f != nil {
		s.Pattern, s.Extract = f.Pattern, f.Extract
	}
	return s, !r.failed()
}

// automation reads an ImageUpdateAutomation; nil if it has a mistake.
func (r *reader) automation(foreign func(object.Ref) string, taken func(branch string) string) *Automation {
	var w automationv1.ImageUpdateAutomation
	if !r.decode(&w) {
		return nil
	}
	spec := &w.Spec
	x := &Automation{Name: nameOf(r.object), Pos: r.object.Pos(), Path: ".", Suspended: spec.Suspend, selects: labels.Everything()}
	if spec.PolicySelector != nil {
		var err error
		if x.selects, err = metav1.LabelSelectorAsSelector(spec.PolicySelector); err != nil {
			r.fail(field{"spec", "policySelector"}, "write matchLabels or matchExpressions", "cannot be read: %v", err)
		}
	}
	if u := spec.Update; u != nil {
		x.Path = r.folder(u.Path)
		if u.Strategy != "" && u.Strategy != automationv1.UpdateStrategySetters {
			r.fail(field{"spec", "update", "strategy"}, "write Setters", "is %q", u.Strategy)
		}
	}
	ref := object.Ref{
		Group: "source.toolkit.fluxcd.io", Kind: cmp.Or(spec.SourceRef.Kind, "GitRepository"),
		Namespace: cmp.Or(spec.SourceRef.Namespace, r.object.Ref().Namespace), Name: spec.SourceRef.Name,
	}
	switch why := foreign(ref); {
	case ref.Name == "":
		r.fail(field{"spec", "sourceRef", "name"}, "write the name of the GitRepository that is this repository", "is not there")
	case why != "":
		r.fail(field{"spec", "sourceRef"}, "if it is this repository, say so in waybill.yaml, flux.self: [GitRepository/"+ref.Namespace+"/"+ref.Name+"]", "is refused: %s", why)
	}
	r.git(spec.GitSpec, x, taken)
	if r.failed() {
		return nil
	}
	return x
}

// folder reads a path of the source.
func (r *reader) folder(written string) string {
	clean := path.Clean("./" + written)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		r.fail(field{"spec", "update", "path"}, "write a folder of the source", "is %q, which is outside of the source", written)
	}
	return strings.TrimPrefix(clean, "/")
}

// git reads how commits are made.
func (r *reader) git(g *automationv1.GitSpec, x *Automation, taken func(branch string) string) {
	if g == nil {
		return
	}
	at := func(rest ...any) field { return append(field{"spec", "git"}, rest...) }
	if g.Checkout != nil {
		r.ignored("the branch that is followed is the base", at("checkout")...)
	}
	if g.Commit.SigningKey != nil {
		r.ignored("commits are signed with --signing-key", at("commit", "signingKey")...)
	}
	switch {
	case strings.Contains(g.Commit.MessageTemplate, "{{"):
		r.ignored("a template would run with Waybill's rights; a fixed text is used", at("commit", "messageTemplate")...)
	default:
		x.Message = g.Commit.MessageTemplate
	}
	if len(g.Commit.MessageTemplateValues) > 0 {
		r.ignored("no template is run", at("commit", "messageTemplateValues")...)
	}
	if p := g.Push; p != nil {
		x.Branch = p.Branch
		if p.Branch != "" {
			if why := taken(p.Branch); why != "" {
				r.fail(at("push", "branch"), "name a branch of your own, as updates, or leave it out", "is %q, %s", p.Branch, why)
			}
		}
		if p.Refspec != "" {
			r.fail(at("push", "refspec"), "remove it; a pull request has a branch", "is refused: it may write any ref")
		}
		if len(p.Options) > 0 {
			r.ignored("no push options are sent", at("push", "options")...)
		}
	}
}
