package registry_test

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/registry"
)

// holding is a registry that has texts, by the end of their paths. Those of the status 404 are not there.
func holding(t *testing.T, texts map[string]string) *server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, ok := texts[strings.TrimPrefix(r.URL.Path, "/v2/org/app/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, text)
	})
}

// blob is where a text is by its digest, and what names it.
func blob(kind, text string) (path, descriptor string) {
	digest := "sha256:" + sumOf(text)
	return kind + "/" + digest, fmt.Sprintf(`"digest": %q, "size": %d`, digest, len(text))
}

// TestWhatSpeaksForAnImage: its config counts more than its manifest, and that more than the index. What cannot be read is an error, and
// what is no image has no config.
func TestWhatSpeaksForAnImage(t *testing.T) {
	const oci = `"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json"`
	says := func(url string) string {
		return fmt.Sprintf(`{"org.opencontainers.image.source": %q}`, url)
	}
	config := `{"config": {"Labels": ` + says("https://config.example") + `}}`
	configPath, configIs := blob("blobs", config)
	const docker, image, chart = "application/vnd.docker.container.image.v1+json", "application/vnd.oci.image.config.v1+json", "application/vnd.cncf.helm.config.v1+json"
	manifest := func(kind, config string) string {
		return fmt.Sprintf(`{%s, "config": {"mediaType": %q, %s}, "layers": [], "annotations": %s}`, oci, kind, config, says("https://manifest.example"))
	}
	wrongPath, wrongIs := blob("blobs", "no JSON")
	childPath, childIs := blob("manifests", manifest(chart, configIs))
	index := func(child string) string {
		return fmt.Sprintf(`{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [{"mediaType": "application/vnd.oci.image.manifest.v1+json", %s}], "annotations": %s}`, child, says("https://index.example"))
	}
	for name, tt := range map[string]struct {
		texts  map[string]string // beside what has the tag
		tagged string
		want   string // the source
		class  registry.Class
		says   string
	}{
		"the config":                       {map[string]string{configPath: config}, manifest(image, configIs), "https://config.example", "", ""},
		"a config of Docker":               {map[string]string{configPath: config}, manifest(docker, configIs), "https://config.example", "", ""},
		"the manifest of a chart":          {nil, manifest(chart, configIs), "https://manifest.example", "", ""},
		"a config that has another digest": {map[string]string{configPath: config + " "}, manifest(image, configIs), "", registry.Unavailable, "has the digest"},
		"a config that is not there":       {nil, manifest(image, configIs), "", registry.Gone, "404"},
		"a config that is no JSON":         {map[string]string{wrongPath: "no JSON"}, manifest(image, wrongIs), "", registry.Unavailable, "no JSON"},
		"a config by another hash":         {nil, manifest(image, `"digest": "sha512:`+strings.Repeat("0", 128)+`", "size": 1`), "https://manifest.example", "", ""},
		"what an index points to":          {map[string]string{childPath: manifest(chart, configIs)}, index(childIs), "https://manifest.example", "", ""},
		"an index whose manifest is gone":  {nil, index(childIs), "", registry.Gone, "404"},
		"an index by another hash":         {nil, index(`"digest": "sha512:` + strings.Repeat("0", 128) + `", "size": 1`), "", registry.Unavailable, "no SHA-256"},
		"no manifest":                      {nil, "<html>", "", registry.Unavailable, "no manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			texts := map[string]string{"manifests/1": tt.tagged}
			maps.Copy(texts, tt.texts)
			s := holding(t, texts)
			c, _ := client(t, registry.Options{}, s)
			got, err := c.Image(t.Context(), s.host+"/org/app:1")
			if tt.class != "" {
				wantClass(t, err, tt.class, tt.says)
				return
			}
			if want := (registry.Image{Digest: "sha256:" + sumOf(tt.tagged), Source: tt.want}); err != nil || got != want {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		})
	}
}

// TestLinks: what a stranger says may be shown as a link where it is one of https, and says nothing of who follows it.
func TestLinks(t *testing.T) {
	for s, want := range map[string]bool{
		"https://git.example/org/app": true, "https://a.example/" + strings.Repeat("x", 482): true, "https://a.example/" + strings.Repeat("x", 483): false,
		"http://git.example": false, "javascript:alert(1)": false, "https://me@git.example": false, "https:///x": false, "git.example": false, "": false, "https://a b": false,
	} {
		if got := registry.Link(s); (got == s && s != "") != want || !want && got != "" {
			t.Errorf("%q is the link %q", s, got)
		}
	}
}

