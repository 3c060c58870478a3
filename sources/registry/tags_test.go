package registry_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"

	"github.com/waybill-dev/waybill/sources/registry"
)

func TestTags(t *testing.T) {
	s, push := stocked(t)
	push("1.0.0", empty.Image)
	push("1.1.0", empty.Image)
	c, at := client(t, registry.Options{}, s)
	first, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1.0.0", "1.1.0"}, first.Tags); d != "" || !first.At.Equal(noon) {
		t.Errorf("tags at %v (-want +got):\n%s", first.At, d)
	}
	s.asked()
	again, err := c.Tags(t.Context(), "oci://"+s.host+"/org/app", first)
	if err != nil || again.ETag != first.ETag || !again.At.After(first.At) {
		t.Errorf("nothing is new, and it is %+v, %v", again, err)
	}
	if d := cmp.Diff([]string{"GET /v2/org/app/tags/list?n=1000"}, s.asked()); d != "" || at.sum != time.Second {
		t.Errorf("asked after %v (-want +got):\n%s", at.sum, d)
	}
	push("1.2.0", empty.Image)
	newer, err := c.Tags(t.Context(), s.host+"/org/app", again)
	if err != nil || newer.ETag == again.ETag || len(newer.Tags) != 3 {
		t.Errorf("a tag is new, and it is %+v, %v", newer, err)
	}
}

func TestTagsOverHTTPOnLoopbackOnly(t *testing.T) {
	plain := httptest.NewServer(gcr.New(gcr.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(plain.Close)
	repository := strings.TrimPrefix(plain.URL, "http://") + "/org/app"
	c, _ := client(t, registry.Options{Allow: []string{plain.URL}})
	_, err := c.Tags(t.Context(), repository, registry.Known{})
	wantClass(t, err, registry.Gone, "404 Not Found")
	c, _ = client(t, registry.Options{Allow: []string{strings.Replace(plain.URL, "127.0.0.1", "localhost", 1)}})
	_, err = c.Tags(t.Context(), strings.Replace(repository, "127.0.0.1", "localhost", 1), registry.Known{})
	wantClass(t, err, registry.Gone, "404 Not Found")
	c, _ = client(t, registry.Options{Allow: []string{"http://plain.example"}})
	_, err = c.Tags(t.Context(), "plain.example/org/app", registry.Known{})
	wantClass(t, err, registry.Refused, "not in the list")
}

func TestTagsWithAnETag(t *testing.T) {
	tags, etag, unchanged := []string{"1.0.0"}, `W/"7"`, 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			unchanged++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		list(w, tags)
	})
	c, at := client(t, registry.Options{}, s)
	known, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
	if err != nil || known.ETag != etag {
		t.Fatalf("%+v, %v", known, err)
	}
	s.asked()
	at.at = at.at.Add(time.Hour)
	same, err := c.Tags(t.Context(), s.host+"/org/app", known)
	if d := cmp.Diff(registry.Known{ETag: etag, Tags: []string{"1.0.0"}, At: noon.Add(time.Hour)}, same); d != "" || err != nil || len(s.asked()) != 1 || unchanged != 1 {
		t.Errorf("nothing is new, which was answered %d times: %v (-want +got):\n%s", unchanged, err, d)
	}
	tags, etag = []string{"1.0.0", "1.0.1"}, `"8"`
	newer, err := c.Tags(t.Context(), s.host+"/org/app", same)
	if err != nil || newer.ETag != etag || len(newer.Tags) != 2 {
		t.Errorf("a tag is new, and it is %+v, %v", newer, err)
	}
}

