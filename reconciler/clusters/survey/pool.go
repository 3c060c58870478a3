package survey

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

// Pool watches API servers, each once for all clusters that are reached there by the same
// credential: a host and its virtual clusters. The zero value watches none.
type Pool struct {
	mu      sync.Mutex
	servers map[string]*server
}

// server is an API server that is watched until the last cluster leaves.
type server struct {
	watcher

	key   string
	stop  context.CancelFunc
	ended chan struct{}
	err   error // what it ended with

	mu    sync.Mutex
	parts map[*part]bool
	last  *observation.Facts // what was told last, but for the room; nil: nothing yet
}

// part is a cluster on an API server.
type part struct {
	cluster Cluster
	report  func(observation.Facts)
}

// Watch reports what there is to see of a cluster, once a period, until ctx ends. It returns an
// error if the cluster is not the one it should be, or does not answer any more: it is then to be
// opened anew.
func (p *Pool) Watch(ctx context.Context, c Cluster, report func(observation.Facts)) error {
	soon, cancel := context.WithTimeout(ctx, patience)
	err := clusters.Recognise(soon, c.Name, c.ID, c.Config)
	cancel()
	if err != nil {
		return err
	}
	one := &part{c, report}
	s, err := p.join(ctx, one)
	if err != nil {
		return err
	}
	defer p.leave(s, one)
	s.greet(one)
	select {
	case <-ctx.Done():
		return nil
	case <-s.ended:
		return s.err
	}
}

// join has a cluster be told of its API server, which is watched from now on.
func (p *Pool) join(ctx context.Context, one *part) (*server, error) {
	key, err := keyOf(&one.cluster)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.servers[key]
	if s == nil {
		counted := newUsage()
		if one.cluster.Host != "" {
			counted = newSharedUsage()
		}
		s = &server{
			watcher: watcher{name: one.cluster.Name, usage: counted, changed: make(chan struct{}, 1)},
			key:     key, ended: make(chan struct{}), parts: map[*part]bool{},
		}
		if one.cluster.Watch != nil {
			s.usage.replicas = map[string]observation.Replica{}
		}
		if p.servers == nil {
			p.servers = map[string]*server{}
		}
		p.servers[key] = s
		ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx)) // it may go on when this cluster leaves
		var group errgroup.Group
		group.Go(func() error {
			defer close(s.ended)
			s.err = s.watch(ctx, one.cluster.Config, s.tell)
			return nil
		})
	}
	s.usage.join(one)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[one] = true
	return s, nil
}

// leave ends that. An API server that nobody is told of, or that does not answer, is watched no
// longer.
func (p *Pool) leave(s *server, one *part) {
	s.usage.leave(one)
	p.mu.Lock()
	defer p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parts, one)
	if len(s.parts) == 0 || s.hasEnded() {
		s.stop()
		if p.servers[s.key] == s {
			delete(p.servers, s.key)
		}
	}
}

func (s *server) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// tell tells all clusters what was seen.
func (s *server) tell(f observation.Facts) {
	s.mu.Lock()
	s.last = &f
	all := make([]*part, 0, len(s.parts))
	for one := range s.parts {
		all = append(all, one)
	}
	s.mu.Unlock()
	for _, one := range all {
		s.tellOne(one, f)
	}
}

// tellOne tells a cluster what was seen, with its room.
func (s *server) tellOne(one *part, f observation.Facts) {
	if f.Health == observation.Healthy {
		f.Room, f.Refused = s.usage.sum(one)
		f.Waiting = s.usage.waiting(one)
	}
	one.report(f)
}

// greet tells a cluster that comes what was seen last.
func (s *server) greet(one *part) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last != nil {
		s.tellOne(one, *last)
	}
}

// keyOf is the same for clusters that share an API server, and are reached by the same
// credential.
func keyOf(c *Cluster) (string, error) {
	host := "cluster " + c.Name
	if c.Host != "" {
		host = "host " + c.Host
	}
	r := c.Config
	text, err := json.Marshal([]any{
		host, c.Watch != nil, r.Host, r.APIPath, r.Username, r.Password, r.BearerToken, r.BearerTokenFile, r.Impersonate, r.Insecure, r.ServerName,
		r.CAFile, r.CAData, r.CertFile, r.CertData, r.KeyFile, r.KeyData, commandOf(r),
	})
	if err != nil {
		return "", fmt.Errorf("reaching %s: %w", c.Name, err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

// commandOf is the command that gives the credential, with its arguments; empty for none.
func commandOf(r *rest.Config) []string {
	if r.ExecProvider == nil {
		return nil
	}
	return append([]string{r.ExecProvider.Command}, r.ExecProvider.Args...)
}
