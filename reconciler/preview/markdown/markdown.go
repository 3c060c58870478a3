// Package markdown writes a comparison as the text of a comment on a pull request: what counts
// stands first, and what does not fit is counted.
//
// A comment is read by a forge before it is read by people, and what stands in it was written by
// whoever opened the pull request. So every text of theirs stands in code, be it a span or a
// fence longer than any in the text: there a forge makes no link, no image, no mention and no
// heading of it, and whoever reads it sees each character.
package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// Limit is how many bytes a comment has at most, where a forge takes 65,536 characters.
const Limit = 60000

// The most of each that a comment lists.
const (
	maxNames    = 6
	maxErrors   = 10
	maxRemovals = 10
	maxRegions  = 30
	maxClusters = 50
)

// Comment writes a comparison in at most limit bytes, as far as there is room for the counts.
// The changes come in their order until there is no room; what is left out is counted.
func Comment(c *preview.Comparison, limit int) string {
	if c.Empty() {
		return nothing(c)
	}
	head := join(verdict(c), counts(c), short(c.Shortages()), rollouts(c.Steps()), services(c.Exchanges()), guard(c.Guard, c.Head),
		errors(c.Diags), already(c.Already), regions(c.Regions))
	const reserve = 200 // for what is said of what is left out
	room := limit - len(head) - reserve
	var body strings.Builder
	cut := 0
	changes := preview.Fold(c.Changes)
	for i := range changes {
		block := change(&changes[i])
		if body.Len()+len(block) > room {
			block = brief(&changes[i])
		}
		if body.Len()+len(block) > room {
			cut = len(changes) - i
			break
		}
		body.WriteString(block)
	}
	body.WriteString(omitted(changes[len(changes)-cut:]))
	text := join(head, body.String())
	if table := clusters(c.Clusters); len(text)+len(table) < limit {
		text = join(text, table)
	}
	return text
}

// nothing is the comment of a change that changes nothing.
func nothing(c *preview.Comparison) string {
	text := "**No cluster changes.**\n"
	if c.Errors()+len(preview.Mistakes(c.Already)) > 0 {
		text = "**No cluster changes as far as is known**: what has an error stays as it is.\n"
	}
	if v := c.Verdict(); v.Level != preview.Nothing {
		text = join(verdict(c), text)
	}
	return join(text, supposed(c.Supposed), short(c.Shortages()), guard(c.Guard, c.Head), errors(c.Diags), already(c.Already))
}

// join joins the parts that there are, with an empty line between them.
func join(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return strings.Join(parts, "\n")
}

// verdict is the first line.
func verdict(c *preview.Comparison) string {
	v := c.Verdict()
	var b strings.Builder
	for _, p := range v.Parts {
		if p.Quoted {
			b.WriteString(span(p.Text))
		} else {
			b.WriteString(p.Text)
		}
	}
	return fmt.Sprintf("**%s**: %s\n", v.Level, b.String())
}

// counts are the numbers.
func counts(c *preview.Comparison) string {
	t := &c.Totals
	line := "**" + strings.Replace(t.String(), ": ", "**: ", 1)
	if !strings.Contains(line, "**:") {
		line += "**"
	}
	var more []string
	if m := t.Manifests(); m != "" {
		more = append(more, "manifests: "+m)
	}
	if t.Replicas.Before+t.Replicas.After > 0 {
		more = append(more, "replicas of what changes: "+arrow(t.Replicas))
	}
	if len(more) > 0 {
		line += "\n" + strings.Join(more, "; ")
	}
	return join(line+"\n", supposed(c.Supposed))
}

func supposed(all []string) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString("Supposed: " + span(s) + "\n")
	}
	return b.String()
}

// arrow prints a span of numbers.
func arrow(s preview.Span) string { return strings.Replace(s.String(), "->", "→", 1) }

// errors lists what is wrong with the head.
func errors(all []diag.Diagnostic) string {
	all = preview.Mistakes(all)
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("**%s in the source**: what they are about stays as it was.\n", words.Count(len(all), "error")) + listed(all)
}

// already counts what is wrong without the change, too, and lists the errors.
func already(all []diag.Diagnostic) string {
	if len(all) == 0 {
		return ""
	}
	mistakes := preview.Mistakes(all)
	var counted []string
	for _, n := range []struct {
		n    int
		word string
	}{{len(mistakes), "error"}, {len(all) - len(mistakes), "warning"}} {
		if n.n > 0 {
			counted = append(counted, words.Count(n.n, n.word))
		}
	}
	return fmt.Sprintf("There without this change, too: %s.\n", words.List(counted)) + listed(mistakes)
}

// listed lists the first errors.
func listed(all []diag.Diagnostic) string {
	var said []string
	for _, d := range all {
		said = append(said, strings.SplitN(d.String(), "\n", 2)[0])
	}
	return lines("", said, maxErrors)
}

func regions(all []preview.Region) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| region | clusters | added | changed | removed | replicas |\n|---|---|---|---|---|---|\n")
	for _, r := range all[:min(maxRegions, len(all))] {
		fmt.Fprintf(&b, "| %s | %d of %d | %d | %d | %d | %s |\n", cell(r.Name), r.Clusters, r.Of, r.Added, r.Changed, r.Removed, arrow(r.Replicas))
	}
	if n := len(all) - maxRegions; n > 0 {
		fmt.Fprintf(&b, "\nand %s\n", words.Count(n, "more region"))
	}
	return b.String()
}

// clusters is a table that is folded.
func clusters(all []preview.Cluster) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n", words.Count(len(all), "cluster"))
	b.WriteString("| cluster | region | added | changed | removed | objects | replicas | |\n|---|---|---|---|---|---|---|---|\n")
	for _, c := range all[:min(maxClusters, len(all))] {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s | %s | %s |\n", cell(c.Name), cell(c.Region), c.Added, c.Changed, c.Removed, arrow(c.Objects), arrow(c.Replicas), note(c))
	}
	if n := len(all) - maxClusters; n > 0 {
		fmt.Fprintf(&b, "\nand %s\n", words.Count(n, "more cluster"))
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

func note(c preview.Cluster) string {
	switch {
	case c.Held != "":
		return "held: " + cell(c.Held)
	case c.New:
		return "new"
	case c.Gone:
		return "no longer registered; its branch stays"
	}
	return ""
}
