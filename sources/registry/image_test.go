package registry_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/waybill-dev/waybill/sources/registry"
)

// built is an image with labels.
func built(tb testing.TB, labels map[string]string) v1.Image {
	tb.Helper()
	i, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: "amd64", Config: v1.Config{Labels: labels},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

// indexed is an index of images, the second of them for linux/amd64.
func indexed(images ...v1.Image) v1.ImageIndex {
	platforms := []v1.Platform{{OS: "unknown", Architecture: "unknown"}, {OS: "linux", Architecture: "amd64"}}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for n, i := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: i, Descriptor: v1.Descriptor{Platform: &platforms[n]}})
	}
	return mutate.Annotations(index, map[string]string{"waybill.dev/changelog": "https://git.example/org/app/releases"}).(v1.ImageIndex)
}

func digestOf(tb testing.TB, of interface{ Digest() (v1.Hash, error) }) string {
	tb.Helper()
	h, err := of.Digest()
	if err != nil {
		tb.Fatal(err)
	}
	return h.String()
}

func TestImage(t *testing.T) {
	const source = "https://git.example/org/app"
	wrong := built(t, map[string]string{"org.opencontainers.image.source": "https://wrong.example"})
	right := built(t, map[string]string{
		"org.opencontainers.image.source": source,
		"org.opencontainers.image.url":    "javascript:alert(1)",
	})
	s, push := stocked(t)
	index := indexed(wrong, right)
	push("1.2.3", index)
	push("plain", right)
	c, _ := client(t, registry.Options{}, s)
	want := registry.Image{
		Digest: digestOf(t, index), Source: source, Changelog: "https://git.example/org/app/releases",
	}
	for _, ref := range []string{":1.2.3", "@" + want.Digest, ":1.2.3@" + want.Digest} {
		got, err := c.Image(t.Context(), s.host+"/org/app"+ref)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", ref, err, d)
		}
		if n := len(s.asked()); n != 3 {
			t.Errorf("%s: %d requests", ref, n)
		}
	}
	got, err := c.Image(t.Context(), s.host+"/org/app:plain")
	if err != nil || got.Digest != digestOf(t, right) || got.Source != source {
		t.Errorf("without an index: %+v, %v", got, err)
	}
	s.asked()
	digest, err := c.Digest(t.Context(), s.host+"/org/app:1.2.3")
	if err != nil || digest != want.Digest {
		t.Errorf("the digest is %s, %v", digest, err)
	}
	if d := cmp.Diff([]string{"HEAD /v2/org/app/manifests/1.2.3"}, s.asked()); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
	for _, ref := range []string{"", ":", "@sha256:12", ":1.2.3@md5:1", ":-x"} {
		_, err := c.Image(t.Context(), s.host+"/org/app"+ref)
		wantClass(t, err, registry.Malformed)
	}
	_, err = c.Image(t.Context(), s.host+"/org/app:7")
	wantClass(t, err, registry.Gone, "MANIFEST_UNKNOWN")
}

// TestTheImageOfAnIndex is the one for linux/amd64, wherever it stands; where there is none, the first that is for a machine at all.
func TestTheImageOfAnIndex(t *testing.T) {
	s, push := stocked(t)
	c, _ := client(t, registry.Options{}, s)
	arm, amd, none := v1.Platform{OS: "linux", Architecture: "arm64"}, v1.Platform{OS: "linux", Architecture: "amd64"}, v1.Platform{OS: "unknown", Architecture: "unknown"}
	for tag, tt := range map[string]struct {
		platforms []v1.Platform
		want      int
	}{
		"last":    {[]v1.Platform{none, arm, amd}, 2},
		"first":   {[]v1.Platform{amd, arm}, 0},
		"without": {[]v1.Platform{none, arm}, 1},
		"unknown": {[]v1.Platform{none}, 0},
	} {
		index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		for n := range tt.platforms {
			i := built(t, map[string]string{"org.opencontainers.image.source": "https://git.example/" + strconv.Itoa(n)})
			index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: i, Descriptor: v1.Descriptor{Platform: &tt.platforms[n]}})
		}
		push(tag, index)
		got, err := c.Image(t.Context(), s.host+"/org/app:"+tag)
		if err != nil || got.Source != "https://git.example/"+strconv.Itoa(tt.want) {
			t.Errorf("%s: it is image %s, want %d; %v", tag, got.Source, tt.want, err)
		}
	}
}

func TestAnotherManifestThanItsDigestIsRefused(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"schemaVersion":2}`)) })
	c, _ := client(t, registry.Options{}, s)
	_, err := c.Image(t.Context(), s.host+"/org/app@sha256:"+strings.Repeat("0", 64))
	wantClass(t, err, registry.Unavailable, "has the digest sha256:")
}

// Registries keep blobs in stores of their own, to which they redirect.
func TestLabelsThatAreElsewhere(t *testing.T) {
	image := built(t, map[string]string{"org.opencontainers.image.source": "https://git.example"})
	config, err := image.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := image.RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	auth := "none"
	store := serve(t, func(w http.ResponseWriter, r *http.Request) {
		auth = r.Header.Get("Authorization")
		_, _ = w.Write(config)
	})
	g := &guarded{ticket: "ticket"}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer ticket":
			g.ServeHTTP(w, r)
		case strings.Contains(r.URL.Path, "/manifests/"):
			_, _ = w.Write(manifest)
		default:
			http.Redirect(w, r, store.URL+"/blob?signature="+hush, http.StatusTemporaryRedirect)
		}
	})
	g.realm = s.URL + "/token"
	c, _ := client(t, registry.Options{}, s)
	got, err := c.Image(t.Context(), s.host+"/org/app:1")
	if err != nil || got.Source != "" || got.Digest != digestOf(t, image) || auth != "none" {
		t.Errorf("at a host that may not be asked: %+v, %v, the store got %q", got, err, auth)
	}
	c, _ = client(t, registry.Options{}, s, store)
	got, err = c.Image(t.Context(), s.host+"/org/app:1")
	if err != nil || got.Source != "https://git.example" || auth != "" {
		t.Errorf("at a host that may be asked: %+v, %v, the store got %q", got, err, auth)
	}
}
