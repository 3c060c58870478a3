package serve_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/sources/forge"
)

const (
	hookSecret = "for-the-test-and-nothing-else"
	nextSecret = "which-takes-its-place-later"
)

// rung are webhooks, and how often they woke whom.
type rung struct {
	handler                 http.Handler
	server                  *serve.Server
	pushes, comments, pulls atomic.Int64
}

func newRung(tb testing.TB, kind forge.Kind, every time.Duration) *rung {
	tb.Helper()
	r := &rung{server: serve.New()}
	secrets, err := forge.ParseSecrets([]byte(hookSecret + "\n\n" + nextSecret + "\n"))
	if err != nil {
		tb.Fatal(err)
	}
	h := &serve.Hooks{
		Forge: forge.Webhook{Kind: kind, Secrets: secrets}, Repositories: []string{"acme/fleet", "acme/branches"},
		Pushed: serve.NewDebouncer(every, func() { r.pushes.Add(1) }), Commented: serve.NewDebouncer(every, func() { r.comments.Add(1) }),
		Pulled: serve.NewDebouncer(every, func() { r.pulls.Add(1) }),
	}
	r.handler = h.Handler(r.server)
	return r
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

const (
	push    = `{"ref": "refs/heads/main", "repository": {"full_name": "Acme/fleet"}}`
	comment = `{"action": "created", "repository": {"full_name": "acme/fleet"}, "comment": {"body": "/waybill preview"}}`
	labPush = `{"object_kind": "push", "project": {"path_with_namespace": "acme/fleet"}}`
	labNote = `{"object_kind": "note", "project": {"path_with_namespace": "acme/fleet"}, "object_attributes": {"action": "create"}}`
)

func TestWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name, path    string
			kind          forge.Kind
			body, headers string
			status        int
			push, comment int64
		}{
			{"a push to GitHub", "github", forge.GitHub, push, "X-GitHub-Event=push X-Hub-Signature-256=sha256=SIGNED", 202, 1, 0},
			{"a push that the next secret signs", "github", forge.GitHub, push, "X-GitHub-Event=push X-Hub-Signature-256=sha256=NEXT", 202, 1, 0},
			{"a comment at GitHub", "github", forge.GitHub, comment, "X-GitHub-Event=issue_comment X-Hub-Signature-256=sha256=SIGNED", 202, 0, 1},
			{"a ping", "github", forge.GitHub, push, "X-GitHub-Event=ping X-Hub-Signature-256=sha256=SIGNED", 202, 0, 0},
			{"a comment that was edited", "github", forge.GitHub, strings.ReplaceAll(comment, "created", "edited"), "X-GitHub-Event=issue_comment X-Hub-Signature-256=sha256=SIGNED", 202, 0, 0},
			{"another repository", "github", forge.GitHub, strings.ReplaceAll(push, "Acme", "evil"), "X-GitHub-Event=push X-Hub-Signature-256=sha256=SIGNED", 202, 0, 0},
			{"no repository", "github", forge.GitHub, `{}`, "X-GitHub-Event=push X-Hub-Signature-256=sha256=SIGNED", 202, 0, 0},
			{"no signature", "github", forge.GitHub, push, "X-GitHub-Event=push", 401, 0, 0},
			{"an empty signature", "github", forge.GitHub, push, "X-GitHub-Event=push X-Hub-Signature-256=sha256=", 401, 0, 0},
			{"a signature of another body", "github", forge.GitHub, push + " ", "X-GitHub-Event=push X-Hub-Signature-256=sha256=" + sign(hookSecret, []byte(push)), 401, 0, 0},
			{"a signature of another secret", "github", forge.GitHub, push, "X-GitHub-Event=push X-Hub-Signature-256=sha256=" + sign("", []byte(push)), 401, 0, 0},
			{"a signature by SHA-1", "github", forge.GitHub, push, "X-GitHub-Event=push X-Hub-Signature=sha1=SIGNED", 401, 0, 0},
			{"no JSON", "github", forge.GitHub, "payload=%7B%7D", "X-GitHub-Event=push X-Hub-Signature-256=sha256=SIGNED", 400, 0, 0},
			{"of another kind", "github", forge.GitHub, `{"repository": [1]}`, "X-GitHub-Event=push X-Hub-Signature-256=sha256=SIGNED", 400, 0, 0},
			{"another forge", "gitlab", forge.GitHub, labPush, "X-Gitlab-Event=Push+Hook X-Gitlab-Token=" + hookSecret, 404, 0, 0},
			{"a push to Gitea", "gitea", forge.Gitea, push, "X-Gitea-Event=push X-GitHub-Event=push X-Gitea-Signature=SIGNED", 202, 1, 0},
			{"Gitea without a signature", "gitea", forge.Gitea, push, "X-Gitea-Event=push X-GitHub-Event=push", 401, 0, 0},
			{"a token at Gitea", "gitea", forge.Gitea, push, "X-GitHub-Event=push X-Gitlab-Token=" + hookSecret, 401, 0, 0},
			{"a push to GitLab", "gitlab", forge.GitLab, labPush, "X-Gitlab-Event=Push+Hook X-Gitlab-Token=" + hookSecret, 202, 1, 0},
			{"a note at GitLab", "gitlab", forge.GitLab, labNote, "X-Gitlab-Event=Note+Hook X-Gitlab-Token=" + nextSecret, 202, 0, 1},
			{"a note that was edited", "gitlab", forge.GitLab, strings.ReplaceAll(labNote, "create", "update"), "X-Gitlab-Event=Note+Hook X-Gitlab-Token=" + hookSecret, 202, 0, 0},
			{"another token", "gitlab", forge.GitLab, labPush, "X-Gitlab-Event=Push+Hook X-Gitlab-Token=" + hookSecret + "x", 401, 0, 0},
			{"no token", "gitlab", forge.GitLab, labPush, "X-Gitlab-Event=Push+Hook", 401, 0, 0},
		} {
			r := newRung(t, tt.kind, time.Second)
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/"+tt.path, strings.NewReader(tt.body))
			for pair := range strings.FieldsSeq(tt.headers) {
				name, value, _ := strings.Cut(pair, "=")
				value = strings.NewReplacer("SIGNED", sign(hookSecret, []byte(tt.body)), "NEXT", sign(nextSecret, []byte(tt.body)), "+", " ").Replace(value)
				req.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			r.handler.ServeHTTP(w, req)
			if w.Code != tt.status || r.pushes.Load() != tt.push || r.comments.Load() != tt.comment {
				t.Errorf("%s: %d %s, %d pushes, %d comments; want %d, %d, %d", tt.name, w.Code, w.Body, r.pushes.Load(), r.comments.Load(), tt.status, tt.push, tt.comment)
			}
			if strings.Contains(w.Body.String(), hookSecret) {
				t.Errorf("%s: the answer has the secret", tt.name)
			}
			if tt.status == 404 {
				continue // nobody takes it in
			}
			result := map[bool]string{true: "woke", false: "ignored"}[tt.push+tt.comment > 0]
			if tt.status >= 400 {
				result = "refused"
			}
			if want := `waybill_webhooks_total{result="` + result + `"} 1`; !strings.Contains(metrics(t, r.server), want) {
				t.Errorf("%s: there is no %s", tt.name, want)
			}
			head := w.Header()
			if is := head.Get("Connection") == "close"; is != (result == "refused") || head.Get("Content-Type") != "text/plain; charset=utf-8" || head.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: the answer has the headers %v", tt.name, head)
			}
		}
		time.Sleep(time.Minute) // of the bubble: the bells rest
	})
}

