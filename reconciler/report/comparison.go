package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/markdown"
	"github.com/waybill-dev/waybill/reconciler/preview/page"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/sources/words"
)

// The most names that a line lists, clusters that a table shows, and removals of a cluster that
// are named.
const (
	maxClusters = 6
	maxObjects  = 30
	maxRows     = 20
	maxRemovals = 5
)

// Comparison is what diff prints. Its diagnostics are for programs only; people read them by
// themselves.
func Comparison(c *preview.Comparison, look Look) Report {
	return Report{value: c, text: func(w io.Writer) error { return comparison(w, c, look) }, forms: map[Format]func() ([]byte, error){
		Markdown: func() ([]byte, error) { return []byte(markdown.Comment(c, markdown.Limit)), nil },
		HTML:     func() ([]byte, error) { return page.Page(c) },
	}}
}

// comparison begins with the answer in a line, and says what matters most at the end, where a terminal shows it.
func comparison(w io.Writer, c *preview.Comparison, look Look) error {
	p := printer{w: w, paint: paint(look.Colour)}
	if v := c.Verdict(); v.Level != preview.Nothing {
		p.line("%s: %s", p.paint.bold(string(v.Level)), words.Printable(v.String()))
	}
	for _, s := range c.Supposed {
		p.line("supposed: %s", words.Printable(s))
	}
	for _, s := range c.Shortages() {
		p.line("%s", words.Printable(s))
	}
	switch {
	case c.Empty() && c.Errors()+len(preview.Mistakes(c.Already)) > 0:
		p.line("no cluster changes as far as is known: what has an error stays as it is")
		return p.err
	case c.Empty():
		p.guard(c.Guard)
		p.line("no cluster changes")
		return p.err
	}
	p.changes(preview.Fold(c.Changes), look)
	if look.Stat {
		p.line("")
	}
	p.regions(c.Regions)
	p.clusters(c.Clusters)
	p.listed("It goes out in stages:", c.Steps())
	p.listed("Services that clusters exchange:", c.Exchanges())
	p.guard(c.Guard)
	p.totals(&c.Totals)
	return p.err
}

type printer struct {
	w     io.Writer
	paint paint
	err   error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// marks are how a change begins.
var marks = map[preview.Verb]string{
	preview.Appears: "+", preview.Disappears: "-", preview.Moves: ">", preview.Scales: "~", preview.Changes: "~",
	preview.Held: "!", preview.Frozen: "!", preview.Stays: "!",
}

func (p *printer) change(c *preview.Change) {
	mark := marks[c.Verb]
	p.line("%s", p.paint.mark(mark, fmt.Sprintf("%s %s%s", mark, p.paint.bold(words.Printable(headline(c))), where(c))))
	if n := len(c.Objects); n > 1 {
		names := make([]string, 0, n)
		for _, r := range c.Objects {
			names = append(names, r.String())
		}
		if c.IsRoutine() {
			p.line("    of %s", words.Printable(words.First(names, maxClusters)))
		} else {
			p.line("    with %s", words.Printable(words.First(names[1:], maxObjects)))
		}
	}
	for _, cause := range c.Causes {
		p.line("    because: %s", words.Printable(cause.String()))
	}
	if len(c.Added) > 0 {
		p.line("  %s", p.paint.mark("+", "+ "+namesOf(c.Added)))
	}
	if len(c.Removed) > 0 {
		p.line("  %s", p.paint.mark("-", "- "+namesOf(c.Removed)))
	}
	if len(c.Detached) > 0 {
		others := "no other cluster"
		if c.Elsewhere > 0 {
			others = words.Count(c.Elsewhere, "other cluster")
		}
		p.line("  %s", p.paint.mark("!", "! stays in "+namesOf(c.Detached)+" (no longer registered), and is in "+others))
	}
	for _, s := range c.Scaled {
		p.line("  %s", p.paint.mark("~", fmt.Sprintf("~ %s: %d -> %s", namesOf(s.Clusters), s.From, words.Count(int(s.To), "replica"))))
	}
	for _, s := range c.Changed {
		p.line("  in %s:", namesOf(s.Clusters))
		p.fields(s.Fields)
	}
	for _, m := range c.Moves {
		p.line("    from %s: %s;", words.Printable(m.From), words.Printable(m.How))
		p.line("    %s", words.Printable(m.Nowhere))
	}
	for _, l := range c.Left {
		stays := "is not there yet in "
		if l.Kept {
			stays = "stays as it is in "
		}
		p.line("  %s", p.paint.mark("!", "! "+stays+namesOf(l.Clusters)+": "+words.Printable(l.Reason)))
	}
	p.line("")
}

// headline says what a change is about, and what it does.
func headline(c *preview.Change) string {
	if n := len(c.Objects); n > 1 && c.IsRoutine() {
		return "the same label change in " + words.Count(n, "object")
	}
	return c.Title() + " " + c.Does()
}

// where says in how many clusters, for what is the same in all of them.
func where(c *preview.Change) string {
	if c.IsRoutine() && len(c.Objects) > 1 {
		return ""
	}
	if len(c.Changed) == 1 && len(c.Changed[0].Clusters) > 1 && len(c.Added)+len(c.Removed)+len(c.Scaled) == 0 {
		return fmt.Sprintf(": the same change in %d clusters", len(c.Changed[0].Clusters))
	}
	return ""
}

// stat is a change in one line.
func (p *printer) stat(c *preview.Change) {
	mark := marks[c.Verb]
	var parts []string
	add := func(n int, format string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	scaled, changed, left := 0, 0, 0
	for _, s := range c.Scaled {
		scaled += len(s.Clusters)
	}
	for _, s := range c.Changed {
		changed += len(s.Clusters)
	}
	for _, s := range c.Left {
		left += len(s.Clusters)
	}
	add(len(c.Added), "+%d")
	add(len(c.Removed), "-%d")
	add(scaled, "scaled in %d")
	add(changed, "changed in %d")
	add(left, "left in %d")
	add(len(c.Detached), "stays in %d")
	if r := c.Replicas; r != nil && r.Before != r.After {
		parts = append(parts, "replicas "+r.String())
	}
	p.line("%s", p.paint.mark(mark, fmt.Sprintf("%s %s (%s)", mark, words.Printable(headline(c)), strings.Join(parts, ", "))))
}

// namesOf lists the first names of clusters.
func namesOf(names []string) string { return words.Printable(words.First(names, maxClusters)) }

func (p *printer) regions(all []preview.Region) {
	if len(all) == 0 {
		return
	}
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{
			cell.Dash(words.Printable(r.Name)), fmt.Sprintf("%d of %d", r.Clusters, r.Of), strconv.Itoa(r.Added), strconv.Itoa(r.Changed), strconv.Itoa(r.Removed), r.Replicas.String(),
		})
	}
	p.table([]string{"REGION", "CLUSTERS", "ADDED", "CHANGED", "REMOVED", "REPLICAS"}, rows)
	p.line("")
}

