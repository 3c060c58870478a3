package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/bench"
)

// trees are the trees of a plan, as fast-import is told of them.
type trees struct {
	clusters []plan.Cluster
	marks    map[files.ID]int
	out      bytes.Buffer
}

// streams has this program write what fast-import is to be told, first.stream and
// change.stream, into a folder. A process of its own does it: the memory of a program
// that this one starts is measured with what this one ever had.
func (b *workbench) streams(dir string, s bench.Shape, path, text string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	data, err := json.Marshal(told{s, path, text})
	if err != nil {
		return err
	}
	_, err = b.do("", program, "-stream", string(data), "-dir", dir)
	return err
}

// told is what streams are about: the first trees of a shape, then another content of a
// file of each.
type told struct {
	Shape      bench.Shape
	Path, Text string
}

// writeStreams writes the streams.
func writeStreams(ctx context.Context, text, dir string) error {
	var about told
	if err := json.Unmarshal([]byte(text), &about); err != nil {
		return fmt.Errorf("reading -stream: %w", err)
	}
	t, err := planned(ctx, bench.New(about.Shape))
	if err != nil {
		return err
	}
	first, err := t.stream()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "first.stream"), first, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "change.stream"), t.change(about.Path, []byte(about.Text)), 0o600)
}

func planned(ctx context.Context, s *bench.Source) (*trees, error) {
	src, err := render.Load(ctx, s, render.With{})
	if err != nil {
		return nil, fmt.Errorf("loading: %w", err)
	}
	p := plan.Build(plan.Input{Source: src, Medium: plan.Branch})
	return &trees{clusters: p.Clusters, marks: map[files.ID]int{}}, nil
}

// stream tells of every blob once, and of every cluster's commit by the marks.
func (t *trees) stream() ([]byte, error) {
	for _, c := range t.clusters {
		for _, e := range c.Tree.All() {
			if e.Blob == nil || t.marks[e.Blob.ID()] > 0 {
				continue
			}
			data, err := e.Blob.Bytes()
			if err != nil {
				return nil, fmt.Errorf("reading a blob: %w", err)
			}
			t.marks[e.Blob.ID()] = len(t.marks) + 1
			fmt.Fprintf(&t.out, "blob\nmark :%d\ndata %d\n%s\n", t.marks[e.Blob.ID()], len(data), data)
		}
	}
	for _, c := range t.clusters {
		t.commit(c.Name, "")
		for path, e := range c.Tree.All() {
			if e.Blob != nil {
				fmt.Fprintf(&t.out, "M 100644 :%d %s\n", t.marks[e.Blob.ID()], path)
			}
		}
		t.out.WriteByte('\n')
	}
	return t.out.Bytes(), nil
}

func (t *trees) commit(cluster, from string) {
	const message = "a publication\n"
	fmt.Fprintf(&t.out, "commit refs/heads/waybill/cluster/%s\ncommitter bench <bench@example.com> 1763683200 +0000\ndata %d\n%s", cluster, len(message), message)
	if from != "" {
		fmt.Fprintf(&t.out, "from %s\n", from)
	}
}

// change tells of another content of one file of every cluster.
func (t *trees) change(path string, data []byte) []byte {
	t.out.Reset()
	fmt.Fprintf(&t.out, "blob\nmark :1\ndata %d\n%s\n", len(data), data)
	for _, c := range t.clusters {
		t.commit(c.Name, "refs/heads/waybill/cluster/"+c.Name+"^0")
		fmt.Fprintf(&t.out, "M 100644 :1 %s\n\n", path)
	}
	return t.out.Bytes()
}
