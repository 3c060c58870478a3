package ui_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/shown"
	"github.com/waybill-dev/waybill/test/twin"
)

const digestA, digestB = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

// subscribes has the source subscribe to an image, which has a version now.
func (f *fleet) subscribes(name, value, policy string) {
	f.put("images/"+name+".yaml", fmt.Sprintf(`apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: %[1]s, namespace: shop}
spec: {image: registry.example/%[1]s}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: %[1]s, namespace: shop}
spec: {imageRepositoryRef: {name: %[1]s}, %[3]s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: image-%[1]s, namespace: shop}
data:
  image: registry.example/%[1]s:%[2]s # {"$imagepolicy": "shop:%[1]s"}
`, name, value, policy))
}

func nameOf(name string) images.Name { return images.Name{Namespace: "shop", Name: name} }

// remember has the branch of updates hold something.
func (f *fleet) remember(m *updates.Memory) {
	f.t.Helper()
	root, err := m.Encode()
	if err != nil {
		f.t.Fatal(err)
	}
	f.repo.mu.Lock()
	f.repo.twin.Now = f.now.Add(-time.Hour)
	f.repo.twin.Write(updates.MemoryBranch, "what is known of new versions", root)
	f.repo.mu.Unlock()
	f.ui.Changed()
}

const subscribing = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {updates: {mode: pullRequest, minimumAge: 72h, hosts: [registry.example]}}\n"

