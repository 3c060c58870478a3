// Package subscribe says how a source takes new versions of images and charts: updates of waybill.yaml, as a value. Which
// images there are, the objects of package policies/images say.
package subscribe

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Updates are updates of waybill.yaml.
type Updates struct {
	Mode Mode `json:"mode"` // what becomes of new versions
	// Schedule are cron lines: pull requests are opened, or commits made, once each time that one of them comes about; none:
	// whenever somebody looks.
	Schedule []string `json:"schedule"`
	// Lines are those of the schedule in waybill.yaml.
	Lines    []int  `json:"-"`
	TimeZone string `json:"timeZone"` // of the IANA database; empty is UTC
	// MinimumAge is how long a version has to have been seen before it is taken.
	MinimumAge metav1.Duration `json:"minimumAge"`
	Major      bool            `json:"major"` // a version of a higher major may be taken
	Group      string          `json:"group"` // what one pull request is about
	Limits     UpdateLimits    `json:"limits"`
	Hosts      []string        `json:"hosts"`     // registries that may be asked, beside charts.hosts
	Verify     []Verify        `json:"verify"`    // the first that has an image says who has to have signed it
	Automerge  bool            `json:"automerge"` // pull requests that nobody else committed to are merged
}

// UpdateLimits bound what is done at once.
type UpdateLimits struct {
	Open    int    `json:"open"`    // pull requests that may be open at once
	PerHour int    `json:"perHour"` // pull requests that may be opened, or commits that may be made, in an hour
	PerHost string `json:"perHost"` // how often a registry is asked, as 1/s or 30/m
}

// Verify says by which keys images have to be signed.
type Verify struct {
	Images []string `json:"images"` // patterns, as ghcr.io/acme/*
	Keys   []string `json:"keys"`   // files of the source with public keys, as cosign writes them
}

// Mode is what becomes of new versions.
type Mode string

// The modes: nothing, pull requests, or commits to the branch that is followed.
const (
	ModeOff         Mode = "off"
	ModePullRequest Mode = "pullRequest"
	ModeCommit      Mode = "commit"
)

// UnmarshalJSON reads a mode. Without quotes YAML 1.1 reads off as false.
func (m *Mode) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		*m = ModeOff
		return nil
	}
	return json.Unmarshal(data, (*string)(m))
}

// What one pull request is about: a policy or a chart, those of a namespace (charts have one of their own), or all.
const (
	GroupEach      = "each"
	GroupNamespace = "namespace"
	GroupAll       = "all"
)

// Default returns the settings of a source that states none.
func Default() Updates {
	return Updates{Mode: ModeOff, Group: GroupEach, Limits: UpdateLimits{Open: 5, PerHour: 2, PerHost: "1/s"}}
}

// Acts reports whether the objects of package policies/images act here, and are not delivered.
func (s *Updates) Acts() bool { return s.Mode != ModeOff }

// Check names the first field with a problem.
func (s *Updates) Check() (field, problem string) {
	switch {
	case s.Mode != ModeOff && s.Mode != ModePullRequest && s.Mode != ModeCommit:
		return "mode", fmt.Sprintf("is %q; want %s, %s or %s", s.Mode, ModeOff, ModePullRequest, ModeCommit)
	case s.Group != GroupEach && s.Group != GroupNamespace && s.Group != GroupAll:
		return "group", fmt.Sprintf("is %q; want %s, %s or %s", s.Group, GroupEach, GroupNamespace, GroupAll)
	case s.Automerge && s.Mode == ModeCommit:
		return "automerge", "is true, and with mode: commit there are no pull requests; want false"
	case s.MinimumAge.Duration < 0:
		return "minimumAge", fmt.Sprintf("is %s; want at least 0s", s.MinimumAge.Duration)
	case s.Limits.Open < 1:
		return "limits.open", fmt.Sprintf("is %d; want at least 1", s.Limits.Open)
	case s.Limits.PerHour < 1:
		return "limits.perHour", fmt.Sprintf("is %d; want at least 1", s.Limits.PerHour)
	}
	if _, err := s.Limits.Pause(); err != nil {
		return "limits.perHost", err.Error()
	}
	for _, h := range s.Hosts {
		if !isHost(h) {
			return "hosts", fmt.Sprintf("holds %q; want a host, as ghcr.io, which is asked over https; over http only localhost may be", h)
		}
	}
	for i := range s.Verify {
		if p := s.Verify[i].problem(); p != "" {
			return fmt.Sprintf("verify[%d]", i), p
		}
	}
	return "", ""
}

// isHost reports a host alone, or with a scheme as charts.hosts has it: http only for one that is this machine.
func isHost(h string) bool {
	if !strings.Contains(h, "://") {
		h = "https://" + h
	}
	u, err := url.Parse(h)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	isLoopback := strings.EqualFold(u.Hostname(), "localhost") || err == nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback
}

// Pause is the least time between two requests to a host.
func (l UpdateLimits) Pause() (time.Duration, error) {
	count, per, _ := strings.Cut(l.PerHost, "/")
	unit, known := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[per]
	n, err := strconv.ParseUint(count, 10, 16)
	if err != nil || n == 0 || !known {
		return 0, fmt.Errorf("is %q; want so many in a second, a minute or an hour, as 1/s or 30/m", l.PerHost)
	}
	return unit / time.Duration(n), nil
}

// problem says what is wrong.
func (v *Verify) problem() string {
	if len(v.Images) == 0 || len(v.Keys) == 0 {
		return "has no images, or no keys; write images: [ghcr.io/acme/*] and keys: [cosign.pub]"
	}
	for _, p := range v.Images {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fmt.Sprintf("has the image %q, which is no pattern", p)
		}
	}
	for _, k := range v.Keys {
		if k != path.Clean(k) || path.IsAbs(k) || strings.HasPrefix(k, "..") || k == "." {
			return fmt.Sprintf("has the key %q; want a file of the source, as cosign.pub", k)
		}
	}
	return ""
}

// KeysOf are the files of keys by which an image has to be signed; none where nobody asks for it. A * of a pattern
// stands for no slash. The image and the pattern match as they are written, and as normalized has them.
func (s *Updates) KeysOf(image string) []string {
	matches := func(pattern string) bool {
		for _, p := range []string{pattern, normalized(pattern)} {
			for _, spelling := range []string{image, normalized(image)} {
				if ok, _ := path.Match(p, spelling); ok {
					return true
				}
			}
		}
		return false
	}
	for i := range s.Verify {
		if slices.ContainsFunc(s.Verify[i].Images, matches) {
			return s.Verify[i].Keys
		}
	}
	return nil
}

// normalized is the one spelling of an image, or of a pattern of images, that Docker's rules give it: in small letters, with the
// host but not the port of https, and with library/ before a name of docker.io alone.
func normalized(image string) string {
	host, rest, is := strings.Cut(strings.ToLower(image), "/")
	host = strings.TrimSuffix(host, ":443")
	if is = is && (host == "localhost" || strings.ContainsAny(host, ".:")); !is {
		host, rest = "docker.io", strings.ToLower(image)
	}
	if host == "index.docker.io" {
		host = "docker.io"
	}
	if host == "docker.io" && !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	return host + "/" + rest
}