// TestTheDigestOfATag: a registry that does not say it in a header, or says what is none, is asked for the manifest.
func TestTheDigestOfATag(t *testing.T) {
	const manifest = `{"schemaVersion": 2}`
	counted, said := "sha256:"+sumOf(manifest), "sha256:"+strings.Repeat("1", 64)
	for header, want := range map[string]string{"": counted, "md5:1": counted, said: said} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Docker-Content-Digest", header)
			fmt.Fprint(w, manifest)
		})
		c, _ := client(t, registry.Options{}, s)
		if got, err := c.Digest(t.Context(), s.host+"/org/app:1"); got != want || err != nil {
			t.Errorf("where it says %q: %s, %v", header, got, err)
		}
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	c, _ := client(t, registry.Options{}, s)
	_, err := c.Digest(t.Context(), s.host+"/org/app:1")
	wantClass(t, err, registry.Gone)
	_, err = c.Digest(t.Context(), s.host+"/org/app")
	wantClass(t, err, registry.Malformed, "no tag and no digest")
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusForbidden)
		}
	})
	_, err = c.Digest(t.Context(), s.host+"/org/app:1")
	wantClass(t, err, registry.Denied)
}

// TestWhereTheNextPageIs: only what a list calls the next page is one.
func TestWhereTheNextPageIs(t *testing.T) {
	for link, want := range map[string]int{
		`</v2/org/app/tags/list?last=1>; rel="next"`: 2, `<?last=1>;rel=next`: 2, `</v2/org/app/tags/list?last=1>; rel="prev"`: 1, `last=1`: 1,
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.RawQuery, "last=1") {
				list(w, []string{"2.0.0"})
				return
			}
			w.Header().Set("Link", link)
			list(w, []string{"1.0.0"})
		})
		c, _ := client(t, registry.Options{}, s)
		if got, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{}); err != nil || len(got.Tags) != want {
			t.Errorf("%s: %+v, %v", link, got, err)
		}
	}
}

// TestAnETagIsOfAListOfOnePage, and one of ours is nothing that a registry is asked to compare.
func TestAnETagIsOfAListOfOnePage(t *testing.T) {
	for s, want := range map[string]bool{
		`"7"`: true, `W/"7"`: true, `"` + strings.Repeat("x", 198) + `"`: true, `"` + strings.Repeat("x", 199) + `"`: false,
		"7": false, `7"`: false, `"7`: false, "": false, "sha256:" + strings.Repeat("0", 64): false,
	} {
		if registry.IsETag(s) != want {
			t.Errorf("%s is an ETag: %t", s, !want)
		}
	}
	asked := "none"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("If-None-Match")
		list(w, []string{"1.0.0"})
	})
	c, _ := client(t, registry.Options{}, s)
	if _, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{ETag: "sha256:x"}); err != nil || asked != "" {
		t.Errorf("it was asked to compare %q: %v", asked, err)
	}
}

// TestTokensAreForARepository: that of one is not shown for another; one that says nothing of its end counts for a minute, less a rest; and
// some services call it access_token.
func TestTokensAreForARepository(t *testing.T) {
	served := 0
	var s *server
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		repository := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v2/"), "/tags/list")
		switch {
		case r.URL.Path == "/token":
			served++
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": r.URL.Query().Get("scope")})
		case r.Header.Get("Authorization") != "Bearer repository:"+repository+":pull":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q,service=x", s.URL+"/token"))
			w.WriteHeader(http.StatusUnauthorized)
		default:
			list(w, []string{"1.0.0"})
		}
	})
	c, at := client(t, registry.Options{PerHost: -1}, s)
	for _, step := range []struct {
		repository string
		after      time.Duration
		want       int // tokens that were made
	}{
		{"org/app", 0, 1}, {"org/other", 0, 2}, {"org/app", 53 * time.Second, 2}, {"org/app", time.Second, 3}, {"org/other", 0, 4},
	} {
		at.at = at.at.Add(step.after)
		if _, err := c.Tags(t.Context(), s.host+"/"+step.repository, registry.Known{}); err != nil || served != step.want {
			t.Errorf("%s after %s: %d tokens, want %d; %v", step.repository, step.after, served, step.want, err)
		}
	}
}

// TestACredentialThatIsRefusedIsNotSentAgain: what a registry does not take it is not asked with twice in one call.
func TestACredentialThatIsRefusedIsNotSentAgain(t *testing.T) {
	for name, credential := range map[string]egress.Credential{"basic": {Username: me, Password: hush}, "a token": {Token: hush}} {
		sent := 0
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				sent++
			}
			w.Header().Set("WWW-Authenticate", map[string]string{"basic": `Basic realm="x"`, "a token": `Bearer realm="https://127.0.0.1/token"`}[name])
			w.WriteHeader(http.StatusUnauthorized)
		})
		credential.URL = "oci://" + s.host
		c, _ := client(t, registry.Options{Credentials: []egress.Credential{credential}}, s)
		for call := range 2 {
			_, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
			wantClass(t, err, registry.Denied)
			if sent != call+1 {
				t.Errorf("%s: after %d calls it was sent %d times", name, call+1, sent)
			}
		}
	}
}

