package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
)

// The bounds of telling.
const (
	sendTime   = 10 * time.Second
	mostWait   = 10 * time.Minute
	mostQueued = 500 // events that wait for a receiver that does not answer
)

// Receiver is somebody who is told.
type Receiver struct {
	// Name is what logs call it; its URL is a secret.
	Name string
	URL  string
	// Slack has it be told as an incoming webhook of Slack is.
	Slack bool

	queue []Event
	lost  int
	fails int
	next  time.Time // before which it is not tried again
}

// ParseURL reads the URL of a receiver from a file, without ever saying what is in it.
func ParseURL(text []byte) (string, error) {
	at := strings.TrimSpace(string(text))
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(at, " \n") {
		return "", errors.New("there is no URL alone in it, as https://hooks.example.com/x")
	}
	return at, nil
}

// Notifier tells receivers what changes.
type Notifier struct {
	Reader    *facts.Reader
	Receivers []*Receiver
	Source    string // the repository, without credentials
	URL       string // of the web UI; empty for none
	Interval  time.Duration
	Now       func() time.Time
	Log       *slog.Logger
	Client    *http.Client
}

// Run tells until ctx ends. What is so when it begins, it takes for known.
func (n *Notifier) Run(ctx context.Context) error {
	var before Seen
	tick := time.NewTicker(n.Interval)
	defer tick.Stop()
	for {
		before = n.Turn(ctx, before)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Turn looks once, tells what is not as before, and returns what it saw.
func (n *Notifier) Turn(ctx context.Context, before Seen) Seen {
	now, err := n.Reader.Look(ctx)
	switch {
	case err == nil && now != nil:
		var events []Event
		before, events = before.Next(now)
		for _, r := range n.Receivers {
			r.add(events)
		}
	case ctx.Err() == nil:
		n.Log.WarnContext(ctx, "cannot see what to notify of", "err", err)
	}
	for _, r := range n.Receivers {
		n.tell(ctx, r)
	}
	return before
}

// add has events wait. Where too many do, the first are lost.
func (r *Receiver) add(events []Event) {
	r.queue = append(r.queue, events...)
	if more := len(r.queue) - mostQueued; more > 0 {
		r.queue, r.lost = r.queue[more:], r.lost+more
	}
}

// tell tells a receiver what waits for it, if it is time. What fails waits on.
func (n *Notifier) tell(ctx context.Context, r *Receiver) {
	now := n.Now()
	if len(r.queue) == 0 || now.Before(r.next) {
		return
	}
	b := Batch{APIVersion: "waybill.dev/v1alpha1", Kind: "Notification", Source: n.Source, At: now.UTC(), URL: n.URL, Events: r.queue, More: r.lost}
	b = b.cut()
	err := n.post(ctx, r, b)
	switch {
	case err == nil:
		r.queue, r.lost, r.fails, r.next = nil, 0, 0, time.Time{}
	case ctx.Err() == nil:
		wait := min(n.Interval<<min(r.fails, 10), mostWait)
		r.fails, r.next = r.fails+1, now.Add(wait)
		n.Log.WarnContext(ctx, "not notified", "receiver", r.Name, "events", len(r.queue), "again", wait, "err", err)
	}
}

// post sends a batch.
func (n *Notifier) post(ctx context.Context, r *Receiver, b Batch) error {
	var body any = b
	if r.Slack {
		body = map[string]any{"text": slackText(b)}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing what happened: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(data))
	if err != nil {
		return errors.New("the URL of the receiver cannot be asked") // the error would quote it
	}
	req.Header.Set("Content-Type", "application/json")
	client := *n.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		err = wrong.Err // which does not quote it
	}
	if err != nil {
		return fmt.Errorf("asking the receiver: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answered %s", resp.Status)
	}
	return nil
}

// slackText is a batch as Slack shows it. What it would take for a mention or a link it is not given.
func slackText(b Batch) string {
	const most = 300 // bytes of an event
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", " ")
	var text strings.Builder
	for _, e := range b.Events {
		line := e.String()
		if len(line) > most {
			line = strings.ToValidUTF8(line[:most], "") + "..."
		}
		fmt.Fprintf(&text, "• %s\n", escape.Replace(line))
	}
	if b.More > 0 {
		fmt.Fprintf(&text, "and %d more\n", b.More)
	}
	if b.URL != "" {
		fmt.Fprintf(&text, "<%s>\n", b.URL)
	}
	return text.String()
}
