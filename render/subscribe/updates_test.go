package subscribe_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/render/subscribe"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ text, field, problem string }{
		{`{}`, "", ""},
		{`{"mode": false}`, "", ""}, // off, as YAML 1.1 reads it
		{`{"mode": "pullRequest", "hosts": ["ghcr.io", "http://localhost:5000"], "limits": {"perHost": "30/m"}}`, "", ""},
		{`{"mode": "commit"}`, "", ""},
		{`{"mode": "on"}`, "mode", `is "on"; want off, pullRequest or commit`},
		{`{"group": "namespace"}`, "", ""},
		{`{"group": "all"}`, "", ""},
		{`{"group": "some"}`, "group", "want each, namespace or all"},
		{`{"mode": "pullRequest", "automerge": true}`, "", ""},
		{`{"mode": "commit", "automerge": true}`, "automerge", "there are no pull requests"},
		{`{"minimumAge": "-1h"}`, "minimumAge", "want at least 0s"},
		{`{"limits": {"open": 0}}`, "limits.open", "want at least 1"},
		{`{"limits": {"perHour": 0}}`, "limits.perHour", "want at least 1"},
		{`{"limits": {"open": 1, "perHour": 1}}`, "", ""},
		{`{"limits": {"perHost": "1/d"}}`, "limits.perHost", "as 1/s or 30/m"},
		{`{"limits": {"perHost": "0/s"}}`, "limits.perHost", "as 1/s or 30/m"},
		{`{"limits": {"perHost": "/s"}}`, "limits.perHost", "as 1/s or 30/m"},
		{`{"limits": {"perHost": "65536/s"}}`, "limits.perHost", "as 1/s or 30/m"},
		{`{"limits": {"perHost": "1"}}`, "limits.perHost", "as 1/s or 30/m"},
		{`{"hosts": ["ghcr.io/acme"]}`, "hosts", "want a host, as ghcr.io"},
		{`{"hosts": ["ftp://ghcr.io"]}`, "hosts", "want a host"},
		{`{"hosts": ["ftp://localhost"]}`, "hosts", "want a host"},
		{`{"hosts": ["ghcr.io", "https://"]}`, "hosts", "want a host"},
		{`{"hosts": ["https://me:hush@ghcr.io"]}`, "hosts", "want a host"},
		{`{"hosts": ["https://ghcr.io?a=b"]}`, "hosts", "want a host"},
		{`{"hosts": ["ghcr.io:port"]}`, "hosts", "want a host"},
		{`{"hosts": ["http://10.0.0.1:5000"]}`, "hosts", "over http only localhost may be"},
		{`{"hosts": ["https://ghcr.io/", "10.0.0.1:5000", "https://registry.example:5000"]}`, "", ""},
		{`{"hosts": ["http://ghcr.io"]}`, "hosts", "over http only localhost may be"},
		{`{"hosts": ["http://127.0.0.1.example"]}`, "hosts", "over http only localhost may be"},
		{`{"hosts": ["http://[::1]:5000", "http://127.0.0.2", "HTTP://LocalHost"]}`, "", ""},
		{`{"verify": [{"images": ["a/*"]}]}`, "verify[0]", "has no images, or no keys"},
		{`{"verify": [{"images": ["["], "keys": ["k"]}]}`, "verify[0]", "no pattern"},
		{`{"verify": [{"keys": ["k"]}]}`, "verify[0]", "has no images, or no keys"},
		{`{"verify": [{"images": ["a/*", ""], "keys": ["k"]}]}`, "verify[0]", "no pattern"},
		{`{"verify": [{"images": ["a/*"], "keys": ["../k"]}]}`, "verify[0]", "want a file of the source"},
		{`{"verify": [{"images": ["a/*"], "keys": ["k", "/k"]}]}`, "verify[0]", "want a file of the source"},
		{`{"verify": [{"images": ["a/*"], "keys": ["a/../k"]}]}`, "verify[0]", "want a file of the source"},
		{`{"verify": [{"images": ["a/*"], "keys": ["."]}]}`, "verify[0]", "want a file of the source"},
		{`{"verify": [{"images": ["a/*", "b"], "keys": ["k", "keys/cosign.pub"]}, {}]}`, "verify[1]", "has no images"},
	} {
		s := subscribe.Default()
		if err := json.Unmarshal([]byte(tt.text), &s); err != nil {
			t.Fatal(tt.text, err)
		}
		if field, problem := s.Check(); field != tt.field || !strings.Contains(problem, tt.problem) || (problem == "") != (tt.problem == "") {
			t.Errorf("%s: %s %s; want %s %s", tt.text, field, problem, tt.field, tt.problem)
		}
	}
	commits := subscribe.Updates{Mode: subscribe.ModeCommit}
	if !commits.Acts() {
		t.Error("with commits it does not act")
	}
	if err := json.Unmarshal([]byte(`{"mode": false}`), &commits); err != nil || commits.Acts() {
		t.Errorf("without quotes off is %q: %v", commits.Mode, err)
	}
	if s := subscribe.Default(); s.Acts() {
		t.Error("without a file it acts")
	}
	if err := json.Unmarshal([]byte(`{"mode": true}`), &subscribe.Updates{}); err == nil {
		t.Error("true is a mode")
	}
}