// TestWhoIsCutOffAsksNothing: not after the wait that was cut off.
func TestWhoIsCutOffAsksNothing(t *testing.T) {
	s := serve(t, tagsHandler("1.0.0"))
	c, _ := client(t, registry.Options{Pause: func(context.Context, time.Duration) error { return context.Canceled }}, s)
	for _, want := range []error{nil, context.Canceled} { // the first waits for nothing
		if _, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{}); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if n := len(s.asked()); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
}

// TestClasses: what an answer means, and that no other error is one of them.
func TestClasses(t *testing.T) {
	for status, want := range map[int]registry.Class{401: registry.Denied, 403: registry.Denied, 404: registry.Gone, 410: registry.Gone, 400: registry.Unavailable, 500: registry.Unavailable} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		c, _ := client(t, registry.Options{}, s)
		_, err := c.Image(t.Context(), s.host+"/org/app:1")
		wantClass(t, err, want)
	}
	if registry.ClassOf(nil) != "" || registry.ClassOf(context.Canceled) != registry.Unavailable {
		t.Error("no error, and one that is no answer, have the classes of others")
	}
}

// TestDockerHub has its registry and its token service at names of their own.
func TestDockerHub(t *testing.T) {
	for _, listed := range []string{"docker.io", "index.docker.io", "https://docker.io", "https://index.docker.io", "ghcr.io"} {
		c, err := registry.New(registry.Options{Allow: []string{listed}, Now: time.Now, Pause: func(context.Context, time.Duration) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing is asked
		_, err = c.Tags(ctx, "docker.io/library/alpine", registry.Known{})
		want := map[bool]registry.Class{true: registry.Unavailable, false: registry.Refused}[listed != "ghcr.io"]
		if got := registry.ClassOf(err); got != want {
			t.Errorf("%s is listed: %s, %v; want %s", listed, got, err, want)
		}
	}
}

// TestWhatIsNoSignature: a layer of another type, one without a signature, and what refers to the image and is no bundle, are passed over;
// what cannot be asked is not taken for a signature that is missing.
func TestWhatIsNoSignature(t *testing.T) {
	key := ecdsaSigner(t)
	image := built(t, nil)
	digest := digestOf(t, image)
	payload := simply(digest)
	signature := key.sign(t, []byte(payload), crypto.SHA256)
	layer := func(kind types.MediaType, annotations map[string]string) v1.Image {
		i, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{Layer: static.NewLayer([]byte(payload), kind), Annotations: annotations})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	signs := map[string]string{"dev.cosignproject.cosign/signature": base64Of(signature)}
	const simple = "application/vnd.dev.cosign.simplesigning.v1+json"
	tag := strings.Replace(digest, ":", "-", 1)
	for name, tt := range map[string]struct {
		tag  string
		as   v1.Image
		says string // empty: it is verified
	}{
		"a signature":                   {tag + ".sig", layer(simple, signs), ""},
		"a layer of another type":       {tag + ".sig", layer("text/plain", signs), "it has no signature"},
		"a layer without a signature":   {tag + ".sig", layer(simple, nil), "it has no signature"},
		"a signature that is no base64": {tag + ".sig", layer(simple, map[string]string{"dev.cosignproject.cosign/signature": "?"}), "none of its signatures (1)"},
		"a signature with another tag":  {tag + ".att", layer(simple, signs), "it has no signature"},
		"an image that refers to it":    {"refers", refer(t, layer(simple, signs), image), "it has no signature"},
		"no layer, and it refers to it": {"refers", refer(t, mutate.MediaType(empty.Image, types.OCIManifestSchema1), image), "it has no signature"},
	} {
		t.Run(name, func(t *testing.T) {
			s, push := stocked(t)
			push("1.0.0", image)
			push(tt.tag, tt.as)
			c, _ := client(t, registry.Options{}, s)
			err := c.Verify(t.Context(), s.host+"/org/app@"+digest, key.keys(t))
			if tt.says == "" && err != nil {
				t.Error(err)
			} else if tt.says != "" {
				wantClass(t, err, registry.Unverified, tt.says)
			}
			s.asked()
			// A registry that forbids a part of what is asked does not say that there is no signature.
			inner := s.h
			for _, part := range []string{".sig", "/referrers/"} {
				s.answer(func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, part) {
						w.WriteHeader(http.StatusForbidden)
						return
					}
					inner(w, r)
				})
				if err := c.Verify(t.Context(), s.host+"/org/app@"+digest, key.keys(t)); tt.says != "" || part == ".sig" {
					wantClass(t, err, registry.Denied)
				}
			}
		})
	}
}

