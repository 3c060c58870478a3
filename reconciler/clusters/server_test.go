package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/apiserver"
)

const (
	owner   = "https://example.com/fleet"
	maps    = "/api/v1/namespaces/shop/configmaps/"
	secrets = "/api/v1/namespaces/waybill-system/secrets/"
)

// ref is that of the ConfigMap of the tests.
var ref = object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}

// configMap is an object that somebody applied, with an owner.
func configMap(manager, of string) apiserver.Object {
	return apiserver.Object{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": apiserver.Object{
			"name": "a", "namespace": "shop", "annotations": apiserver.Object{apply.OwnerAnnotation: of}, "labels": apiserver.Object{apply.ManagedLabel: "waybill", "team": "shop"},
			"managedFields": []any{apiserver.Object{"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": apiserver.Object{"f:data": apiserver.Object{"f:k": apiserver.Object{}}}}},
		},
		"data": apiserver.Object{"k": "v"},
	}
}

// uid is that of an object of a server.
func uid(s *apiserver.Server, at string) string {
	meta, _ := s.Get(at)["metadata"].(apiserver.Object)
	id, _ := meta["uid"].(string)
	return id
}

// looking returns a client that has looked at the ConfigMap.
func looking(t *testing.T, s *apiserver.Server) (*clusters.Client, apply.Facts) {
	t.Helper()
	c := calling(t, s)
	facts, err := c.Observe(t.Context(), map[object.Ref]bool{ref: true})
	if err != nil {
		t.Fatal(err)
	}
	return c, facts
}

// TestAListThatIsRefusedIsNotEmpty: what may not be listed is not known, and not taken for gone, and nothing is said of
// its health.
func TestAListThatIsRefusedIsNotEmpty(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusInternalServerError} {
		s := apiserver.New(t)
		s.Put(maps+"a", configMap(apply.Manager, owner))
		s.Before(func(r *http.Request) int {
			if strings.HasSuffix(r.URL.Path, "/configmaps") {
				return status
			}
			return 0
		})
		c, facts := looking(t, s)
		if facts.Unknown[schema.GroupKind{Kind: "ConfigMap"}] == nil {
			t.Errorf("after %d, ConfigMaps are taken for gone", status)
		}
		all, err := c.Health(t.Context(), []object.Ref{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}})
		if err != nil || len(all) != 1 {
			t.Errorf("of another kind it is said %v, %v", all, err)
		}
	}
	s := apiserver.New(t)
	s.Before(func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/deployments") {
			return http.StatusForbidden
		}
		return 0
	})
	c, _ := looking(t, s)
	if all, err := c.Health(t.Context(), []object.Ref{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}); err == nil {
		t.Errorf("of what may not be listed it is said %v", all)
	}
}

// TestOnlyWhatIsOursLeaves deletes, or lets go of, an object that left the branch: the one of the UID that the inventory
// has, or, where it has none, one that names the source and that we applied.
func TestOnlyWhatIsOursLeaves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		verb    apply.Verb
		manager string
		owner   string
		uid     string // of the inventory; "same" for that of the object
		leaves  bool
	}{
		{"ours", apply.Delete, apply.Manager, owner, "same", true},
		{"another one of the name", apply.Delete, apply.Manager, owner, "another", false},
		{"ours by its marks", apply.Delete, apply.Manager, owner, "", true},
		{"another source's", apply.Delete, apply.Manager, "https://example.com/other", "", false},
		{"somebody's who copied our marks", apply.Delete, "kubectl", owner, "", false},
		{"ours, let go", apply.Release, apply.Manager, owner, "same", true},
		{"another one, let go", apply.Release, apply.Manager, owner, "another", false},
		{"another source's, let go", apply.Release, apply.Manager, "https://example.com/other", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := apiserver.New(t)
			there := configMap(tt.manager, tt.owner)
			there["metadata"].(apiserver.Object)["annotations"].(apiserver.Object)[apply.PreserveAnnotation] = "true"
			s.Put(maps+"a", there)
			a := apply.Action{Ref: ref, Verb: tt.verb, UID: tt.uid}
			if tt.uid == "same" {
				a.UID = uid(s, maps+"a")
			}
			before := s.Get(maps + "a")
			c, _ := looking(t, s)
			for _, o := range c.Apply(t.Context(), []apply.Action{a}, owner) {
				if o.Err != nil || o.Waits != "" {
					t.Errorf("it comes to %v, waits for %q", o.Err, o.Waits)
				}
			}
			now := s.Get(maps + "a")
			switch {
			case !tt.leaves:
				if len(s.Writes()) > 0 || now == nil || uid(s, maps+"a") != before["metadata"].(apiserver.Object)["uid"] {
					t.Errorf("it was written to: %v", s.Writes())
				}
			case tt.verb == apply.Delete:
				if now != nil {
					t.Error("it is still there")
				}
			default:
				meta, _ := now["metadata"].(apiserver.Object)
				labels, _ := meta["labels"].(apiserver.Object)
				annotations, _ := meta["annotations"].(apiserver.Object)
				if labels[apply.ManagedLabel] != nil || len(annotations) > 0 || labels["team"] != "shop" {
					t.Errorf("it has %v and %v", labels, annotations)
				}
			}
		})
	}
}

