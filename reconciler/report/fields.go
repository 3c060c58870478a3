package report

import (
	"fmt"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/sources/words"
)

// maxInline is how long a value may be that stands beside the path of its field.
const maxInline = 100

// fields prints in which fields a manifest changes.
func (p *printer) fields(all []fields.Field) {
	shown, routine := fields.Shown(all)
	for i := range shown {
		p.field(&shown[i])
	}
	if routine > 0 {
		p.line("    and %s", fields.Follow(routine))
	}
}

func (p *printer) field(f *fields.Field) {
	path := p.paint.bold(words.Printable(f.Path))
	from, to := value(f.From), value(f.To)
	switch {
	case f.Hidden:
		p.line("    %s %s: (values of a Secret are not shown)", mark(f.Op), path)
	case f.Lines != "":
		p.line("    ~ %s:", path)
		p.lines("        ", f.Lines)
	case f.Op == fields.Reorder:
		p.line("    ~ %s: the order is %s, before %s", path, to, from)
	case f.Op == fields.Add:
		p.block("+", path, to)
	case f.Op == fields.Remove:
		p.block("-", path, from)
	case isInline(from) && isInline(to):
		p.line("    ~ %s: %s -> %s", path, p.paint.mark("-", from), p.paint.mark("+", to))
	default:
		p.line("    ~ %s:", path)
		p.marked("-", from)
		p.marked("+", to)
	}
}

func mark(op fields.Op) string {
	switch op {
	case fields.Add:
		return "+"
	case fields.Remove:
		return "-"
	default:
		return "~"
	}
}

// block prints a field that comes or goes.
func (p *printer) block(mark, path, text string) {
	if isInline(text) {
		p.line("    %s", p.paint.mark(mark, mark+" "+path+": "+text))
		return
	}
	p.line("    %s %s:", mark, path)
	p.marked(mark, text)
}

func (p *printer) marked(mark, text string) {
	for line := range strings.Lines(text) {
		p.line("        %s", p.paint.mark(mark, mark+" "+strings.TrimRight(line, "\n")))
	}
}

// lines prints a unified diff.
func (p *printer) lines(indent, diff string) {
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\n")
		p.line("%s%s", indent, p.paint.mark(line[:min(1, len(line))], words.Printable(line)))
	}
}

func isInline(text string) bool { return len(text) <= maxInline && !strings.Contains(text, "\n") }

// value prints a value as YAML.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return words.Printable(v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	}
	data, err := sigsyaml.Marshal(v)
	if err != nil {
		return fmt.Sprintf("(it cannot be written: %s)", err)
	}
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(string(data), "\n")) {
		b.WriteString(words.Printable(strings.TrimRight(line, "\n")) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
