package clusters_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// between answers requests in the place of a server; nil: the server does.
type between func(r *http.Request) *metav1.Status

type way struct {
	to  http.RoundTripper
	ask between
}

func (w way) RoundTrip(r *http.Request) (*http.Response, error) {
	said := w.ask(r)
	if said == nil {
		return w.to.RoundTrip(r)
	}
	said.TypeMeta, said.Status = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, "Failure"
	body, err := json.Marshal(said)
	return &http.Response{
		StatusCode: int(said.Code), Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, err
}

// through returns a client of a server with something between the two, which changes objects as an account.
func through(t *testing.T, s *apiserver.Server, account string, ask between) *clusters.Client {
	t.Helper()
	config := s.Direct()
	config.Wrap(func(to http.RoundTripper) http.RoundTripper { return way{to, ask} })
	c, err := clusters.Open("eu", "", account, config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Observe(t.Context(), map[object.Ref]bool{ref: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

// with is the ConfigMap of the tests with some data.
func with(data apiserver.Object) *apply.Object {
	return &apply.Object{Ref: ref, APIVersion: "v1", Manifest: apiserver.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apiserver.Object{"name": "a", "namespace": "shop"}, "data": data,
	}}
}

// does carries one action out.
func does(t *testing.T, c *clusters.Client, a apply.Action) apply.Outcome {
	t.Helper()
	return c.Apply(t.Context(), []apply.Action{a}, owner)[0]
}

// invalid is that a server refuses a field of an object, for a reason.
func invalid(why metav1.CauseType, message string) *metav1.Status {
	return &metav1.Status{
		Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: `ConfigMap "a" is invalid: ` + message,
		Details: &metav1.StatusDetails{Name: "a", Kind: "ConfigMap", Causes: []metav1.StatusCause{{Type: why, Field: "data", Message: message}}},
	}
}

// refusesChanges refuses each change that is no dry run.
func refusesChanges(said *metav1.Status) between {
	return func(r *http.Request) *metav1.Status {
		if r.Method == http.MethodPatch && r.URL.Query().Get("dryRun") == "" {
			return said
		}
		return nil
	}
}

// TestWhatAServerSaysOfASecretIsNotRepeated: a refusal may hold the value that is refused. Of what is no secret it is said.
func TestWhatAServerSaysOfASecretIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{true, false} {
		s := apiserver.InMemory("shop")
		c := through(t, s, "", refusesChanges(invalid(metav1.CauseTypeFieldValueRequired, `"hunter2" is too short`)))
		o := with(apiserver.Object{"k": "hunter2"})
		o.Private = private
		out := does(t, c, apply.Action{Ref: ref, Verb: apply.Create, Object: o})
		if out.Err == nil || strings.Contains(out.Err.Error(), "hunter2") == private || private && !strings.Contains(out.Err.Error(), "Invalid") {
			t.Errorf("where it is private (%t), it comes to %v", private, out.Err)
		}
	}
}

// TestWhatChangesWhileItIsReadIsReadAgain: fields that stay as they are live are sent with the version that they were read of, so that
// nothing is undone which somebody changes meanwhile; who changes it all the time is given way to.
func TestWhatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		changes int // before so many of our requests somebody changes it
		tries   int
		fails   bool
	}{{0, 1, false}, {1, 2, false}, {4, 5, false}, {100, 5, true}} {
		s := apiserver.InMemory("shop")
		s.Put(maps+"a", configMap(apply.Manager, owner))
		tries, sent := 0, ""
		s.Before(func(r *http.Request) int {
			if r.Method != http.MethodPatch {
				return 0
			}
			body, _ := io.ReadAll(r.Body) // of who waits for the answer
			sent, r.Body = string(body), io.NopCloser(bytes.NewReader(body))
			if tries++; tries <= tt.changes {
				changed := configMap(apply.Manager, owner)
				changed["data"] = apiserver.Object{"k": fmt.Sprint("change ", tries)}
				s.Put(maps+"a", changed)
			}
			return 0
		})
		c, _ := looking(t, s)
		out := does(t, c, apply.Action{Ref: ref, Verb: apply.Update, Object: with(apiserver.Object{"ours": "1"}), UID: uid(s, maps+"a"), Filled: [][]string{{"data", "k"}}, Take: apply.TakeAll})
		if (out.Err != nil) != tt.fails || tries != tt.tries || tt.fails && !strings.Contains(out.Err.Error(), "somebody replaced it meanwhile") {
			t.Errorf("after %d changes: %d tries, %v", tt.changes, tries, out.Err)
		}
		want := map[int]string{0: "v"}[tt.changes]
		if tt.changes > 0 {
			want = fmt.Sprint("change ", min(tt.changes, 5))
		}
		if !tt.fails && !strings.Contains(sent, fmt.Sprintf(`"k":%q`, want)) {
			t.Errorf("after %d changes it sends %s", tt.changes, sent)
		}
		if data, _ := s.Get(maps + "a")["data"].(apiserver.Object); data["k"] != want || (data["ours"] == "1") == tt.fails {
			t.Errorf("after %d changes there is %v", tt.changes, data)
		}
	}
	s := apiserver.InMemory("shop")
	s.Put(maps+"a", configMap(apply.Manager, owner))
	c, _ := looking(t, s)
	out := does(t, c, apply.Action{Ref: ref, Verb: apply.Update, Object: with(nil), UID: uid(s, maps+"a"), Filled: [][]string{{"data", "nothing"}}})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "/data/nothing") || len(s.Writes()) > 0 {
		t.Errorf("a field that is not there: %v, %v", out.Err, s.Writes())
	}
}