// TestThePageOfUpdates has a subscription in each status, and the page say of each what Git records.
func TestThePageOfUpdates(t *testing.T) {
	f := newFleet(t)
	f.put("waybill.yaml", subscribing)
	const semver, newest = "policy: {semver: {range: '>=1.0.0'}}", "policy: {alphabetical: {}}"
	for _, name := range []string{"asked", "kept", "leap", "new", "odd", "silent", "young", "done", "next"} {
		f.subscribes(name, "1.0.0", semver)
	}
	f.subscribes("sleeps", "1.0.0", "suspend: true, "+semver)
	f.subscribes("moves", "latest@"+digestA, "digestReflectionPolicy: Always, filterTags: {pattern: '^latest$'}, "+newest)
	f.subscribes("broken", "1.0.0", "policy: {}")
	f.put("waybill.lock", `apiVersion: waybill.dev/v1alpha1
kind: Lock
charts:
  - kind: helm
    repository: https://charts.example
    name: podinfo
    constraint: 6.x
    version: 6.5.4
    url: https://charts.example/podinfo-6.5.4.tgz
    digest: `+digestA+`
`)
	f.repo.twin.Now = f.now.Add(-5 * time.Hour)
	f.publish("first")
	m := updates.NewMemory()
	long, now := f.now.Add(-100*time.Hour), f.now.Add(-2*time.Hour)
	see := func(name string, at time.Time, tags ...string) {
		m.See("registry.example/"+name, registry.Known{Tags: tags}, long)
		m.See("registry.example/"+name, registry.Known{Tags: tags}, at)
	}
	for _, name := range []string{"asked", "kept", "silent", "next"} {
		see(name, long, "1.0.0", "1.1.0")
	}
	see("leap", long, "1.0.0", "2.0.0")
	see("odd", long, "main", "nightly")
	see("done", long, "1.0.0")
	see("moves", long, "latest")
	m.SeeDigest("registry.example/moves", "latest", digestA, long)
	m.SeeDigest("registry.example/moves", "latest", digestB, now)
	m.See("registry.example/young", registry.Known{Tags: []string{"1.0.0"}}, long)
	m.See("registry.example/young", registry.Known{Tags: []string{"1.0.0", "1.2.0"}}, now)
	m.See("https://charts.example/podinfo", registry.Known{Tags: []string{"6.5.4", "6.6.0"}}, long)
	m.Propose(nameOf("asked"), &updates.Proposal{
		Key: "1.1.0", From: marker.Image{Tag: "1.0.0"}, To: marker.Image{Tag: "1.1.0"}, PullRequest: 7, URL: "https://forge.example/acme/fleet/pulls/7", At: now,
	})
	head, _, err := f.repo.Branch(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	source := head.Commit.String()
	m.Propose(nameOf("done"), &updates.Proposal{Key: "1.0.0", From: marker.Image{Tag: "0.9.0"}, To: marker.Image{Tag: "1.0.0"}, Parent: source, Merged: source, At: now})
	m.KeepBack(nameOf("kept"), "1.1.0", "pull request 3 was closed")
	m.Judged(&updates.Source{}, []updates.Verdict{{Subscription: &updates.Subscription{Policy: &images.Policy{Name: nameOf("silent")}}, Why: updates.NotAnswered, Message: "registry.example/silent: it answers 503"}}, f.now.Add(-50*time.Hour))
	f.remember(m)
	for path, want := range map[string][]string{
		"/updates": {
			"Something was new 60m ago", "images/broken.yaml:9 ImagePolicy shop/broken: spec.policy has 0 orders",
			"2 ✕ Fails", "1 ↑ Pull request open", "2 ‖ To be proposed", "1 ‖ Kept back", "1 ! Another major", "2 … Too young", "1 ? No tag fits", "1 ? Not looked at yet", "1 – Off", "1 ✓ Up to date",
			"shop/asked registry.example/asked ↑ Pull request open 1.0.0 1.1.0 seen 4d4h ago #7 takes 1.1.0 – – images/asked.yaml:15",
			"shop/kept registry.example/kept ‖ Kept back kept back: pull request 3 was closed 1.0.0 1.1.0 seen 4d4h ago – – 1.1.0 pull request 3 was closed images/kept.yaml:15",
			"shop/leap registry.example/leap ! Another major another major, and updates.major is false 1.0.0 2.0.0",
			"shop/young registry.example/young … Too young too young until 2026-11-24 10:00Z 1.0.0 1.2.0 seen 120m ago",
			"shop/odd registry.example/odd ? No tag fits none of 2 tags is a version that is wanted 1.0.0",
			"shop/silent registry.example/silent ✕ Fails registry.example/silent: it answers 503 since 2d2h ago 1.0.0",
			"shop/new registry.example/new ? Not looked at yet 1.0.0", "shop/sleeps registry.example/sleeps – Off suspended 1.0.0", "shop/done registry.example/done ✓ Up to date 1.0.0 – – 1.0.0 committed 5h ago by a person, " + source[:12] + " – images/done.yaml:15",
			"shop/moves registry.example/moves … Too young too young until 2026-11-24 10:00Z latest@sha256:aaaaaaaa latest@sha256:bbbbbbbb seen 120m ago",
			"shop/next registry.example/next ‖ To be proposed 1.0.0 1.1.0 seen 4d4h ago none yet the next one takes 1.1.0",
			"shop/broken ✕ Fails the ImagePolicy, or its ImageRepository, has a mistake",
			"https://charts.example/podinfo range 6.x ‖ To be proposed 6.5.4 6.6.0 seen 4d4h ago none yet the next one takes 6.6.0 – – waybill.lock", "13 subscriptions",
		},
		"/updates?kind=KeptBack":             {"shop/kept", "!shop/asked", "1 ↑ Pull request open"},
		"/updates?q=podinfo":                 {"6.6.0", "!shop/kept"},
		"/updates?q=1.2.0":                   {"shop/young", "!shop/kept"},
		"/updates?q=nothing-is-called-so":    {"No subscription is like that."},
		"/updates?kind=UpToDate&sort=-seen":  {"shop/done"},
		"/updates?q=example&kind=Proposed":   {"shop/asked", "!shop/done"},
		"/updates?sort=name&kind=Failing":    {"shop/broken ✕ Fails", "shop/silent"},
		"/updates?page=77&kind=NotLookedAt":  {"shop/new"},
		"/updates?kind=nothing-is-called-so": {"No subscription is like that."},
	} {
		w := f.get(http.MethodGet, path)
		text := shown.Words(w.Body.String())
		for _, s := range want {
			if no, isNo := strings.CutPrefix(s, "!"); isNo == strings.Contains(text, no) || w.Code != http.StatusOK {
				t.Errorf("%s: %d, want %q in\n%s", path, w.Code, s, text)
			}
		}
	}
	if page := f.get(http.MethodGet, "/updates").Body.String(); !strings.Contains(page, `<a href="https://forge.example/acme/fleet/pulls/7">#7</a>`) {
		t.Error("the pull request is not linked")
	}
}

// TestThePageOfNoUpdates says why there is nothing, whatever the reason is.
func TestThePageOfNoUpdates(t *testing.T) {
	f := newFleet(t)
	f.repo.twin.Write("main", "first", f.source.Folder())
	says := func(when string, code int, want ...string) {
		t.Helper()
		w := f.get(http.MethodGet, "/updates")
		text := shown.Words(w.Body.String())
		for _, s := range want {
			if no, isNo := strings.CutPrefix(s, "!"); isNo == strings.Contains(text, no) || w.Code != code {
				t.Errorf("%s: %d, want %d and %q in\n%s", when, w.Code, code, s, text)
			}
		}
	}
	says("off, and nothing published", http.StatusOK, "Nobody looks for new versions of images and charts", "!subscribes to nothing")
	f.put("waybill.yaml", subscribing)
	f.publish("nothing to subscribe to")
	says("nothing subscribed", http.StatusOK, "The source subscribes to nothing.", "Nobody looked yet", "!Nobody looks for")
	f.subscribes("web", "1.0.0", "policy: {semver: {range: 1.x}}")
	f.publish("web")
	says("another source", http.StatusOK, "shop/web registry.example/web ? Not looked at yet")
	f.put("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {updates: {mode: maybe}}\n")
	f.repo.twin.Write("main", "a mistake", f.source.Folder())
	f.ui.Changed()
	says("a config that cannot be read", http.StatusServiceUnavailable, "This cannot be read", "maybe")
	f.put("waybill.yaml", subscribing)
	f.publish("mended")
	f.repo.twin.Write(updates.MemoryBranch, "another format", twin.Tree{"format": twin.File([]byte("9\n"))}.Folder())
	f.ui.Changed()
	says("a memory that cannot be read", http.StatusServiceUnavailable, "This cannot be read", "use the version that wrote it")
}

// TestHostileUpdates has whoever may write waybill/updates write what pages must not take for HTML, or for an address.
func TestHostileUpdates(t *testing.T) {
	f := newFleet(t)
	f.put("waybill.yaml", subscribing)
	f.subscribes("web", "1.0.0", "policy: {semver: {range: 1.x}}")
	f.publish("first")
	m := updates.NewMemory()
	m.See("registry.example/web", registry.Known{Tags: []string{"1.0.0", hostile}}, f.now)
	m.Propose(nameOf("web"), &updates.Proposal{Key: hostile, PullRequest: 7, URL: "javascript:alert(1)", At: f.now})
	known := m.Policies[nameOf("web")]
	known.Last = &updates.Proposal{Key: hostile, Merged: hostile, PullRequest: 6, URL: "javascript:alert(1)"}
	m.Policies[nameOf("web")] = known
	m.KeepBack(nameOf("web"), hostile, hostile)
	m.Judged(&updates.Source{}, []updates.Verdict{{Subscription: &updates.Subscription{Policy: &images.Policy{Name: nameOf("web")}}, Why: updates.NotAnswered, Message: hostile}}, f.now)
	f.remember(m)
	for _, path := range []string{"/updates", "/updates?q=%22%3E%3Cscript%3E&kind=%22%3E%3Cscript%3E&sort=%22%3E%3Cscript%3E"} {
		w := f.get(http.MethodGet, path)
		page := w.Body.String()
		if w.Code != http.StatusOK || strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") || strings.Contains(page, "javascript:") || strings.Contains(page, "#7</a>") || strings.Contains(page, "#6</a>") {
			t.Errorf("%s: %d: a text is taken for HTML, or for an address", path, w.Code)
		}
	}
	if text := shown.Words(f.get(http.MethodGet, "/updates").Body.String()); !strings.Contains(text, "#7 takes") {
		t.Errorf("the pull request is not named: %s", text)
	}
}
