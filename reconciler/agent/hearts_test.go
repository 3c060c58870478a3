package agent_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/agent"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/refs"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func newKey(t *testing.T) signing.Key {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "agent")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// server is one with the refs of heartbeats.
type server struct {
	observe.RefReader

	read    map[string]git.Head // by ref
	written []string
	refuses string // refs that begin so
	why     string
	away    error
}

// RemoteRefs implements observe.RefReader.
func (r *server) RemoteRefs(_ context.Context, wanted func(ref string, id files.ID) bool) (git.RemoteRefs, error) {
	b := git.RemoteRefs{Refs: map[string]files.ID{}, Read: map[files.ID]git.Head{}}
	for i, ref := range slices.Sorted(maps.Keys(r.read)) {
		id := files.ID{byte(i + 1)}
		if b.Refs[ref] = id; wanted(ref, id) {
			b.Read[id] = r.read[ref]
		}
	}
	return b, r.away
}

// Light implements agent.Lighter.
func (r *server) Light(_ context.Context, messages map[string]string, _ git.Author, _ time.Time) error {
	for ref := range messages {
		if r.refuses != "" && strings.HasPrefix(ref, r.refuses) {
			return &git.RefusedError{Ref: ref, Why: r.why}
		}
	}
	r.written = append(r.written, slices.Sorted(maps.Keys(messages))...)
	return r.away
}

// ref is a heartbeat at a ref, signed with a key.
func ref(t *testing.T, cluster string, at time.Time, key signing.Key) git.Head {
	t.Helper()
	b := heartbeat.Beat{Cluster: cluster, UID: "u", Agent: "a", Sequence: uint64(at.UnixMilli())}
	out := git.Head{Message: b.Text(), Signed: []byte(b.Text())}
	if !key.IsZero() {
		signature, err := key.SignCommit(out.Signed)
		if err != nil {
			t.Fatal(err)
		}
		out.Signature = signature
	}
	return out
}

// TestTheLastBeatByGit is the highest that this agent, or the one before it, signed, at a ref of its clusters.
func TestTheLastBeatByGit(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, tt := range map[string]struct {
		at   string
		beat git.Head
		want bool
	}{
		"its own":                     {heartbeat.Refs + "eu", ref(t, "eu", noon, key), true},
		"its own, on a branch":        {heartbeat.Branches + "eu", ref(t, "eu", noon, key), true},
		"nobody's":                    {heartbeat.Refs + "eu", ref(t, "eu", noon, signing.Key{}), false},
		"somebody's":                  {heartbeat.Refs + "eu", ref(t, "eu", noon, newKey(t)), false},
		"of a cluster that it is not": {heartbeat.Refs + "eu", ref(t, "us", noon, key), false},
		"at a ref of another cluster": {heartbeat.Refs + "us", ref(t, "eu", noon, key), false},
		"of the day after tomorrow":   {heartbeat.Refs + "eu", ref(t, "eu", noon.Add(48*time.Hour), key), false},
	} {
		repo := &server{read: map[string]git.Head{tt.at: tt.beat, heartbeat.Branches + "asia": ref(t, "asia", noon.Add(-time.Hour), key)}}
		h := &agent.ByGit{Repo: repo, Key: key.Public(), Host: refs.Host{What: "heartbeats", Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}}
		want := uint64(noon.Add(-time.Hour).UnixMilli())
		if tt.want {
			want = uint64(noon.UnixMilli())
		}
		if last, err := h.Last(t.Context(), []string{"eu", "asia"}); err != nil || last != want {
			t.Errorf("%s: it is %d, %v; want %d", name, last, err, want)
		}
	}
	away := errors.New("away")
	h := &agent.ByGit{Repo: &server{away: away}, Key: key.Public(), Host: refs.Host{What: "heartbeats", Now: func() time.Time { return noon }}}
	if last, err := h.Last(t.Context(), []string{"eu"}); !errors.Is(err, away) {
		t.Errorf("where nobody answers it is %d, %v", last, err)
	}
}

