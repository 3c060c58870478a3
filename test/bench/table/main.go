// Command table measures what Waybill does with large fleets against what a user
// would run instead, in one run, and prints a table: wall time, processor time, peak
// memory, and the ratio to the peer or to the floor, which is git itself doing no more
// than to write the same bytes.
//
//	go run ./test/bench/table             # every row
//	go run ./test/bench/table -rows cold  # those whose names match
//
// Every row is a process of its own, so that memory is its own. Sources come from a
// seed and lie in a temporary folder, as do the repositories they are published to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	rows := flag.String("rows", "", "measure only the rows whose names match this regular expression")
	warm := flag.String("warm", "", "measure one warm row in this process; the program calls itself so")
	stream := flag.String("stream", "", "write what fast-import is told; the program calls itself so")
	dir := flag.String("dir", "", "the folder of a warm row")
	flag.Parse()
	if *warm != "" {
		debug.SetGCPercent(200) // as the program does
		return warmRow(ctx, *warm, *dir)
	}
	if *stream != "" {
		return writeStreams(ctx, *stream, *dir)
	}
	which, err := regexp.Compile(*rows)
	if err != nil {
		return fmt.Errorf("reading -rows: %w", err)
	}
	b, err := newBench(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "WORKLOAD\tWALL\tCPU\tMEMORY\tPEER\tRATIO\tTARGET\tREACHED")
	for _, r := range all {
		if !which.MatchString(r.name) {
			continue
		}
		m, err := r.measure(b)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%t\n", r.name, seconds(m.wall), seconds(m.cpu), megabytes(m.memory), peerOf(m), ratioOf(m), r.target, r.reached(m))
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// measured is what a row cost, and what its peer did.
type measured struct {
	wall, cpu time.Duration
	memory    int64         // bytes, at the peak
	peer      time.Duration // zero for none
	bytes     [2]int64      // that a repository grew by: ours and the peer's
}

func seconds(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%d MB", n>>20)
}

func peerOf(m measured) string {
	if m.bytes[1] > 0 {
		return fmt.Sprintf("%d KB", m.bytes[1]>>10)
	}
	return seconds(m.peer)
}

func ratioOf(m measured) string {
	switch {
	case m.bytes[1] > 0:
		return fmt.Sprintf("%.2fx", float64(m.bytes[0])/float64(m.bytes[1]))
	case m.peer > 0:
		return fmt.Sprintf("%.2fx", m.wall.Seconds()/m.peer.Seconds())
	}
	return "-"
}
