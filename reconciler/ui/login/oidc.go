package login

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/waybill-dev/waybill/reconciler/ui/pages"
)

const (
	sessionTime  = 8 * time.Hour
	loginTime    = 10 * time.Minute
	providerTime = 15 * time.Second
	// longestPath is that of the page to return to: it is in a cookie.
	longestPath = 1000

	loginPath    = "/login"
	startPath    = "/login/start"
	callbackPath = "/login/callback"
	logoutPath   = "/logout"

	// everybody, as the name of a group, lets everybody in whom the provider knows.
	everybody = "*"
)

// OIDC has people log in at a provider of OpenID Connect, by its code flow with PKCE, state and nonce.
// A session is a sealed cookie, and nothing of it is kept here.
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	// Groups are those of which one has to be in the claim "groups".
	Groups []string
	// URL is that of the web UI, without a path, as people type it.
	URL string
	Key Key
	// Random returns a text that nobody guesses.
	Random func() string
	Now    func() time.Time
	Log    *slog.Logger
	// Client asks the provider; nil: the default one does.
	Client *http.Client

	looking  singleflight.Group
	provider atomic.Pointer[oidc.Provider]
}

// session is what the cookie of a session holds.
type session struct {
	User    string    `json:"user"`
	Until   time.Time `json:"until"`
	Issuer  string    `json:"iss"`
	Client  string    `json:"aud"`
	Subject string    `json:"sub"`
}

// attempt is what the cookie of somebody who logs in holds.
type attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Next     string    `json:"next"`
	Until    time.Time `json:"until"`
}

// The purposes of cookies: one is not taken for the other.
const (
	forSession = "session"
	forLogin   = "login"
)

func (o *OIDC) secure() bool { return strings.HasPrefix(o.URL, "https://") }

// cookie is one of ours. Browsers keep one with such a prefix to this host and to https.
func (o *OIDC) cookie(purpose, value string, lasts time.Duration) *http.Cookie {
	c := &http.Cookie{ //nolint:gosec // it is Secure wherever the site is, and a test without TLS is not
		Name: o.cookieName(purpose), Value: value, Path: "/", HttpOnly: true, Secure: o.secure(), SameSite: http.SameSiteLaxMode, MaxAge: int(lasts.Seconds()),
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

func (o *OIDC) cookieName(purpose string) string {
	if o.secure() {
		return "__Host-waybill-" + purpose
	}
	return "waybill-" + purpose
}

// Who implements Guard.
func (o *OIDC) Who(r *http.Request) (Session, error) {
	c, err := r.Cookie(o.cookieName(forSession))
	if err != nil {
		return Session{}, errors.New("nobody is logged in")
	}
	var s session
	if err := o.Key.open(forSession, c.Value, &s); err != nil {
		return Session{}, err
	}
	switch {
	case s.Issuer != o.Issuer || s.Client != o.ClientID:
		return Session{}, errForged
	case !o.Now().Before(s.Until):
		return Session{}, errors.New("the session is over")
	}
	return Session{User: s.User, Until: s.Until, LogsOut: true}, nil
}

// Refuse sends whoever may not look to the page by which one logs in.
func (*OIDC) Refuse(w http.ResponseWriter, r *http.Request, why error, _ Tell) {
	if r.URL.Path == "/events" || r.Header.Get("X-Fragment") != "" {
		http.Error(w, why.Error(), http.StatusUnauthorized)
		return
	}
	to := url.Values{"next": {r.URL.RequestURI()}}
	http.Redirect(w, r, loginPath+"?"+to.Encode(), http.StatusSeeOther)
}

// Handle implements Guard.
func (o *OIDC) Handle(mux *http.ServeMux, tell Tell) {
	mux.HandleFunc(loginPath, func(w http.ResponseWriter, r *http.Request) {
		at := o.Issuer
		if u, err := url.Parse(o.Issuer); err == nil && u.Host != "" {
			at = u.Host
		}
		start := url.Values{"next": {local(r.URL.Query().Get("next"))}}
		tell(w, r, http.StatusUnauthorized, pages.Failure{
			Title: "Log in", Message: "To look at this fleet you have to log in.", Links: []pages.Link{{Text: "Log in at " + at, URL: startPath + "?" + start.Encode()}},
		})
	})
	mux.HandleFunc(startPath, func(w http.ResponseWriter, r *http.Request) { o.start(w, r, tell) })
	mux.HandleFunc(callbackPath, func(w http.ResponseWriter, r *http.Request) { o.callback(w, r, tell) })
	mux.HandleFunc(logoutPath, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, o.cookie(forSession, "", 0))
		tell(w, r, http.StatusOK, pages.Failure{Title: "Logged out", Message: "You are logged out here; the provider may still know you.", Links: []pages.Link{{Text: "Log in", URL: loginPath}}})
	})
}

