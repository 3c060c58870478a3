package pull_test

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/reconciler/endpoints/pull"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// TestTheNewestOfTwoBooks counts where both are new, a public host where nobody has a book slows nothing, and what was read before the
// server was away is not read again.
func TestTheNewestOfTwoBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, key := newServer("https://git.example/status"), newKey(t)
		a := &asks{settings: exchange.Services{StaleAfter: metav1.Duration{Duration: 15 * time.Second}}}
		for cluster, numbers := range map[string][2]int{"eu-1": {1, 2}, "us-1": {2, 1}} {
			for i, prefix := range []string{book.Refs, book.Branches} {
				b := bookOf(cluster, numbers[i])
				if _, err := s.as(key).Replace(t.Context(), git.Update{Branch: prefix + cluster, Tree: b.Tree(), Message: b.Message()},
					nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		a.sought = []*karmada.Cluster{cluster("eu-1", key), cluster("us-1", key)}
		public := newServer("https://github.com/example/fleet")
		r := &pull.Reader{Books: a, Agents: s.as(signing.Key{}), Published: public.as(signing.Key{}), Log: slog.New(slog.DiscardHandler)}
		go func() { _ = r.Run(t.Context()) }()
		time.Sleep(time.Second)
		said := strings.Split(a.says(), "\n")
		if slices.Sort(said); !slices.Equal(said, []string{"eu-1: eu-1 +2", "us-1: us-1 +2"}) {
			t.Errorf("it says %q", said)
		}
		s.away = errors.New("the server is away")
		time.Sleep(20 * time.Second)
		s.away = nil
		looks := s.looks
		time.Sleep(20 * time.Second)
		if got := a.says(); got != "" || looks < 4 || s.looks < looks+3 || len(s.read) != 4 || public.looks > 0 {
			t.Errorf("after the server was away it says %q, looked %d and then %d times, read %v", got, looks, s.looks, s.read)
		}
	})
}

// TestWhoCannotLookSaysSo and judges nobody meanwhile.
func TestWhoCannotLookSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s, key := newServer("https://git.example/status"), newKey(t)
		a := &asks{
			sought:   []*karmada.Cluster{cluster("eu-1", key)},
			settings: exchange.Services{StaleAfter: metav1.Duration{Duration: 15 * time.Second}},
		}
		r := &pull.Reader{Books: a, Agents: s.as(signing.Key{}), Log: slog.New(slog.NewTextHandler(&log, nil))}
		s.away = errors.New("the server is away")
		go func() { _ = r.Run(t.Context()) }()
		time.Sleep(31 * time.Second)
		if a.looked > 0 || s.looks != 7 || strings.Count(log.String(), "the server is away") != 1 {
			t.Errorf("it looked %d times, tried %d, and says\n%s", a.looked, s.looks, log.String())
		}
		s.away = nil
		time.Sleep(5 * time.Second)
		if a.looked == 0 || !strings.Contains(log.String(), "are read again") {
			t.Errorf("it looked %d times, and says\n%s", a.looked, log.String())
		}
		r.Agents = nil
		time.Sleep(5 * time.Second)
		if got := a.said[len(a.said)-1]; !strings.Contains(got, "no repository is named") {
			t.Errorf("without a repository it says %s", got)
		}
	})
}