// TestWhatTookThePlaceMeanwhileStays: between the look and the deletion somebody puts another object there.
func TestWhatTookThePlaceMeanwhileStays(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*apiserver.Server){
		"another object": func(s *apiserver.Server) {
			s.Remove(maps + "a")
			s.Put(maps+"a", configMap("kubectl", "somebody"))
		},
		"it is somebody's now": func(s *apiserver.Server) { s.Put(maps+"a", configMap("kubectl", "somebody")) },
	} {
		for _, verb := range []apply.Verb{apply.Delete, apply.Release} {
			s := apiserver.New(t)
			s.Put(maps+"a", configMap(apply.Manager, owner))
			c, _ := looking(t, s)
			changed := false
			s.Before(func(r *http.Request) int {
				if r.Method == http.MethodDelete || r.Method == http.MethodPatch {
					if !changed {
						change(s)
					}
					changed = true
				}
				return 0
			})
			for _, o := range c.Apply(t.Context(), []apply.Action{{Ref: ref, Verb: verb}}, owner) {
				if o.Err != nil {
					t.Errorf("%s, %s: %v", name, verb, o.Err)
				}
			}
			if s.Get(maps+"a") == nil || len(s.Writes()) > 0 {
				t.Errorf("%s, %s: what took its place is written to: %v", name, verb, s.Writes())
			}
		}
	}
}

// TestADeletionThatWaitsIsNotDone: an object with a finalizer is not gone, and it is said what it waits for.
func TestADeletionThatWaitsIsNotDone(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	o := configMap(apply.Manager, owner)
	o["metadata"].(apiserver.Object)["finalizers"] = []any{"example.com/backup"}
	s.Put(maps+"a", o)
	c, _ := looking(t, s)
	for range 2 {
		for _, out := range c.Apply(t.Context(), []apply.Action{{Ref: ref, Verb: apply.Delete, UID: uid(s, maps+"a")}}, owner) {
			if out.Err != nil || !strings.Contains(out.Waits, "example.com/backup") {
				t.Errorf("it comes to %v, waits for %q", out.Err, out.Waits)
			}
		}
	}
	if deletions := len(s.Writes()); deletions != 1 {
		t.Errorf("it is deleted %d times", deletions)
	}
}

