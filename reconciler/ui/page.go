package ui

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/frame"
)

// sessionKey is that of the session in the context of a request.
type sessionKey struct{}

// within lets those in who may look.
func (u *UI) within(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := u.Guard.Who(r)
		if err != nil {
			u.Guard.Refuse(w, r, err, u.problem)
			return
		}
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
	})
}

func sessionOf(r *http.Request) login.Session {
	s, _ := r.Context().Value(sessionKey{}).(login.Session)
	return s
}

// answer is a page to write.
type answer struct {
	page  string // its template
	title string
	here  string
	find  string // what is searched
	body  any
	// fragment is written alone where the script asks for it.
	fragment bool
	status   int    // 0: 200
	to       string // where to go instead; empty: nowhere
}

// view makes a page of facts.
type view func(u *UI, r *http.Request, f *facts.Facts) (answer, error)

// errNowhere is that there is no such page.
var errNowhere = errors.New("there is no such page")

// page serves a view.
func (u *UI) page(of view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case u.places <- struct{}{}:
			defer func() { <-u.places }()
		default:
			w.Header().Set("Retry-After", "2")
			u.problem(w, r, http.StatusServiceUnavailable, pages.Failure{Title: "Too busy", Message: "Too many pages are asked for at once. Try again in a moment."})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), pageTime)
		defer cancel()
		r = r.WithContext(ctx)
		f, trouble := u.Reader.Look(ctx)
		if f == nil {
			u.Log.WarnContext(ctx, "web UI cannot read", "err", trouble)
			u.problem(w, r, http.StatusServiceUnavailable, pages.Failure{Title: "Nothing can be read", Message: text(trouble), Links: []pages.Link{{Text: "Try again", URL: "/"}}})
			return
		}
		key := u.key(f) // before the page, which may be newer
		a, err := of(u, r, f)
		switch {
		case errors.Is(err, errNowhere):
			u.problem(w, r, http.StatusNotFound, pages.NotFound(sentence(err)))
			return
		case err != nil:
			u.Log.WarnContext(ctx, "web UI cannot show a page", "path", r.URL.Path, "err", err)
			u.problem(w, r, http.StatusServiceUnavailable, pages.Failure{Title: "This cannot be read", Message: text(err), Links: []pages.Link{{Text: "What is broken", URL: "/"}}})
			return
		case a.to != "":
			http.Redirect(w, r, a.to, http.StatusSeeOther)
			return
		}
		u.write(w, r, a, key, text(trouble))
	}
}

// write writes a page.
func (u *UI) write(w http.ResponseWriter, r *http.Request, a answer, key, trouble string) {
	s := sessionOf(r)
	around := frame.Frame{Title: a.title, Here: a.here, Find: a.find, Group: r.URL.Query().Get("group"), Previews: u.Previews != nil, Key: key, User: s.User, LogsOut: s.LogsOut, Trouble: trouble, Body: a.body}
	var data []byte
	var err error
	if a.fragment && r.Header.Get("X-Fragment") != "" {
		data, err = frame.Fragment(a.page, around)
	} else {
		data, err = frame.Page(a.page, around)
	}
	if err != nil {
		u.Log.ErrorContext(r.Context(), "web UI cannot write a page", "path", r.URL.Path, "err", err)
		http.Error(w, "this page cannot be written; the log of the controller says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	data = body(w, r, data)
	_ = http.NewResponseController(w).SetWriteDeadline(u.Now().Add(writeTime)) // a test's has none
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // who asked may be gone
	}
}

// problem says what is wrong.
func (u *UI) problem(w http.ResponseWriter, r *http.Request, status int, p pages.Failure) {
	u.write(w, r, answer{page: "failure", title: p.Title, body: p, status: status}, "", "")
}

// asset serves a file to which pages refer. Its name has its content, so that it may be kept.
func asset(w http.ResponseWriter, r *http.Request) {
	data, ok := files[r.URL.Path]
	if !ok {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	kind := "text/css; charset=utf-8"
	if strings.HasSuffix(r.URL.Path, ".js") {
		kind = "text/javascript; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	data = body(w, r, data)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // who asked may be gone
	}
}

// files are those to which pages refer.
var files = frame.Assets()

// text is what went wrong; empty for nothing.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// sentence is what went wrong, without the error that says that there is no such page.
func sentence(err error) string {
	said := strings.TrimPrefix(strings.TrimSuffix(err.Error(), ": "+errNowhere.Error()), " ")
	return strings.ToUpper(said[:1]) + said[1:] + "."
}
