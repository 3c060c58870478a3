package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/reconciler/ui"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
	"github.com/waybill-dev/waybill/sources/forge"
)

// uiFlags say where the web UI is, and who may look at it.
type uiFlags struct {
	listen, url, userHeader, issuer, clientID, secretFile, keyFile string
	trusted, groups                                                []string
}

// addUIFlags adds these flags.
func addUIFlags(cmd *cobra.Command) *uiFlags {
	f, flags := &uiFlags{}, cmd.Flags()
	flags.StringVar(&f.listen, "ui-listen", "", "address for the web UI, as 127.0.0.1:8090; empty for none; see docs/ui.md")
	flags.StringVar(&f.url, "ui-url", "", "URL of the web UI as people type it, as https://waybill.example.com; OIDC needs it, and comments of --previews link there")
	flags.StringVar(&f.userHeader, "ui-user-header", "", "header in which a reverse proxy says who asks, as X-Forwarded-User")
	flags.StringArrayVar(&f.trusted, "ui-trusted-proxies", nil, "range of addresses from which --ui-user-header counts, as 10.0.0.0/8; repeat for more")
	flags.StringVar(&f.issuer, "ui-oidc-issuer", "", "URL of the OpenID Connect provider at which people log in")
	flags.StringVar(&f.clientID, "ui-oidc-client-id", "", "client that the provider knows the web UI as; its redirect URL is that of --ui-url with /login/callback")
	flags.StringVar(&f.secretFile, "ui-oidc-client-secret-file", "", "file with the secret of that client; none for a public client")
	flags.StringArrayVar(&f.groups, "ui-oidc-allowed-groups", nil, `group that may look, by the claim "groups"; repeat for more; '*' for everybody whom the provider lets in`)
	flags.StringVar(&f.keyFile, "ui-cookie-key-file", "", "file of at least 32 random bytes that seal sessions, which replicas share (default: sessions end with the process)")
	return f
}

// open makes the web UI; nil if there is to be none. The source is at a forge of a kind, which is empty where nobody says it.
func (f *uiFlags) open(loop *reconciler.Loop, elect bool, at forge.Kind) (*ui.UI, error) {
	if f.listen == "" {
		return nil, f.unused()
	}
	if f.url != "" {
		at, err := url.Parse(f.url)
		if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" {
			return nil, fmt.Errorf("--ui-url is %q; want one without a path, as https://waybill.example.com", f.url)
		}
		f.url = at.Scheme + "://" + at.Host
	}
	guard, err := f.guard(loop, elect)
	if err != nil {
		return nil, err
	}
	const least, most = time.Second, 10 * time.Second
	return &ui.UI{
		Reader: &facts.Reader{Reconciler: forOthers(*loop.Reconciler), Rev: loop.Rev, Forge: at, Fresh: min(max(loop.Interval, least), most)},
		Guard:  guard, Now: time.Now, Log: loop.Log,
	}, nil
}

// previews has a web UI show pull requests, if there is one, and returns where.
func (f *uiFlags) previews(shows *ui.UI) pulls.Shown {
	if shows == nil {
		return pulls.Shown{}
	}
	shows.Previews = store.New(shows.Changed)
	return pulls.Shown{Store: shows.Previews, URL: f.url}
}

// unused refuses flags of a web UI that there is not.
func (f *uiFlags) unused() error {
	if f.url+f.userHeader+f.issuer+f.clientID+f.secretFile+f.keyFile != "" || len(f.trusted)+len(f.groups) > 0 {
		return errors.New("flags say how the web UI is, and --ui-listen does not say where: give it an address, as --ui-listen 127.0.0.1:8090")
	}
	return nil
}

// guard is who may look.
func (f *uiFlags) guard(loop *reconciler.Loop, elect bool) (login.Guard, error) {
	switch {
	case f.userHeader != "" && f.issuer != "":
		return nil, errors.New("--ui-user-header and --ui-oidc-issuer are two ways to log in; keep one")
	case f.userHeader != "":
		if len(f.trusted) == 0 {
			return nil, errors.New("--ui-user-header counts only from proxies that are named: add --ui-trusted-proxies, as --ui-trusted-proxies 10.0.0.0/8")
		}
		trusted, err := login.ParseTrusted(f.trusted)
		if err != nil {
			return nil, fmt.Errorf("reading --ui-trusted-proxies: %w", err)
		}
		return &login.Proxy{Header: f.userHeader, Trusted: trusted}, nil
	case f.issuer != "":
		return f.oidc(loop, elect)
	case !onLoopback(f.listen):
		return nil, fmt.Errorf("--ui-listen %s is reached from elsewhere, and nobody would have to log in: add --ui-oidc-issuer, or --ui-user-header with --ui-trusted-proxies, or listen on 127.0.0.1; docs/ui.md says how", f.listen)
	}
	return login.Open{}, nil
}

// onLoopback reports an address that only this machine reaches.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// oidc has people log in at a provider.
func (f *uiFlags) oidc(loop *reconciler.Loop, elect bool) (login.Guard, error) {
	switch {
	case f.url == "":
		return nil, errors.New("--ui-oidc-issuer needs to know where people find the web UI: add --ui-url, as https://waybill.example.com")
	case f.clientID == "":
		return nil, errors.New("--ui-oidc-issuer needs --ui-oidc-client-id: as whom does the provider know the web UI?")
	case len(f.groups) == 0:
		return nil, errors.New("say who may look: --ui-oidc-allowed-groups GROUP, or '*' for everybody whom the provider lets in")
	case elect && f.keyFile == "":
		return nil, errors.New("several replicas need one key for sessions: --ui-cookie-key-file; head -c 32 /dev/urandom makes one")
	}
	o := &login.OIDC{
		Issuer: f.issuer, ClientID: f.clientID, Groups: f.groups, URL: f.url,
		Random: rand.Text, Now: time.Now, Log: loop.Log,
	}
	if f.secretFile != "" {
		secret, err := os.ReadFile(f.secretFile)
		if err != nil {
			return nil, fmt.Errorf("reading --ui-oidc-client-secret-file: %w", err)
		}
		o.ClientSecret = string(bytes.TrimSpace(secret))
	}
	key, err := f.key()
	o.Key = key
	return o, err
}

// key is that of sessions.
func (f *uiFlags) key() (login.Key, error) {
	if f.keyFile == "" {
		return login.RandomKey()
	}
	from, err := os.ReadFile(f.keyFile)
	if err != nil {
		return login.Key{}, fmt.Errorf("reading --ui-cookie-key-file: %w", err)
	}
	key, err := login.NewKey(from)
	if err != nil {
		return key, fmt.Errorf("reading --ui-cookie-key-file: %w", err)
	}
	return key, nil
}

// parts serve the web UI, if there is one.
func (f *uiFlags) parts(ctx context.Context, c *controller) ([]runnable, error) {
	if c.ui == nil {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", f.listen, err)
	}
	c.ui.Log.InfoContext(ctx, "web UI", "url", "http://"+l.Addr().String()+"/")
	return []runnable{{name: "web UI", run: alone(func(ctx context.Context) error {
		c.ui.Stop = ctx.Done()
		return serve.Serve(ctx, l, c.ui.Handler())
	})}}, nil
}