// TestAnObjectThatIsNotTheOneIsNotChanged applies to the UID that was looked at.
func TestAnObjectThatIsNotTheOneIsNotChanged(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	s.Put(maps+"a", configMap(apply.Manager, owner))
	was := uid(s, maps+"a")
	c, _ := looking(t, s)
	s.Remove(maps + "a")
	s.Put(maps+"a", configMap("kubectl", "somebody"))
	o := &apply.Object{Ref: ref, APIVersion: "v1", Manifest: apiserver.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": apiserver.Object{"name": "a", "namespace": "shop"}, "data": apiserver.Object{"k": "w"}}}
	for _, renew := range []apply.Renewal{apply.RenewNever, apply.RenewFirst} {
		for _, out := range c.Apply(t.Context(), []apply.Action{{Ref: ref, Verb: apply.Update, Object: o, UID: was, Renew: renew}}, owner) {
			if out.Err == nil || !strings.Contains(out.Err.Error(), "somebody replaced it") {
				t.Errorf("it comes to %v", out.Err)
			}
		}
	}
	if len(s.Writes()) > 0 {
		t.Errorf("what took its place is written to: %v", s.Writes())
	}
}

// stored writes an inventory, and returns it as it is read.
func stored(t *testing.T, s *apiserver.Server, entries int) (*clusters.Client, apply.Stored) {
	t.Helper()
	c, err := clusters.Open("eu", "", "", s.Reach())
	if err != nil {
		t.Fatal(err)
	}
	none, err := c.Inventory(t.Context(), owner)
	if err != nil || none.Inventory.UID != apiserver.UID {
		t.Fatalf("at first there is %+v, %v", none, err)
	}
	now := none.Inventory
	now.Owner, now.Cluster, now.Commit, now.Entries = owner, "eu", files.ID{1}, map[object.Ref]inventory.Entry{}
	for n := range entries {
		now.Entries[object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: strings.Repeat("a", n+1)}] = inventory.Entry{UID: "1"}
	}
	if _, err := c.Store(t.Context(), none, now); err != nil {
		t.Fatal(err)
	}
	read, err := c.Inventory(t.Context(), owner)
	if err != nil || len(read.Inventory.Entries) != entries {
		t.Fatalf("then there is %+v, %v", read, err)
	}
	return c, read
}

