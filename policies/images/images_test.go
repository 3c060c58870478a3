package images_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/subscribe"
)

// read reads a file. The GitRepository other is another repository.
func read(t *testing.T, text string) (images.Set, []string) {
	t.Helper()
	d := object.Decode("images.yaml", []byte(text))
	if d.Broken || len(d.Objects) == 0 {
		t.Fatalf("there are %d objects: %v", len(d.Objects), d.Diags)
	}
	for _, o := range d.Objects {
		if !images.Is(o.Ref()) {
			t.Fatalf("%s is none of the kinds", o.Ref())
		}
	}
	s, diags := images.Read(d.Objects, func(r object.Ref) string {
		if r.Name == "other" {
			return "its source is the " + r.Kind + " " + r.Namespace + "/" + r.Name + ", another repository"
		}
		return ""
	}, func(branch string) string {
		switch branch {
		case "waybill/state":
			return "which is in the way of waybill/state"
		case "":
			return "which is no branch"
		}
		return ""
	})
	var said []string
	for _, d := range diags {
		text, _, _ := strings.Cut(d.String(), "\n")
		if d.Hint == "" {
			t.Errorf("no hint: %s", text)
		}
		said = append(said, text)
	}
	return s, said
}

const repository = `apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: web, namespace: shop}
spec: {image: ghcr.io/acme/web, interval: 5m}
---
`

const policy = repository + `apiVersion: image.toolkit.fluxcd.io/v1beta2
kind: ImagePolicy
metadata: {name: web, namespace: shop, labels: {tier: front}}
spec:
  imageRepositoryRef: {name: web}
`

const automation = `apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageUpdateAutomation
metadata: {name: all, namespace: shop}
spec:
  interval: 10m
  sourceRef: {kind: GitRepository, name: flux-system}
`

func TestRead(t *testing.T) {
	s, said := read(t, policy+"  policy: {semver: {range: 1.x}}\n  filterTags: {pattern: '^v(.*)$', extract: $1}\n  digestReflectionPolicy: IfNotPresent\n---\n"+
		automation+"  update: {path: ./apps, strategy: Setters}\n  policySelector: {matchLabels: {tier: front}}\n  git:\n    commit: {author: {email: a@example.com}, messageTemplate: bump}\n    push: {branch: updates}\n")
	if len(said) > 0 {
		t.Fatal(said)
	}
	p := s.Policy(images.Name{Namespace: "shop", Name: "web"})
	if p == nil || p.Repository.Image != "ghcr.io/acme/web" || p.Pinning != images.PinIfNotPresent || p.Suspended {
		t.Fatalf("the policy is %+v", p)
	}
	if c := p.Rule.Choose(imagepolicy.Facts{Current: "v1.0.0", Tags: []string{"v1.0.0", "v1.1.0", "1.2.0", "v1.3.0.sig"}}); c.Tag != "v1.1.0" || c.Unfit != 2 {
		t.Errorf("chosen is %+v; signatures are excluded unless the repository says what is", c)
	}
	a := s.Automations[0]
	if a.Path != "apps" || a.Branch != "updates" || a.Message != "bump" || !a.Covers(p) {
		t.Errorf("the automation is %+v", a)
	}
	elsewhere := *p
	elsewhere.Name.Namespace = "other"
	if a.Covers(&elsewhere) {
		t.Error("an automation covers a policy of another namespace")
	}
	s, _ = read(t, strings.Replace(policy, "tier: front", "tier: back", 1)+"  policy: {alphabetical: {}}\n---\n"+automation+"  policySelector: {matchLabels: {tier: front}}\n")
	if s.Automations[0].Covers(s.Policies[0]) {
		t.Error("an automation covers a policy that it does not select")
	}
	for _, r := range []object.Ref{{Group: "example.com", Kind: "ImagePolicy"}, {Group: images.Group, Kind: "ImageScan"}} {
		if images.Is(r) {
			t.Errorf("%+v is one of the kinds", r)
		}
	}
}

