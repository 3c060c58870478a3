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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/render/exchange"
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
		"as many bytes as may be": {
			path: "shop/api.json", content: strings.Repeat(" ", book.MostBytes), want: "EOF",
		},
		"a field more of its own": {
			path: "_meta", want: `unknown field "more"`,
			content: `{"cluster":"eu-1","uid":"8f3c","time":"2026-11-23T12:00:00Z","number":1,"more":1}`,
		},
		"no file":       {root: files.NewFolder([]files.Entry{{Name: "_meta", Mode: files.ModeSubmodule}}), want: "it is no file"},
		"many slices":   {root: large.Tree(), want: "it has 101 slices"},
		"many services": {root: files.NewFolder([]files.Entry{files.DirEntry("shop", files.NewFolder(crowd))}), want: "more than 1000 services"},
		"nothing":       {root: files.NewFolder(nil), want: "not as one writes them"},
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
		"nothing":                      {before, false},
		"one more":                     {endpoints.Services{name("api"): {slice("api-1", "10.0.0.1", "10.0.0.2!", "10.0.0.3")}}, false},
		"one that gets ready":          {endpoints.Services{name("api"): {slice("api-1", "10.0.0.1", "10.0.0.2")}}, false},
		"one that is in another slice": {endpoints.Services{name("api"): {slice("api-1", "10.0.0.2!"), slice("api-2", "10.0.0.1")}}, false},
		"one that is ready in one slice, and not in the next": {
			endpoints.Services{name("api"): {slice("api-1", "10.0.0.1"), slice("api-2", "10.0.0.1!", "10.0.0.2!")}}, false,
		},
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

// at is so many seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// TestWhenABookIsPushed goes through changes at seconds, and says when pushes are due.
func TestWhenABookIsPushed(t *testing.T) {
	by, err := book.TimesOf(exchange.Services{}, "https://git.example.com", 1)
	if err != nil {
		t.Fatal(err)
	}
	var p book.Throttle
	due := func(what string, want int) {
		t.Helper()
		got := p.Due(by)
		if want < 0 && !got.IsZero() || want >= 0 && !got.Equal(at(want)) {
			t.Errorf("%s: due is %s after noon, want %d s", what, got.Sub(noon), want)
		}
	}
	due("nothing happened", -1)
	p.Changed(at(0), by.Wait)
	due("a pod is there", 10)
	p.Changed(at(3), by.Wait)
	due("another one does not put it off", 10)
	p.Changed(at(4), by.Soon)
	due("one that is lost is told of soon", 6)
	p.Changed(at(5), by.Soon)
	due("another one does not put it off", 6)
	p.Settled()
	due("all is as it was", -1)
	for n := range 3 {
		p.Changed(at(10+3*n), by.Soon)
		due("one after the other", 12+3*n)
		p.Pushed(at(12+3*n), by)
		due("it is pushed", -1)
	}
	p.Changed(at(19), by.Soon)
	due("three were pushed at once, and the next one waits", 27)
	p.Pushed(at(27), by)
	p.Changed(at(28), by.Soon)
	due("as the one after it does", 42)
	p.Settled()
	p.Changed(at(140), by.Soon)
	due("after a while three may be pushed at once again", 142)
}

