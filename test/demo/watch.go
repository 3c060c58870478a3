package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/test/controlplane"
)

// replicas is what watches see of spec.replicas of the Deployments of clusters.
type replicas struct {
	stop func() // ends the watches

	mu  sync.Mutex
	all map[string]*course // by cluster, namespace and name
	bad []error
}

// course is how many replicas a Deployment had.
type course struct{ first, lowest, last int }

// watchReplicas watches every Deployment of clusters until stop is called. When an API server ends, so does a watch; the next
// one begins with what there is then.
func watchReplicas(ctx context.Context, clusters map[string]*controlplane.Cluster) *replicas {
	ctx, cancel := context.WithCancel(ctx)
	r := &replicas{all: map[string]*course{}}
	var watches sync.WaitGroup
	for name, c := range clusters {
		watches.Go(func() {
			for ctx.Err() == nil {
				r.follow(name, c.KubectlCommand(ctx, "get", "deployments", "-A", "-w", "--output-watch-events", "-o",
					`jsonpath={.type} {.object.metadata.namespace}/{.object.metadata.name} {.object.spec.replicas}{"\n"}`))
				time.Sleep(100 * time.Millisecond) // its API server may be away
			}
		})
	}
	r.stop = func() {
		cancel()
		watches.Wait()
	}
	return r
}

// follow reads one watch until it ends.
func (r *replicas) follow(cluster string, watch *exec.Cmd) {
	out, err := watch.StdoutPipe()
	if err == nil {
		err = watch.Start()
	}
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", cluster, err))
		return
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		r.take(cluster, lines.Text())
	}
	_ = watch.Wait() // it ends with its API server, or because nobody needs it any more
}

// take takes a line of a watch.
func (r *replicas) take(cluster, line string) {
	words := strings.Fields(line)
	const expected = 3
	if len(words) != expected {
		r.fail(fmt.Errorf("%s: the watch says %q", cluster, line))
		return
	}
	n, err := strconv.Atoi(words[2])
	if err != nil {
		r.fail(fmt.Errorf("%s: the watch says %q", cluster, line))
		return
	}
	if words[0] == "DELETED" {
		n = 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := cluster + " " + words[1]
	c := r.all[key]
	if c == nil {
		c = &course{first: n, lowest: n, last: n}
		r.all[key] = c
	}
	if n < c.last {
		r.bad = append(r.bad, fmt.Errorf("%s of %s had %d replicas, and then %d", words[1], cluster, c.last, n))
	}
	c.lowest, c.last = min(c.lowest, n), n
}

func (r *replicas) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bad = append(r.bad, err)
}

// told says what was seen, and fails if a Deployment had fewer replicas than before, or the watches did not see each come to how many it
// has now: what watches have missed says nothing.
func (r *replicas) told(say func(format string, args ...any), now map[string]int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	say("%-8s %-12s %6s %7s %4s", "CLUSTER", "DEPLOYMENT", "FIRST", "LOWEST", "NOW")
	seen := map[string]int{}
	for _, key := range slices.SortedFunc(maps.Keys(r.all), cmp.Compare[string]) {
		cluster, name, _ := strings.Cut(key, " ")
		c := r.all[key]
		say("%-8s %-12s %6d %7d %4d", cluster, name, c.first, c.lowest, c.last)
		seen[key] = c.last
	}
	errs := r.bad
	if !maps.Equal(seen, now) {
		errs = append(errs, fmt.Errorf("the watches saw %v at last, and there are %v", seen, now))
	}
	return errors.Join(errs...)
}
