package markdown

import (
	"fmt"
	"html"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/sources/words"
)

// The most bytes of a fence, and lines of a value.
const (
	maxFence = 8000
	maxLines = 40
)

// change writes a change with its fields, folded.
func change(c *preview.Change) string {
	var b strings.Builder
	for _, cause := range c.Causes {
		fmt.Fprintf(&b, "because: %s\n\n", span(cause.String()))
	}
	if n := len(c.Objects) - 1; n > 0 {
		var with []string
		for _, r := range c.Objects[1:] {
			with = append(with, r.String())
		}
		fmt.Fprintf(&b, "with %s\n\n", names(with))
	}
	if text := detail(c); text != "" {
		b.WriteString(fence("diff", text))
	}
	if b.Len() == 0 {
		return brief(c)
	}
	return fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n</details>\n\n", summary(c), b.String())
}

// brief writes a change in one line.
func brief(c *preview.Change) string { return "<p>" + summary(c) + "</p>\n\n" }

// summary is the line of a change, as HTML, in which no Markdown is read.
func summary(c *preview.Change) string {
	line := fmt.Sprintf("<b>%s</b>: %s", c.Verb, tag(c.Objects[0].String()))
	if n := len(c.Objects) - 1; n > 0 {
		line += fmt.Sprintf(" and %d more", n)
	}
	var parts []string
	add := func(names []string, word string) {
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", word, words.Count(len(names), "cluster")))
		}
	}
	add(c.Added, "to")
	add(c.Removed, "from")
	add(c.Detached, "stays in")
	for _, s := range c.Scaled {
		parts = append(parts, fmt.Sprintf("%d → %d in %s", s.From, s.To, words.Count(len(s.Clusters), "cluster")))
	}
	for _, s := range c.Changed {
		parts = append(parts, "the same change in "+words.Count(len(s.Clusters), "cluster"))
	}
	for _, l := range c.Left {
		parts = append(parts, "left as it is in "+words.Count(len(l.Clusters), "cluster"))
	}
	const most = 4
	if n := len(parts) - most; n > 0 {
		parts = append(parts[:most], fmt.Sprintf("and %d more", n))
	}
	return line + ", " + strings.Join(parts, ", ")
}

// omitted counts the changes that a comment has no room for.
func omitted(all []preview.Change) string {
	if len(all) == 0 {
		return ""
	}
	objects := 0
	for _, c := range all {
		objects += len(c.Objects)
	}
	return fmt.Sprintf("**and %s more** of %s: there is no room for them here; `waybill diff` shows all, and `waybill diff -o html` as a page\n", words.Count(len(all), "change"), words.Count(objects, "object"))
}

// detail says where a change is, and in which fields.
func detail(c *preview.Change) string {
	var b strings.Builder
	list := func(mark, what string, clusters []string) {
		if len(clusters) > 0 {
			fmt.Fprintf(&b, "%s %s%s\n", mark, what, words.Printable(words.First(clusters, maxNames)))
		}
	}
	list("+", "", c.Added)
	list("-", "", c.Removed)
	list("!", "stays in what is no longer registered: ", c.Detached)
	for _, s := range c.Scaled {
		list("!", fmt.Sprintf("%d → %s: ", s.From, words.Count(int(s.To), "replica")), s.Clusters)
	}
	for _, m := range c.Moves {
		fmt.Fprintf(&b, "# from %s: %s; %s\n", words.Printable(m.From), words.Printable(m.How), words.Printable(m.Nowhere))
	}
	for _, l := range c.Left {
		what := "is not there yet: "
		if l.Kept {
			what = "stays as it is: "
		}
		list("!", words.Printable(l.Reason)+"; "+what, l.Clusters)
	}
	for _, s := range c.Changed {
		list("#", "in ", s.Clusters)
		shown, routine := fields.Shown(s.Fields)
		for i := range shown {
			field(&b, &shown[i])
		}
		if routine > 0 {
			fmt.Fprintf(&b, "# and %s\n", fields.Follow(routine))
		}
		if b.Len() > maxFence {
			break
		}
	}
	return cutAt(b.String(), maxFence)
}

func field(b *strings.Builder, f *fields.Field) {
	path := words.Printable(f.Path)
	switch {
	case f.Hidden:
		fmt.Fprintf(b, "! %s: (values of a Secret are not shown)\n", path)
	case f.Lines != "":
		fmt.Fprintf(b, "# %s:\n", path)
		for line := range strings.Lines(f.Lines) {
			b.WriteString(words.Printable(strings.TrimRight(line, "\n")) + "\n")
		}
	case f.Op == fields.Reorder:
		fmt.Fprintf(b, "! %s: the order is %s, before %s\n", path, value(f.To), value(f.From))
	default:
		if f.Op != fields.Add {
			marked(b, "-", path, value(f.From))
		}
		if f.Op != fields.Remove {
			marked(b, "+", path, value(f.To))
		}
	}
}

// marked writes a value with a mark before each of its lines.
func marked(b *strings.Builder, mark, path, text string) {
	if !strings.Contains(text, "\n") {
		fmt.Fprintf(b, "%s %s: %s\n", mark, path, text)
		return
	}
	fmt.Fprintf(b, "%s %s:\n", mark, path)
	lines := strings.Split(text, "\n")
	for _, line := range lines[:min(maxLines, len(lines))] {
		fmt.Fprintf(b, "%s   %s\n", mark, line)
	}
	if n := len(lines) - maxLines; n > 0 {
		fmt.Fprintf(b, "%s   and %s\n", mark, words.Count(n, "more line"))
	}
}

// value prints a value as YAML, each line so that it is no more than text.
func value(v any) string {
	if s, ok := v.(string); ok {
		return words.Printable(s)
	}
	data, err := sigsyaml.Marshal(v)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	for i, line := range lines {
		lines[i] = words.Printable(line)
	}
	return strings.Join(lines, "\n")
}

// tag is a text in HTML as code, where forges look for nothing in it.
func tag(text string) string { return "<code>" + html.EscapeString(words.Printable(text)) + "</code>" }
