package preview

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/waybill-dev/waybill/render/object"
)

// maxClusters is how many cluster names a line lists.
const maxClusters = 6

// unified returns the difference of two manifests. Of a Secret it tells only that there is
// one; values of Secrets that a manifest was rendered with are not shown.
func (c *comparer) unified(r object.Ref, old, now string) string {
	const hidden = "(values of a Secret are not shown)\n"
	if r.Kind == "Secret" && r.Group == "" {
		return hidden
	}
	if secrets := c.secrets(r); len(secrets) > 0 {
		hide := object.Redactor(secrets)
		if old, now = hide.Replace(old), hide.Replace(now); old == now {
			return hidden
		}
	}
	text := string(diff.Diff("before", []byte(old), "after", []byte(now)))
	if i := strings.Index(text, "\n--- before"); i >= 0 {
		text = text[i+1:]
	}
	return text
}

// secrets returns the values of Secrets that an object was rendered with in either plan.
func (c *comparer) secrets(r object.Ref) []string {
	if c.private == nil {
		c.private = c.base.Private()
		for ref, secrets := range c.head.Private() {
			c.private[ref] = append(c.private[ref], secrets...)
		}
	}
	return c.private[r]
}

// Text writes r for a terminal.
func (r *Report) Text(w io.Writer) error {
	p := printer{w: w}
	switch {
	case r.Empty() && r.Errors() > 0:
		p.line("no cluster changes as far as is known: what has an error stays as it is")
		return p.err
	case r.Empty():
		p.line("no cluster changes")
		return p.err
	}
	counts := map[string]int{}
	for _, o := range r.Objects {
		counts[o.Verb]++
	}
	var parts []string
	for _, v := range []string{"appears", "moves", "scales", "changes", "disappears"} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], plural(v, counts[v])))
		}
	}
	p.line("%s in %s: %s", count(len(r.Objects), "object"), count(len(r.Clusters), "cluster"), strings.Join(parts, ", "))
	for _, o := range r.Objects {
		p.object(o)
	}
	p.clusters(r.Clusters)
	return p.err
}

// plural turns a verb of one object into that of several.
func plural(verb string, n int) string {
	if n == 1 {
		return verb
	}
	return strings.TrimSuffix(verb, "s")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
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

func (p *printer) object(o Object) {
	why := ""
	if o.Why != "" {
		why = " (" + o.Why + ")"
	}
	p.line("\n%s %s%s", o.Object, o.Verb, why)
	if len(o.Added) > 0 {
		p.line("  + %s", some(o.Added))
	}
	if len(o.Removed) > 0 {
		p.line("  - %s", some(o.Removed))
	}
	for _, s := range o.Scaled {
		p.line("  ~ %s: %d -> %d replicas", s.Cluster, s.From, s.To)
	}
	for _, c := range o.Changed {
		p.line("  in %s:", some(c.Clusters))
		for line := range strings.Lines(c.Diff) {
			p.line("    %s", strings.TrimRight(line, "\n"))
		}
	}
}

func (p *printer) clusters(cs []Cluster) {
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

func some(names []string) string {
	if len(names) <= maxClusters {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxClusters], ", "), len(names)-maxClusters)
}