// TestAnInventoryIsWrittenByWhoReadIt: two read it, and the second to write is told so, and writes nothing over.
func TestAnInventoryIsWrittenByWhoReadIt(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	c, read := stored(t, s, 2)
	first, second := read.Inventory, read.Inventory
	first.Commit, second.Commit = files.ID{2}, files.ID{3}
	after, err := c.Store(t.Context(), read, first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Store(t.Context(), read, second); !errors.Is(err, apply.ErrRace) {
		t.Errorf("the second one is told %v", err)
	}
	if is, err := c.Inventory(t.Context(), owner); err != nil || is.Inventory.Commit != first.Commit {
		t.Errorf("there is %s, %v", is.Inventory.Commit, err)
	}
	if _, err := c.Store(t.Context(), after, second); err != nil {
		t.Errorf("whoever wrote it last cannot write it again: %v", err)
	}
	none := apply.Stored{Inventory: inventory.Inventory{Identity: inventory.Identity{UID: apiserver.UID}}, Versions: map[string]string{}}
	if _, err := c.Store(t.Context(), none, first); !errors.Is(err, apply.ErrRace) {
		t.Errorf("whoever found none is told %v", err)
	}
}

// TestTheHeadOfAnInventoryIsWrittenLast: what it names is there whenever it can be read.
func TestTheHeadOfAnInventoryIsWrittenLast(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	stored(t, s, 3)
	writes := slices.DeleteFunc(s.Writes(), func(w string) bool { return !strings.Contains(w, secrets) })
	if len(writes) < 2 {
		t.Fatalf("it is written as %v", writes)
	}
	last := strings.TrimPrefix(writes[len(writes)-1], "POST "+secrets)
	for _, w := range writes[:len(writes)-1] {
		if !strings.HasPrefix(w, "POST "+secrets+last+"-") {
			t.Errorf("%s is written before what it names: %v", last, writes)
		}
	}
}

// TestAClusterThatIsAnotherOneIsNotWrittenTo: by the UID of its kube-system, by its Cluster or by its inventory.
func TestAClusterThatIsAnotherOneIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	stored(t, s, 1)
	before := len(s.Writes())
	other, err := clusters.Open("eu", "another", "", s.Reach())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Inventory(t.Context(), owner); err == nil || !strings.Contains(err.Error(), "this is not eu") {
		t.Errorf("a cluster with another id: %v", err)
	}
	if err := clusters.Recognise(t.Context(), "eu", "another", s.Reach()); err == nil {
		t.Error("a cluster with another id is recognised")
	}
	if err := clusters.Recognise(t.Context(), "eu", apiserver.UID, s.Reach()); err != nil {
		t.Errorf("it is not recognised: %v", err)
	}
	system := "/api/v1/namespaces/kube-system"
	s.Remove(system)
	s.Put(system, apiserver.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": apiserver.Object{"name": "kube-system", "uid": "made-anew"}})
	c, err := clusters.Open("eu", "", "", s.Reach())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Inventory(t.Context(), owner); err == nil || !strings.Contains(err.Error(), "this is not eu") {
		t.Errorf("a cluster with the inventory of another: %v", err)
	}
	if len(s.Writes()) != before {
		t.Errorf("it is written to: %v", s.Writes()[before:])
	}
}

// TestAnInventoryThatMayNotBeReadIsNotNone: nor is one of whose parts that is so.
func TestAnInventoryThatMayNotBeReadIsNotNone(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	c, _ := stored(t, s, 1)
	for _, part := range []string{"/secrets", "/secrets/"} {
		labelled := s.Paths(secrets)
		for _, at := range labelled { // somebody took the labels: they are found by their names
			o := s.Get(at)
			delete(o["metadata"].(apiserver.Object), "labels")
			s.Put(at, o)
		}
		s.Before(func(r *http.Request) int {
			if i := strings.Index(r.URL.Path, part); i >= 0 && (part != "/secrets" || strings.HasSuffix(r.URL.Path, part)) {
				return http.StatusForbidden
			}
			return 0
		})
		if read, err := c.Inventory(t.Context(), owner); err == nil {
			t.Errorf("where %s may not be read there is %+v", part, read)
		}
	}
}

// TestWatchTellsOrEnds: it tells of what changes, and ends when the server does not know what happened since, or is gone.
func TestWatchTellsOrEnds(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	s.Put(maps+"a", configMap(apply.Manager, owner))
	kinds := []schema.GroupKind{{Kind: "ConfigMap"}}
	type news struct {
		ref  object.Ref
		live bool
	}
	told := make(chan news, 10)
	watch := func(ctx context.Context, c *clusters.Client) chan error {
		ended := make(chan error, 1)
		go func() {
			ended <- c.Watch(ctx, kinds, func(r object.Ref, live *metav1.PartialObjectMetadata) { told <- news{r, live != nil} })
		}()
		return ended
	}
	const most = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := looking(t, s)
	ended := watch(ctx, c)
	for _, want := range []news{{ref, true}, {ref, false}} {
		if want.live {
			s.Put(maps+"a", configMap("kubectl", owner))
		} else {
			s.Remove(maps + "a")
		}
		select {
		case got := <-told:
			if got != want {
				t.Errorf("it tells %+v, want %+v", got, want)
			}
		case err := <-ended:
			t.Fatalf("it ends with %v", err)
		case <-time.NewTimer(most).C:
			t.Fatalf("it does not tell %+v", want)
		}
	}
	cancel()
	<-ended //nolint:errcheck // whatever it says, it has ended

	c, _ = looking(t, s)
	s.Forget()
	s.Forget()
	select {
	case err := <-watch(t.Context(), c):
		if err == nil {
			t.Error("it ends without an error where the server forgot what happened")
		}
	case <-time.NewTimer(most).C:
		t.Error("it goes on where the server forgot what happened")
	}

	c, _ = looking(t, s)
	open := make(chan struct{}, 1)
	s.Before(func(r *http.Request) int {
		if r.URL.Query().Get("watch") != "" {
			select {
			case open <- struct{}{}:
			default:
			}
		}
		return 0
	})
	ended = watch(t.Context(), c)
	<-open
	s.Put(maps+"b", configMap("kubectl", owner))
	<-told
	if err := s.Listener.Close(); err != nil {
		t.Error(err)
	}
	s.CloseClientConnections()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ends without an error where the server is gone")
		}
	case <-time.NewTimer(most).C:
		t.Error("it goes on where the server is gone")
	}
}

