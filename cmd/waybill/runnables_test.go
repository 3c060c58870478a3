package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/serve"
)

// Parts that do not lead run at once; those that do run while the replica leads, and each is given
// what wakes it.
func TestRunAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var said []string
		say := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, what)
		}
		woken := make(chan struct{}, 1)
		part := func(name string, leads bool, wakes <-chan struct{}) runnable {
			return runnable{name: name, leads: leads, wakes: wakes, run: func(ctx context.Context, wakes <-chan struct{}) error {
				say(name)
				select {
				case <-wakes:
					say(name + " is woken")
				case <-ctx.Done():
				}
				<-ctx.Done()
				say(name + " ends")
				return nil
			}}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- runAll(ctx, slog.New(slog.DiscardHandler), []runnable{part("poller", false, nil), part("loop", true, woken)},
				func(ctx context.Context, work func(context.Context) error) error {
					time.Sleep(time.Minute)
					say("leads")
					return work(ctx)
				})
		}()
		synctest.Wait()
		wake(woken)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if want := []string{"poller", "leads", "loop", "loop is woken"}; !slices.Equal(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
		cancel()
		if err := <-done; err != nil || !slices.Contains(said, "loop ends") || !slices.Contains(said, "poller ends") {
			t.Errorf("%v, %q", err, said)
		}
	})
}

// A part that fails ends all others, whether it leads or not, and its error is that of all.
func TestAPartThatFailsEndsAll(t *testing.T) {
	broken := errors.New("broken")
	for _, leads := range []bool{true, false} {
		waits := alone(func(ctx context.Context) error { <-ctx.Done(); return nil })
		fails := alone(func(context.Context) error { return broken })
		parts := []runnable{{name: "a", leads: true, run: waits}, {name: "b", run: waits}, {name: "c", leads: leads, run: fails}}
		if err := runAll(t.Context(), slog.New(slog.DiscardHandler), parts, always); !errors.Is(err, broken) {
			t.Errorf("leads %v: %v", leads, err)
		}
	}
}

// What wakes a part waits for it, once, and nobody waits for the part.
func TestWake(t *testing.T) {
	w := newWakes()
	wake(w.pulled)
	wake(w.pulled)
	if len(w.pulled) != 1 || len(w.commented)+len(w.source)+len(w.published) != 0 {
		t.Error("a wake is lost, or is there twice, or is somebody else's")
	}
}

// TestWhatWebhooksWake: a push whoever looks at branches and reads comments, a comment who reads them, a pull request who shows it, too;
// and what nobody signed nobody.
func TestWhatWebhooksWake(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	const text = "a-secret-of-webhooks-and-nothing-else"
	if err := os.WriteFile(secret, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for event, want := range map[string]string{
		"push": "source commented", "issue_comment": "commented", "pull_request": "commented pulled", "star": "", "push of branches": "source commented",
		"push of nobody": "", "push unsigned": "",
	} {
		free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := free.Addr().String()
		if err := free.Close(); err != nil {
			t.Fatal(err)
		}
		f := &webhookFlags{listen: at, secretFile: secret, also: []string{"acme/branches"}, forge: &forgeflags.Flags{Kind: "gitea", Repository: "acme/fleet"}}
		c := &controller{server: serve.New(), wakes: newWakes()}
		ctx, cancel := context.WithCancel(t.Context())
		parts, err := f.parts(ctx, c)
		if err != nil || len(parts) != 1 || parts[0].leads {
			t.Fatalf("%d parts: %v", len(parts), err)
		}
		ended := make(chan error, 1)
		go func() { ended <- parts[0].run(ctx, nil) }()
		what, of, _ := strings.Cut(event, " ")
		repository := map[string]string{"of branches": "acme/branches", "of nobody": "acme/other"}[of]
		body := []byte(`{"action": "created", "repository": {"full_name": "` + cmp.Or(repository, "acme/fleet") + `"}}`)
		mac := hmac.New(sha256.New, []byte(text))
		mac.Write(body)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at+"/webhooks/gitea", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-GitHub-Event", what)
		req.Header.Set("X-Gitea-Signature", hex.EncodeToString(mac.Sum(nil)))
		if of == "unsigned" {
			req.Header.Set("X-Gitea-Signature", hex.EncodeToString(mac.Sum([]byte{1})))
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		var woken []string
		for _, w := range []struct {
			name string
			c    chan struct{}
		}{{"source", c.wakes.source}, {"published", c.wakes.published}, {"commented", c.wakes.commented}, {"pulled", c.wakes.pulled}} {
			if len(w.c) > 0 {
				woken = append(woken, w.name)
			}
		}
		if got := strings.Join(woken, " "); got != want || (res.StatusCode == http.StatusUnauthorized) != (of == "unsigned") {
			t.Errorf("%s, answered %d, wakes %q, want %q", event, res.StatusCode, got, want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestWhatATurnOfTheLoopWakes: whoever applies, if something was published, and nobody else.
func TestWhatATurnOfTheLoopWakes(t *testing.T) {
	for _, tt := range []struct {
		turn  reconciler.Sync
		wakes bool
	}{
		{reconciler.Sync{}, true}, {reconciler.Sync{UpToDate: true}, false}, {reconciler.Sync{Err: errors.New("the disk is full")}, false},
	} {
		told := 0
		c := &controller{server: serve.New(), wakes: newWakes(), tell: func(...events.Event) { told++ }}
		c.report(tt.turn)
		if (len(c.wakes.published) > 0) != tt.wakes || len(c.wakes.source)+len(c.wakes.commented)+len(c.wakes.pulled) > 0 || told != 1 {
			t.Errorf("of %+v told was %d times, and who applies woken: %t", tt.turn, told, len(c.wakes.published) > 0)
		}
	}
}