// TestAdopting makes the fields of who delivered it before ours, if the object is as it was seen; what a controller decides stays its own.
func TestAdopting(t *testing.T) {
	t.Parallel()
	entry := func(manager string) apiserver.Object {
		return apiserver.Object{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": apiserver.Object{"f:data": apiserver.Object{"f:" + manager: apiserver.Object{}}}}
	}
	theirs := func() apiserver.Object {
		o := configMap("somebody", "")
		delete(o["metadata"].(apiserver.Object), "annotations")
		o["metadata"].(apiserver.Object)["managedFields"] = []any{entry("kubectl-client-side-apply"), entry("controller")}
		return o
	}
	for name, tt := range map[string]struct {
		meanwhile func(*apiserver.Server)
		adopted   bool
	}{
		"as it was seen":       {func(*apiserver.Server) {}, true},
		"somebody changes it":  {func(s *apiserver.Server) { s.Put(maps+"a", theirs()) }, false},
		"somebody deletes it":  {func(s *apiserver.Server) { s.Remove(maps + "a") }, false},
		"another one is there": {func(s *apiserver.Server) { s.Remove(maps + "a"); s.Put(maps+"a", theirs()) }, false},
	} {
		s := apiserver.InMemory("shop")
		s.Put(maps+"a", theirs())
		c, facts := looking(t, s)
		live := facts.Live[ref]
		tt.meanwhile(s)
		out := does(t, c, apply.Action{Ref: ref, Verb: apply.Adopt, Object: with(apiserver.Object{"k": "w"}), UID: string(live.UID), Live: live, Take: apply.TakeEdits})
		if (out.Err == nil) != tt.adopted || out.Err != nil && !strings.Contains(out.Err.Error(), "somebody replaced it meanwhile") {
			t.Errorf("%s: it comes to %v", name, out.Err)
		}
		if !tt.adopted {
			if len(s.Writes()) > 0 {
				t.Errorf("%s: it is written to: %v", name, s.Writes())
			}
			continue
		}
		var managers []string
		for _, e := range s.Get(maps + "a")["metadata"].(apiserver.Object)["managedFields"].([]any) {
			managers = append(managers, fmt.Sprint(e.(apiserver.Object)["manager"]))
		}
		if slices.Contains(managers, "kubectl-client-side-apply") || !slices.Contains(managers, "controller") || !slices.Contains(managers, apply.Manager) {
			t.Errorf("%s: then fields are of %v", name, managers)
		}
	}
}

// TestWhatIsCreatedAnew is an object of which the server does not let a field change, where that is allowed, and where it would take
// the new one; otherwise nothing is deleted.
func TestWhatIsCreatedAnew(t *testing.T) {
	t.Parallel()
	immutable := invalid(metav1.CauseTypeFieldValueInvalid, "field is immutable when `immutable` is set")
	for name, tt := range map[string]struct {
		renew   apply.Renewal
		said    *metav1.Status // of a change; nil: it is carried out
		created *metav1.Status // of a dry run of creating it
		anew    bool
		says    string
	}{
		"first":                                {apply.RenewFirst, nil, nil, true, ""},
		"a field may not change":               {apply.RenewRefused, immutable, nil, true, ""},
		"a field is forbidden":                 {apply.RenewRefused, invalid(metav1.CauseTypeForbidden, "no"), nil, true, ""},
		"nothing is refused":                   {apply.RenewRefused, nil, nil, false, ""},
		"it may not be deleted":                {apply.RenewNever, immutable, nil, false, "the annotation waybill.dev/recreate"},
		"a field is missing":                   {apply.RenewRefused, invalid(metav1.CauseTypeFieldValueRequired, "no"), nil, false, "is invalid"},
		"a new one would be refused, too":      {apply.RenewRefused, immutable, invalid(metav1.CauseTypeFieldValueInvalid, "no"), false, "a field that cannot be changed"},
		"who asks may not":                     {apply.RenewRefused, &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}, nil, false, "unknown"},
		"the server says nothing of its cause": {apply.RenewRefused, &metav1.Status{Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid}, nil, false, "unknown"},
	} {
		s := apiserver.InMemory("shop")
		s.Put(maps+"a", configMap(apply.Manager, owner))
		was := uid(s, maps+"a")
		refused := false
		c := through(t, s, "", func(r *http.Request) *metav1.Status {
			switch {
			case r.Method == http.MethodPost && r.URL.Query().Get("dryRun") != "":
				return tt.created
			case r.Method == http.MethodPatch && !refused:
				refused = true
				return tt.said
			}
			return nil
		})
		out := does(t, c, apply.Action{Ref: ref, Verb: apply.Update, Object: with(apiserver.Object{"k": "w"}), UID: was, Renew: tt.renew, Version: ""})
		if (out.Err != nil) != (tt.says != "") || out.Err != nil && tt.says != "unknown" && !strings.Contains(out.Err.Error(), tt.says) {
			t.Errorf("%s: it comes to %v", name, out.Err)
		}
		deleted := slices.Contains(s.Writes(), "DELETE "+maps+"a")
		if is := uid(s, maps+"a"); deleted != tt.anew || (is != was) != tt.anew || is == "" {
			t.Errorf("%s: it was %s, and is %s: %v", name, was, is, s.Writes())
		}
		if tt.anew && tt.renew == apply.RenewRefused && out.Verb != apply.Recreate {
			t.Errorf("%s: it is told as %s", name, out.Verb)
		}
	}
	s := apiserver.InMemory("shop")
	c := through(t, s, "", refusesChanges(immutable))
	namespace := object.Ref{Kind: "Namespace", Name: "shop"}
	out := does(t, c, apply.Action{Ref: namespace, Verb: apply.Update, UID: uid(s, "/api/v1/namespaces/shop"), Object: &apply.Object{
		Ref: namespace, APIVersion: "v1", Manifest: apiserver.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": apiserver.Object{"name": "shop"}},
	}})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "a Namespace is never deleted for that") {
		t.Errorf("a Namespace: %v", out.Err)
	}
}

