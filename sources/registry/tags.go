package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources/egress"
)

const (
	maxTags  = 10_000
	maxPages = 100
	pageSize = 1000 // tags that are asked for; some registries refuse more
)

// Known is what is known of a repository. The zero value is nothing. It may be stored.
type Known struct {
	// ETag is what the registry calls its list, or else the list's digest, sha256:<hex>: while
	// it is the same there is nothing new.
	ETag string    `json:"etag,omitempty"`
	Tags []string  `json:"tags,omitempty"` // sorted, each once
	At   time.Time `json:"at,omitzero"`    // when the registry said so last
}

// Tags asks for the tags of a repository, and returns what is known then. Where nothing is
// new it makes one request for a page of a thousand tags, one in all if the registry has ETags,
// and one to the token service when a token has ended. With an error known is returned as it
// was. A list that is shorter than the known one is returned as it is; one that is empty is
// an error of the class Gone.
func (c *Client) Tags(ctx context.Context, repository string, known Known) (Known, error) {
	s, err := c.open(repository, repository)
	if err != nil {
		return known, err
	}
	now, err := s.tags(ctx, known)
	if err != nil {
		return known, s.fail(err)
	}
	now.At = c.now()
	return now, nil
}

// tags asks for all pages of the list.
func (s *session) tags(ctx context.Context, known Known) (Known, error) {
	from, header := s.url("tags", "list")+"?n="+strconv.Itoa(pageSize), http.Header{}
	if IsETag(known.ETag) {
		header.Set("If-None-Match", known.ETag)
	}
	all, etag := map[string]bool{}, ""
	for page := 1; ; page++ {
		resp, err := s.ask(ctx, s.pages, http.MethodGet, from, header)
		if err != nil {
			return Known{}, err
		}
		if resp.StatusCode == http.StatusNotModified {
			resp.Body.Close()
			if header.Get("If-None-Match") == "" {
				return Known{}, errors.New("it answers that nothing is new, and was not asked that")
			}
			return known, nil
		}
		before := len(all)
		next, err := s.page(resp, all)
		if err != nil {
			return Known{}, err
		}
		if next == "" {
			if page == 1 {
				etag = resp.Header.Get("ETag")
			}
			return s.list(all, etag)
		}
		if len(all) == before || page == maxPages {
			return Known{}, s.failed(TooMany, "its list of tags does not end: page %d brings %d", page, len(all)-before)
		}
		from, header = next, http.Header{}
	}
}

// list makes a value of the tags that were listed.
func (s *session) list(all map[string]bool, etag string) (Known, error) {
	if len(all) == 0 {
		return Known{}, s.failed(Gone, "it lists no tag")
	}
	sorted := slices.Sorted(maps.Keys(all))
	if !IsETag(etag) {
		etag = digestOf([]byte(strings.Join(sorted, "\n")))
	}
	return Known{ETag: etag, Tags: sorted}, nil
}

// IsETag reports what a registry may be asked to compare, and not a digest of ours (RFC 9110, 8.8.3).
func IsETag(s string) bool {
	return len(s) <= 200 && strings.HasSuffix(s, `"`) && strings.HasPrefix(strings.TrimPrefix(s, "W/"), `"`)
}

// tagName is what a tag is made of (OCI distribution specification, "Pulling manifests").
var tagName = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)

// page adds the tags of one answer, and returns where the next is; empty: this is the last. What cannot be a tag is
// passed over.
func (s *session) page(resp *http.Response, all map[string]bool) (next string, err error) {
	data, err := read(resp)
	if err != nil {
		return "", err
	}
	var body struct {
		Tags []string `json:"tags"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return "", errors.New("its list of tags is no JSON, or has no list")
	}
	for _, tag := range body.Tags {
		if !tagName.MatchString(tag) {
			continue
		}
		if all[tag] = true; len(all) > maxTags {
			return "", s.failed(TooMany, "it has more than the %d tags that are read", maxTags)
		}
	}
	return nextPage(resp)
}

// nextLink finds the next page in a header (RFC 8288).
var nextLink = regexp.MustCompile(`^\s*<([^>]*)>\s*;.*\brel="?next"?`)

// nextPage is where the next page is, which has to be on the same host.
func nextPage(resp *http.Response) (string, error) {
	found := nextLink.FindStringSubmatch(resp.Header.Get("Link"))
	if found == nil {
		return "", nil
	}
	at, err := resp.Request.URL.Parse(found[1])
	if err != nil {
		return "", errors.New("where its next page of tags is cannot be read")
	}
	if !sameHost(resp.Request.URL, at) {
		plain := &url.URL{Scheme: at.Scheme, Host: at.Host}
		return "", &egress.HostError{Host: plain.String(), Reason: fmt.Sprintf("the next page of %s leads there", resp.Request.URL.Host)}
	}
	return at.String(), nil
}