// TestTwoWhoApplyDoNotFight: what somebody edited is taken back, and what somebody else applies is not.
func TestTwoWhoApplyDoNotFight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		operation string
		take      apply.Take
		forced    bool
	}{
		{"Update", apply.TakeNothing, false},
		{"Update", apply.TakeEdits, true},
		{"Apply", apply.TakeEdits, false},
		{"Apply", apply.TakeAll, true},
	} {
		s := apiserver.New(t)
		o := configMap(apply.Manager, owner)
		meta := o["metadata"].(apiserver.Object)
		meta["managedFields"] = append(meta["managedFields"].([]any), apiserver.Object{"manager": "other", "operation": tt.operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": apiserver.Object{"f:data": apiserver.Object{"f:k": apiserver.Object{}}}})
		s.Put(maps+"a", o)
		s.Conflict = func(r *http.Request) (manager, field string) {
			if r.URL.Query().Get("force") == "true" {
				return "", ""
			}
			return "other", ".data.k"
		}
		c, _ := looking(t, s)
		is := &apply.Object{Ref: ref, APIVersion: "v1", Manifest: apiserver.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": apiserver.Object{"name": "a", "namespace": "shop"}, "data": apiserver.Object{"k": "w"}}}
		for _, out := range c.Apply(t.Context(), []apply.Action{{Ref: ref, Verb: apply.Update, Object: is, UID: uid(s, maps+"a"), Take: tt.take}}, owner) {
			if (out.Err == nil) != tt.forced || out.Err != nil && !strings.Contains(out.Err.Error(), "other") {
				t.Errorf("%s, %v: it comes to %v", tt.operation, tt.take, out.Err)
			}
		}
		if data, _ := s.Get(maps + "a")["data"].(apiserver.Object); (data["k"] == "w") != tt.forced {
			t.Errorf("%s, %v: there is %v", tt.operation, tt.take, data)
		}
	}
}

// TestWhatFluxAppliesNow: an object with Flux's labels whose Kustomization lists it, and is not suspended.
func TestWhatFluxAppliesNow(t *testing.T) {
	t.Parallel()
	const at = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/shop"
	kustomization := func(suspend bool, id string) apiserver.Object {
		return apiserver.Object{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": apiserver.Object{"name": "shop", "namespace": "flux-system"},
			"spec": apiserver.Object{"suspend": suspend}, "status": apiserver.Object{"inventory": apiserver.Object{"entries": []any{apiserver.Object{"id": id, "v": "v1"}}}},
		}
	}
	for _, tt := range []struct {
		name  string
		is    apiserver.Object // nil: there is none
		fails int
		want  bool
	}{
		{"it lists it", kustomization(false, "shop_a__ConfigMap"), 0, true},
		{"it is suspended", kustomization(true, "shop_a__ConfigMap"), 0, false},
		{"it lists another", kustomization(false, "shop_b__ConfigMap"), 0, false},
		{"it is gone", nil, 0, false},
		{"it may not be read", kustomization(false, "shop_a__ConfigMap"), http.StatusForbidden, false},
	} {
		s := apiserver.New(t)
		o := configMap("kustomize-controller", "")
		o["metadata"].(apiserver.Object)["labels"] = apiserver.Object{"kustomize.toolkit.fluxcd.io/name": "shop", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
		s.Put(maps+"a", o)
		if tt.is != nil {
			s.Put(at, tt.is)
		}
		s.Before(func(r *http.Request) int {
			if r.URL.Path == at {
				return tt.fails
			}
			return 0
		})
		c, err := clusters.Open("eu", "", "", s.Reach())
		if err != nil {
			t.Fatal(err)
		}
		facts, err := c.Observe(t.Context(), map[object.Ref]bool{ref: true})
		if (err != nil) != (tt.fails != 0) || (facts.Reconciled[ref] != "") != tt.want {
			t.Errorf("%s: %q, %v", tt.name, facts.Reconciled[ref], err)
		}
	}
}

// TestWaitingEnds: for what fails at once, for what is healthy at once, and not for a reason that is accepted.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	job := func(condition string) apiserver.Object {
		return apiserver.Object{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": apiserver.Object{"name": "m", "namespace": "shop"},
			"status": apiserver.Object{"conditions": []any{apiserver.Object{"type": condition, "status": "True", "message": "said"}}},
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	migrate := object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "m"}
	for _, tt := range []struct {
		condition string
		left      int
		failed    bool
	}{{"Complete", 0, false}, {"Failed", 1, true}, {"Suspended", 1, false}} {
		s := apiserver.New(t)
		s.Put("/apis/batch/v1/namespaces/shop/jobs/m", job(tt.condition))
		c, _ := looking(t, s)
		most := time.Hour // and yet it ends
		if tt.left > 0 && !tt.failed {
			most = 200 * time.Millisecond
		}
		left, err := c.Await(ctx, []object.Ref{migrate}, most)
		if err != nil || len(left) != tt.left || tt.left == 1 && left[0].Failed != tt.failed {
			t.Errorf("%s: %+v, %v", tt.condition, left, err)
		}
	}
	s := apiserver.New(t)
	c, _ := looking(t, s)
	left, err := c.Await(ctx, []object.Ref{migrate}, time.Hour)
	if err != nil || len(left) != 1 || !left[0].Failed {
		t.Errorf("a Job that is gone: %+v, %v", left, err)
	}
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	unready, err := c.Wait(ctx, []object.Ref{web}, 50*time.Millisecond)
	if err != nil || len(unready) != 1 {
		t.Errorf("a Deployment that is not there: %+v, %v", unready, err)
	}
	if unready, err = c.Wait(ctx, []object.Ref{web}, time.Hour, health.Missing().Reason); err != nil || len(unready) != 0 {
		t.Errorf("where that is accepted: %+v, %v", unready, err)
	}
}

// TestOwnedIsWhatWeApplied lists it, whatever an inventory says, and says what could not be listed.
func TestOwnedIsWhatWeApplied(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	for name, o := range map[string]apiserver.Object{"a": configMap(apply.Manager, owner), "b": configMap("kubectl", owner), "c": configMap(apply.Manager, "another")} {
		o["metadata"].(apiserver.Object)["name"] = name
		s.Put(maps+name, o)
	}
	s.Before(func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/jobs") {
			return http.StatusForbidden
		}
		return 0
	})
	c, _ := looking(t, s)
	all, err := c.Owned(t.Context(), owner)
	if !slices.Equal(all, []object.Ref{ref}) || err == nil || !strings.Contains(err.Error(), "jobs") {
		t.Errorf("it is %v, %v", all, err)
	}
}