// TestAStatefulSetWhoseVolumesWouldGoWithItStays although a field of it cannot be changed: its own policy for them counts, as it is live
// as well as in its manifest.
func TestAStatefulSetWhoseVolumesWouldGoWithItStays(t *testing.T) {
	t.Parallel()
	at := object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "db"}
	of := func(when string) apiserver.Object {
		return apiserver.Object{
			"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": apiserver.Object{"name": "db", "namespace": "shop"},
			"spec": apiserver.Object{"persistentVolumeClaimRetentionPolicy": apiserver.Object{"whenDeleted": when}},
		}
	}
	const path = "/apis/apps/v1/namespaces/shop/statefulsets/db"
	for _, tt := range []struct {
		live, manifest string
		renew          apply.Renewal
		anew           bool
	}{
		{"Retain", "Retain", apply.RenewRefused, true},
		{"Delete", "Retain", apply.RenewRefused, false},
		{"Retain", "Delete", apply.RenewNever, false}, // as it is planned
	} {
		s := apiserver.InMemory("shop")
		s.Put(path, of(tt.live))
		refused := false
		c := through(t, s, "", func(r *http.Request) *metav1.Status {
			if r.Method != http.MethodPatch || refused {
				return nil
			}
			refused = true
			return invalid(metav1.CauseTypeForbidden, "updates to statefulset spec are forbidden")
		})
		out := does(t, c, apply.Action{Ref: at, Verb: apply.Update, UID: uid(s, path), Renew: tt.renew, Object: &apply.Object{Ref: at, APIVersion: "apps/v1", Manifest: of(tt.manifest)}})
		if deleted := slices.Contains(s.Writes(), "DELETE "+path); deleted != tt.anew || (out.Err == nil) != tt.anew {
			t.Errorf("%+v: %v, %v", tt, out.Err, s.Writes())
		}
		if !tt.anew && (out.Err == nil || !strings.Contains(out.Err.Error(), "a StatefulSet is never deleted for that while its persistentVolumeClaimRetentionPolicy deletes")) {
			t.Errorf("%+v: %v", tt, out.Err)
		}
	}
}

