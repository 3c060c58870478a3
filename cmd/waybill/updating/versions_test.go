package updating

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/marker"
)

// What would be written is printed by the lines of their files, whatever their ends are.
func TestLinesThatWouldChange(t *testing.T) {
	const (
		policy = `
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: web, namespace: shop}
spec: {image: ghcr.io/acme/web, interval: 5m}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: web, namespace: shop}
spec: {imageRepositoryRef: {name: web}, policy: {semver: {range: 1.x}}}
---
`
		mark = ` # {"$imagepolicy": "shop:web"}`
	)
	values := "first: ghcr.io/acme/web:1.0.0" + mark + "\r\nother: ghcr.io/acme/web:1.0.0\nlast: ghcr.io/acme/web:1.0.0" + mark
	_, _, u, out := locking(t, policy+values)
	read, err := u.Planner.Load(t.Context(), u.Source, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	of, err := updates.Read(u.Source, &read, updates.Charts{})
	if err != nil || len(of.Subscriptions) != 1 {
		t.Fatalf("it subscribes to %+v: %v", of.Subscriptions, err)
	}
	found := &propose.Found{Source: of, Verdicts: []updates.Verdict{
		{Subscription: &of.Subscriptions[0], Next: marker.Image{Name: "ghcr.io/acme/web", Tag: "1.1.0"}},
		{Subscription: &of.Subscriptions[0]}, // which is not taken
	}}
	const (
		first = "more.yaml:12\n-first: ghcr.io/acme/web:1.0.0" + mark + "\n+first: ghcr.io/acme/web:1.1.0" + mark + "\n"
		last  = "more.yaml:14\n-last: ghcr.io/acme/web:1.0.0" + mark + "\n+last: ghcr.io/acme/web:1.1.0" + mark + "\n"
	)
	if err := writeChanges(out, found, u.Source); err != nil || out.String() != first+last {
		t.Errorf("it prints %q, and the error is %v", strings.Split(out.String(), "\n"), err)
	}
}
