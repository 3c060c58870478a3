package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// ErrNotFound is what an Error is where there is no such thing, or where whoever asks may not
// see it: forges do not tell one from the other.
var ErrNotFound = errors.New("not found")

// ErrForbidden is what an Error is where whoever asks may not do it.
var ErrForbidden = errors.New("forbidden")

// An Error says what a forge refused, why, and what to do. It holds no credential.
type Error struct {
	Kind   Kind
	Host   string
	Doing  string // as "commenting on pull request 7"
	Status int    // of HTTP; zero: there was no answer
	Says   string // what the forge says, in a line
	Until  time.Time
	Moved  string // where the repository is now
	Cause  error  // of no answer, or of one that cannot be read
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s: ", e.Doing, e.Host)
	switch {
	case e.Cause != nil:
		b.WriteString(e.Cause.Error())
		return b.String()
	case e.Says != "":
		fmt.Fprintf(&b, "%d: %s", e.Status, e.Says)
	default:
		fmt.Fprintf(&b, "%d: %s", e.Status, strings.ToLower(http.StatusText(e.Status)))
	}
	if hint := e.hint(); hint != "" {
		b.WriteString("; " + hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Cause }

// Is reports ErrNotFound and ErrForbidden.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrNotFound:
		return e.Status == http.StatusNotFound || e.Status == http.StatusGone
	case ErrForbidden:
		return e.Status == http.StatusForbidden
	}
	return false
}

// IsRefusal reports that the forge said no, so that the same is refused as long as nothing else changes.
func (e *Error) IsRefusal() bool {
	return e.Status >= http.StatusBadRequest && e.Status < http.StatusInternalServerError
}

// unsure reports that the call may have been carried out, though it failed.
func (e *Error) unsure() bool { return e.Status == 0 || e.Status >= http.StatusInternalServerError }

// needs is what a token of each kind of forge has to be allowed.
var needs = map[Kind]string{
	GitHub: "it needs the permissions pull-requests: write and statuses: write (contents: read for a private repository)",
	GitLab: "it needs the scope api and the role Developer or higher; the job token CI_JOB_TOKEN may not comment",
	Gitea:  "it needs the scopes write:issue, write:repository and read:user",
}

// hint says what to do.
func (e *Error) hint() string {
	switch {
	case e.Moved != "":
		return "it moved to " + e.Moved + "; name it as it is called now"
	case e.Status == http.StatusUnauthorized:
		return "the token is not valid, is for another forge, or has expired; make a new one"
	case e.Status == http.StatusForbidden:
		return "the token may not do that: " + needs[e.Kind]
	case e.Status == http.StatusNotFound:
		return "there is no such repository, pull request or commit, or the token may not see it: " + needs[e.Kind]
	case e.Status == http.StatusConflict:
		return "somebody changed it at the same moment; try again"
	case e.Status == http.StatusUnprocessableEntity, e.Status == http.StatusBadRequest:
		return "the forge does not take what was sent; is the commit pushed, and the pull request open for comments?"
	case e.Status == http.StatusTooManyRequests && !e.Until.IsZero():
		return "it limits how often it is asked, and is asked again after " + e.Until.UTC().Format(time.RFC3339)
	case e.Status >= http.StatusInternalServerError:
		return "the forge has a failure of its own; try again later"
	}
	return ""
}

// failure is the error of an answer.
func (a *answer) failure() error {
	e := &Error{Kind: a.kind, Host: a.host, Doing: a.doing, Status: a.status, Says: a.says()}
	if to, err := url.Parse(a.header.Get("Location")); a.status >= 300 && a.status < 400 && err == nil {
		e.Moved = plain(to.Host + to.EscapedPath())
	}
	return e
}

// says is what the forge says of a failure: the field message, or error, of its answer.
func (a *answer) says() string {
	const most = 300 // letters
	var said struct {
		Message any `json:"message"` // of GitLab a text, or texts by field
		Error   any `json:"error"`
		Errors  any `json:"errors"`
	}
	if json.Unmarshal(a.body, &said) != nil {
		return ""
	}
	var parts []string
	for _, v := range []any{said.Message, said.Error, said.Errors} {
		switch v := v.(type) {
		case nil:
		case string:
			parts = append(parts, v)
		default:
			if data, err := json.Marshal(v); err == nil {
				parts = append(parts, string(data))
			}
		}
	}
	text := strings.ReplaceAll(plain(strings.Join(parts, ": ")), a.secret, "***")
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}

// plain makes one line of a text, without letters that a terminal acts on.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}