// TestWhatIsOwnedIsFoundOnEveryPage: of more objects than a page has, all that are ours are listed, of every kind that may be
// listed; and what may not be is an error beside them.
func TestWhatIsOwnedIsFoundOnEveryPage(t *testing.T) {
	t.Parallel()
	const all = 1_203
	s := apiserver.New(t)
	for n := range all {
		o := configMap(apply.Manager, owner)
		name := fmt.Sprintf("c%04d", n)
		o["metadata"].(apiserver.Object)["name"] = name
		s.Put(maps+name, o)
	}
	s.Put(maps+"others", configMap(apply.Manager, "https://example.com/other"))
	s.Put(maps+"copied", configMap("kubectl", owner))
	secret := configMap(apply.Manager, owner)
	secret["kind"] = "Secret"
	s.Put("/api/v1/namespaces/shop/secrets/a", secret)
	c, err := clusters.Open("eu", "", "", s.Reach())
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Owned(t.Context(), owner)
	if err != nil || len(found) != all+1 {
		t.Errorf("found are %d, want %d: %v", len(found), all+1, err)
	}
	if !slices.IsSortedFunc(found, object.Ref.Compare) || len(slices.Compact(found)) != all+1 {
		t.Error("they are not in order, or some are there twice")
	}
	s.Before(func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/secrets") {
			return http.StatusForbidden
		}
		return 0
	})
	if found, err = c.Owned(t.Context(), owner); err == nil || len(found) != all {
		t.Errorf("where Secrets may not be listed, found are %d, want %d: %v", len(found), all, err)
	}
}
