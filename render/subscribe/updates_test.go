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
		{`{"mode": "commit"}`, "mode", "this version does not do yet"},
		{`{"mode": "on"}`, "mode", `is "on"; want off or pullRequest`},
		{`{"group": "namespace"}`, "group", "this version does not do yet"},
		{`{"group": "all"}`, "group", "this version does not do yet"},
		{`{"group": "some"}`, "group", "want each"},
		{`{"automerge": true}`, "automerge", "this version does not do yet"},
		{`{"minimumAge": "-1h"}`, "minimumAge", "want at least 0s"},
		{`{"limits": {"open": 0}}`, "limits.open", "want at least 1"},
		{`{"limits": {"perHour": 0}}`, "limits.perHour", "want at least 1"},
		{`{"limits": {"perHost": "1/d"}}`, "limits.perHost", "as 1/s or 30/m"},
		{`{"hosts": ["ghcr.io/acme"]}`, "hosts", "want a host, as ghcr.io"},
		{`{"hosts": ["ftp://ghcr.io"]}`, "hosts", "want a host"},
		{`{"verify": [{"images": ["a/*"]}]}`, "verify[0]", "has no images, or no keys"},
		{`{"verify": [{"images": ["["], "keys": ["k"]}]}`, "verify[0]", "no pattern"},
		{`{"verify": [{"images": ["a/*"], "keys": ["../k"]}]}`, "verify[0]", "want a file of the source"},
	} {
		s := subscribe.Default()
		if err := json.Unmarshal([]byte(tt.text), &s); err != nil {
			t.Fatal(tt.text, err)
		}
		if field, problem := s.Check(); field != tt.field || !strings.Contains(problem, tt.problem) || (problem == "") != (tt.problem == "") {
			t.Errorf("%s: %s %s; want %s %s", tt.text, field, problem, tt.field, tt.problem)
		}
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