// local returns a path of this site; the first page for anything else.
func local(next string) string {
	u, err := url.Parse(next)
	switch {
	case err != nil || len(next) > longestPath || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t"):
		return "/"
	case u.Host != "" || u.Scheme != "" || strings.HasPrefix(u.Path, "//") || strings.HasPrefix(u.Path, loginPath) || u.Path == logoutPath:
		return "/"
	}
	return next
}

// config is how the provider is asked. It is looked up when somebody logs in first, once for all who wait
// for that: one that does not answer keeps each of them no longer than one.
func (o *OIDC) config(ctx context.Context) (*oidc.Provider, *oauth2.Config, error) {
	p := o.provider.Load()
	if p == nil {
		asking := context.WithoutCancel(ctx) // others wait for it
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case r := <-o.looking.DoChan(o.Issuer, func() (any, error) { return oidc.NewProvider(asking, o.Issuer) }):
			if r.Err != nil {
				return nil, nil, fmt.Errorf("looking up the provider %s: %w", o.Issuer, r.Err)
			}
			p, _ = r.Val.(*oidc.Provider)
			o.provider.Store(p)
		}
	}
	return p, &oauth2.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: o.URL + callbackPath,
		Scopes: scopes(p),
	}, nil
}

// scopes are what is asked of a provider: groups only of one that knows such a scope, because others
// refuse it.
func scopes(p *oidc.Provider) []string {
	var known struct {
		Scopes []string `json:"scopes_supported"`
	}
	all := []string{oidc.ScopeOpenID, "profile", "email"}
	if p.Claims(&known) == nil && slices.Contains(known.Scopes, "groups") {
		all = append(all, "groups")
	}
	return all
}

// asking returns a context in which the provider is asked.
func (o *OIDC) asking(ctx context.Context) context.Context {
	client := o.Client
	if client == nil {
		client = &http.Client{Timeout: providerTime}
	}
	return oidc.ClientContext(ctx, client)
}

// start sends somebody to the provider.
func (o *OIDC) start(w http.ResponseWriter, r *http.Request, tell Tell) {
	_, config, err := o.config(o.asking(r.Context()))
	if err != nil {
		o.Log.WarnContext(r.Context(), "web UI cannot ask who it is", "err", err)
		tell(w, r, http.StatusBadGateway, pages.Failure{Title: "Nobody can log in now", Message: "The provider does not answer; the log of the controller says more.", Links: []pages.Link{{Text: "Try again", URL: loginPath}}})
		return
	}
	a := attempt{State: o.Random(), Nonce: o.Random(), Verifier: oauth2.GenerateVerifier(), Next: local(r.URL.Query().Get("next")), Until: o.Now().Add(loginTime)}
	sealed, err := o.Key.seal(forLogin, a)
	if err != nil {
		http.Error(w, "nobody can log in now", http.StatusInternalServerError)
		return
	}
	http.SetCookie(w, o.cookie(forLogin, sealed, loginTime))
	http.Redirect(w, r, config.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), http.StatusSeeOther)
}

