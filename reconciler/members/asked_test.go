package members

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/get"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// only leaves of a fleet the clusters of these names.
func (a *asked) only(names ...string) {
	a.Clusters = slices.DeleteFunc(a.Clusters, func(c *karmada.Cluster) bool { return !slices.Contains(names, c.Name) })
}

// TestWhatIsAskedFor: what has the labels that are asked for, whether objects are wanted or tables; an answer says where it was looked
// for, and that one object was meant. No cluster changes what the others are asked.
func TestWhatIsAskedFor(t *testing.T) {
	a := newAsked(t)
	a.only("eu", "us")
	a.us.Put("/api/v1/namespaces/shop/configmaps/labelled", apiserver.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apiserver.Object{"namespace": "shop", "name": "labelled", "labels": apiserver.Object{"tier": "gold"}},
	})
	a.Way.Namespace = "shop"
	for _, tt := range []struct {
		name  string
		query Query
		want  string // of eu, and of us
	}{
		{"by labels", Query{Args: []string{"configmaps"}, Labels: "tier=gold"}, "in shop: ; in shop: shop/labelled"},
		{"by other labels", Query{Args: []string{"configmaps"}, Labels: "tier!=gold"}, "in shop: shop/more, shop/settings; in shop: shop/us"},
		{"in all namespaces", Query{Args: []string{"configmaps"}, Labels: "tier=gold", AllNamespaces: true}, "in : ; in : shop/labelled"},
		{"one", Query{Args: []string{"configmap", "more"}, Absent: true}, "one in shop: shop/more; one in shop: "},
		{"two", Query{Args: []string{"configmap", "more", "settings"}, Absent: true}, "in shop: shop/more, shop/settings; in shop: "},
		{"with mistakes of two kinds", Query{Args: []string{"configmap/more", "nothing/x"}}, "in shop: ! the server doesn't have; in shop: ! the server doesn't have"},
	} {
		for _, whole := range []bool{true, false} {
			tt.query.Whole = whole
			given := slices.Clone(tt.query.Args)
			var all []string
			for _, answer := range a.Get(t.Context(), tt.query) {
				one := map[bool]string{true: "one "}[answer.One]
				text := said(&answer)
				if i := strings.Index(text, "doesn't have"); i >= 0 {
					text = text[:i] + "doesn't have"
				}
				all = append(all, one+"in "+answer.Namespace+": "+text)
			}
			if got := strings.Join(all, "; "); got != tt.want || !slices.Equal(tt.query.Args, given) {
				t.Errorf("%s, as objects: %t: it is %q, want %q", tt.name, whole, got, tt.want)
			}
		}
	}
}

// TestAWatchEnds: where nobody wants to hear more, where the one object that is asked for may be absent, and where the server ends it; the
// last is said, for changes are not told any more. One that goes is told, too.
func TestAWatchEnds(t *testing.T) {
	one := Query{Args: []string{"configmap", "us"}}
	for _, tt := range []struct {
		name   string
		query  Query
		then   func(a *asked)
		enough bool // whoever hears the first answer has enough
		want   string
	}{
		{"nobody wants to hear more", Query{Args: []string{"configmaps"}}, nil, true, "first shop/us"},
		{"it may be absent", Query{Args: []string{"configmap", "more"}, Absent: true}, nil, false, "first "},
		{"it may not be absent", Query{Args: []string{"configmap", "more"}}, nil, false, "! Error from server (NotFound): Not Found"},
		{"the server ends it", one, func(a *asked) { a.us.EndWatches() }, false, "first ; shop/us; ! it ended the watch; ask again"},
		{"it goes", one, func(a *asked) {
			a.us.Remove("/api/v1/namespaces/shop/configmaps/us")
			a.us.EndWatches()
		}, false, "first ; shop/us; shop/us, gone; ! it ended the watch; ask again"},
	} {
		for _, whole := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.name, ", as objects: ", whole), func(t *testing.T) {
				a := newAsked(t)
				a.only("us")
				a.Way.Namespace, tt.query.Whole = "shop", whole
				const most = 20 * time.Second // each of these ends by itself
				ctx, stop := context.WithTimeout(t.Context(), most)
				defer stop()
				enough := errors.New("enough")
				var all []string
				err := a.Watch(ctx, tt.query, func(answer Answer) error {
					first := map[bool]string{true: "first "}[answer.First]
					text := first + said(&answer)
					if slices.Contains(all, text) {
						text += ", gone" // it is told as it was
					}
					all = append(all, text)
					if tt.then != nil && len(all) == 2 {
						tt.then(a)
					}
					if tt.enough {
						return enough
					}
					return nil
				})
				if got := strings.Join(all, "; "); got != tt.want || errors.Is(err, enough) != tt.enough || err != nil && !tt.enough || ctx.Err() != nil {
					t.Errorf("it says %q, and ends with %v; want %q", got, err, tt.want)
				}
			})
		}
	}
}

