package forge_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
)

const hookSecret = "for-the-test-and-nothing-else"

func TestParseSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"": "there is no secret", "\n \n": "there is no secret", "short": "has 5 bytes", hookSecret + "\nshort\n": "has 5 bytes",
	} {
		if _, err := forge.ParseSecrets([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "short") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The least that a secret has is enough, and each line is one.
func TestSecretsOfLines(t *testing.T) {
	secrets, err := forge.ParseSecrets([]byte("  0123456789abcdef\r\n\nfedcba9876543210"))
	if err != nil || len(secrets) != 2 || string(secrets[0]) != "0123456789abcdef" || string(secrets[1]) != "fedcba9876543210" {
		t.Errorf("%q, %v", secrets, err)
	}
}

// A message is read once it is proven, and says what its header says it is.
func TestWebhook(t *testing.T) {
	const hub, lab = `{"action": "created", "repository": {"full_name": "acme/fleet"}}`, `{"project": {"path_with_namespace": "acme/fleet"}}`
	is := func(e forge.Event) forge.Event { e.Repository = "acme/fleet"; return e }
	for _, tt := range []struct {
		name, body, what string
		kind             forge.Kind
		want             forge.Event
	}{
		{"a push", hub, "push", forge.GitHub, is(forge.Event{Pushed: true})},
		{"a new branch", hub, "create", forge.Gitea, is(forge.Event{Pushed: true})},
		{"a branch that is gone", hub, "delete", forge.GitHub, is(forge.Event{Pushed: true})},
		{"a ping", hub, "ping", forge.GitHub, is(forge.Event{})},
		{"a comment", hub, "issue_comment", forge.Gitea, is(forge.Event{Commented: true})},
		{"a comment that was edited", strings.Replace(hub, "created", "edited", 1), "issue_comment", forge.GitHub, is(forge.Event{})},
		{"a pull request", hub, "pull_request", forge.GitHub, is(forge.Event{Pulled: true})},
		{"another head at Gitea", hub, "pull_request_sync", forge.Gitea, is(forge.Event{Pulled: true})},
		{"a push to GitLab", lab, "Push Hook", forge.GitLab, is(forge.Event{Pushed: true})},
		{"a note of an older GitLab", lab, "Note Hook", forge.GitLab, is(forge.Event{Commented: true})},
		{"a note", `{"object_attributes": {"action": "create"}}`, "Note Hook", forge.GitLab, forge.Event{Commented: true}},
		{"a tag of GitLab", lab, "Tag Push Hook", forge.GitLab, is(forge.Event{})},
		{"a comment on a pull request at Gitea", hub, "pull_request_comment", forge.Gitea, is(forge.Event{Commented: true})},
		{"a comment that was deleted", strings.Replace(hub, "created", "deleted", 1), "pull_request_comment", forge.Gitea, is(forge.Event{})},
		{"a note that was edited", `{"object_attributes": {"action": "update"}}`, "Note Hook", forge.GitLab, forge.Event{}},
		{"a merge request", lab, "Merge Request Hook", forge.GitLab, is(forge.Event{Pulled: true})},
	} {
		w := forge.Webhook{Kind: tt.kind, Secrets: [][]byte{[]byte("another, which is older"), []byte(hookSecret)}}
		got, err := w.Read(proof(tt.kind, tt.what, tt.body), []byte(tt.body))
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
		w.Secrets[0], w.Secrets[1] = w.Secrets[1], w.Secrets[0]
		if got, err := w.Read(proof(tt.kind, tt.what, tt.body), []byte(tt.body)); err != nil || got != tt.want {
			t.Errorf("%s, by the first of two secrets: %+v, %v", tt.name, got, err)
		}
		other := forge.Webhook{Kind: tt.kind, Secrets: [][]byte{[]byte(hookSecret + "?")}}
		if _, err := other.Read(proof(tt.kind, tt.what, tt.body), []byte(tt.body)); !errors.Is(err, forge.ErrUnproven) {
			t.Errorf("%s with another secret: %v", tt.name, err)
		}
		if err := other.Admit(proof(tt.kind, tt.what, tt.body)); (err != nil) != (tt.kind == forge.GitLab) {
			t.Errorf("%s with another secret is admitted, or is not before its body is read: %v", tt.name, err)
		}
		none := forge.Webhook{Kind: tt.kind}
		if _, err := none.Read(http.Header{}, []byte(tt.body)); !errors.Is(err, forge.ErrUnproven) {
			t.Errorf("%s without a secret: %v", tt.name, err)
		}
	}
	w := forge.Webhook{Kind: forge.Gitea, Secrets: [][]byte{[]byte(hookSecret)}}
	if _, err := w.Read(proof(forge.Gitea, "push", "x"), []byte("x")); err == nil || errors.Is(err, forge.ErrUnproven) {
		t.Errorf("what is no JSON: %v", err)
	}
}

// proof is the headers of a message.
func proof(kind forge.Kind, what, body string) http.Header {
	h := http.Header{}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(body))
	switch signature := hex.EncodeToString(mac.Sum(nil)); kind {
	case forge.GitLab:
		h.Set("X-Gitlab-Event", what)
		h.Set("X-Gitlab-Token", hookSecret)
	case forge.GitHub:
		h.Set("X-GitHub-Event", what)
		h.Set("X-Hub-Signature-256", "sha256="+signature)
	default:
		h.Set("X-GitHub-Event", what)
		h.Set("X-Gitea-Signature", signature)
	}
	return h
}