// callback takes in what the provider says of somebody.
func (o *OIDC) callback(w http.ResponseWriter, r *http.Request, tell Tell) {
	http.SetCookie(w, o.cookie(forLogin, "", 0))
	s, next, err := o.admitted(r.Context(), r)
	var sealed string
	if err == nil {
		sealed, err = o.Key.seal(forSession, s)
	}
	if err != nil {
		o.Log.WarnContext(r.Context(), "web UI login refused", "err", err)
		problem := pages.Failure{Title: "Not logged in", Message: "That did not work; the log of the controller says why.", Links: []pages.Link{{Text: "Try again", URL: loginPath}}}
		if errors.Is(err, errNoGroup) {
			problem.Message = "The provider knows you, but you are in no group that may look at this fleet."
		}
		tell(w, r, http.StatusForbidden, problem)
		return
	}
	o.Log.InfoContext(r.Context(), "web UI login", "user", s.User, "subject", s.Subject)
	http.SetCookie(w, o.cookie(forSession, sealed, sessionTime))
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // local made it a path of this site before it was sealed
}

// errNoGroup is that somebody is in no group that may look.
var errNoGroup = errors.New("none of the groups may look")

// claims are what a token says of somebody.
type claims struct {
	Email    string `json:"email"`
	Name     string `json:"name"`
	Username string `json:"preferred_username"`
	Groups   any    `json:"groups"` // a list or, at some providers, one name
}

// admitted checks all that a callback says, and returns the session and the page to go to.
func (o *OIDC) admitted(ctx context.Context, r *http.Request) (s session, next string, err error) {
	c, err := r.Cookie(o.cookieName(forLogin))
	if err != nil {
		return s, "", errors.New("nobody here began to log in")
	}
	var a attempt
	if err := o.Key.open(forLogin, c.Value, &a); err != nil {
		return s, "", err
	}
	q := r.URL.Query()
	switch {
	case !o.Now().Before(a.Until):
		return s, "", errors.New("it took too long")
	case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(a.State)) != 1:
		return s, "", errors.New("the state is not the one that was sent")
	case q.Get("error") != "":
		return s, "", fmt.Errorf("the provider refused: %.200q %.500q", q.Get("error"), q.Get("error_description"))
	}
	token, err := o.token(ctx, q.Get("code"), &a)
	if err != nil {
		return s, "", err
	}
	var said claims
	if err := token.Claims(&said); err != nil {
		return s, "", fmt.Errorf("reading what the provider says: %w", err)
	}
	if !o.admits(said.Groups) {
		return s, "", fmt.Errorf("%w: %.100q has %.300q", errNoGroup, token.Subject, fmt.Sprint(said.Groups))
	}
	s = session{User: first(said.Username, said.Email, said.Name, token.Subject), Until: o.Now().Add(sessionTime), Issuer: o.Issuer, Client: o.ClientID, Subject: token.Subject}
	return s, a.Next, nil
}

// token changes a code for a token, and checks it.
func (o *OIDC) token(ctx context.Context, code string, a *attempt) (*oidc.IDToken, error) {
	ctx = o.asking(ctx)
	provider, config, err := o.config(ctx)
	if err != nil {
		return nil, err
	}
	got, err := config.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return nil, fmt.Errorf("changing the code for a token: %w", withoutBody(err))
	}
	raw, _ := got.Extra("id_token").(string)
	token, err := provider.Verifier(&oidc.Config{ClientID: o.ClientID, Now: o.Now}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("checking the token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return nil, errors.New("the nonce of the token is not the one that was sent")
	}
	return token, nil
}

// withoutBody is an error without what the provider answered, which may hold a token.
func withoutBody(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the provider answered %s %.100q", e.Response.Status, e.ErrorCode)
	}
	return err
}

// admits reports whether one of the groups may look.
func (o *OIDC) admits(groups any) bool {
	if slices.Contains(o.Groups, everybody) {
		return true
	}
	list, isList := groups.([]any)
	if !isList {
		list = []any{groups}
	}
	return slices.ContainsFunc(list, func(g any) bool {
		name, ok := g.(string)
		return ok && name != "" && slices.Contains(o.Groups, name)
	})
}

// first is the first text that is not empty, and not too long for a cookie.
func first(texts ...string) string {
	const most = 100
	for _, t := range texts {
		if t != "" {
			return strings.ToValidUTF8(t[:min(most, len(t))], "")
		}
	}
	return ""
}
