package exchange_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/exchange"
)

// TestOffWithoutQuotes is what YAML reads as false, and means off.
func TestOffWithoutQuotes(t *testing.T) {
	for text, want := range map[string]exchange.Endpoints{"off": exchange.Off, `"off"`: exchange.Off, "apply": exchange.Apply, "external": exchange.External} {
		var s exchange.Services
		if err := yaml.Unmarshal([]byte("endpoints: "+text), &s); err != nil || s.Endpoints != want {
			t.Errorf("%s is read as %q, %v", text, s.Endpoints, err)
		}
	}
	for _, text := range []string{"on", "3", "[off]"} {
		var s exchange.Services
		if err := yaml.Unmarshal([]byte("endpoints: "+text), &s); err == nil {
			t.Errorf("%s is read as %q", text, s.Endpoints)
		}
	}
}

// TestWhatServicesMayBe: which words, and from when to when.
func TestWhatServicesMayBe(t *testing.T) {
	with := func(edit func(*exchange.Services)) exchange.Services {
		s := exchange.Default()
		edit(&s)
		return s
	}
	interval := func(d time.Duration) exchange.Services {
		return with(func(s *exchange.Services) { s.MinInterval = metav1.Duration{Duration: d} })
	}
	stale := func(d time.Duration) exchange.Services {
		return with(func(s *exchange.Services) { s.StaleAfter = metav1.Duration{Duration: d} })
	}
	for _, tt := range []struct {
		name        string
		s           exchange.Services
		field, want string
	}{
		{"the default", exchange.Default(), "", ""},
		{"apply, by branches", exchange.Services{Endpoints: exchange.Apply, Bus: exchange.Branch}, "", ""},
		{"external, by what is usual", exchange.Services{Endpoints: exchange.External}, "", ""},
		{"endpoints on branches", with(func(s *exchange.Services) { s.Endpoints = "branch" }), "endpoints", "writes no endpoints to branches"},
		{"another word", with(func(s *exchange.Services) { s.Endpoints = "Off" }), "endpoints", `is "Off"; want one of off, apply, external`},
		{"none", with(func(s *exchange.Services) { s.Endpoints = "" }), "endpoints", `is ""; want one of`},
		{"another bus", with(func(s *exchange.Services) { s.Bus = "tags" }), "bus", `is "tags"; want one of refs, branch`},
		{"the shortest interval", interval(time.Second), "", ""},
		{"a shorter one", interval(time.Second - 1), "minInterval", "want 0s, or from 1s to 10m0s"},
		{"a negative one", interval(-time.Second), "minInterval", "is -1s"},
		{"the longest one", interval(10 * time.Minute), "", ""},
		{"a longer one", interval(10*time.Minute + 1), "minInterval", "want 0s, or from 1s to 10m0s"},
		{"silent for as short as may be", stale(30 * time.Second), "", ""},
		{"shorter", stale(30*time.Second - 1), "staleAfter", "want 0s, or 30s or more"},
		{"negative", stale(-1), "staleAfter", "want 0s, or 30s or more"},
	} {
		field, problem := tt.s.Check()
		if field != tt.field || !strings.Contains(problem, tt.want) || (problem == "") != (field == "") {
			t.Errorf("%s: %q %s; want %q %s", tt.name, field, problem, tt.field, tt.want)
		}
	}
}
