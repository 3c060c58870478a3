package applier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
)

// What is said of a credential is when it ends and that it changed, and never what it is.
func TestWhatIsToldOfACredential(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	known := func(token string, lasts, left time.Duration) clusters.Credential {
		c := clusters.CredentialOf(&rest.Config{BearerToken: token})
		if lasts > 0 {
			c.Lifetime = credential.Lifetime{From: now.Add(left - lasts), Until: now.Add(left)}
		}
		return c
	}
	const year, quarter = 365 * 24 * time.Hour, 15 * time.Minute
	one, other := known("CANARY-1", year, year/2), known("CANARY-2", year, year/2)
	for _, c := range []struct {
		name    string
		was, is clusters.Credential
		want    string
		until   time.Time // in the status
	}{
		{"the first", clusters.Credential{}, one, "", now.Add(year / 2)},
		{"the same", one, one, "", now.Add(year / 2)},
		{"another", one, other, "CredentialRotated the credential is another one than before", now.Add(year / 2)},
		{"one that says nothing", one, known("CANARY-2", 0, 0), "CredentialRotated the credential is another one than before", time.Time{}},
		{"about to end", one, known("CANARY-1", year, time.Hour), "*CredentialExpiring the credential is valid until 2026-11-22T13:00:00Z; replace it", now.Add(time.Hour)},
		{"ended", one, known("CANARY-1", year, -time.Hour), "*CredentialExpiring the credential is valid until 2026-11-22T11:00:00Z; replace it", now.Add(-time.Hour)},
		{"a short one", known("CANARY-1", quarter, 5*time.Minute), known("CANARY-2", quarter, quarter), "CredentialRotated the credential is another one than before", time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := backoff{credential: c.was}
			res := Result{Cluster: "eu-1", Credential: c.is, observed: observed{reached: true}}
			b.hold(&res, now)
			var got []string
			for _, e := range res.Events() {
				got = append(got, map[bool]string{true: "*"}[e.Warning]+e.Reason+" "+e.Message)
			}
			if d := cmp.Diff(c.want, strings.Join(got, "; ")); d != "" {
				t.Error(d)
			}
			if until := res.Round().Expires; !until.Equal(c.until) {
				t.Errorf("the status says until %s, want %s", until, c.until)
			}
			if said := fmt.Sprintf("%+v %v", res, got); strings.Contains(said, "CANARY") {
				t.Errorf("the credential itself is in %s", said)
			}
			if b.credential != c.is {
				t.Error("the next round compares with another one")
			}
		})
	}
	b := backoff{credential: one}
	b.hold(&Result{}, now) // no cluster was reached
	if b.credential != one {
		t.Error("a round without a credential is forgotten with what was before it")
	}
}
