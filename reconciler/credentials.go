package reconciler

import (
	"time"

	"github.com/waybill-dev/waybill/reconciler/clusters"
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
func (p *pace) hold(app *Application, now time.Time) {
	app.news = newsOf(now, app.Credential, p.credential)
	if app.Credential != (clusters.Credential{}) {
		p.credential = app.Credential
	}
}

// Rotated reports whether the credential is another one than that of the round before.
func (a *Application) Rotated() bool { return a.news.Rotated }

// credentialEvents are those of the credential.
func (a *Application) credentialEvents() []Event {
	var all []Event
	if a.news.Rotated {
		e := event(a.Cluster, "CredentialRotated", "the credential is another one than before")
		e.Warning = false
		all = append(all, e)
	}
	if a.news.Ending {
		all = append(all, event(a.Cluster, "CredentialExpiring", "the credential is valid until %s; replace it", a.Credential.Until.UTC().Format(time.RFC3339)))
	}
	return all
}

// logCredential says what there is to say of the credential.
func (f *Follower) logCredential(app *Application) {
	if app.news.Rotated {
		f.Log.Info("credential rotated", "cluster", app.Cluster, "until", app.Credential.Until)
	}
	if app.news.Ending {
		f.Log.Warn("credential expires", "cluster", app.Cluster, "until", app.Credential.Until)
	}
}

// recorded is when the credential ends, as a status says it; zero for none, and for one that a
// machine replaces all day: each replacement would be a commit.
func (a *Application) recorded() time.Time {
	if !a.Credential.IsLong() {
		return time.Time{}
	}
	return a.Credential.Until
}
