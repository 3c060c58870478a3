// Mutants plants the bugs of a list, one at a time, and demands that the test which each names fails.
//
// The list is in the folder table: a bug is a text of the code, which is in one place below a folder, and another
// text to put there. The work tree is not touched: the compiler is given the other text by an overlay. A bug that
// does not compile, a text that is no longer there and a test that passes are errors. Its own test, which is cheap,
// holds the list against the code.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	at := flag.Int("p", 2, "how many bugs are tried at once")
	only := flag.String("run", "", "try the bugs whose name, folder or test this regular expression matches")
	list := flag.String("list", "test/mutants/table", "folder of lists of bugs, or one list")
	whole := flag.Bool("all", false, "run every test of the package that has the named one, and say which fails first")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // a program's own
	defer stop()
	slips, err := try(ctx, os.Stdout, *list, *only, options{at: *at, whole: *whole})
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if slips > 0 {
		os.Exit(1)
	}
}

// try plants the bugs of a list that are asked for, and returns how many no test caught.
func try(ctx context.Context, out io.Writer, list, only string, o options) (slips int, err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return 0, fmt.Errorf("reading -run: %w", err)
	}
	all, err := read(list)
	if err != nil {
		return 0, err
	}
	var some []Mutant
	for _, m := range all {
		if wanted.MatchString(m.Name) || wanted.MatchString(m.In) || wanted.MatchString(m.Test) {
			some = append(some, m)
		}
	}
	results, err := run(ctx, out, some, o)
	if err != nil {
		return 0, err
	}
	for _, r := range results {
		if r.by == "" {
			slips++
		}
	}
	_, err = fmt.Fprintf(out, "%d of %d bugs are caught\n", len(results)-slips, len(results))
	return slips, err
}
