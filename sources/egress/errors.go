package egress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// shown is an error whose text may be shown: without queries and user names of URLs,
// on one line.
type shown struct {
	text string
	err  error
}

func (e *shown) Error() string { return e.text }
func (e *shown) Unwrap() error { return e.err }

var (
	// urlQuery and urlUser find what URLs within a text may hold secrets in.
	urlQuery = regexp.MustCompile(`(://[^\s"'?#]*)[?#][^\s"']*`)
	urlUser  = regexp.MustCompile(`://[^\s"'/@]*@`)
)

// maxText is how much of a text from outside is shown, in bytes.
const maxText = 300

// Clean makes an error of a request fit to be shown. It keeps what it wraps.
func Clean(err error) error {
	if err == nil {
		return nil
	}
	if host, ok := errors.AsType[*HostError](err); ok {
		return host
	}
	if answer, ok := errors.AsType[*transport.Error](err); ok {
		return &shown{registryAnswer(answer), err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &shown{"it took too long: " + context.DeadlineExceeded.Error(), err}
	}
	text := err.Error()
	if request, ok := errors.AsType[*url.Error](err); ok && !errors.Is(request, errPlain) {
		text = request.Err.Error() // the URL is in the context
	}
	text, _, _ = strings.Cut(text, "\n") // go-containerregistry puts answers with tokens behind one
	text = urlQuery.ReplaceAllString(text, "$1")
	text = urlUser.ReplaceAllString(text, "://")
	return &shown{text[:min(len(text), maxText)], err}
}

// registryAnswer shows a registry's refusal: its codes, not its prose.
func registryAnswer(e *transport.Error) string {
	text := fmt.Sprintf("the registry answers %d %s", e.StatusCode, http.StatusText(e.StatusCode))
	var codes []string
	for _, d := range e.Errors {
		codes = append(codes, fmt.Sprintf("%.40q", string(d.Code)))
	}
	if len(codes) > 0 {
		text += " (" + strings.Join(codes[:min(len(codes), 3)], ", ") + ")"
	}
	return text
}
