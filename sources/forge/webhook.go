package forge

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Webhook reads the messages that a forge sends of repositories. Who says it is proven before
// anything of it is read: by a token (GitLab), or by a signature over the bytes that came.
type Webhook struct {
	Kind    Kind
	Secrets [][]byte // any of which proves it, so that one can be replaced
}

// Event is what of a message counts.
type Event struct {
	Repository string // by its whole name, as owner/name
	Pushed     bool   // a branch moved, or there is a new one, or one is gone
	Commented  bool   // somebody made a comment on a pull request
	Pulled     bool   // a pull request is there, or has another head
}

// ErrUnproven says that it is not proven who sent a message.
var ErrUnproven = errors.New("it is not proven who sent the message")

// unproven is an ErrUnproven that says what is not as it should be.
type unproven string

func (e unproven) Error() string      { return string(e) }
func (unproven) Is(target error) bool { return target == ErrUnproven }

// leastSecret is how long a secret of webhooks is at least, for it must not be guessed.
const leastSecret = 16 // bytes

// ParseSecrets reads the secrets of webhooks, one a line.
func ParseSecrets(text []byte) (secrets [][]byte, err error) {
	for line := range bytes.Lines(text) {
		if secret := bytes.TrimSpace(line); len(secret) >= leastSecret {
			secrets = append(secrets, secret)
		} else if len(secret) > 0 {
			return nil, fmt.Errorf("a secret of webhooks has %d bytes, and needs at least %d: anybody could guess it", len(secret), leastSecret)
		}
	}
	if len(secrets) == 0 {
		return nil, errors.New("there is no secret of webhooks, and without one anybody could send them")
	}
	return secrets, nil
}

// Admit is an error, which is ErrUnproven, if the headers of a message already show that it is
// not proven. So the body of a stranger is not read.
func (w *Webhook) Admit(header http.Header) error {
	if w.Kind == GitLab && !w.known([]byte(header.Get("X-Gitlab-Token"))) {
		return unproven("the token is not the secret")
	}
	return nil
}

// Read reads a message. The error is ErrUnproven where it is not proven who sent it; any other
// says that it is no message.
func (w *Webhook) Read(header http.Header, body []byte) (Event, error) {
	if err := w.Admit(header); err != nil {
		return Event{}, err
	}
	if w.Kind != GitLab && !w.signed(header, body) {
		return Event{}, unproven("the signature is not made with the secret")
	}
	var said message
	if err := json.Unmarshal(body, &said); err != nil {
		return Event{}, fmt.Errorf("reading a message of %s: %w", w.Kind, err)
	}
	if w.Kind == GitLab {
		return said.ofGitLab(header.Get("X-Gitlab-Event")), nil
	}
	return said.ofGitHub(header.Get("X-GitHub-Event")), nil
}

// known reports a secret, in a time that does not depend on it.
func (w *Webhook) known(token []byte) bool {
	got, found := sha256.Sum256(token), false
	for _, secret := range w.Secrets {
		want := sha256.Sum256(secret)
		found = hmac.Equal(got[:], want[:]) || found
	}
	return found
}

// signed reports that a body is signed, as GitHub, Gitea and Forgejo do: with HMAC-SHA256 (RFC
// 2104) over its bytes.
func (w *Webhook) signed(header http.Header, body []byte) bool {
	text, github := strings.CutPrefix(header.Get("X-Hub-Signature-256"), "sha256=")
	if !github {
		text = header.Get("X-Gitea-Signature")
	}
	got, err := hex.DecodeString(text)
	found := false
	for _, secret := range w.Secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		found = hmac.Equal(got, mac.Sum(nil)) || found
	}
	return found && err == nil
}

// message is what of the messages of all forges is read. What a message is, its header says.
type message struct {
	Action     string
	Repository struct {
		FullName string `json:"full_name"`
	}
	Project struct {
		Path string `json:"path_with_namespace"`
	}
	ObjectAttributes struct {
		Action string
	} `json:"object_attributes"`
}

func (m *message) ofGitLab(what string) Event {
	made := m.ObjectAttributes.Action == "create" || m.ObjectAttributes.Action == "" // which older versions leave out
	return Event{Repository: m.Project.Path, Pushed: what == "Push Hook", Commented: what == "Note Hook" && made, Pulled: what == "Merge Request Hook"}
}

// ofGitHub reads the message of GitHub, and of Gitea and Forgejo, which say what it is as GitHub does.
func (m *message) ofGitHub(what string) Event {
	return Event{
		Repository: m.Repository.FullName, Pushed: what == "push" || what == "create" || what == "delete",
		Commented: (what == "issue_comment" || what == "pull_request_comment") && m.Action == "created",
		Pulled:    what == "pull_request" || what == "pull_request_sync",
	}
}
