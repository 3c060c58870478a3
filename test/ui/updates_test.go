//go:build e2e

package ui

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/registry"
)

// subscribe has the source subscribe to images, one in each status, and to one that is a mistake.
func (f *served) subscribe() {
	f.t.Helper()
	f.put("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {updates: {mode: pullRequest, minimumAge: 72h, hosts: [registry.example.com]}}\n")
	m := updates.NewMemory()
	long, ago := time.Now().Add(-200*time.Hour), time.Now().Add(-2*time.Hour)
	for i, name := range []string{"open", "kept", "major", "young", "unfit", "unseen", "away", "same", "wanted", "broken"} {
		policy := "policy: {semver: {range: '>=1.0.0'}}"
		if name == "broken" {
			policy = "policy: {}"
		}
		f.put("images/"+name+".yaml", fmt.Sprintf("apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageRepository\nmetadata: {name: %[1]s, namespace: shop}\nspec: {image: registry.example.com/a-team-with-a-long-name/%[1]s}\n---\n"+
			"apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nmetadata: {name: %[1]s, namespace: shop}\nspec: {imageRepositoryRef: {name: %[1]s}, %[2]s}\n---\n"+
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: image-%[1]s, namespace: shop}\ndata:\n  image: registry.example.com/a-team-with-a-long-name/%[1]s:1.0.0 # {\"$imagepolicy\": \"shop:%[1]s\"}\n", name, policy))
		of, n := "registry.example.com/a-team-with-a-long-name/"+name, images.Name{Namespace: "shop", Name: name}
		at, next := long, "1.1.0"
		switch name {
		case "open":
			m.Propose(n, &updates.Proposal{Key: next, From: marker.Image{Tag: "1.0.0"}, To: marker.Image{Tag: next}, PullRequest: i + 1, URL: fmt.Sprintf("https://forge.example/acme/fleet/pulls/%d", i+1), At: ago})
		case "kept":
			m.KeepBack(n, next, "the roll-out of shop/everywhere to 0123456789ab did not go through (Stopped)")
		case "major":
			next = "2.0.0"
		case "young":
			at = ago
		case "unfit":
			next = "main"
		case "away":
			failed := updates.Verdict{Subscription: &updates.Subscription{Policy: &images.Policy{Name: n}}, Why: updates.NotAnswered, Message: of + ": dial tcp 192.0.2.7:443: i/o timeout"}
			m.Judged(&updates.Source{}, []updates.Verdict{failed}, long)
		case "same":
			next = "1.0.0"
		case "unseen":
			continue
		}
		m.See(of, registry.Known{Tags: []string{next}}, at)
	}
	root, err := m.Encode()
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(git.Update{Branch: updates.MemoryBranch, Tree: root, Message: "what is known of new versions\n", When: ago, Author: git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}})
	f.now = time.Now().Add(-30 * time.Minute)
	f.publish("Subscribe to images")
	f.ui.Changed()
}