// A pull request that is there, or has another head, wakes whoever shows what it does.
func TestWebhooksOfPullRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pull = `{"action": "synchronize", "repository": {"full_name": "acme/fleet"}}`
		const merge = `{"object_kind": "merge_request", "project": {"path_with_namespace": "acme/fleet"}}`
		for _, tt := range []struct {
			kind forge.Kind
			body string
			head map[string]string
		}{
			{forge.GitHub, pull, map[string]string{"X-GitHub-Event": "pull_request", "X-Hub-Signature-256": "sha256=" + sign(hookSecret, []byte(pull))}},
			{forge.Gitea, pull, map[string]string{"X-GitHub-Event": "pull_request", "X-Gitea-Signature": sign(hookSecret, []byte(pull))}},
			{forge.GitLab, merge, map[string]string{"X-Gitlab-Event": "Merge Request Hook", "X-Gitlab-Token": hookSecret}},
		} {
			r := newRung(t, tt.kind, time.Second)
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/"+string(tt.kind), strings.NewReader(tt.body))
			for name, value := range tt.head {
				req.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			r.handler.ServeHTTP(w, req)
			if w.Code != http.StatusAccepted || r.pulls.Load() != 1 || r.pushes.Load()+r.comments.Load() != 0 {
				t.Errorf("%s: %d %s: %d, %d, %d", tt.kind, w.Code, w.Body, r.pulls.Load(), r.pushes.Load(), r.comments.Load())
			}
		}
		time.Sleep(time.Minute) // of the bubble: the bells rest
	})
}

