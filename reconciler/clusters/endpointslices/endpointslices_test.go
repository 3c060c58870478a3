package endpointslices_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	discovery "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters/endpointslices"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/test/apiserver"
)

const (
	owner = "https://git.example/fleet"
	at    = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/"
)

// ours is a slice as Waybill makes it.
func ours(name string) *discovery.EndpointSlice {
	return &discovery.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, Labels: map[string]string{discovery.LabelManagedBy: endpoints.ManagedBy},
			Annotations: map[string]string{apply.OwnerAnnotation: owner},
		},
		AddressType: discovery.AddressTypeIPv4, Endpoints: []discovery.Endpoint{{Addresses: []string{"10.0.0.1"}}},
	}
}

// written is a slice of a cluster, which somebody manages for a source; empty for nobody, and for none.
func written(name, manager, of string) apiserver.Object {
	labels, notes := apiserver.Object{}, apiserver.Object{}
	if manager != "" {
		labels[discovery.LabelManagedBy] = manager
	}
	if of != "" {
		notes[apply.OwnerAnnotation] = of
	}
	return apiserver.Object{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": []any{},
		"metadata": apiserver.Object{"namespace": "shop", "name": name, "labels": labels, "annotations": notes},
	}
}

func open(t *testing.T, s *apiserver.Server) *endpointslices.Client {
	t.Helper()
	c, err := endpointslices.Open("eu", s.Direct())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// uid is that of a slice that is there.
func uid(s *apiserver.Server, name string) types.UID {
	meta, _ := s.Get(at + name)["metadata"].(apiserver.Object)
	text, _ := meta["uid"].(string)
	return types.UID(text)
}

func TestApply(t *testing.T) {
	const karmada = "endpointslice-dispatch-controller.karmada.io"
	for name, test := range map[string]struct {
		is      apiserver.Object // nil: there is none
		uid     types.UID        // that the slice has which is applied; "its" is that of the one that is there
		refuses string           // requests by this method
		force   string           // how it is applied; empty for not
		taken   bool
		fails   bool
	}{
		"there is none":                        {force: "false"},
		"Karmada's":                            {is: written("api", karmada, ""), force: "true"},
		"made for the same source":             {is: written("api", endpoints.ManagedBy, owner), force: "true"},
		"that lost its label":                  {is: written("api", "", owner), force: "true"},
		"of the cluster's own":                 {is: written("api", "endpointslice-controller.k8s.io", ""), taken: true, fails: true},
		"made for another source":              {is: written("api", endpoints.ManagedBy, owner+"2"), taken: true, fails: true},
		"somebody's without a label":           {is: written("api", "", ""), taken: true, fails: true},
		"the one that is meant":                {is: written("api", endpoints.ManagedBy, owner), uid: "its", force: "true"},
		"another one in its place":             {is: written("api", endpoints.ManagedBy, owner), uid: "gone", force: "true", fails: true},
		"the one that is meant, which is gone": {uid: "gone", force: "true", fails: true},
		"nobody knows what is there":           {refuses: http.MethodGet, fails: true},
		"nobody may":                           {refuses: http.MethodPatch, force: "false", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := apiserver.InMemory("shop")
			slice := ours("api")
			if test.is != nil {
				s.Put(at+"api", test.is)
			}
			before := uid(s, "api")
			if slice.UID = test.uid; test.uid == "its" {
				slice.UID = before
			}
			var force string
			s.Before(func(r *http.Request) int {
				if r.Method == http.MethodPatch {
					force = r.URL.Query().Get("force")
					if by := r.URL.Query().Get("fieldManager"); by != endpointslices.Manager {
						t.Errorf("it is applied by %q", by)
					}
				}
				if r.Method == test.refuses {
					return http.StatusForbidden
				}
				return 0
			})
			given := slice.DeepCopy()
			err := open(t, s).Apply(t.Context(), slice)
			if (err != nil) != test.fails || errors.Is(err, endpointslices.ErrTaken) != test.taken || force != test.force {
				t.Errorf("it ended with %v and force %q, want force %q", err, force, test.force)
			}
			if slice.UID != given.UID || slice.ResourceVersion != given.ResourceVersion {
				t.Error("the slice that was given is another one now")
			}
			if test.fails {
				if w := s.Writes(); len(w) > 0 {
					t.Errorf("it wrote %q", w)
				}
				return
			}
			if all, _ := s.Get(at + "api")["endpoints"].([]any); len(all) != 1 || before != "" && uid(s, "api") != before {
				t.Errorf("there is %v", s.Get(at+"api"))
			}
		})
	}
}

// Between the look and the patch somebody puts another slice in the place of ours: that stays as it is.
func TestApplyChangesWhatItLookedAt(t *testing.T) {
	s := apiserver.InMemory("shop")
	s.Put(at+"api", written("api", endpoints.ManagedBy, owner))
	s.Before(func(r *http.Request) int {
		if r.Method == http.MethodPatch {
			s.Put(at+"api", written("api", "somebody", ""))
		}
		return 0
	})
	if err := open(t, s).Apply(t.Context(), ours("api")); !apierrors.IsConflict(err) {
		t.Errorf("it ended with %v", err)
	}
}

