package applier

import (
	"time"

	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/events"
)

// credentialNews is what there is to say of the credential for a cluster.
type credentialNews struct {
	Rotated bool // it is another one than that of the round before
	Ending  bool // it has ended, or is about to
}

// newsOf compares the credential of a round with that of the one before.
func newsOf(now time.Time, is, was clusters.Credential) credentialNews {
	return credentialNews{Rotated: is.Replaces(was), Ending: is.IsEnding(now)}
}

// hold notes with which credential a round was made.
func (b *backoff) hold(res *Result, now time.Time) {
	res.news = newsOf(now, res.Credential, b.credential)
	if res.Credential != (clusters.Credential{}) {
		b.credential = res.Credential
	}
}

// Rotated reports whether the credential is another one than that of the round before.
func (a *Result) Rotated() bool { return a.news.Rotated }

// credentialEvents are those of the credential.
func (a *Result) credentialEvents() []events.Event {
	var all []events.Event
	if a.news.Rotated {
		e := events.Warning(a.Cluster, "CredentialRotated", "the credential is another one than before")
		e.Warning = false
		all = append(all, e)
	}
	if a.news.Ending {
		all = append(all, events.Warning(a.Cluster, "CredentialExpiring", "the credential is valid until %s; replace it", a.Credential.Until.UTC().Format(time.RFC3339)))
	}
	return all
}

// logCredential says what there is to say of the credential.
func (f *Follower) logCredential(res *Result) {
	if res.news.Rotated {
		f.Log.Info("credential rotated", "cluster", res.Cluster, "until", res.Credential.Until)
	}
	if res.news.Ending {
		f.Log.Warn("credential expires", "cluster", res.Cluster, "until", res.Credential.Until)
	}
}

// recorded is when the credential ends, as a status says it; zero for none, and for one that a
// machine replaces all day: each replacement would be a commit.
func (a *Result) recorded() time.Time {
	if !a.Credential.IsLong() {
		return time.Time{}
	}
	return a.Credential.Until
}