// TestWhoeverHasEnoughHearsNoMore: also of clusters that were about to say something nothing is heard, and the watch ends with why it did.
func TestWhoeverHasEnoughHearsNoMore(t *testing.T) {
	const others, times = 50, 3 // by chance nobody gets through once, and not as often as this
	for range times {
		var l late
		l.about.Add(others)
		f := Fleet{Way: Way{Access: clusters.Access{Secrets: func() (clusters.Secrets, error) { return &l, nil }}}}
		for i := range others + 1 {
			f.Clusters = append(f.Clusters, &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}})
		}
		enough, heard := errors.New("enough"), 0
		err := f.Watch(t.Context(), Query{Args: []string{"configmaps"}}, func(Answer) error {
			if heard++; heard > 1 {
				return nil
			}
			l.about.Wait()
			return enough
		})
		if !errors.Is(err, enough) || heard != 1 {
			t.Errorf("%d answers are heard, and it ends with %v", heard, err)
		}
	}
}

// late has no Secret of any cluster: c0 says so, and the others are about to until the watch ends.
type late struct{ about sync.WaitGroup }

// In implements clusters.Secrets.
func (*late) In() string { return "fleet" }

// Secret implements clusters.Secrets.
func (l *late) Secret(ctx context.Context, name string) (map[string][]byte, error) {
	none := utilerrors.NewAggregate([]error{errors.New("there is none")})
	if name == credential.Name("c0") {
		return nil, none
	}
	return nil, lateError{none, l, ctx.Done()}
}

// lateError is one that nobody gets to know before the watch ends.
type lateError struct {
	utilerrors.Aggregate

	late  *late
	ended <-chan struct{}
}

// Errors implements utilerrors.Aggregate.
func (e lateError) Errors() []error {
	e.late.about.Done()
	<-e.ended
	return e.Aggregate.Errors()
}

// TestWhatIsPrintedOfNothing: that there is nothing, where a cluster answered so of more than one object; and of objects an empty list,
// unless no cluster answered.
func TestWhatIsPrintedOfNothing(t *testing.T) {
	odd := mapping("odd.example.com", "Odd", meta.RESTScopeRoot)
	failed, none := Answer{Cluster: "eu", Errs: []error{errors.New("no way there")}}, Answer{Cluster: "us"}
	one := Answer{Cluster: "ap", One: true}
	for _, tt := range []struct {
		name, format string
		answers      []Answer
		out, said    string
	}{
		{"nobody answered", "", []Answer{failed}, "", ""},
		{"nobody answered with objects", "json", []Answer{failed}, "", ""},
		{"one has nothing", "", []Answer{failed, none}, "", "No resources found"},
		{"one has no objects", "json", []Answer{failed, none}, `"items": []`, ""},
		{"one object was meant", "", []Answer{one}, "", ""},
		{"one object was meant, and objects are wanted", "json", []Answer{one}, `"items": []`, ""},
		{"one object of each", "json", []Answer{{Cluster: "ap", One: true, Found: []Found{{odd, plain("x")}}}, {Cluster: "us", One: true, Found: []Found{{odd, plain("x")}}}}, `"kind": "List"`, ""},
		{"one of a list", "json", []Answer{{Cluster: "ap", Found: []Found{{odd, plain("x")}}}}, `"kind": "List"`, ""},
		{"one object", "json", []Answer{{Cluster: "ap", One: true, Found: []Found{{odd, plain("x")}}}}, `"kind": "Odd"`, ""},
	} {
		out, said, _ := printed(t, tt.answers, func(f *get.PrintFlags) { *f.OutputFormat = tt.format })
		if !strings.Contains(out, tt.out) || tt.out == "" && out != "" || strings.Contains(said, "No resources") != (tt.said != "") {
			t.Errorf("%s: it prints %q, and says %q", tt.name, out, said)
		}
		if tt.out == `"kind": "Odd"` && strings.Contains(out, "List") {
			t.Errorf("%s: it prints %s", tt.name, out)
		}
	}
	x := plain("x")
	if _, err := marked(x, "eu"); err != nil || strings.Contains(fmt.Sprint(x), "eu") {
		t.Errorf("what was found is changed: %v, %v", x, err)
	}
	if _, err := marked(nil, "eu"); err == nil {
		t.Error("nothing is an object")
	}
}

