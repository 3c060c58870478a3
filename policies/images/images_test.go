package images_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/render/object"
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
		if branch == "waybill/state" {
			return "which is in the way of waybill/state"
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
		{"a bad digest", policy + semver + "  digestReflectionPolicy: Sometimes\n", `images.yaml:12: error: ImagePolicy shop/web: spec.digestReflectionPolicy is "Sometimes" [bad-subscription]`, true},
		{"no repository", change(policy+semver, "{name: web}", "{name: api}"), "images.yaml:10: error: ImagePolicy shop/web: spec.imageRepositoryRef.name names the ImageRepository shop/api, which is not in the source", true},
		{"a moving tag", policy + "  policy: {alphabetical: {}}\n  filterTags: {pattern: ^latest$, extract: ''}\n", "images.yaml:12: warning: ImagePolicy shop/web: spec.filterTags.pattern lets one tag pass, so that no version is ever newer [moving-tag]", false},
		{"a moving tag that is pinned", policy + "  policy: {alphabetical: {}}\n  filterTags: {pattern: ^latest$, extract: ''}\n  digestReflectionPolicy: Always\n  interval: 5m\n", "", false},
		{"no image", change(policy+semver, "ghcr.io/acme/web", "HTTP"), `images.yaml:4: error: ImageRepository shop/web: spec.image is "HTTP", which is no image`, true},
		{"a tag", change(policy+semver, "ghcr.io/acme/web", "'ghcr.io/acme/web:1'"), `images.yaml:4: error: ImageRepository shop/web: spec.image is "ghcr.io/acme/web:1"; want an image without a tag [bad-subscription]`, true},
		{"insecure", change(policy+semver, "interval: 5m", "insecure: true"), "images.yaml:4: error: ImageRepository shop/web: spec.insecure is refused: whoever is on the way could choose the image [bad-subscription]", true},
		{"credentials", change(policy+semver, "interval: 5m", "secretRef: {name: x}"), "images.yaml:4: warning: ImageRepository shop/web: spec.secretRef is passed over: credentials come from --registry-credentials, by host [subscription-ignored]", false},
		{"a provider", change(policy+semver, "interval: 5m", "provider: aws"), "images.yaml:4: warning: ImageRepository shop/web: spec.provider is passed over", false},
		{"who may use it", change(policy+semver, "interval: 5m", "accessFrom: {namespaceSelectors: []}"), "images.yaml:4: warning: ImageRepository shop/web: spec.accessFrom is passed over", false},
		{"too often", change(policy+semver, "interval: 5m", "interval: 10s"), "images.yaml:4: warning: ImageRepository shop/web: spec.interval is less than a minute", false},
		{"a bad exclusion", change(policy+semver, "interval: 5m", "exclusionList: ['[']"), `images.yaml:4: error: ImageRepository shop/web: spec.exclusionList[0] is wrong: "["`, true},
		{"another source", change(automation, "flux-system", "other"), "images.yaml:6: error: ImageUpdateAutomation shop/all: spec.sourceRef is refused: its source is the GitRepository shop/other, another repository [bad-subscription]", false},
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

func TestSuspended(t *testing.T) {
	s, said := read(t, strings.Replace(policy, "interval: 5m", "suspend: true", 1)+"  policy: {semver: {range: 1.x}}\n")
	if len(said) > 0 || !s.Policies[0].Suspended {
		t.Errorf("a policy of a suspended repository is %+v: %v", s.Policies[0], said)
	}
}