// TestBeatsByGitGoByBranchesWhereNoOtherRefsAreTaken, all of them.
func TestBeatsByGitGoByBranchesWhereNoOtherRefsAreTaken(t *testing.T) {
	t.Parallel()
	beats := []heartbeat.Beat{{Cluster: "eu", UID: "u", Agent: "a", Sequence: 1}, {Cluster: "us", UID: "u", Agent: "a", Sequence: 1}}
	away := errors.New("away")
	repo := &server{away: away}
	h := &agent.ByGit{Repo: repo, Host: refs.Host{What: "heartbeats", Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}}
	if err := h.Beat(t.Context(), beats); !errors.Is(err, away) {
		t.Errorf("where nobody answers: %v", err)
	}
	repo.away = nil
	for _, prefix := range []string{heartbeat.Refs, heartbeat.Branches} {
		repo.written = nil
		if err := h.Beat(t.Context(), beats); err != nil {
			t.Fatal(err)
		}
		if want := []string{prefix + "eu", prefix + "us"}; !slices.Equal(repo.written, want) {
			t.Errorf("it writes %v, want %v", repo.written, want)
		}
		repo.refuses, repo.why = heartbeat.Refs, "pre-receive hook declined"
	}
}

// listening is a controller that takes heartbeats of eu.
func listening(t *testing.T, key signing.Key) (*receive.Receiver, *httptest.Server) {
	t.Helper()
	r := &receive.Receiver{Now: func() time.Time { return noon }}
	s := serve.New()
	s.Receive(r)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	agents := func(session string) {
		r.Begin(session)
		r.Agents(map[string]receive.Agent{"eu": {Key: key.Public()}}, noon)
	}
	agents("s1")
	return r, server
}

// TestBeatsByHTTP: an agent learns the session of the controller, also of one that started anew, is told what is above
// its beat, and is told why it is not heard.
func TestBeatsByHTTP(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	r, server := listening(t, key)
	h := &agent.ByHTTP{URL: server.URL, Key: key, Client: server.Client()}
	beat := func(cluster string, sequence uint64) error {
		return h.Beat(t.Context(), []heartbeat.Beat{{Cluster: cluster, UID: "u", Agent: "a", Sequence: sequence}})
	}
	at := uint64(noon.UnixMilli())
	last := func() (sequence uint64) {
		r.Read(func(b *heartbeat.Book) { sequence = b.Last("eu").Sequence })
		return sequence
	}
	if err := beat("eu", at); err != nil || last() != at {
		t.Errorf("the first beat: %v; heard was %d", err, last())
	}
	r.Begin("s2") // it starts anew
	r.Agents(map[string]receive.Agent{"eu": {Key: key.Public()}}, noon)
	if err := beat("eu", at+1); err != nil || last() != at+1 {
		t.Errorf("after it started anew: %v; heard was %d", err, last())
	}
	var behind *agent.BehindError
	if err := beat("eu", at-5); !errors.As(err, &behind) || behind.Last != at+1 {
		t.Errorf("a beat that is behind: %v", err)
	}
	if err := beat("us", at+2); err == nil || errors.As(err, &behind) {
		t.Errorf("a cluster without an agent: %v", err)
	}
	both := []heartbeat.Beat{{Cluster: "us", UID: "u", Agent: "a", Sequence: at + 3}, {Cluster: "eu", UID: "u", Agent: "a", Sequence: at + 3}}
	if err := h.Beat(t.Context(), both); err == nil || last() != at+3 {
		t.Errorf("one that is not heard keeps another one from being heard: %v, %d", err, last())
	}
	stranger := &agent.ByHTTP{URL: server.URL, Key: newKey(t), Client: server.Client()}
	if err := stranger.Beat(t.Context(), []heartbeat.Beat{{Cluster: "eu", UID: "u", Agent: "a", Sequence: at + 4}}); err == nil || errors.As(err, &behind) || last() != at+3 {
		t.Errorf("another key: %v", err)
	}
	r.End()
	if err := beat("eu", at+5); err == nil {
		t.Error("nobody hears it, and nobody says so")
	}
	for status, body := range map[int]string{http.StatusOK: "welcome", http.StatusForbidden: `{"taken": true}`, http.StatusBadGateway: `{"taken": true}`} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		defer other.Close()
		elsewhere := &agent.ByHTTP{URL: other.URL, Key: key, Client: other.Client()}
		if err := elsewhere.Beat(t.Context(), []heartbeat.Beat{{Cluster: "eu", UID: "u", Agent: "a", Sequence: at}}); err == nil {
			t.Errorf("%d and %s count as heard", status, body)
		}
	}
}