// What is refused or passed over is named with its line; a mistake leaves the other objects as they are.
func TestWhatIsWrongHasAPlace(t *testing.T) {
	const semver = "  policy: {semver: {range: 1.x}}\n"
	change := func(of, old, to string) string { return strings.Replace(of, old, to, 1) }
	for _, tt := range []struct {
		name, text string
		want       string // of the first; empty for nothing
		broken     bool   // the policy is
	}{
		{"all is well", policy + semver, "", false},
		{"another version", change(policy+semver, "/v1beta2", "/v1beta1"), `images.yaml:6: error: ImagePolicy shop/web: apiVersion is "image.toolkit.fluxcd.io/v1beta1", which is not read [bad-subscription]`, true},
		{"an unknown field", policy + semver + "  filterTag: {}\n", "images.yaml:12: error: ImagePolicy shop/web: spec.filterTag is not a field here [unknown-field]", true},
		{"a wrong type", policy + "  policy: {semver: {range: 1}}\n", "images.yaml:11: error: ImagePolicy shop/web: spec.policy.semver.range is a number; want string [bad-subscription]", true},
		{"no order", policy, "images.yaml:9: error: ImagePolicy shop/web: spec.policy has 0 orders [bad-subscription]", true},
		{"two orders", policy + "  policy: {semver: {range: 1.x}, alphabetical: {}}\n", "images.yaml:11: error: ImagePolicy shop/web: spec.policy has 2 orders [bad-subscription]", true},
		{"a bad range", policy + "  policy: {semver: {range: one}}\n", `images.yaml:11: error: ImagePolicy shop/web: spec.policy.semver.range is wrong: "one" is no range of versions: `, true},
		{"a bad order", policy + "  policy: {numerical: {order: up}}\n", `images.yaml:11: error: ImagePolicy shop/web: spec.policy.numerical.order is wrong: the order "up"`, true},
		{"a bad filter", policy + semver + "  filterTags: {pattern: '(?!x)', extract: ''}\n", `images.yaml:12: error: ImagePolicy shop/web: spec.filterTags.pattern is wrong: "(?!x)" is no regular expression`, true},
		{"no range", policy + "  policy: {semver: {}}\n", "images.yaml:11: error: ImagePolicy shop/web: spec.policy.semver.range is not there [bad-subscription]", true},
		{"two orders of one kind", policy + "  policy: {numerical: {}, alphabetical: {}}\n", "images.yaml:11: error: ImagePolicy shop/web: spec.policy has 2 orders [bad-subscription]", true},
		{"a bad alphabet", policy + "  policy: {alphabetical: {order: up}}\n", `images.yaml:11: error: ImagePolicy shop/web: spec.policy.alphabetical.order is wrong: the order "up"`, true},
		{"an interval without digests", policy + semver + "  interval: 5m\n", "images.yaml:12: error: ImagePolicy shop/web: spec.interval has no meaning with digestReflectionPolicy: Never [bad-subscription]", true},
		{"a repository elsewhere", change(policy+semver, "imageRepositoryRef: {name: web}", "imageRepositoryRef: {name: web, namespace: base}"), "images.yaml:10: error: ImagePolicy shop/web: spec.imageRepositoryRef.name names the ImageRepository base/web, which is not in the source", true},
		{"a broken repository", change(policy+semver, "ghcr.io/acme/web", "HTTP"), "images.yaml:10: error: ImagePolicy shop/web: spec.imageRepositoryRef.name names the ImageRepository shop/web, which is not in the source or has a mistake", true},
		{"a bad digest", policy + semver + "  digestReflectionPolicy: Sometimes\n", `images.yaml:12: error: ImagePolicy shop/web: spec.digestReflectionPolicy is "Sometimes" [bad-subscription]`, true},
		{"no repository", change(policy+semver, "{name: web}", "{name: api}"), "images.yaml:10: error: ImagePolicy shop/web: spec.imageRepositoryRef.name names the ImageRepository shop/api, which is not in the source", true},
		{"a moving tag", policy + "  policy: {alphabetical: {}}\n  filterTags: {pattern: ^latest$, extract: ''}\n", "images.yaml:12: warning: ImagePolicy shop/web: spec.filterTags.pattern lets one tag pass, so that no version is ever newer [moving-tag]", false},
		{"a moving tag that is pinned", policy + "  policy: {alphabetical: {}}\n  filterTags: {pattern: ^latest$, extract: ''}\n  digestReflectionPolicy: Always\n  interval: 5m\n", "", false},
		{"an image that is not there", change(policy+semver, "ghcr.io/acme/web", "''"), "images.yaml:4: error: ImageRepository shop/web: spec.image is not there [bad-subscription]", true},
		{"a scheme", change(policy+semver, "ghcr.io/acme/web", "oci://ghcr.io/acme/web"), `images.yaml:4: error: ImageRepository shop/web: spec.image is "oci://ghcr.io/acme/web", which has a scheme [bad-subscription]`, true},
		{"a digest", change(policy+semver, "ghcr.io/acme/web", "ghcr.io/acme/web@sha256:"+strings.Repeat("a", 64)), "images.yaml:4: error: ImageRepository shop/web: spec.image is ", true},
		{"no image", change(policy+semver, "ghcr.io/acme/web", "HTTP"), `images.yaml:4: error: ImageRepository shop/web: spec.image is "HTTP", which is no image`, true},
		{"a tag", change(policy+semver, "ghcr.io/acme/web", "'ghcr.io/acme/web:1'"), `images.yaml:4: error: ImageRepository shop/web: spec.image is "ghcr.io/acme/web:1"; want an image without a tag [bad-subscription]`, true},
		{"insecure", change(policy+semver, "interval: 5m", "insecure: true"), "images.yaml:4: error: ImageRepository shop/web: spec.insecure is refused: whoever is on the way could choose the image [bad-subscription]", true},
		{"credentials of a proxy", change(policy+semver, "interval: 5m", "proxySecretRef: {name: x}"), "images.yaml:4: warning: ImageRepository shop/web: spec.proxySecretRef is passed over: no proxy is used", false},
		{"certificates", change(policy+semver, "interval: 5m", "certSecretRef: {name: x}"), "images.yaml:4: warning: ImageRepository shop/web: spec.certSecretRef is passed over", false},
		{"a service account", change(policy+semver, "interval: 5m", "serviceAccountName: x"), "images.yaml:4: warning: ImageRepository shop/web: spec.serviceAccountName is passed over", false},
		{"a timeout", change(policy+semver, "interval: 5m", "timeout: 5s"), "images.yaml:4: warning: ImageRepository shop/web: spec.timeout is passed over", false},
		{"no provider in particular", change(policy+semver, "interval: 5m", "provider: generic"), "", false},
		{"credentials", change(policy+semver, "interval: 5m", "secretRef: {name: x}"), "images.yaml:4: warning: ImageRepository shop/web: spec.secretRef is passed over: credentials come from --registry-credentials, by host [subscription-ignored]", false},
		{"a provider", change(policy+semver, "interval: 5m", "provider: aws"), "images.yaml:4: warning: ImageRepository shop/web: spec.provider is passed over", false},
		{"who may use it", change(policy+semver, "interval: 5m", "accessFrom: {namespaceSelectors: []}"), "images.yaml:4: warning: ImageRepository shop/web: spec.accessFrom is passed over", false},
		{"often enough", change(policy+semver, "interval: 5m", "interval: 1m"), "", false},
		{"whenever", change(policy+semver, ", interval: 5m", ""), "", false},
		{"too often", change(policy+semver, "interval: 5m", "interval: 10s"), "images.yaml:4: warning: ImageRepository shop/web: spec.interval is less than a minute", false},
		{"an interval that is none", change(policy+semver, "interval: 5m", "interval: often"), `images.yaml:1: error: ImageRepository shop/web: it cannot be read: time: invalid duration "often" [bad-subscription]`, true},
		{"a bad exclusion", change(policy+semver, "interval: 5m", "exclusionList: ['[']"), `images.yaml:4: error: ImageRepository shop/web: spec.exclusionList[0] is wrong: "["`, true},
		{"another source", change(automation, "flux-system", "other"), "images.yaml:6: error: ImageUpdateAutomation shop/all: spec.sourceRef is refused: its source is the GitRepository shop/other, another repository [bad-subscription]", false},
		{"no source", change(automation, "name: flux-system", "namespace: flux-system"), "images.yaml:6: error: ImageUpdateAutomation shop/all: spec.sourceRef.name is not there [bad-subscription]", false},
		{"a selector that cannot be read", automation + "  policySelector: {matchExpressions: [{key: tier, operator: Near}]}\n", "images.yaml:7: error: ImageUpdateAutomation shop/all: spec.policySelector cannot be read: ", false},
		{"another strategy", automation + "  update: {strategy: Guess}\n", `images.yaml:7: error: ImageUpdateAutomation shop/all: spec.update.strategy is "Guess" [bad-subscription]`, false},
		{"another base", automation + "  git: {checkout: {ref: {branch: next}}, commit: {author: {email: a@b}}}\n", "images.yaml:7: warning: ImageUpdateAutomation shop/all: spec.git.checkout is passed over: the branch that is followed is the base", false},
		{"a key of its own", automation + "  git: {commit: {author: {email: a@b}, signingKey: {secretRef: {name: x}}}}\n", "images.yaml:7: warning: ImageUpdateAutomation shop/all: spec.git.commit.signingKey is passed over: commits are signed with --signing-key", false},
		{"values of a template", automation + "  git: {commit: {author: {email: a@b}, messageTemplateValues: {a: b}}}\n", "images.yaml:7: warning: ImageUpdateAutomation shop/all: spec.git.commit.messageTemplateValues is passed over: no template is run", false},
		{"options of a push", automation + "  git: {commit: {author: {email: a@b}}, push: {options: {a: b}}}\n", "images.yaml:7: warning: ImageUpdateAutomation shop/all: spec.git.push.options is passed over: no push options are sent", false},
		{"a push that says nothing", automation + "  git: {commit: {author: {email: a@b}}, push: {}}\n", "", false},
		{"all of the source", automation + "  update: {path: ./apps/..}\n", "", false},
		{"a folder that begins with dots", automation + "  update: {path: ..apps}\n", "", false},
		{"the folder outside", automation + "  update: {path: apps/../..}\n", `images.yaml:7: error: ImageUpdateAutomation shop/all: spec.update.path is "apps/../..", which is outside of the source`, false},
		{"a refspec", automation + "  git: {commit: {author: {email: a@b}}, push: {refspec: 'a:b'}}\n", "images.yaml:7: error: ImageUpdateAutomation shop/all: spec.git.push.refspec is refused", false},
		{"a branch of Waybill's", automation + "  git: {commit: {author: {email: a@b}}, push: {branch: waybill/state}}\n", `images.yaml:7: error: ImageUpdateAutomation shop/all: spec.git.push.branch is "waybill/state", which is in the way of waybill/state [bad-subscription]`, false},
		{"a template", automation + "  git: {commit: {author: {email: a@b}, messageTemplate: '{{ .Values }}'}}\n", "images.yaml:7: warning: ImageUpdateAutomation shop/all: spec.git.commit.messageTemplate is passed over: a template would run with Waybill's rights; a fixed text is used [subscription-ignored]", false},
		{"outside", automation + "  update: {path: ../x}\n", `images.yaml:7: error: ImageUpdateAutomation shop/all: spec.update.path is "../x", which is outside of the source`, false},
		{"a status", policy + semver + "status: {any: thing}\n", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, said := read(t, tt.text)
			first := ""
			if len(said) > 0 {
				first = said[len(said)-1]
				if said[0] != first && strings.HasPrefix(said[0], tt.want) {
					first = said[0]
				}
			}
			if tt.want == "" != (first == "") || !strings.HasPrefix(first, tt.want) {
				t.Errorf("said is\n%s\nwant\n%s", strings.Join(said, "\n"), tt.want)
			}
			if s.Broken[images.Name{Namespace: "shop", Name: "web"}] != tt.broken {
				t.Errorf("the policy is broken: %v", !tt.broken)
			}
		})
	}
}