// TestPushesAreBounded and never far apart, whatever happens: a cluster in which pods come and go all the time is not silent for that.
func TestPushesAreBounded(t *testing.T) {
	for _, tt := range []struct {
		by     exchange.Services
		origin string
		of     int           // clusters, each of which pushes its own
		most   int           // pushes a minute of one
		apart  time.Duration // at most
	}{
		{exchange.Services{}, "https://git.example.com", 6, 6, 15 * time.Second},
		{exchange.Services{}, "https://git.example.com", 200, 6, 15 * time.Second},
		{exchange.Services{StaleAfter: metav1.Duration{Duration: 30 * time.Second}}, "https://git.example.com", 200, 6, 10 * time.Second},
		{exchange.Services{StaleAfter: metav1.Duration{Duration: 30 * time.Second}}, "https://git.example.com", 6, 6, 10 * time.Second},
		{exchange.Services{StaleAfter: metav1.Duration{Duration: 36 * time.Second}}, "https://git.example.com", 6, 6, 12 * time.Second},
		{exchange.Services{StaleAfter: metav1.Duration{Duration: time.Hour}}, "https://git.example.com", 6, 6, 15 * time.Second},
		{exchange.Services{StaleAfter: metav1.Duration{Duration: 30 * time.Second}}, "https://github.com", 6, 1, time.Minute},
	} {
		by, err := book.TimesOf(tt.by, tt.origin, tt.of)
		if err != nil {
			t.Fatal(err)
		}
		var p book.Throttle
		var pushed []time.Time
		for now := noon; now.Before(at(600)); now = now.Add(100 * time.Millisecond) {
			p.Changed(now, 0) // something is lost ten times a second
			if !p.Due(by).After(now) {
				p.Pushed(now, by)
				pushed = append(pushed, now)
			}
		}
		for i, first := range pushed {
			n := 0
			for _, next := range pushed[i:] {
				if next.Before(first.Add(time.Minute)) {
					n++
				}
			}
			if n > tt.most {
				t.Errorf("%+v at %s: from %s on it is pushed %d times a minute", tt.by, tt.origin, first.Sub(noon), n)
			}
			if i > 0 && first.Sub(pushed[i-1]) > tt.apart {
				t.Errorf("%+v at %s: until %s it is not pushed for %s", tt.by, tt.origin, first.Sub(noon), first.Sub(pushed[i-1]))
			}
		}
		if by.Silent > 0 && by.Silent < tt.apart+by.Look+5*time.Second {
			t.Errorf("%+v at %s: a cluster that is pushed every %s, and looked at every %s, is silent after %s", tt.by, tt.origin, tt.apart, by.Look, by.Silent)
		}
	}
}

func TestTimes(t *testing.T) {
	const own, public = "https://git.example.com", "https://github.com"
	for _, tt := range []struct {
		minInterval, staleAfter time.Duration
		origin                  string
		books                   int
		want                    book.Times
		ok                      bool
	}{
		{0, 0, own, 50, book.Times{Wait: 10 * time.Second, Soon: 2 * time.Second, Apart: 15 * time.Second, AtOnce: 3, Look: 10 * time.Second}, true},
		{0, 0, own, 51, book.Times{Wait: time.Minute, Soon: 2 * time.Second, Apart: 15 * time.Second, AtOnce: 3, Look: time.Minute}, true},
		{5 * time.Second, 0, own, 51, book.Times{Wait: 5 * time.Second, Soon: 2 * time.Second, Apart: 15 * time.Second, AtOnce: 3, Look: 5 * time.Second}, true},
		{time.Second, 0, own, 1, book.Times{Wait: time.Second, Soon: time.Second, Apart: 15 * time.Second, AtOnce: 3, Look: time.Second}, true},
		{0, 30 * time.Second, own, 51, book.Times{Wait: time.Minute, Soon: 2 * time.Second, Apart: 10 * time.Second, AtOnce: 1, Renew: 10 * time.Second, Look: 10 * time.Second, Silent: 30 * time.Second}, true},
		{0, time.Hour, own, 1, book.Times{Wait: 10 * time.Second, Soon: 2 * time.Second, Apart: 15 * time.Second, AtOnce: 3, Renew: 20 * time.Minute, Look: 10 * time.Second, Silent: time.Hour}, true},
		{5 * time.Second, 0, public, 6, book.Times{Wait: time.Minute, Soon: 2 * time.Second, Apart: time.Minute, AtOnce: 1, Look: time.Minute}, true},
		{10 * time.Minute, time.Minute, "ssh://gitlab.com", 1, book.Times{Wait: 10 * time.Minute, Soon: 2 * time.Second, Apart: time.Minute, AtOnce: 1, Renew: time.Minute, Look: time.Minute, Silent: 3 * time.Minute}, true},
		{0, 0, public, 7, book.Times{Wait: time.Minute, Soon: 2 * time.Second, Apart: time.Minute, AtOnce: 1, Look: time.Minute}, false},
	} {
		by := exchange.Services{MinInterval: metav1.Duration{Duration: tt.minInterval}, StaleAfter: metav1.Duration{Duration: tt.staleAfter}}
		got, err := book.TimesOf(by, tt.origin, tt.books)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s and %s at %s with %d:\n%+v, %v, want\n%+v", tt.minInterval, tt.staleAfter, tt.origin, tt.books, got, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), "which bears 6 pushes a minute") {
			t.Errorf("it does not name the limit: %v", err)
		}
	}
}