// What stands for the list of a registry without ETags is not asked for.
func TestADigestIsNoETag(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked := r.Header.Get("If-None-Match"); asked != "" {
			t.Errorf("it is asked for what is not %q", asked)
		}
		list(w, []string{"1.0.0"})
	})
	c, _ := client(t, registry.Options{}, s)
	known, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
	if err != nil || !strings.HasPrefix(known.ETag, "sha256:") {
		t.Fatalf("%+v, %v", known, err)
	}
	if again, err := c.Tags(t.Context(), s.host+"/org/app", known); err != nil || again.ETag != known.ETag {
		t.Errorf("%+v, %v", again, err)
	}
}

func numbered(n int) []string {
	tags := make([]string, n)
	for i := range tags {
		tags[i] = fmt.Sprintf("1.0.%d", i)
	}
	return tags
}

// paged lists tags by pages.
func paged(tags []string, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("last"), &from)
		to := min(from+size, len(tags))
		if to < len(tags) {
			w.Header().Set("Link", fmt.Sprintf(`</v2/org/app/tags/list?last=%d&n=%d>; rel="next"`, to, size))
		}
		w.Header().Set("ETag", `"of one page only"`)
		list(w, tags[from:to])
	}
}

func TestTagsArePagedAndCounted(t *testing.T) {
	for _, tt := range []struct {
		name      string
		tags      []string
		size      int
		wantTags  int
		wantPages int
		wrong     registry.Class
	}{
		{"one page that is full", numbered(1000), 1000, 1000, 1, ""},
		{"two pages", numbered(1001), 1000, 1001, 2, ""},
		{"ten thousand", numbered(10_000), 1000, 10_000, 10, ""},
		{"one more", numbered(10_001), 1000, 0, 11, registry.TooMany},
		{"small pages", numbered(10_000), 100, 10_000, 100, ""},
		{"too many pages", numbered(10_000), 99, 0, 100, registry.TooMany},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, paged(tt.tags, tt.size))
			c, _ := client(t, registry.Options{}, s)
			known, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
			if tt.wrong != "" {
				wantClass(t, err, tt.wrong)
			} else if err != nil {
				t.Fatal(err)
			}
			if len(known.Tags) != tt.wantTags || len(s.asked()) != tt.wantPages || tt.wantPages > 1 && strings.HasPrefix(known.ETag, `"`) {
				t.Errorf("%d tags, ETag %s", len(known.Tags), known.ETag)
			}
		})
	}
}