// TestWhatIsNotReadIsSaidOnce holds that nothing else is said of an object that is not read.
func TestWhatIsNotReadIsSaidOnce(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(repository, "/v1\n", "/v1alpha1\n", 1):              `apiVersion is "image.toolkit.fluxcd.io/v1alpha1", which is not read`,
		strings.Replace(repository, "ghcr.io/acme/web", "7", 1):             "spec.image is a number; want string",
		strings.Replace(repository, "image:", "Image:", 1):                  "spec.Image is not a field here",
		policy + "  policy: {alphabetical: {}}\n  filterTag: {}\n":          "spec.filterTag is not a field here",
		strings.Replace(automation, "/v1\n", "/v1alpha1\n", 1):              `apiVersion is "image.toolkit.fluxcd.io/v1alpha1", which is not read`,
		strings.Replace(automation, "interval: 10m", "interval: often", 1):  "it cannot be read: ",
		strings.Replace(automation, "name: flux-system", "names: flux-", 1): "spec.sourceRef.names is not a field here",
	} {
		s, said := read(t, text)
		if len(said) != 1 || !strings.Contains(said[0], ": "+want) || len(s.Policies)+len(s.Automations) > 0 {
			t.Errorf("said is\n%s\nwant\n%s", strings.Join(said, "\n"), want)
		}
	}
}

