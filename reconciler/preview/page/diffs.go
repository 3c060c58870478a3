package page

import (
	"fmt"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/sources/words"
)

// contents are the fields that change. Those for which there is no room are one part.
func (e *encoder) contents(changed []preview.Content) (all []part) {
	var without []string
	for i, s := range changed {
		n, ok := 0, false
		if i < maxDiffs {
			n, ok = e.diff(s.Fields)
		}
		if !ok {
			without = append(without, s.Clusters...)
			continue
		}
		all = append(all, part{Is: string(preview.Changes), Set: e.set(s.Clusters), Diff: &n})
	}
	if len(without) > 0 {
		slices.Sort(without)
		all = append(all, part{Is: string(preview.Changes), Set: e.set(without)})
	}
	return all
}

// diff is the number of a list of fields; false if there is no room for it.
func (e *encoder) diff(all []fields.Field) (int, bool) {
	shown, routine := fields.Shown(all)
	out := diff{Fields: []field{}, Routine: routine}
	for i := range shown {
		out.Fields = append(out.Fields, fieldOf(&shown[i]))
	}
	var b strings.Builder
	fmt.Fprintln(&b, routine)
	for _, f := range out.Fields {
		fmt.Fprintf(&b, "%q %s %s %s %q %v\n", f.Path, f.Op, quoted(f.From), quoted(f.To), f.Lines, f.Hidden)
	}
	key := b.String()
	n, ok := e.diffs[key]
	if !ok && len(key) > e.room {
		return 0, false
	}
	if !ok {
		n = len(e.Diffs)
		e.room -= len(key)
		e.diffs[key] = n
		e.Diffs = append(e.Diffs, out)
	}
	return n, true
}

func quoted(s *string) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%q", *s)
}

func fieldOf(f *fields.Field) field {
	out := field{Path: words.Printable(f.Path), Op: f.Op, Hidden: f.Hidden, Lines: printable(f.Lines)}
	if f.Hidden || f.Lines != "" {
		return out
	}
	if f.Op != fields.Add {
		out.From = value(f.From)
	}
	if f.Op != fields.Remove {
		out.To = value(f.To)
	}
	return out
}

// value is a value as YAML.
func value(v any) *string {
	text, ok := v.(string)
	if ok {
		text = words.Printable(text)
		return &text
	}
	data, err := sigsyaml.Marshal(v)
	if err != nil {
		text = fmt.Sprintf("(it cannot be written: %s)", err)
		return &text
	}
	text = printable(strings.TrimRight(string(data), "\n"))
	return &text
}

// printable makes each line of a text so that it is no more than text.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = words.Printable(line)
	}
	return strings.Join(lines, "\n")
}
