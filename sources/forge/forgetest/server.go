package forgetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
)

// Token is the one that GitHub and GitLab take, and Name the repository that they have.
const (
	Token = "secret-token-that-nobody-sees"
	Name  = "acme/fleet"
)

// server answers for a fake by an API, and holds every request against it.
type server struct {
	fake *Fake
	tb   testing.TB
	mux  *http.ServeMux
}

// handle serves a pattern of net/http. What the answer is, is as the API says; an error of the
// fake is the status that it has.
func (s *server) handle(pattern string, answer func(*request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		req := &request{Request: r, tb: s.tb, status: http.StatusOK}
		said, err := answer(req)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if e, ok := errors.AsType[*forge.Error](err); ok {
			req.status, said = e.Status, map[string]string{"message": http.StatusText(e.Status)}
		} else if err != nil {
			s.tb.Errorf("%s: %v", pattern, err)
		}
		w.WriteHeader(req.status)
		if req.status != http.StatusNoContent {
			_ = json.NewEncoder(w).Encode(said) // who asked is gone
		}
	})
}

// start serves until the test ends. Whatever is not in the API is an error of the test.
func (s *server) start(authorized func(*http.Request) bool) string {
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.tb.Errorf("%s %s is nothing of the API", r.Method, r.URL)
		http.NotFound(w, r)
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !authorized(r) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"message":"Bad credentials"}`)
			return
		}
		s.mux.ServeHTTP(w, r)
	}))
	s.tb.Cleanup(srv.Close)
	return srv.URL
}

// request is a request, and the status that it is answered with.
type request struct {
	*http.Request

	tb     testing.TB
	status int
}

// body reads a body, which has the fields of v and no others.
func (r *request) body(v any) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil || r.Header.Get("Content-Type") != "application/json" {
		r.tb.Errorf("%s %s with a body of type %q: %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
	}
}

// number is a number of the path.
func (r *request) number(name string) int64 {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil {
		r.tb.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return n
}

// page cuts out of a list what is asked for, as both APIs do: 20 or 30 if nothing is said, and at
// most 100.
func page[E any](r *request, all []E) []E {
	query := r.URL.Query()
	n, _ := strconv.Atoi(query.Get("page"))
	size, _ := strconv.Atoi(query.Get("per_page"))
	if n < 1 || size < 1 || size > 100 {
		r.tb.Errorf("%s %s asks for no page", r.Method, r.URL)
		return nil
	}
	from := min((n-1)*size, len(all))
	return append([]E{}, all[from:min(from+size, len(all))]...)
}

// same fails the test if two values differ.
func same[V any](tb testing.TB, what string, got, want V) {
	tb.Helper()
	if !reflect.DeepEqual(got, want) {
		tb.Errorf("%s is %v, want %v", what, got, want)
	}
}

// object is an object of JSON.
type object = map[string]any