// TestExclusions holds which tags are none where the repository does not say so, and where it says that all are.
func TestExclusions(t *testing.T) {
	for exclusions, want := range map[string]string{"": "b", ", exclusionList: []": "c.sig", ", exclusionList: [b]": "c.sig", ", exclusionList: [sig, b]": ""} {
		s, said := read(t, strings.Replace(policy, "interval: 5m", "interval: 5m"+exclusions, 1)+"  policy: {alphabetical: {}}\n")
		if c := s.Policies[0].Rule.Choose(imagepolicy.Facts{Current: "a", Tags: []string{"a", "b", "c.sig"}}); c.Tag != want || len(said) > 0 {
			t.Errorf("with %q chosen is %+v, want %q; said is %q", exclusions, c, want, said)
		}
	}
}

// TestAutomationsAreInOrder holds that those of several namespaces are in the order of names.
func TestAutomationsAreInOrder(t *testing.T) {
	s, said := read(t, strings.Replace(automation, "shop", "z", 1)+"---\n"+automation+"---\n"+strings.Replace(automation, "shop", "base", 1))
	var names []string
	for _, a := range s.Automations {
		names = append(names, a.Name.String())
	}
	if got := strings.Join(names, ", "); got != "base/all, shop/all, z/all" || len(said) > 0 {
		t.Errorf("they are %s; said is %q", got, said)
	}
}