// refer has an image refer to another.
func refer(t *testing.T, i, to v1.Image) v1.Image {
	t.Helper()
	size, err := to.Size()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := to.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return mutate.Subject(i, v1.Descriptor{MediaType: types.DockerManifestSchema2, Size: size, Digest: hash}).(v1.Image)
}

// TestBundlesOfARegistryWithoutAList are in an index with the tag of the digest; where neither is, there is none, and of too many none is
// looked for.
func TestBundlesOfARegistryWithoutAList(t *testing.T) {
	key := ecdsaSigner(t)
	image := built(t, nil)
	digest := digestOf(t, image)
	payload, message := stated(digest, "https://sigstore.dev/cosign/sign/v1")
	signed, err := json.Marshal(map[string]any{"dsseEnvelope": map[string]any{"payload": payload, "payloadType": statements, "signatures": []any{map[string]any{"sig": key.sign(t, message, crypto.SHA256)}}}})
	if err != nil {
		t.Fatal(err)
	}
	const bundled = "application/vnd.dev.sigstore.bundle.v0.3+json"
	blobPath, blobIs := blob("blobs", string(signed))
	bundle := fmt.Sprintf(`{"schemaVersion": 2, "config": {"mediaType": "application/vnd.oci.empty.v1+json", %s}, "layers": [{"mediaType": %q, %s}]}`, blobIs, bundled, blobIs)
	bundlePath, bundleIs := blob("manifests", bundle)
	two := fmt.Sprintf(`{"schemaVersion": 2, "config": {"mediaType": "x", %s}, "layers": [{"mediaType": %q, %s}, {"mediaType": %q, %s}]}`, blobIs, bundled, blobIs, bundled, blobIs)
	twoPath, twoIs := blob("manifests", two)
	text := strings.Replace(bundle, bundled, "text/plain", 1)
	textPath, textIs := blob("manifests", text)
	index := func(of ...string) string {
		return `{"schemaVersion": 2, "manifests": [{` + strings.Join(of, "}, {") + `}]}`
	}
	other := strings.Replace(bundleIs, bundleIs[len(`"digest": "sha256:`):len(`"digest": "sha256:`)+64], strings.Repeat("0", 64), 1)
	for name, tt := range map[string]struct {
		index string // empty: there is none
		class registry.Class
		says  string
	}{
		"a bundle":                       {index(bundleIs), "", ""},
		"nothing":                        {"", registry.Unverified, "it has no signature"},
		"no index":                       {"<html>", registry.Unavailable, "no index"},
		"two layers":                     {index(twoIs), registry.Unverified, "it has no signature"},
		"a layer of another type":        {index(textIs), registry.Unverified, "it has no signature"},
		"two layers, and a bundle":       {index(twoIs, bundleIs), "", ""},
		"a bundle by another hash":       {index(`"digest": "sha512:` + strings.Repeat("0", 128) + `"`), registry.Unverified, "it has no signature"},
		"a bundle that is gone":          {index(other), registry.Gone, "404"},
		"a bundle behind fifty of them":  {index(append(repeat(twoIs, 49), bundleIs)...), "", ""},
		"a bundle behind more than that": {index(append(repeat(twoIs, 50), bundleIs)...), registry.TooMany, "more refers to it than the 50"},
	} {
		t.Run(name, func(t *testing.T) {
			texts := map[string]string{blobPath: string(signed), bundlePath: bundle, twoPath: two, textPath: text}
			if tt.index != "" {
				texts["manifests/"+strings.Replace(digest, ":", "-", 1)] = tt.index
			}
			s := holding(t, texts)
			c, _ := client(t, registry.Options{}, s)
			err := c.Verify(t.Context(), s.host+"/org/app@"+digest, key.keys(t))
			if tt.class == "" && err != nil {
				t.Error(err)
			} else if tt.class != "" {
				wantClass(t, err, tt.class, tt.says)
			}
		})
	}
}

// TestAHundredKeys are read, and RSA of 2048 bits is enough.
func TestAHundredKeys(t *testing.T) {
	one := ecdsaSigner(t)
	keys, err := registry.ParseKeys("keys.pem", []byte(strings.Repeat(string(one.pub), 100)))
	if err != nil || len(keys) != 100 {
		t.Errorf("%d, %v", len(keys), err)
	}
}

func repeat(s string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = s
	}
	return all
}

// sumOf is the SHA-256 of a text, and base64Of its base64.
func sumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