// TestWhatIsTooMuchForABook leaves the services alone that have it.
func TestWhatIsTooMuchForABook(t *testing.T) {
	many := make([]endpoints.Slice, book.MostSlices+1)
	long := []endpoints.Slice{slice("api-1")}
	for n := range 50_000 {
		long[0].Endpoints = append(long[0].Endpoints, endpoints.Endpoint{Addresses: []string{fmt.Sprintf("fd00:101::%x:%x", n/250, n%250), "fd00:101:0:0:0:0:0:1", "fd00:101:0:0:0:0:0:2"}})
	}
	few := []endpoints.Slice{slice("web-1", "10.101.0.5")}
	crowd := endpoints.Services{}
	for n := range book.MostServices + 7 {
		crowd[name(fmt.Sprintf("s%04d", n))] = nil
	}
	for what, tt := range map[string]struct {
		has, before endpoints.Services
		want        endpoints.Services
		err         string
	}{
		"nothing":                      {endpoints.Services{name("web"): few}, nil, endpoints.Services{name("web"): few}, ""},
		"slices":                       {endpoints.Services{name("api"): many, name("web"): few}, nil, endpoints.Services{name("web"): few}, "shop/api: it has 101 slices; at most 100 are written"},
		"slices, and it had less":      {endpoints.Services{name("api"): many, name("web"): nil}, endpoints.Services{name("api"): few, name("web"): few}, endpoints.Services{name("api"): few, name("web"): nil}, "shop/api: it has 101 slices"},
		"bytes":                        {endpoints.Services{name("api"): long, name("web"): few}, nil, endpoints.Services{name("web"): few}, "at most 4194304 are written"},
		"as much, and what it had too": {endpoints.Services{name("api"): many}, endpoints.Services{name("api"): long}, endpoints.Services{}, "101 slices"},
	} {
		got, err := book.Fit(tt.has, tt.before)
		if !reflect.DeepEqual(got, tt.want) || tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: it has %d services, %v; want %q", what, len(got), err, tt.err)
		}
	}
	got, err := book.Fit(crowd, nil)
	if _, last := got[name("s0999")]; len(got) != book.MostServices || !last || err == nil || !strings.Contains(err.Error(), "and 2 more") {
		t.Errorf("of a crowd it has %d, %v", len(got), err)
	}
	// as much as it may have, and one more
	sized := func(size int) []endpoints.Slice {
		one := endpoints.Slice{Name: "x"}
		b := book.Book{Services: endpoints.Services{name("api"): {one}}}
		e, _ := b.Tree().Lookup("shop/api.json")
		data, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		one.Name += strings.Repeat("x", size-len(data))
		return []endpoints.Slice{one}
	}
	for what, tt := range map[string]struct {
		has  []endpoints.Slice
		fits bool
	}{
		"slices as may be": {many[:book.MostSlices], true}, "slices, and one more": {many, false},
		"bytes as may be": {sized(book.MostBytes), true}, "bytes, and one more": {sized(book.MostBytes + 1), false},
	} {
		got, err := book.Fit(endpoints.Services{name("api"): tt.has}, nil)
		b := book.Book{Cluster: "eu-1", UID: "8f3c", Time: noon, Number: 1, Services: got}
		if _, decodes := book.Decode(b.Tree()); (err == nil) != tt.fits || (len(got) == 1) != tt.fits || decodes != nil {
			t.Errorf("as many %s: it has %d services, %v, %v", what, len(got), err, decodes)
		}
	}
	delete(crowd, name("s0000"))
	delete(crowd, name("s0001"))
	if got, err := book.Fit(crowd, nil); len(got) != book.MostServices || err == nil || strings.Contains(err.Error(), "and ") {
		t.Errorf("of a smaller crowd it has %d, %v", len(got), err)
	}
	// together they are more than all may have
	large := long[0].Endpoints[:30_000]
	all := endpoints.Services{}
	for n := range 12 {
		all[name(fmt.Sprintf("s%02d", n))] = []endpoints.Slice{{Name: "x", Endpoints: large}}
	}
	got, err = book.Fit(all, nil)
	b := book.Book{Cluster: "eu-1", UID: "8f3c", Time: noon, Number: 1, Services: got}
	if _, decodes := book.Decode(b.Tree()); err == nil || !strings.Contains(err.Error(), "no room") || len(got) < 5 || decodes != nil {
		t.Errorf("of much it has %d, %v, %v", len(got), err, decodes)
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
	for bus, want := range map[exchange.Bus]string{
		exchange.Branch: "refs/heads/waybill/endpoints/eu-1", exchange.Refs: "refs/waybill/endpoints/eu-1", "": "refs/waybill/endpoints/eu-1",
	} {
		if got := book.RefOf("eu-1", bus); got != want || book.ClusterOf(got) != "eu-1" {
			t.Errorf("by %q it is at %s, want %s", bus, got, want)
		}
	}
}