// TestWhatIsNotSaid holds the defaults, the order, and what is not known.
func TestWhatIsNotSaid(t *testing.T) {
	change := func(of string, oldnew ...string) string { return strings.NewReplacer(oldnew...).Replace(of) }
	late := "---\n" + policy + "  policy: {alphabetical: {}}\n"
	s, _ := read(t, change(repository, "shop", "z", "interval: 5m", "interval: 10s, exclusionList: [^z$]")+policy+"  policy: {numerical: {}}\n"+
		change(late, "name: web", "name: api", "{image: ghcr.io/acme/web, interval: 5m}", "{image: ghcr.io/acme/api, exclusionList: [^z$]}")+
		"---\n"+automation+"  git: {commit: {author: {email: a@b}}}\n---\n"+change(automation, "shop", "broken", "name: flux-system", "name: other"))
	var names []string
	for _, p := range s.Policies {
		names = append(names, p.Name.String())
	}
	for _, r := range s.Repositories {
		names = append(names, r.Name.String()+" "+r.Interval.String())
	}
	if got, want := strings.Join(names, ", "), "shop/api, shop/web, shop/api 1m0s, shop/web 5m0s, z/web 1m0s"; got != want {
		t.Errorf("it reads %s\nwant %s", got, want)
	}
	api, web := s.Policies[0], s.Policies[1]
	if web.Pinning != images.PinNever || s.Policy(images.Name{Namespace: "z", Name: "web"}) != nil {
		t.Errorf("a policy is pinned %q by itself, or one is found that is not there", web.Pinning)
	}
	if c := web.Rule.Choose(imagepolicy.Facts{Current: "9", Tags: []string{"9", "10"}}); c.Tag != "10" {
		t.Errorf("by numbers it takes %+v", c)
	}
	if c := api.Rule.Choose(imagepolicy.Facts{Current: "a", Tags: []string{"a", "b.sig", "z"}}); c.Tag != "b.sig" {
		t.Errorf("where the repository says what is excluded it takes %+v", c)
	}
	a := s.Automations[0]
	if a.Path != "." || a.Branch != "" || a.Message != "" || a.Suspended || !a.Covers(web) || !a.Covers(api) {
		t.Errorf("the automation is %+v", a)
	}
	if len(s.Automations) != 1 || len(s.BrokenAutomations) != 1 || !s.BrokenAutomations["broken"] {
		t.Errorf("automations are %v, broken in %v", s.Automations, s.BrokenAutomations)
	}
}

