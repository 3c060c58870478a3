// Survivors plants bugs all over packages, and lists those that the tests of the package itself do not notice.
//
// What a package's tests do not hold is seen by that: a condition that may be forgotten, an error that may be dropped, a statement that
// may be missing. It is no demand, since some bugs make no difference: such a condition is redundant, or saves time. A bug that matters
// gets a row in a table of tests. The bugs are compiled into one test binary, each behind a switch, by an overlay: the work tree is not
// touched, and a bug costs one run of the tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	o := options{}
	flag.IntVar(&o.most, "most", 100, "how many bugs of a package are tried, drawn from all that its tests reach")
	flag.DurationVar(&o.time, "time", time.Minute, "how long those of one package are tried")
	flag.Uint64Var(&o.seed, "seed", 1, "what is drawn")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // a program's own
	defer stop()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "survivors: name folders of packages, as: go run ./test/survivors reconciler/guard")
		os.Exit(2)
	}
	for _, folder := range flag.Args() {
		r, err := try(ctx, folder, o)
		if err != nil {
			fmt.Fprintf(os.Stderr, "survivors: %s: %v\n", folder, err)
			os.Exit(2)
		}
		if err := r.print(os.Stdout, folder); err != nil {
			fmt.Fprintln(os.Stderr, "survivors:", err)
			os.Exit(2)
		}
	}
}

// print lists the bugs that nobody noticed, and counts all.
func (r *result) print(w io.Writer, folder string) error {
	for _, b := range r.survived {
		if _, err := fmt.Fprintf(w, "%s/%s:%d: %s: %s\n", folder, b.File, b.Line, b.Kind, b.Text); err != nil {
			return err
		}
	}
	for _, b := range r.unreached {
		if _, err := fmt.Fprintf(w, "%s/%s:%d: not reached: %s\n", folder, b.File, b.Line, b.Text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s: %d of %d bugs are noticed; of %d in all its tests reach %d\n",
		folder, r.tried-len(r.survived), r.tried, r.all, r.all-len(r.unreached))
	return err
}
