package facts_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// reads is a source of which one read of a file fails, and no other.
type reads struct {
	*twin.Repo

	left int // until the one that fails
}

// Snapshot implements published.Repository.
func (r *reads) Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error) {
	s, err := r.Repo.Snapshot(ctx, rev, subdir)
	return readOnce{s, r}, err
}

type readOnce struct {
	sources.Snapshot

	of *reads
}

// ReadFile implements sources.Snapshot.
func (r readOnce) ReadFile(name string) ([]byte, error) {
	if r.of.left--; r.of.left == 0 {
		return nil, errSilent
	}
	return r.Snapshot.ReadFile(name)
}

// Whichever file cannot be read once, it is not said that the source subscribes to less, and the next one who asks is told all.
func TestWhatASourceSubscribesToIsReadWhole(t *testing.T) {
	source := twin.Tree{
		"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {updates: {mode: pullRequest}}\n")),
		"images.yaml": twin.File([]byte(`apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: web, namespace: shop}
spec: {image: ghcr.io/acme/web}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: web, namespace: shop}
spec: {imageRepositoryRef: {name: web}, policy: {semver: {range: 1.x}}}
`)),
		"a.yaml": twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata:\n" +
			"  image: ghcr.io/acme/web:1.0.0 # {\"$imagepolicy\": \"shop:web\"}\n")),
	}
	repo := twin.New("fleet")
	repo.Write("main", "first", source.Folder())
	for n := 1; ; n++ {
		from := &reads{repo, n}
		r := &facts.Reader{Rev: "main", Reconciler: &reconciler.Reconciler{
			Seen: reconciler.NewCache(), Source: from, Target: repo, Version: "test", Now: time.Now,
		}}
		got, err := facts.Subscriptions(t.Context(), r)
		hasFailed := from.left <= 0
		if hasFailed && !errors.Is(err, errSilent) {
			t.Errorf("read %d fails, and it subscribes to %+v; %v", n, got, err)
		}
		if got, err = facts.Subscriptions(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if all := got.Source.Subscriptions; len(all) != 1 || all[0].Current.Tag != "1.0.0" {
			t.Errorf("after read %d failed it subscribes to %+v", n, all)
		}
		if !hasFailed {
			if n < 4 {
				t.Errorf("%d files are read", n-1)
			}
			return
		}
	}
}
