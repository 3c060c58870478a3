package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/sources/signing"
)

// ByHTTP carries heartbeats to a controller, sealed with the agent's key.
type ByHTTP struct {
	URL    string // of the controller, as https://waybill.example.com
	Key    signing.Key
	Client *http.Client

	session string
}

// beatTime is how long the controller may take to answer.
const beatTime = 5 * time.Second

// Times implements Heart.
func (*ByHTTP) Times(int) (heartbeat.Times, error) { return heartbeat.Usual, nil }

// Last implements Heart. The controller tells when a beat is behind.
func (*ByHTTP) Last(context.Context, []string) (uint64, error) { return 0, nil }

// Beat implements Heart. One that fails keeps no other from being sent.
func (h *ByHTTP) Beat(ctx context.Context, beats []heartbeat.Beat) error {
	var errs []error
	for _, b := range beats {
		errs = append(errs, h.beat(ctx, b))
	}
	return errors.Join(errs...)
}

// beat sends a beat. A controller that started anew names another session, by which beats that
// somebody kept are worth nothing.
func (h *ByHTTP) beat(ctx context.Context, b heartbeat.Beat) error {
	const sessions = 2
	var answer receive.Answer
	for range sessions {
		if b.Session = h.session; b.Session == "" {
			b.Session = "none"
		}
		var err error
		if answer, err = h.post(ctx, b); err != nil {
			return fmt.Errorf("sending a heartbeat to %s: %w", h.URL, err)
		}
		if answer.Taken || answer.Session == h.session || answer.Session == "" {
			break
		}
		h.session = answer.Session
	}
	switch {
	case answer.Taken:
		return nil
	case answer.Last >= b.Sequence:
		return &BehindError{answer.Last}
	}
	return fmt.Errorf("%s does not take the heartbeat: %s", h.URL, answer.Why)
}

// post sends a beat once.
func (h *ByHTTP) post(ctx context.Context, b heartbeat.Beat) (answer receive.Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, beatTime)
	defer cancel()
	sealed, err := b.Seal(h.Key)
	if err != nil {
		return answer, err
	}
	at, err := url.JoinPath(h.URL, "heartbeats", b.Cluster)
	if err != nil {
		return answer, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(sealed))
	if err != nil {
		return answer, err
	}
	res, err := h.Client.Do(req)
	if err != nil {
		return answer, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, heartbeat.MaxSize))
	if err != nil {
		return answer, err
	}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusConflict {
		return answer, fmt.Errorf("it answers %s", res.Status)
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return answer, fmt.Errorf("its answer is none of a controller: %w", err)
	}
	return answer, nil
}
