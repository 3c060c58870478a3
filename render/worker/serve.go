package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// settings are what a child is told before it raises its walls.
type settings struct {
	Layers    layers
	Memory    int64 // bytes of heap
	MaxOutput int64
	Own       bool // the child has a user namespace of its own
}

const (
	// stackShare is the share of the heap that one goroutine's stack may take: far more
	// than templates nest, and little enough that an overflow is seen as one.
	stackShare = 8
	// maxThreads is how many threads a child may have, beyond which the Go runtime ends
	// it.
	maxThreads = 128
	// maxProcessors is how many processors a child uses: one to render, the others to
	// collect garbage.
	maxProcessors = 4
)

// Main is what a child runs in place of the program's own main function: it raises the
// walls, says which stand, and does jobs with h until its standard input is closed. It
// returns the exit code, and reads neither arguments nor environment. It takes the
// process over: nothing can be opened or started afterwards.
func Main(h Handler) int {
	os.Clearenv()
	s := server{in: bufio.NewReader(os.Stdin), out: os.Stdout, handler: h}
	if err := s.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "fatal error: worker:", err)
		return 1
	}
	return 0
}

// server is the child's side.
type server struct {
	in      io.Reader
	out     io.Writer
	handler Handler
	settings
}

func (s *server) serve() error {
	_, data, err := readFrame(s.in, map[kind]int64{kindSettings: maxSmall})
	if err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	if err := json.Unmarshal(data, &s.settings); err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	debug.SetMemoryLimit(s.Memory)
	debug.SetMaxStack(int(s.Memory / stackShare))
	debug.SetMaxThreads(maxThreads)
	runtime.GOMAXPROCS(min(runtime.NumCPU(), maxProcessors))
	report, err := json.Marshal(raise(s.settings))
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := writeFrame(s.out, kindReport, report); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	for {
		_, job, err := readFrame(s.in, map[kind]int64{kindJob: math.MaxUint32})
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.do(job)
		}
		if err != nil {
			return err
		}
	}
}

// do does one job.
func (s *server) do(job []byte) error {
	output, err := s.handler(job, newRemote(asking(s.in, s.out)))
	switch {
	case err == nil && int64(len(output)) > s.MaxOutput:
		err = fmt.Errorf("the output has %d bytes; at most %d are allowed", len(output), s.MaxOutput)
	case err == nil:
		return writeFrame(s.out, kindOutput, output)
	}
	text := err.Error()
	return writeFrame(s.out, kindError, []byte(text[:min(len(text), maxSmall)]))
}