// TestWhoseNameObjectsAreChangedIn: that of a service account, where one is named. What is there is looked at, and the inventory written,
// by the credential itself.
func TestWhoseNameObjectsAreChangedIn(t *testing.T) {
	t.Parallel()
	for account, want := range map[string]string{
		"": "", "shop/deployer": "system:serviceaccount:shop:deployer", "deployer": "system:serviceaccount:" + clusters.Namespace + ":deployer",
	} {
		s := apiserver.InMemory("shop")
		var changes, others atomic.Int64
		c := through(t, s, account, func(r *http.Request) *metav1.Status {
			is := r.Header.Get("Impersonate-User")
			isChange := strings.HasPrefix(r.URL.Path, maps) && r.Method != http.MethodGet
			if isChange && is == want {
				changes.Add(1)
			}
			if isChange && is != want || strings.HasPrefix(r.URL.Path, strings.TrimSuffix(secrets, "/")) && is != "" {
				others.Add(1)
			}
			return nil
		})
		out := does(t, c, apply.Action{Ref: ref, Verb: apply.Create, Object: with(apiserver.Object{"k": "v"})})
		left := does(t, c, apply.Action{Ref: ref, Verb: apply.Delete, UID: uid(s, maps+"a")})
		none, err := c.Inventory(t.Context(), owner)
		now := none.Inventory
		now.Owner, now.Cluster = owner, "eu"
		if err == nil {
			_, err = c.Store(t.Context(), none, now)
		}
		if out.Err != nil || left.Err != nil || err != nil || changes.Load() != 2 || others.Load() > 0 {
			t.Errorf("as %q: %v, %v, %v: %d changes are in that name, and %d requests in another", account, out.Err, left.Err, err, changes.Load(), others.Load())
		}
	}
	for _, account := range []string{"shop/", "/deployer", "shop/a/b", "Deployer", "shop/system:masters"} {
		if _, err := clusters.Open("eu", "", account, apiserver.InMemory().Direct()); err == nil {
			t.Errorf("%q is taken for a service account", account)
		}
	}
}

// TestWhatIsSent of an object: its owner, the run of a hook, no field that is left to the cluster, and a Secret's stringData as its data,
// for else that would stay when it is taken away.
func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	secret := object.Ref{Kind: "Secret", Namespace: "shop", Name: "key"}
	for run, want := range map[string]apiserver.Object{
		"run 7": {apply.OwnerAnnotation: owner, apply.RunAnnotation: "run 7"},
		"":      {apply.OwnerAnnotation: owner},
	} {
		s := apiserver.InMemory("shop")
		c, _ := looking(t, s)
		o := &apply.Object{Ref: secret, APIVersion: "v1", Private: true, Manifest: apiserver.Object{
			"apiVersion": "v1", "kind": "Secret", "metadata": apiserver.Object{"name": "key", "namespace": "shop"}, "stringData": apiserver.Object{"k": "v"},
			"data": apiserver.Object{"left": "dg=="},
		}}
		if out := does(t, c, apply.Action{Ref: secret, Verb: apply.Create, Object: o, Run: run, Left: [][]string{{"data", "left"}}}); out.Err != nil {
			t.Fatal(out.Err)
		}
		is := s.Get("/api/v1/namespaces/shop/secrets/key")
		annotations, _ := is["metadata"].(apiserver.Object)["annotations"].(apiserver.Object)
		got := []any{is["data"], is["stringData"], annotations}
		if diff := cmp.Diff([]any{apiserver.Object{"k": "dg=="}, nil, want}, got); diff != "" {
			t.Errorf("of %q there is (-want +got):\n%s", run, diff)
		}
	}
}