func (p *printer) clusters(all []preview.Cluster) {
	var rows [][]string
	for _, c := range all[:min(maxRows, len(all))] {
		rows = append(rows, []string{
			words.Printable(c.Name), strconv.Itoa(c.Added), strconv.Itoa(c.Changed), strconv.Itoa(c.Removed), c.Objects.String(), c.Replicas.String(), words.Printable(note(c)),
		})
	}
	p.table([]string{"CLUSTER", "ADDED", "CHANGED", "REMOVED", "OBJECTS", "REPLICAS", ""}, rows)
	if n := len(all) - maxRows; n > 0 {
		p.line("and %s; --cluster shows one, -o html all", words.Count(n, "more cluster"))
	}
}

// note is what else there is to say of a cluster.
func note(c preview.Cluster) string {
	switch {
	case c.Held != "":
		return "held: " + c.Held
	case c.New:
		return "new"
	case c.Gone:
		return "no longer registered; its branch stays"
	}
	return ""
}

func (p *printer) table(head []string, rows [][]string) {
	var b strings.Builder
	if p.err == nil {
		p.err = columns(&b, head, rows)
	}
	for line := range strings.Lines(b.String()) {
		p.line("%s", strings.TrimRight(line, " \n"))
	}
}

// listed prints lines below a heading.
func (p *printer) listed(heading string, all []string) {
	if len(all) > 0 {
		p.line("\n%s", heading)
	}
	for _, text := range all {
		p.line("  %s", words.Printable(text))
	}
}

func (p *printer) guard(g *preview.Guard) {
	if g == nil {
		return
	}
	p.line("")
	for _, h := range g.Holds {
		p.line("%s", p.paint.mark("!", "The guard holds "+namesOf(h.Clusters)+": "+words.Printable(h.Reason)))
		for _, r := range h.Removals[:min(maxRemovals, len(h.Removals))] {
			p.line("  - %s (%s)", words.Printable(r.Object.String()), words.Printable(r.Cause))
		}
		if n := len(h.Removals) - maxRemovals; n > 0 {
			p.line("  and %d more", n)
		}
	}
	switch {
	case g.Trailer != "":
		p.line("To let it happen, put the trailer %q on a commit, or run %q.", g.Trailer, g.Command)
	case g.Command != "":
		p.line("To let it happen, run %q.", g.Command)
	}
	for _, h := range g.Already {
		p.line("Held without this change, too: %s: %s", namesOf(h.Clusters), words.Printable(h.Reason))
	}
}

// totals are the last lines; the last one as terraform has it.
func (p *printer) totals(t *preview.Totals) {
	p.line("")
	line := t.String()
	if t.Replicas.Before != t.Replicas.After {
		line += "; replicas: " + t.Replicas.String()
	}
	p.line("%s", line)
	p.line("%s", p.paint.bold(fmt.Sprintf("Plan: %d to add, %d to change, %d to remove, over all clusters.", t.Added, t.Changed, t.Removed)))
}