// TestHeadersAreLeftOut of tables of several kinds, with the lines between them; wide tables are tables.
func TestHeadersAreLeftOut(t *testing.T) {
	pods, nodes := mapping("", "Pod", meta.RESTScopeNamespace), mapping("", "Node", meta.RESTScopeRoot)
	answers := []Answer{{Cluster: "eu", Namespace: "shop", Found: []Found{
		{pods, served([]string{"Name"}, []string{"shop", "web"})}, {mapping("", "Secret", meta.RESTScopeNamespace), served([]string{"Name"})}, {nodes, served([]string{"Name"}, []string{"", "n"})},
	}}}
	for format, want := range map[string]string{"": "eu    pod/web\neu    node/n\n", "wide": "eu    pod/web\neu    node/n\n"} {
		out, _, _ := printed(t, answers, func(f *get.PrintFlags) { *f.NoHeaders, *f.OutputFormat = true, format })
		if out != want {
			t.Errorf("as %q it prints %q, want %q", format, out, want)
		}
	}
	flags := get.NewGetPrintFlags()
	for format, want := range map[string][2]bool{"": {false, true}, "wide": {false, true}, "json": {true, true}, "other": {true, false}} {
		*flags.OutputFormat = format
		o := Output{Flags: flags, Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
		_, err := o.Follow(&Tally{})
		if got := [2]bool{o.Whole(), o.Check() == nil}; got != want || (err == nil) != want[1] {
			t.Errorf("%q asks for objects, and is a format: %v, want %v; %v", format, got, want, err)
		}
	}
}

// TestOneThatHangsCannotBeWatched: that is said when its time is over.
func TestOneThatHangsCannotBeWatched(t *testing.T) {
	a := newAsked(t)
	a.only("hangs")
	a.Deadline = 50 * time.Millisecond
	var all []string
	err := a.Watch(t.Context(), Query{Args: []string{"configmaps"}}, func(answer Answer) error {
		all = append(all, answer.Cluster+": "+said(&answer))
		return nil
	})
	if err != nil || len(all) != 1 || !strings.HasPrefix(all[0], "hangs: ! no answer in 50ms; --request-timeout") {
		t.Errorf("it says %q; %v", all, err)
	}
}

// TestHowAMemberIsReached: with the time that a request may take, and in the namespace that is asked for. What somebody does to a config is
// nothing to the next one.
func TestHowAMemberIsReached(t *testing.T) {
	a := newAsked(t)
	a.Way.Request, a.Way.Namespace = 7*time.Second, "shop"
	for cluster, want := range map[int]string{0: "shop", 1: "shop-eu-a"} {
		m, err := a.Way.Open(t.Context(), a.Clusters[cluster])
		if err != nil {
			t.Fatal(err)
		}
		first, err := m.ToRESTConfig()
		if err != nil || first.Timeout != 7*time.Second {
			t.Errorf("a request may take %s; %v", first.Timeout, err)
		}
		first.Timeout = time.Hour
		if second, err := m.ToRESTConfig(); err != nil || second.Timeout != 7*time.Second {
			t.Errorf("a request may take %s after somebody changed it; %v", second.Timeout, err)
		}
		namespace, _, err := m.ToRawKubeConfigLoader().Namespace()
		if err != nil || namespace != want {
			t.Errorf("it looks in %q, want %q; %v", namespace, want, err)
		}
		if d, err := m.ToDiscoveryClient(); err != nil || d == nil {
			t.Errorf("it finds kinds by %v; %v", d, err)
		}
		if mapper, err := m.ToRESTMapper(); err != nil || mapper == nil {
			t.Errorf("it maps kinds by %v; %v", mapper, err)
		}
	}
	for _, cluster := range []int{3, 5} {
		if m, err := a.Way.Open(t.Context(), a.Clusters[cluster]); err == nil || m != nil {
			t.Errorf("%s is reached", a.Clusters[cluster].Name)
		}
	}
}

// TestWhatAWatchPrintsOfObjects: each object that is listed or changed, and where it was found; a value that is no object is an error, as
// is what cannot be printed.
func TestWhatAWatchPrintsOfObjects(t *testing.T) {
	odd := mapping("odd.example.com", "Odd", meta.RESTScopeRoot)
	one, _ := plain("a").(*unstructured.Unstructured)
	two, _ := plain("b").(*unstructured.Unstructured)
	list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*one, *two}}
	typed := &corev1.PodList{Items: []corev1.Pod{{}}}
	for _, tt := range []struct {
		format string
		found  runtime.Object
		want   string
		fails  bool
	}{
		{"name", list, "eu odd.odd.example.com/a\neu odd.odd.example.com/b\n", false},
		{"name", one, "eu odd.odd.example.com/a\n", false},
		{"jsonpath={.metadata.name} {.metadata.annotations} ", one, `a {"waybill.dev/cluster":"eu"} `, false},
		{"jsonpath={range .items[*]}{.none}{end", list, "", true},
		{"name", typed, "", true},
		{"name", &metav1.Table{}, "", false},
	} {
		var out, errs bytes.Buffer
		var tally Tally
		flags := get.NewGetPrintFlags()
		*flags.OutputFormat = tt.format
		say, err := Output{Flags: flags, Out: &out, Err: &errs}.Follow(&tally)
		if err == nil {
			err = say(Answer{Cluster: "eu", First: true, Found: []Found{{odd, tt.found}}})
		}
		if out.String() != tt.want || (err != nil) != tt.fails || errs.Len() > 0 {
			t.Errorf("of %T as %s it prints %q, and says %q; %v", tt.found, tt.format, out.String(), errs.String(), err)
		}
	}
	flags := get.NewGetPrintFlags()
	*flags.OutputFormat = "json"
	o := Output{Flags: flags, Out: closed{}, Err: closed{}}
	say, err := o.Follow(&Tally{})
	if err != nil {
		t.Fatal(err)
	}
	if err := say(Answer{Found: []Found{{odd, one}}}); !errors.Is(err, errClosed) {
		t.Errorf("what cannot be written is %v", err)
	}
	if _, err := o.Print([]Answer{{Found: []Found{{odd, one}}}}); !errors.Is(err, errClosed) {
		t.Errorf("what cannot be written is %v", err)
	}
}