// TestAConditionThatIsNotSo any more is no end of a Job.
func TestAConditionThatIsNotSo(t *testing.T) {
	t.Parallel()
	migrate := object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "m"}
	for _, condition := range []string{"Complete", "Failed"} {
		for status, ends := range map[string]bool{"True": true, "False": false, "Unknown": false} {
			s := apiserver.InMemory("shop")
			s.Put("/apis/batch/v1/namespaces/shop/jobs/m", apiserver.Object{
				"apiVersion": "batch/v1", "kind": "Job", "metadata": apiserver.Object{"name": "m", "namespace": "shop"},
				"status": apiserver.Object{"conditions": []any{apiserver.Object{"type": condition, "status": status}}},
			})
			c, _ := looking(t, s)
			most := time.Hour // and yet it ends
			if !ends {
				most = 50 * time.Millisecond
			}
			left, err := c.Await(t.Context(), []object.Ref{migrate}, most)
			hasEnded := len(left) == 0 || left[0].Failed
			if err != nil || hasEnded != ends {
				t.Errorf("%s: %s comes to %+v, %v", condition, status, left, err)
			}
		}
	}
}

// TestWhatIsSaidOfARefusal: what to do about it, where something can be done; what may be refused for another reason is said as the server
// says it.
func TestWhatIsSaidOfARefusal(t *testing.T) {
	t.Parallel()
	const immutable = "a field that cannot be changed"
	for name, tt := range map[string]struct {
		said *metav1.Status
		new  bool // the object is not there yet
		want string
		not  string
	}{
		"a field is immutable":                {invalid(metav1.CauseTypeFieldValueInvalid, "field is immutable"), false, immutable, ""},
		"a field may not change":              {invalid(metav1.CauseTypeForbidden, "may not change once set"), false, immutable, ""},
		"an update that is forbidden":         {invalid(metav1.CauseTypeForbidden, "updates to statefulset spec for fields other than 'replicas' are forbidden"), false, immutable, ""},
		"a field is wrong":                    {invalid(metav1.CauseTypeFieldValueInvalid, "must be a number"), false, "must be a number", immutable},
		"a new object":                        {invalid(metav1.CauseTypeFieldValueInvalid, "field is immutable"), true, "field is immutable", immutable},
		"somebody replaced it":                {&metav1.Status{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict}, false, "somebody replaced it meanwhile", ""},
		"its Namespace is not there":          {&metav1.Status{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "not found"}, true, "is its Namespace in the source", ""},
		"who asks may not":                    {&metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "may not patch"}, false, "may not patch", immutable},
		"somebody else owns a field":          {conflict(`conflict with "helm" using v1`), false, "it is in conflict: helm owns .data.k", ""},
		"a name of a manager that has quotes": {conflict(`conflict with "my \"own\" tool" using v1`), false, `it is in conflict: my "own" tool owns .data.k`, ""},
		"a conflict without a manager":        {conflict("conflict"), false, "it is in conflict: conflict owns .data.k", ""},
	} {
		s := apiserver.InMemory("shop")
		a := apply.Action{Ref: ref, Verb: apply.Create, Object: with(apiserver.Object{"k": "w"})}
		if !tt.new {
			s.Put(maps+"a", configMap(apply.Manager, owner))
			a.Verb, a.UID = apply.Update, uid(s, maps+"a")
		}
		out := does(t, through(t, s, "", refusesChanges(tt.said)), a)
		if out.Err == nil || !strings.Contains(out.Err.Error(), tt.want) || tt.not != "" && strings.Contains(out.Err.Error(), tt.not) {
			t.Errorf("%s: it comes to %v", name, out.Err)
		}
	}
}

// conflict is that a server refuses to take a field from another manager.
func conflict(message string) *metav1.Status {
	return &metav1.Status{
		Code: http.StatusConflict, Reason: metav1.StatusReasonConflict,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.k", Message: message}}},
	}
}