func TestFaultsOfARegistryChangeNothing(t *testing.T) {
	other := serve(t, tagsHandler("9.9.9"))
	header := func(status int, pairs ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(pairs); i += 2 {
				w.Header().Set(pairs[i], pairs[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"errors":[{"code":"X","message":"hush"}]}`)
		}
	}
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		class   registry.Class
		says    string
	}{
		{"a failure", header(500), registry.Unavailable, "500 Internal Server Error"},
		{"a bad gateway", header(502), registry.Unavailable, "502"},
		{"no such repository", header(404), registry.Gone, "404"},
		{"forbidden", header(403), registry.Denied, "403"},
		{"a challenge of nobody", header(401), registry.Denied, "401"},
		{"an answer that was not asked", header(304), registry.Unavailable, "not asked"},
		{"a redirect to another host", header(307, "Location", other.URL+"/v2/org/app/tags/list"), registry.Refused, other.host},
		{"a redirect over http", header(307, "Location", "http://127.0.0.1/"), registry.Refused, "http://127.0.0.1"},
		{"a redirect without end", header(307, "Location", "/v2/org/app/tags/list"), registry.Unavailable, "redirects"},
		{"no list", header(200), registry.Gone, "lists no tag"},
		{"an empty list", tagsHandler(), registry.Gone, "lists no tag"},
		{"nonsense", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, registry.Unavailable, "no JSON"},
		{"no tag that can be one", tagsHandler("-x", "a b", "a/b", strings.Repeat("x", 129), `\u000a`), registry.Gone, ""},
		{"a page of five megabytes", tagsHandler(strings.Repeat("x", 5<<20)), registry.Unavailable, "4194304"},
		{"pages of the same without end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", `</v2/org/app/tags/list?again>; rel="next"`)
			list(w, []string{"1.0.0"})
		}, registry.TooMany, "does not end"},
		{"a next page at another host", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "<"+other.URL+`/v2/org/app/tags/list?hush>; rel="next"`)
			list(w, []string{"1.0.0"})
		}, registry.Refused, other.host},
		{"a slow body", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // its answer has no end, which one that is closed can still read
		}, registry.Unavailable, "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.handler)
			o := registry.Options{}
			if tt.name == "a slow body" {
				o.Timeout = 3 * time.Second
			}
			c, _ := client(t, o, s, other)
			known := registry.Known{ETag: "sha256:x", Tags: []string{"1.0.0"}, At: noon.Add(-time.Hour)}
			got, err := c.Tags(t.Context(), s.host+"/org/app", known)
			wantClass(t, err, tt.class, tt.says)
			if d := cmp.Diff(known, got); d != "" {
				t.Errorf("what was known changed:\n%s", d)
			}
			if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error shows what it should not: %v", err)
			}
			if n := len(s.asked()); n == 0 || n > 11 {
				t.Errorf("%d requests", n)
			}
		})
	}
	if seen := other.asked(); len(seen) != 0 {
		t.Errorf("the other host was asked: %v", seen)
	}
}

func TestAShrunkenListIsReturnedAsItIs(t *testing.T) {
	s := serve(t, tagsHandler("1.0.0", "1.0.0"))
	c, _ := client(t, registry.Options{}, s)
	got, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{Tags: []string{"1.0.0", "2.0.0"}})
	if err != nil || !slices.Equal(got.Tags, []string{"1.0.0"}) {
		t.Errorf("%v, %v", got.Tags, err)
	}
}

func TestHostsThatMayNotBeAsked(t *testing.T) {
	s := serve(t, tagsHandler("1.0.0"))
	all := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
	for _, tt := range []struct {
		name       string
		o          registry.Options
		repository string
		class      registry.Class
		says       string
	}{
		{"nothing is listed", registry.Options{}, s.host + "/org/app", registry.Refused, "not in the list"},
		{"another is listed", registry.Options{Allow: []string{"ghcr.io"}}, s.host + "/org/app", registry.Refused, "not in the list"},
		{"its address is private", registry.Options{Allow: []string{s.host}, Private: []netip.Prefix{}}, s.host + "/org/app", registry.Refused, "not public"},
		{"it gives out credentials", registry.Options{Allow: []string{"169.254.169.254"}, Private: all}, "169.254.169.254/org/app", registry.Refused, "gives out credentials"},
		{"its address is written oddly", registry.Options{Allow: []string{s.host}}, "2130706433/org/app", registry.Refused, "docker.io"},
		{"it is no repository", registry.Options{Allow: []string{s.host}}, s.host + "/Org/App", registry.Malformed, "no repository"},
		{"it is a URL", registry.Options{Allow: []string{s.host}}, s.URL + "/org/app", registry.Malformed, "no repository"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := client(t, tt.o)
			_, err := c.Tags(t.Context(), tt.repository, registry.Known{})
			wantClass(t, err, tt.class, tt.says)
		})
	}
	if seen := s.asked(); len(seen) != 0 {
		t.Errorf("it was asked: %v", seen)
	}
}

func TestWrongOptions(t *testing.T) {
	for _, tt := range []struct {
		o    registry.Options
		says string
	}{
		{registry.Options{}, "tells the time"},
		{registry.Options{Now: time.Now, Allow: []string{"ghcr.io/org"}}, "not of the form"},
		{registry.Options{Now: time.Now, Allow: []string{"ftp://ghcr.io"}}, "only https"},
		{registry.Options{Now: time.Now, Allow: []string{""}}, "not of the form"},
	} {
		if _, err := registry.New(tt.o); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %q", err, tt.says)
		}
	}
}