func TestDelete(t *testing.T) {
	for name, test := range map[string]struct {
		uid     types.UID // that the slice has; empty: that of the one that is there
		refuses int
		stays   bool
		fails   bool
	}{
		"the one that is meant":    {},
		"another one in its place": {uid: "gone", stays: true},
		"nobody may":               {refuses: http.StatusForbidden, stays: true, fails: true},
		"gone meanwhile":           {refuses: http.StatusNotFound, stays: true},
	} {
		s := apiserver.InMemory("shop")
		s.Put(at+"api", written("api", endpoints.ManagedBy, owner))
		slice := ours("api")
		if slice.UID = test.uid; test.uid == "" {
			slice.UID = uid(s, "api")
		}
		s.Before(func(*http.Request) int { return test.refuses })
		err := open(t, s).Delete(t.Context(), slice)
		if stays := s.Get(at+"api") != nil; (err != nil) != test.fails || stays != test.stays {
			t.Errorf("%s: it ended with %v, and the slice stays: %t", name, err, stays)
		}
	}
}

// What is told are all slices of the selector, however they changed: one that is made anew under its name is there once. When the
// server ends the watch, the next one begins where that ended.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.InMemory("shop")
		s.Put(at+"a", written("a", endpoints.ManagedBy, owner))
		s.Put(at+"foreign", written("foreign", "somebody", ""))
		ctx, cancel := context.WithCancel(t.Context())
		var told []string
		var lists int
		s.Before(func(r *http.Request) int {
			if r.Method == http.MethodGet && r.URL.Query().Get("watch") == "" {
				lists++
			}
			return 0
		})
		ended := make(chan error, 1)
		go func() {
			ended <- open(t, s).Watch(ctx, discovery.LabelManagedBy+"="+endpoints.ManagedBy, func(all []*discovery.EndpointSlice) {
				var names []string
				for _, one := range all {
					names = append(names, one.Name+strings.Repeat("!", len(one.Endpoints)))
				}
				slices.Sort(names)
				told = append(told, strings.Join(names, " "))
			})
		}()
		is := func(when string, want ...string) {
			t.Helper()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if !slices.Equal(told, want) {
				t.Errorf("%s: it told %q, want %q", when, told, want)
			}
			told = nil
		}
		is("at first", "a")
		s.Put(at+"b", written("b", endpoints.ManagedBy, owner))
		s.Put(at+"foreign2", written("foreign2", "somebody", ""))
		is("another one", "a b")
		changed := written("a", endpoints.ManagedBy, owner)
		changed["endpoints"] = []any{apiserver.Object{"addresses": []any{"10.0.0.1"}}}
		s.Put(at+"a", changed)
		is("one changes", "a! b")
		s.EndWatches()
		is("the watch ends")
		s.Remove(at + "b")
		s.Put(at+"b", written("b", endpoints.ManagedBy, owner))
		is("one is made anew", "a!", "a! b")
		s.Put(at+"b", written("b", "somebody", ""))
		is("it is somebody else's", "a!")
		if lists != 1 {
			t.Errorf("it listed %d times", lists)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// A watch that cannot go on ends, so that whoever watches lists anew.
func TestWatchEndsWhereItCannotGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, breaks := range map[string]func(s *apiserver.Server){
			"what happened is forgotten": func(s *apiserver.Server) {
				s.Forget()
				s.EndWatches()
			},
			"it is refused from now on": func(s *apiserver.Server) {
				s.Before(func(*http.Request) int { return http.StatusForbidden })
				s.EndWatches()
			},
		} {
			s := apiserver.InMemory("shop")
			s.Put(at+"a", written("a", endpoints.ManagedBy, owner))
			ended := make(chan error, 1)
			go func() { ended <- open(t, s).Watch(t.Context(), "", func([]*discovery.EndpointSlice) {}) }()
			time.Sleep(time.Second)
			breaks(s)
			select {
			case err := <-ended:
				if !strings.Contains(err.Error(), "watching EndpointSlices of eu") {
					t.Errorf("%s: it ended with %v", name, err)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s: it goes on", name)
			}
		}
		s := apiserver.InMemory("shop")
		s.Before(func(*http.Request) int { return http.StatusForbidden })
		told := false
		if err := open(t, s).Watch(t.Context(), "", func([]*discovery.EndpointSlice) { told = true }); !apierrors.IsForbidden(err) || told {
			t.Errorf("nobody may list: it told: %t, and ended with %v", told, err)
		}
	})
}

// A server that ends each watch at once is asked once in a second.
func TestAServerThatEndsWatchesIsNotAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.InMemory("shop")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		watches := 0
		s.Before(func(r *http.Request) int {
			if r.URL.Query().Get("watch") != "" {
				watches++
				go s.EndWatches()
			}
			return 0
		})
		if err := open(t, s).Watch(ctx, "", func([]*discovery.EndpointSlice) {}); err == nil {
			t.Error("it ended without an error")
		}
		if watches > 20 {
			t.Errorf("in ten seconds it watched %d times", watches)
		}
	})
}
