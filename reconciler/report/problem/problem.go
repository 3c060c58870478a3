// Package problem writes what `problems` prints: how much is broken in a line, and a line for each problem.
package problem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/sources/words"
)

// Name prints problems by what they are about.
const Name report.Format = "name"

// Write writes a list in a format: Table, Wide, JSON, YAML or Name.
func Write(w io.Writer, l *problems.List, as report.Format) error {
	if as == report.JSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(l)
	}
	data, err := table(l, as), error(nil)
	if as == report.YAML {
		data, err = sigsyaml.Marshal(l)
	}
	if as == Name {
		data = names(l)
	}
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// names are what the problems are about, each on a line.
func names(l *problems.List) []byte {
	var b bytes.Buffer
	for i := range l.Problems {
		fmt.Fprintln(&b, words.Printable(l.Problems[i].Name))
	}
	return b.Bytes()
}

// table is a list for people.
func table(l *problems.List, as report.Format) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, verdict(l))
	if len(l.Problems) > 0 {
		head := []string{"\nPROBLEM", "WHAT", "WHERE", "SINCE", "WHY"}
		if as == report.Wide {
			head = append(head, "COMMIT", "AUTHOR", "NEXT")
		}
		t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		fmt.Fprintln(t, strings.Join(head, "\t"))
		for i := range l.Problems {
			fmt.Fprintln(t, strings.Join(row(&l.Problems[i], l.Checked, as), "\t"))
		}
		_ = t.Flush() // a buffer takes all
	}
	if l.More > 0 {
		fmt.Fprintf(&b, "and %d more errors of the source: waybill validate lists all\n", l.More)
	}
	for i := range l.Problems {
		if p := &l.Problems[i]; len(p.Loses) > 0 {
			fmt.Fprintf(&b, "\n%s would lose %s\nto let it happen: %s\n", words.List(p.Clusters), words.First(p.Loses, mostLost), p.Next)
		}
	}
	return b.Bytes()
}

// mostLost is how many objects are named that held clusters would lose.
const mostLost = 10

// verdict says in a line how much is broken.
func verdict(l *problems.List) string {
	var counts []string
	for _, k := range nouns {
		if n := count(l, k.kind); n > 0 {
			counts = append(counts, words.Count(n, k.noun))
		}
	}
	text := "nothing is broken"
	if !l.Since.IsZero() {
		text += ", as it is since " + l.Since.Format(time.RFC3339)
	}
	if len(counts) > 0 {
		text = words.Count(len(l.Problems), "problem") + ": " + strings.Join(counts, ", ")
	}
	text += fmt.Sprintf(" (commit %s, looked at %s)", short(l.Commit), l.Checked.Format(time.RFC3339))
	if len(l.Unreported) > 0 {
		text += "; nobody reports of " + words.List(l.Unreported)
	}
	return text
}

// nouns are what problems are called when they are counted, in the order of kinds.
var nouns = []struct {
	kind problems.Kind
	noun string
}{
	{problems.SourceError, "source error"},
	{problems.NotPlaced, "unplaced template"},
	{problems.ClusterFailing, "cluster failure"},
	{problems.NotApplied, "unapplied object"},
	{problems.Unhealthy, "unhealthy object"},
	{problems.RolloutStopped, "stopped roll-out"},
	{problems.Held, "hold"},
	{problems.Drifting, "drifting object"},
	{problems.Silent, "silence"},
}

// count is how many problems are of a kind.
func count(l *problems.List, k problems.Kind) (n int) {
	for i := range l.Problems {
		if l.Problems[i].Kind == k {
			n++
		}
	}
	return n
}

func row(p *problems.Problem, now time.Time, as report.Format) []string {
	what := p.Name
	if p.Line > 0 {
		what += ":" + strconv.Itoa(p.Line)
	}
	why := strings.TrimPrefix(p.Reason+": "+p.Message, ": ")
	cells := []string{string(p.Kind), words.Printable(what), whereOf(p), age(p.Since, now), words.Printable(strings.TrimSuffix(why, ": "))}
	if as == report.Wide {
		cells = append(cells, short(p.Commit), dash(words.Printable(p.Author)), dash(words.Printable(p.Next)))
	}
	return cells
}

// whereOf says in which clusters it is so.
func whereOf(p *problems.Problem) string {
	switch n := len(p.Clusters); {
	case n == 0:
		return "-"
	case p.Of > n:
		return fmt.Sprintf("%d of %d: %s", n, p.Of, words.List(p.Clusters))
	case n > 1:
		return fmt.Sprintf("all %d: %s", n, words.List(p.Clusters))
	}
	return p.Clusters[0]
}

// age is how long ago something was.
func age(at, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return duration.HumanDuration(now.Sub(at))
}

// short is the beginning of a commit.
func short(commit string) string { return dash(commit[:min(12, len(commit))]) }

// dash stands in a column for nothing.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