// TestSplit holds that a source of Flux's is looked for among the other objects of the source.
func TestSplit(t *testing.T) {
	const git = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: %s, namespace: shop}\nspec: {url: %s}\n---\n"
	this := object.Decode("this.yaml", []byte(fmt.Sprintf(git, "this", "https://git.example.com/fleet"))).Objects
	repository := flux.Identify([]string{"GitRepository/shop/this"}, this, nil)
	for url, foreign := range map[string]bool{"https://git.example.com/fleet": false, "https://git.example.com/other": true} {
		d := object.Decode("images.yaml", []byte(fmt.Sprintf(git, "flux-system", url)+automation+"  git: {commit: {author: {email: a@b}}, push: {branch: waybill/state}}\n"))
		config := render.ConfigSpec{Publish: render.Publish{BranchPrefix: "waybill/"}}
		s, others, wrong := images.Split(&config, &repository, d.Objects)
		if len(others) != 1 || others[0].Ref().Kind != "GitRepository" || len(s.Automations) > 0 || !strings.Contains(fmt.Sprint(wrong), "spec.git.push.branch") {
			t.Errorf("%s: others are %v, automations %v: %v", url, others, s.Automations, wrong)
		}
		if got := fmt.Sprint(wrong); strings.Contains(got, "spec.sourceRef") != foreign {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// TestReadSchedule holds that a line which cannot be read is named, and the others count.
func TestReadSchedule(t *testing.T) {
	all, wrong := images.ReadSchedule(&subscribe.Updates{Schedule: []string{"0 22 * * *", "whenever", "@daily"}, TimeZone: "Europe/Berlin", Lines: []int{7, 8, 9}})
	if len(all) != 2 || len(wrong) != 1 || !strings.HasPrefix(wrong[0].String(), "waybill.yaml:8: error: spec.updates.schedule[1]: ") || wrong[0].Hint == "" {
		t.Errorf("schedules %v, wrong %v", all, wrong)
	}
}

func TestSuspended(t *testing.T) {
	s, said := read(t, strings.Replace(policy, "interval: 5m", "suspend: true", 1)+"  policy: {semver: {range: 1.x}}\n")
	if len(said) > 0 || !s.Policies[0].Suspended {
		t.Errorf("a policy of a suspended repository is %+v: %v", s.Policies[0], said)
	}
	s, said = read(t, policy+"  suspend: true\n  policy: {semver: {range: 1.x}}\n")
	if len(said) > 0 || !s.Policies[0].Suspended || s.Policies[0].Repository.Suspended {
		t.Errorf("a policy that is suspended itself is %+v: %v", s.Policies[0], said)
	}
}
