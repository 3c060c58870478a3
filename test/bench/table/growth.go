package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/waybill-dev/waybill/test/bench"
)

// growth publishes 100 changes of a template that 100 clusters hold, and has git write
// as many commits of the same files; then git collects the garbage of both.
func growth(b *workbench) (measured, error) {
	const publishes = 100
	shape := bench.Shape{Clusters: 100, Templates: 100, Regions: 10, Overridden: 20}
	dir, err := b.folder()
	if err != nil {
		return measured{}, err
	}
	src, bare, err := b.source(dir, shape)
	if err != nil {
		return measured{}, err
	}
	floor := filepath.Join(dir, "floor.git")
	if _, err := b.do("", "git", "init", "-q", "--bare", floor); err != nil {
		return measured{}, err
	}
	const changed = "manifests/team-19/configmap/app-00099.yaml"
	if err := b.streams(dir, shape, changed, ""); err != nil {
		return measured{}, err
	}
	if _, err := b.feed(floor, filepath.Join(dir, "first.stream"), "git", "fast-import", "--quiet"); err != nil {
		return measured{}, err
	}
	c := &controller{src: src}
	var m measured
	for i := range publishes {
		published, err := b.do("", b.waybill, "publish", src, "--to", bare)
		if err != nil {
			return m, err
		}
		m.wall, m.cpu, m.memory = m.wall+published.wall, m.cpu+published.cpu, max(m.memory, published.memory)
		now := fmt.Sprintf("option = value%d", i)
		if err := c.edit("apps/team-19/app-00099.yaml", "option = value", now+"\n    option = value"); err != nil {
			return m, err
		}
		text := strings.Repeat("option = value\n    ", 40) + strings.Repeat(now+"\n    ", i+1)
		if err := b.streams(dir, shape, changed, text); err != nil {
			return m, err
		}
		if _, err := b.feed(floor, filepath.Join(dir, "change.stream"), "git", "fast-import", "--quiet"); err != nil {
			return m, err
		}
	}
	for i, at := range []string{bare, floor} {
		if _, err := b.do(at, "git", "gc", "-q", "--prune=now"); err != nil {
			return m, err
		}
		if m.bytes[i], err = size(at); err != nil {
			return m, err
		}
	}
	return m, nil
}
