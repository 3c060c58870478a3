package book_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/sources/files"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// name is a service of the namespace shop.
func name(service string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: service}
}

// slice is one with endpoints; an address that ends in ! is not ready.
func slice(name string, addresses ...string) endpoints.Slice {
	port, number := "http", int32(8080)
	s := endpoints.Slice{Name: name, AddressType: discovery.AddressTypeIPv4, Ports: []discovery.EndpointPort{{Name: &port, Port: &number}}}
	for _, a := range addresses {
		a, isNot := strings.CutSuffix(a, "!")
		ready := !isNot
		s.Endpoints = append(s.Endpoints, endpoints.Endpoint{Addresses: []string{a}, Conditions: discovery.EndpointConditions{Ready: &ready}})
	}
	return s
}

func newBook() book.Book {
	return book.Book{Cluster: "eu-1", UID: "8f3c", Time: noon, Number: uint64(noon.UnixMilli()), Services: endpoints.Services{
		name("api"): {slice("api-1", "10.101.0.5", "10.101.0.6!")}, name("web"): nil,
	}}
}

// TestABookIsReadAsItWasWritten and is files that Git can show.
func TestABookIsReadAsItWasWritten(t *testing.T) {
	b := newBook()
	root := b.Tree()
	var shown []string
	for path, e := range root.All() {
		data, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, path+": "+string(data))
	}
	const want = `_meta: {"cluster":"eu-1","uid":"8f3c","time":"2026-11-23T12:00:00Z","number":1795435200000}
shop/api.json: {"slices":[{"name":"api-1","addressType":"IPv4","ports":[{"name":"http","port":8080}],"endpoints":[{"addresses":["10.101.0.5"],"conditions":{"ready":true}},{"addresses":["10.101.0.6"],"conditions":{"ready":false}}]}]}
shop/web.json: {"slices":[]}
`
	if got := strings.Join(shown, ""); got != want {
		t.Errorf("it is\n%swant\n%s", got, want)
	}
	got, err := book.Decode(root)
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("it is read as %+v, %v", got, err)
	}
}

// TestWhatIsNoBookIsRefused changes one file of a book, or adds one.
func TestWhatIsNoBookIsRefused(t *testing.T) {
	many := make([]endpoints.Slice, book.MostSlices+1)
	large := book.Book{Cluster: "eu-1", UID: "8f3c", Time: noon, Number: 1, Services: endpoints.Services{name("api"): many}}
	var crowd []files.Entry
	for n := range book.MostServices + 2 {
		crowd = append(crowd, files.FileEntry(fmt.Sprintf("s%d.json", n), files.NewBlob([]byte("{\"slices\":[]}\n"))))
	}
	is := newBook()
	for what, tt := range map[string]struct {
		path, content string
		root          *files.Folder
		want          string
	}{
		"a field more":          {path: "shop/api.json", content: `{"slices":[],"more":1}`, want: `unknown field "more"`},
		"another order":         {path: "_meta", content: `{"uid":"8f3c","cluster":"eu-1","time":"2026-11-23T12:00:00Z","number":1}`, want: "not as one writes them"},
		"two documents":         {path: "shop/api.json", content: "{\"slices\":[]}\n{}\n", want: "not as one writes them"},
		"no number":             {path: "_meta", content: "{\"cluster\":\"eu-1\",\"uid\":\"8f3c\",\"time\":\"2026-11-23T12:00:00Z\",\"number\":0}\n", want: "not as one writes them"},
		"no time":               {path: "_meta", content: `{"cluster":"eu-1","uid":"8f3c","time":"noon","number":1}`, want: "noon"},
		"no namespace":          {path: "Shop_/api.json", content: `{"slices":[]}`, want: "not named after"},
		"no service":            {path: "shop/api.yaml", content: `{"slices":[]}`, want: "not named after"},
		"a folder too much":     {path: "shop/a/b.json", content: `{"slices":[]}`, want: "not named after"},
		"a name that says more": {path: "shop/api.json", content: `{"Slices":[]}`, want: "not as one writes them"},
		"many bytes":            {path: "shop/api.json", content: strings.Repeat(" ", book.MostBytes+1), want: "at most 4194304 are taken"},
		"many slices":           {root: large.Tree(), want: "it has 101 slices"},
		"many services":         {root: files.NewFolder([]files.Entry{files.DirEntry("shop", files.NewFolder(crowd))}), want: "more than 1000 services"},
		"nothing":               {root: files.NewFolder(nil), want: "not as one writes them"},
	} {
		root := tt.root
		if root == nil {
			root = with(is.Tree(), tt.path, tt.content)
		}
		if b, err := book.Decode(root); err == nil || !strings.Contains(err.Error(), tt.want) || b.Cluster != "" {
			t.Errorf("%s: it is %+v, %v; want %q", what, b, err, tt.want)
		}
	}
}