// Where nobody looks at comments, or at pull requests, a message of one wakes nobody.
func TestWebhooksThatNobodyWaitsFor(t *testing.T) {
	woken := 0
	h := &serve.Hooks{
		Forge: forge.Webhook{Kind: forge.Gitea, Secrets: [][]byte{[]byte(hookSecret)}}, Repositories: []string{"acme/fleet"},
		Pushed: serve.NewDebouncer(time.Hour, func() { woken++ }),
	}
	handler := h.Handler(serve.New())
	for _, tt := range []struct {
		what string
		want int
	}{{"issue_comment", 0}, {"pull_request", 0}, {"push", 1}} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/gitea", strings.NewReader(comment))
		req.Header.Set("X-GitHub-Event", tt.what)
		req.Header.Set("X-Gitea-Signature", sign(hookSecret, []byte(comment)))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		if says := strings.HasPrefix(w.Body.String(), "ignored"); w.Code != http.StatusAccepted || woken != tt.want || says != (tt.want == 0) {
			t.Errorf("%s: %d %s, and %d are woken", tt.what, w.Code, w.Body, woken)
		}
	}
}

// held is a body that has come as far as it will, until it is let go.
type held struct {
	begun chan struct{}
	goOn  chan struct{}
	rest  io.Reader
}

func (h *held) Read(p []byte) (int, error) {
	select {
	case h.begun <- struct{}{}:
		<-h.goOn
	case <-h.goOn:
	}
	return h.rest.Read(p)
}

// Of long messages few are read at once, and of those that do not say how long they are; short ones have places of their own, and a place
// that was left is free.
func TestPlacesOfLongMessages(t *testing.T) {
	r := newRung(t, forge.Gitea, time.Hour)
	post := func(length int64, body io.Reader) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/gitea", body)
		req.ContentLength = length
		req.Header.Set("X-GitHub-Event", "push")
		req.Header.Set("X-Gitea-Signature", sign(hookSecret, []byte(push)))
		w := httptest.NewRecorder()
		r.handler.ServeHTTP(w, req)
		return w
	}
	var slow sync.WaitGroup
	h := &held{begun: make(chan struct{}), goOn: make(chan struct{})}
	for n := range 4 {
		length := []int64{-1, 64<<10 + 1}[n%2]
		one := &held{h.begun, h.goOn, strings.NewReader(push)}
		slow.Go(func() {
			if w := post(length, one); w.Code != http.StatusAccepted {
				t.Errorf("a slow one of length %d is answered %d", length, w.Code)
			}
		})
		<-h.begun
	}
	for length, want := range map[int64]int{-1: http.StatusTooManyRequests, 64<<10 + 1: http.StatusTooManyRequests, 64 << 10: http.StatusAccepted, 5<<20 + 1: http.StatusRequestEntityTooLarge} {
		if w := post(length, strings.NewReader(push)); w.Code != want || (w.Header().Get("Connection") == "close") != (want != http.StatusAccepted) {
			t.Errorf("while four are slow one of length %d is answered %d %v, want %d", length, w.Code, w.Header(), want)
		}
	}
	close(h.goOn)
	slow.Wait()
	if w := post(-1, strings.NewReader(push)); w.Code != http.StatusAccepted {
		t.Errorf("after four slow ones one is answered %d", w.Code)
	}
}

// However often the same comes, whoever looks is woken once in an interval, and once more after the
// last.
func TestAFloodWakesOnceInAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const minutes, flood, every = 2, 10_000, 2 * time.Second
		r := newRung(t, forge.Gitea, every)
		for range minutes * 60 {
			for range flood / 60 {
				r.send(t, push, sign(hookSecret, []byte(push)))
			}
			time.Sleep(time.Second)
		}
		if n := r.pushes.Load(); n > minutes*60/2+1 || n < minutes*60/2-1 {
			t.Errorf("%d messages a minute for %d minutes woke %d times", flood, minutes, n)
		}
		time.Sleep(time.Minute)
		before := r.pushes.Load()
		r.send(t, push, sign(hookSecret, []byte(push)))
		r.send(t, push, sign(hookSecret, []byte(push)))
		if now := r.pushes.Load() - before; now != 1 {
			t.Errorf("after a rest two messages woke %d times at once", now)
		}
		time.Sleep(every + time.Millisecond)
		if later := r.pushes.Load() - before; later != 2 {
			t.Errorf("the second of two messages is lost: %d", later)
		}
		time.Sleep(time.Minute)
	})
}

// send sends a message to Gitea's webhook.
func (r *rung) send(tb testing.TB, body, signature string) int {
	tb.Helper()
	req := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/webhooks/gitea", strings.NewReader(body))
	req.Header.Set("X-GitHub-Event", "push")
	req.Header.Set("X-Gitea-Signature", signature)
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, req)
	return w.Code
}

