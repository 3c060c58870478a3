package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/words"
)

// maxClusters is how many clusters a line lists.
const maxClusters = 6

// Comparison is what diff prints. Its diagnostics are for programs only; people read them by
// themselves.
func Comparison(c *preview.Comparison) Report {
	return Report{value: c, text: func(w io.Writer) error { return comparison(w, c) }}
}

func comparison(w io.Writer, c *preview.Comparison) error {
	p := printer{w: w}
	switch {
	case c.Empty() && c.Errors() > 0:
		p.line("no cluster changes as far as is known: what has an error stays as it is")
		return p.err
	case c.Empty():
		p.line("no cluster changes")
		return p.err
	}
	counts := map[string]int{}
	for _, o := range c.Objects {
		counts[o.Verb]++
	}
	var parts []string
	for _, v := range []string{"appears", "moves", "scales", "changes", "disappears"} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], plural(v, counts[v])))
		}
	}
	p.line("%s in %s: %s", words.Count(len(c.Objects), "object"), words.Count(len(c.Clusters), "cluster"), strings.Join(parts, ", "))
	for _, o := range c.Objects {
		p.object(o)
	}
	p.clusters(c.Clusters)
	return p.err
}

// plural turns a verb of one object into that of several.
func plural(verb string, n int) string {
	if n == 1 {
		return verb
	}
	return strings.TrimSuffix(verb, "s")
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) object(o preview.Object) {
	why := ""
	if o.Why != "" {
		why = " (" + o.Why + ")"
	}
	p.line("\n%s %s%s", o.Object, o.Verb, why)
	if len(o.Added) > 0 {
		p.line("  + %s", words.First(o.Added, maxClusters))
	}
	if len(o.Removed) > 0 {
		p.line("  - %s", words.First(o.Removed, maxClusters))
	}
	for _, s := range o.Scaled {
		p.line("  ~ %s: %d -> %d replicas", s.Cluster, s.From, s.To)
	}
	for _, c := range o.Changed {
		p.line("  in %s:", words.First(c.Clusters, maxClusters))
		for line := range strings.Lines(c.Diff) {
			p.line("    %s", strings.TrimRight(line, "\n"))
		}
	}
}

func (p *printer) clusters(cs []preview.Cluster) {
	p.line("\nCLUSTER              ADDED  CHANGED  REMOVED")
	for _, c := range cs {
		note := ""
		switch {
		case c.Held != "":
			note = "  held: " + c.Held
		case c.New:
			note = "  new"
		case c.Gone:
			note = "  no longer registered; its branch stays"
		}
		p.line("%-20s %5d  %7d  %7d%s", c.Name, c.Added, c.Changed, c.Removed, note)
	}
}