// with is a folder with a file of one, two or three parts.
func with(root *files.Folder, path, content string) *files.Folder {
	first, rest, deeper := strings.Cut(path, "/")
	var entry files.Entry
	if deeper {
		below := files.NewFolder(nil)
		if e, ok := root.Lookup(first); ok && e.Dir != nil {
			below = e.Dir
		}
		entry = files.DirEntry(first, with(below, rest, content))
	} else {
		entry = files.FileEntry(first, files.NewBlob([]byte(content)))
	}
	others := slices.DeleteFunc(slices.Clone(root.Entries()), func(e files.Entry) bool { return e.Name == first })
	return files.NewFolder(append(others, entry))
}

// What is read is what would have been written.
func FuzzDecode(f *testing.F) {
	b := newBook()
	for path, e := range b.Tree().All() {
		data, _ := e.Blob.Bytes()
		f.Add(path, data)
	}
	f.Add("shop/api.json", []byte("{\"slices\":null}\n"))
	f.Add("shop/api.json", []byte("{\"slices\":[{\"name\":\"\",\"addressType\":\"FQDN\",\"endpoints\":[]}]}\n"))
	f.Add("_meta", []byte("{\"cluster\":\"\\u0065u-1\",\"uid\":\"\",\"time\":\"2026-11-23T12:00:00+01:00\",\"number\":1}\n"))
	f.Fuzz(func(t *testing.T, path string, data []byte) {
		if strings.Contains(path, "\x00") || strings.Count(path, "/") > 3 {
			return // Git has no such names
		}
		is := newBook()
		root := with(is.Tree(), path, string(data))
		got, err := book.Decode(root)
		switch {
		case err == nil && got.Tree().ID() != root.ID():
			t.Errorf("%q with %q is read as %+v", path, data, got)
		case err == nil && (len(got.Services) > book.MostServices || got.Number == 0):
			t.Errorf("out of bounds: %+v", got)
		case err != nil && got.Services != nil:
			t.Errorf("it is no book, and says %+v", got)
		}
	})
}

func TestWhichBookCounts(t *testing.T) {
	now := uint64(noon.UnixMilli())
	for what, tt := range map[string]struct {
		cluster, uid string // that the Cluster has
		last, number uint64
		want         error
	}{
		"the first":                   {"eu-1", "", 0, now, nil},
		"the next":                    {"eu-1", "8f3c", now - 1, now, nil},
		"the same again":              {"eu-1", "", now, now, nil},
		"an older one":                {"eu-1", "", now, now - 1, book.ErrOld},
		"one that is a little ahead":  {"eu-1", "", now, now + 240_000, nil},
		"one that has not come":       {"eu-1", "", now, now + 360_000, book.ErrAhead},
		"that of another cluster":     {"us-1", "", 0, now, book.ErrOther},
		"that of a cluster made anew": {"eu-1", "other", 0, now, book.ErrOther},
	} {
		b := newBook()
		b.Number = tt.number
		if err := b.Follows(tt.last, tt.cluster, tt.uid, noon); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", what, err, tt.want)
		}
	}
}