// closed is a pipe that nobody reads any more.
type closed struct{}

var errClosed = errors.New("closed pipe")

// Write implements io.Writer.
func (closed) Write([]byte) (int, error) { return 0, errClosed }

// TestWarningsAreSaidOnce: what an API server warns of is printed once, however often it does.
func TestWarningsAreSaidOnce(t *testing.T) {
	var out bytes.Buffer
	Warn(&out)
	t.Cleanup(func() { rest.SetDefaultWarningHandler(rest.WarningLogger{}) })
	client, err := rest.UnversionedRESTClientFor(&rest.Config{
		Host: "https://eu", Transport: warning{},
		ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs.WithoutConversion()},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := client.Get().AbsPath("/version").Do(t.Context()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "Warning: it is deprecated\n" {
		t.Errorf("it prints %q", got)
	}
}

// warning answers every request with a warning.
type warning struct{}

// RoundTrip implements http.RoundTripper.
func (warning) RoundTrip(r *http.Request) (*http.Response, error) {
	header := http.Header{"Warning": {`299 - "it is deprecated"`}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: http.NoBody, Request: r}, nil
}

// TestWhatHasNoNameIsAnybodys: of a virtual cluster that has no name is not passed over.
func TestWhatHasNoNameIsAnybodys(t *testing.T) {
	m := &virtual.Mapping{Cluster: "a", Host: "eu", Suffix: "-a"}
	status := &metav1.Status{Status: metav1.StatusFailure}
	if found := (Query{Whole: true}).own(m, Found{mapping("", "Pod", meta.RESTScopeNamespace), status}); len(found) != 1 {
		t.Errorf("it is %v", found)
	}
}