func TestPause(t *testing.T) {
	for text, want := range map[string]time.Duration{"1/s": time.Second, "4/s": 250 * time.Millisecond, "30/m": 2 * time.Second, "1/h": time.Hour} {
		if got, err := (subscribe.UpdateLimits{PerHost: text}).Pause(); err != nil || got != want {
			t.Errorf("%s is %s: %v", text, got, err)
		}
	}
}

// The first entry that has an image says whose signature counts.
func TestKeysOf(t *testing.T) {
	s := subscribe.Updates{Verify: []subscribe.Verify{
		{Images: []string{"ghcr.io/acme/web"}, Keys: []string{"web.pub"}}, {Images: []string{"ghcr.io/acme/*"}, Keys: []string{"all.pub"}},
	}}
	for image, want := range map[string]string{"ghcr.io/acme/web": "web.pub", "ghcr.io/acme/api": "all.pub", "ghcr.io/acme/x/y": "", "ghcr.io/other": ""} {
		if got := strings.Join(s.KeysOf(image), ","); got != want {
			t.Errorf("the keys of %s are %q, want %q", image, got, want)
		}
	}
}

// One image has several spellings, and needs the same signature in all of them.
func TestKeysOfOtherSpellings(t *testing.T) {
	for _, pattern := range []string{"acme/*", "docker.io/acme/*", "index.docker.io/acme/web", "Docker.IO/acme/*", "docker.io:443/acme/web"} {
		s := subscribe.Updates{Verify: []subscribe.Verify{{Images: []string{pattern}, Keys: []string{"k"}}}}
		for _, image := range []string{"acme/web", "docker.io/acme/web", "index.docker.io/acme/web", "Docker.io/acme/web", "docker.io:443/acme/web"} {
			if len(s.KeysOf(image)) != 1 {
				t.Errorf("%s does not match %s", pattern, image)
			}
		}
		if len(s.KeysOf("ghcr.io/acme/web")) > 0 {
			t.Errorf("%s matches an image of another host", pattern)
		}
	}
	s := subscribe.Updates{Verify: []subscribe.Verify{{Images: []string{"nginx"}, Keys: []string{"k"}}}}
	for _, image := range []string{"nginx", "library/nginx", "docker.io/nginx", "docker.io/library/nginx"} {
		if len(s.KeysOf(image)) != 1 {
			t.Errorf("nginx does not match %s", image)
		}
	}
	for pattern, image := range map[string]string{
		"localhost/web": "docker.io/localhost/web", "ghcr.io/library/*": "ghcr.io/web", "web:443/api": "docker.io/web/api", "nginx": "localhost/nginx",
	} {
		s.Verify[0].Images[0] = pattern
		if len(s.KeysOf(image)) > 0 {
			t.Errorf("%s matches %s", pattern, image)
		}
	}
	s.Verify[0].Images[0] = "GHCR.io/acme/*"
	if len(s.KeysOf("ghcr.io/acme/web")) != 1 {
		t.Error("the case of a host counts")
	}
}