func TestWhatIsLost(t *testing.T) {
	before := endpoints.Services{name("api"): {slice("api-1", "10.0.0.1", "10.0.0.2!")}}
	for what, tt := range map[string]struct {
		now  endpoints.Services
		want bool
	}{
		"nothing":                       {before, false},
		"one more":                      {endpoints.Services{name("api"): {slice("api-1", "10.0.0.1", "10.0.0.2!", "10.0.0.3")}}, false},
		"one that gets ready":           {endpoints.Services{name("api"): {slice("api-1", "10.0.0.1", "10.0.0.2")}}, false},
		"one that is in another slice":  {endpoints.Services{name("api"): {slice("api-1", "10.0.0.2!"), slice("api-2", "10.0.0.1")}}, false},
		"one that is not ready":         {endpoints.Services{name("api"): {slice("api-1", "10.0.0.1!", "10.0.0.2!")}}, true},
		"one that is gone":              {endpoints.Services{name("api"): {slice("api-1", "10.0.0.2!")}}, true},
		"one that was not ready before": {endpoints.Services{name("api"): {slice("api-1", "10.0.0.1")}}, true},
		"the service":                   {endpoints.Services{}, true},
	} {
		if got := book.Loses(before, tt.now); got != tt.want {
			t.Errorf("%s: %t", what, got)
		}
		if same := book.Same(before, tt.now); same != (what == "nothing") {
			t.Errorf("%s: they are the same: %t", what, same)
		}
	}
}

// TestWhenABookIsPushed goes through changes at seconds, and says when pushes are due.
func TestWhenABookIsPushed(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	const interval = 10 * time.Second
	var p book.Throttle
	due := func(what string, want int) {
		t.Helper()
		got := p.Due()
		if want < 0 && !got.IsZero() || want >= 0 && !got.Equal(at(want)) {
			t.Errorf("%s: due is %s after noon, want %d s", what, got.Sub(noon), want)
		}
	}
	due("nothing happened", -1)
	p.Changed(at(0), interval)
	due("a pod is there", 10)
	p.Changed(at(3), interval)
	due("another one does not put it off", 10)
	p.Lost(at(4), interval)
	due("one that is lost is told of soon", 6)
	p.Lost(at(5), interval)
	due("another one does not put it off", 6)
	p.Settled()
	due("all is as it was", -1)
	for n := range 6 {
		p.Lost(at(10+3*n), interval)
		due("one after the other", 12+3*n)
		p.Pushed(at(12 + 3*n))
		due("it is pushed", -1)
	}
	p.Lost(at(30), interval)
	due("six are pushed a minute, and no more", 72)
	p.Pushed(at(72))
	p.Lost(at(73), interval)
	due("the next", 75)
	p.Pushed(at(75))
	p.Lost(at(140), time.Second)
	due("what is lost waits no longer than others", 141)
}

func TestHowLongChangesWait(t *testing.T) {
	for _, tt := range []struct {
		config time.Duration
		origin string
		books  int
		want   time.Duration
		ok     bool
	}{
		{0, "https://git.example.com", 50, 10 * time.Second, true},
		{0, "https://git.example.com", 51, time.Minute, true},
		{5 * time.Second, "https://git.example.com", 51, 5 * time.Second, true},
		{5 * time.Second, "https://github.com", 6, time.Minute, true},
		{2 * time.Minute, "ssh://gitlab.com", 1, 2 * time.Minute, true},
		{0, "https://github.com", 7, time.Minute, false},
	} {
		got, err := book.Interval(tt.config, tt.origin, tt.books)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s at %s with %d: %s, %v", tt.config, tt.origin, tt.books, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "which bears 6 pushes a minute") {
			t.Errorf("it does not name the limit: %v", err)
		}
	}
}

func TestWhoseBookIsAtARef(t *testing.T) {
	want := map[string]string{"refs/waybill/endpoints/eu-1": "eu-1", "refs/heads/waybill/endpoints/eu-1": "eu-1", "refs/heads/waybill/status/eu-1": "", "refs/waybill/heartbeat/eu-1": ""}
	got := map[string]string{}
	for ref := range want {
		got[ref] = book.ClusterOf(ref)
	}
	if !maps.Equal(got, want) {
		t.Errorf("they are %v", got)
	}
}
