//go:build e2e

package attack

import (
	"crypto/rand"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/signing"
)

// now is a sequence number that an agent gives now.
func now() uint64 { return uint64(time.Now().UnixMilli()) }

// slow keeps connections open that send a heartbeat without a credential, byte by byte. It returns when all
// of them have begun.
func slow(t *testing.T, url string, clients int) {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	begun := make(chan bool, clients)
	for n := range clients {
		go func() {
			for first := true; t.Context().Err() == nil; first = false {
				var dialer net.Dialer
				conn, err := dialer.DialContext(t.Context(), "tcp", address)
				if err != nil {
					break
				}
				fmt.Fprintf(conn, "POST /heartbeats/eu HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\nx%d", n)
				if first {
					begun <- true
				}
				trickle(t, conn)
				_ = conn.Close()
			}
		}()
	}
	for range clients {
		<-begun
	}
}

// trickle sends a byte now and then, until the other side has had enough.
func trickle(t *testing.T, conn net.Conn) {
	t.Helper()
	for every := time.NewTicker(200 * time.Millisecond); ; {
		select {
		case <-t.Context().Done():
			return
		case <-every.C:
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
		}
	}
}

// TestSlowClientsStarveHeartbeats has clients without a credential send slowly: more than there were once
// places, and more than connections may be that nobody signed anything on, who come again at once when they
// are sent away. Agents keep the connection over which they were heard.
func TestSlowClientsStarveHeartbeats(t *testing.T) {
	t.Parallel()
	for _, clients := range []int{80, 400} {
		t.Run(strconv.Itoa(clients), func(t *testing.T) {
			t.Parallel()
			p := newPulled(t, nil, "eu", "us", "ap")
			url, _ := p.controller()
			senders := map[string]func(uint64) error{}
			for cluster := range p.keys {
				senders[cluster] = p.sender(url, cluster)
				until(t, "the first heartbeat", func() (bool, string) { err := senders[cluster](now()); return err == nil, fmt.Sprint(err) })
			}
			slow(t, url, clients)
			for n := range 10 {
				for cluster, send := range senders {
					if n%2 == 1 && clients < 256 { // an agent that started anew
						send = p.sender(url, cluster)
					}
					if err := send(now()); err != nil {
						t.Errorf("heartbeat %d of %s: %v", n, cluster, err)
					}
				}
				time.Sleep(200 * time.Millisecond) // heartbeats come one after the other
			}
		})
	}
}

// TestAStolenKeySpoilsTheSequence beats with the highest number that there is, by a key that is replaced
// then.
func TestAStolenKeySpoilsTheSequence(t *testing.T) {
	t.Parallel()
	p := newPulled(t, nil, "eu")
	url, said := p.controller()
	thief := p.sender(url, "eu")
	until(t, "the first heartbeat", func() (bool, string) { err := thief(now()); return err == nil, fmt.Sprint(err) })
	for _, sequence := range []uint64{math.MaxUint64, now() + uint64(time.Hour.Milliseconds())} {
		if err := thief(sequence); err == nil {
			t.Errorf("a heartbeat of %d is taken", sequence)
		}
	}
	if err := thief(now()); err != nil {
		t.Errorf("the agent is not heard any more: %v", err)
	}
	if err := thief(now() + uint64(4*time.Minute.Milliseconds())); err != nil {
		t.Error(err)
	}
	key, _, err := signing.NewKey(rand.Reader, "another")
	if err != nil {
		t.Fatal(err)
	}
	p.register("eu", key, "")
	owner := p.sender(url, "eu")
	until(t, "the heartbeat by the new key", func() (bool, string) { err := owner(now()); return err == nil, fmt.Sprint(err) })
	if err := thief(now()); err == nil {
		t.Error("the stolen key counts still")
	}
	if !strings.Contains(said(), "heartbeat ignored") {
		t.Error("the log does not say that heartbeats are ignored")
	}
}