// listens serves webhooks on a port.
func (r *rung) listens(tb testing.TB) (address string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan error, 1)
	go func() { done <- serve.Serve(ctx, l, r.handler) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	return l.Addr().String()
}

// zeros is a body without end.
type zeros struct{ read atomic.Int64 }

func (z *zeros) Read(p []byte) (int, error) {
	z.read.Add(int64(len(p)))
	return len(p), nil
}

// A body of a gigabyte is left, whether it says its length or not, and costs no memory.
func TestALongBody(t *testing.T) {
	r := newRung(t, forge.GitHub, time.Second)
	url := "http://" + r.listens(t) + "/webhooks/github"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, length := range []int64{1 << 30, -1} {
		body := &zeros{}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, io.LimitReader(body, 1<<30))
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = length
		resp, err := http.DefaultClient.Do(req)
		if err == nil { // it may be that the answer is cut off, because not all of the body was read
			resp.Body.Close()
			if resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("a body of %d bytes: %s", length, resp.Status)
			}
		}
		if n := body.read.Load(); n > 64<<20 {
			t.Errorf("of a body of %d bytes %d were taken", length, n)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 64<<20 {
		t.Errorf("it took %d MiB", grown>>20)
	}
}

// Those who send slowly hold no more than the places that there are, and are cut off.
func TestSlowSenders(t *testing.T) {
	r := newRung(t, forge.Gitea, time.Second)
	address := r.listens(t)
	var slow []net.Conn
	for range 200 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST /webhooks/gitea HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
		slow = append(slow, c)
	}
	answered := 0
	for _, c := range slow {
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if answer := make([]byte, 32); must(c.Read(answer)) && bytes.Contains(answer, []byte(" 429 ")) {
			answered++
		}
	}
	if answered < 100 {
		t.Errorf("of 200 slow senders %d were sent away", answered)
	}
	for _, c := range slow {
		_ = c.Close()
	}
	for deadline := time.Now().Add(time.Minute); r.send(t, push, sign(hookSecret, []byte(push))) != http.StatusAccepted; {
		if time.Now().After(deadline) {
			t.Fatal("after slow senders nobody is heard")
		}
	}
}

func must(_ int, err error) bool { return err == nil }

func FuzzWebhooks(f *testing.F) {
	f.Add("push", push)
	f.Add("issue_comment", comment)
	f.Add("push", `{"repository": null}`)
	f.Fuzz(func(t *testing.T, what, body string) {
		for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea} {
			r := newRung(t, kind, time.Hour)
			for _, proven := range []bool{true, false} {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/"+string(kind), strings.NewReader(body))
				req.Header.Set("X-GitHub-Event", what)
				req.Header.Set("X-Gitlab-Event", what)
				if proven {
					req.Header.Set("X-Gitlab-Token", hookSecret)
					req.Header.Set("X-Hub-Signature-256", "sha256="+sign(hookSecret, []byte(body)))
				}
				w := httptest.NewRecorder()
				r.handler.ServeHTTP(w, req)
				if (w.Code == http.StatusUnauthorized) == proven {
					t.Errorf("%s, proven: %v: %d", kind, proven, w.Code)
				}
				if !proven && r.pushes.Load()+r.comments.Load() > 1 {
					t.Error("somebody woke whom it may not")
				}
			}
		}
	})
}

// BenchmarkWebhooks sends a thousand messages a second of 8 KiB, and says how long answers take.
func BenchmarkWebhooks(b *testing.B) {
	r := newRung(b, forge.Gitea, 2*time.Second)
	url := "http://" + r.listens(b) + "/webhooks/gitea"
	body := []byte(`{"ref": "refs/heads/main", "commits": ["` + strings.Repeat("x", 8<<10) + `"], "repository": {"full_name": "acme/fleet"}}`)
	signature := sign(hookSecret, body)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var mu sync.Mutex
	var took []time.Duration
	var group sync.WaitGroup
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	b.ResetTimer()
	for range b.N {
		<-pace.C
		group.Go(func() {
			req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			req.Header.Set("X-GitHub-Event", "push")
			req.Header.Set("X-Gitea-Signature", signature)
			start := time.Now()
			resp, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			resp.Body.Close()
			d := time.Since(start)
			if resp.StatusCode != http.StatusAccepted {
				b.Errorf("%s", resp.Status)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, d)
		})
	}
	group.Wait()
	slices.SortFunc(took, func(a, b time.Duration) int { return cmp.Compare(a, b) })
	for name, share := range map[string]int{"p50-ms": 50, "p99-ms": 99} {
		b.ReportMetric(float64(took[len(took)*share/100].Microseconds())/1000, name)
	}
}
