package forge

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// App is a GitHub App that is installed where the repository is.
type App struct {
	ID  string // the client ID, or the number, of the app
	Key []byte // its private key, as PEM
}

// installation asks as a GitHub App. It proves which app it is with a JSON Web Token (RFC 7519),
// and gets for that a token of the installation, which lasts an hour.
type installation struct {
	client *client
	issuer string
	key    *rsa.PrivateKey
	turn   chan struct{} // who holds its one place has the rest
	token  string
	until  time.Time
	login  string // under which it comments
}

// The times of a JSON Web Token: it is valid a little before now, because clocks differ, and
// GitHub takes none that is valid for more than ten minutes. A token of the installation is
// made anew before it ends.
const (
	jwtBefore = time.Minute
	jwtAfter  = 8 * time.Minute
	tokenRest = 5 * time.Minute
)

// key reads the private key.
func (a *App) key() (*rsa.PrivateKey, error) {
	wrong := errors.New("the private key of the GitHub App is none; want the PEM file that GitHub made")
	block, _ := pem.Decode(a.Key)
	if block == nil || a.ID == "" {
		return nil, wrong
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if rsaKey, ok := key.(*rsa.PrivateKey); ok && err == nil {
		return rsaKey, nil
	}
	return nil, wrong
}

// installed returns what asks as the app.
func (a *App) installed(c *client) (*installation, error) {
	key, err := a.key()
	return &installation{client: c, issuer: a.ID, key: key, turn: make(chan struct{}, 1)}, err
}

// credential returns a token that is valid for some time.
func (i *installation) credential(ctx context.Context) (string, error) {
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if now := i.client.now(); i.token == "" || !now.Before(i.until.Add(-tokenRest)) {
		if err := i.renew(ctx, now); err != nil {
			return "", err
		}
	}
	return i.token, nil
}

// name is the login under which the app comments.
func (i *installation) name(ctx context.Context) (string, error) {
	_, err := i.credential(ctx)
	return i.login, err
}

// renew gets a token of the installation, for the one repository.
func (i *installation) renew(ctx context.Context, now time.Time) error {
	jwt, err := sign(i.key, i.issuer, now)
	if err != nil {
		return err
	}
	var app struct {
		Slug string `json:"slug"`
	}
	var at struct {
		ID int64 `json:"id"`
	}
	var made struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(i.client.at, "/repos/"), "/")
	asApp := func(k call) error {
		k.bearer = jwt
		return i.client.do(ctx, k)
	}
	err = asApp(get("asking which app this is", "//app", &app))
	if err == nil {
		err = asApp(get("asking where the app is installed", "/installation", &at))
	}
	if err == nil {
		err = asApp(call{
			doing: "making a token of the app's installation", method: http.MethodPost, path: fmt.Sprintf("//app/installations/%d/access_tokens", at.ID),
			in: map[string]any{"repositories": []string{name}}, out: &made, again: true,
		})
	}
	if err != nil {
		return err
	}
	i.token, i.until, i.login = made.Token, made.ExpiresAt, app.Slug+"[bot]"
	return nil
}

// sign makes a JSON Web Token (RFC 7515, with RS256).
func sign(key *rsa.PrivateKey, issuer string, now time.Time) (string, error) {
	part := func(v any) string {
		data, _ := json.Marshal(v) // of texts and numbers
		return base64.RawURLEncoding.EncodeToString(data)
	}
	text := part(map[string]string{"alg": "RS256", "typ": "JWT"}) + "." +
		part(map[string]any{"iat": now.Add(-jwtBefore).Unix(), "exp": now.Add(jwtAfter).Unix(), "iss": issuer})
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		return "", fmt.Errorf("signing with the key of the GitHub App: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
