package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestDeaths(t *testing.T) {
	tests := []struct {
		name   string
		order  order
		reason Reason
		detail string
	}{
		{name: "memory without end", order: order{Do: "allocate", N: 1 << 20}, reason: OutOfMemory},
		{name: "one huge allocation", order: order{Do: "zeros", N: 1 << 40}, reason: OutOfMemory},
		{name: "a stack that overflows", order: order{Do: "recurse"}, reason: Crashed, detail: "stack overflow in "},
		{name: "a loop for ever", order: order{Do: "spin on all", N: 8}, reason: CPULimit},
		{name: "sleep for ever", order: order{Do: "sleep"}, reason: TimeLimit},
		{name: "a panic", order: order{Do: "panic", Arg: "hunter2"}, reason: Crashed, detail: "panic in "},
		{name: "an index out of range", order: order{Do: "index", N: 7}, reason: Crashed, detail: "panic: runtime error: index out of range in "},
		{name: "an exit that pretends to be well", order: order{Do: "exit"}, reason: Crashed, detail: "exit status 0"},
		{name: "another exit", order: order{Do: "exit", N: 7}, reason: Crashed, detail: "exit status 7"},
		{name: "an output that is closed", order: order{Do: "close"}, reason: Protocol, detail: "it closed its output"},
		{name: "a flood of output", order: order{Do: "flood"}, reason: Protocol, detail: "a frame of kind"},
		{name: "threads without end", order: order{Do: "threads"}}, // what ends first depends on how threads are made
		{name: "a frame of an unknown kind", order: order{Do: "frame", N: 'x'}, reason: Protocol, detail: "kind 'x'"},
		{name: "a second report", order: order{Do: "frame", N: int(kindReport), Arg: "{}"}, reason: Protocol, detail: "kind 'W'"},
		{name: "a path out of the tree", order: order{Do: "frame", N: int(kindAsk), Arg: "../x"}, reason: Protocol, detail: "a path that is none"},
		{name: "an absolute path", order: order{Do: "frame", N: int(kindAsk), Arg: "/etc/passwd"}, reason: Protocol, detail: "a path that is none"},
		{name: "a path that is too long", order: order{Do: "frame", N: int(kindAsk), Arg: strings.Repeat("x", 5000)}, reason: Protocol, detail: "5000 bytes"},
		{name: "a frame that never comes", order: order{Do: "promise", N: 1000}, reason: TimeLimit},
		{name: "a frame that would be too long", order: order{Do: "promise", N: 1 << 30}, reason: Protocol, detail: "more than 1048576"},
	}
	if runtime.GOOS != "linux" {
		t.Skip("without limits, some of these take the machine down")
	}
	p := pool(t, func(o *Options) { o.Wall, o.CPU, o.Jobs = 5*time.Second, 400*time.Millisecond, 2 })
	var jobs []Job
	for i, tt := range tests {
		jobs = append(jobs, tt.order.job(nil), order{Do: "echo", Arg: strconv.Itoa(i)}.job(nil))
	}
	results := p.Do(t.Context(), jobs)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, ok := errors.AsType[*DeathError](results[2*i].Err)
			expected := ok && (raced || tt.reason == "" || e.Reason == tt.reason && strings.Contains(e.Detail, tt.detail))
			if !expected || e.Name != tt.order.Do {
				t.Errorf("got %v; want %s, %q", results[2*i].Err, tt.reason, tt.detail)
			}
			if strings.Contains(message(results[2*i].Err), "hunter2") {
				t.Errorf("the error tells what was rendered: %v", results[2*i].Err)
			}
			if next := results[2*i+1]; next.Err != nil || string(next.Output) != strconv.Itoa(i) {
				t.Errorf("the job after it gives %q, %v", next.Output, next.Err)
			}
		})
	}
}

func TestStandardErrorStopsNothing(t *testing.T) {
	p := pool(t)
	res := p.Do(t.Context(), []Job{order{Do: "flood stderr", N: 100}.job(nil)})[0]
	if message(res.Err) != "it is alive" {
		t.Errorf("got %v", res.Err)
	}
}

// TestADeathIsExplainedByItsOwnJob: not by what the job before it wrote to standard error in the same child.
func TestADeathIsExplainedByItsOwnJob(t *testing.T) {
	p := pool(t, func(o *Options) { o.Jobs = 1 })
	res := p.Do(t.Context(), []Job{order{Do: "warn", Arg: "panic: of the job before"}.job(nil), order{Do: "exit", N: 7}.job(nil)})
	if e, ok := errors.AsType[*DeathError](res[1].Err); !ok || e.Reason != Crashed || e.Detail != "exit status 7" {
		t.Errorf("the second job gives %v", res[1].Err)
	}
}

func TestTooMuchOutputIsAMistake(t *testing.T) {
	p := pool(t)
	res := p.Do(t.Context(), []Job{order{Do: "zeros", N: 2 << 20}.job(nil)})[0]
	if _, ok := errors.AsType[*JobError](res.Err); !ok {
		t.Errorf("got %v", res.Err)
	}
}

// TestMemory brackets the limit of the heap.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" || raced {
		t.Skip("there is no limit here")
	}
	p := pool(t, func(o *Options) { o.CPU = 10 * time.Second })
	const block = 16 // MiB
	results := p.Do(t.Context(), []Job{
		order{Do: "allocate", N: 112 / block}.job(nil),
		order{Do: "allocate", N: 800 / block}.job(nil),
	})
	if got := message(results[0].Err); got != "it is alive" {
		t.Errorf("112 MiB of 128 give %q", got)
	}
	if e, ok := errors.AsType[*DeathError](results[1].Err); !ok || e.Reason != OutOfMemory {
		t.Errorf("800 MiB of 128 and 512 give %v", results[1].Err)
	}
}

func TestQuarantine(t *testing.T) {
	p := pool(t)
	bad, other := order{Do: "exit", N: 1}.job(nil), order{Do: "exit", N: 2}.job(nil)
	for i, want := range []string{"died", "quarantined", "quarantined"} {
		err := p.Do(t.Context(), []Job{bad})[0].Err
		if _, died := errors.AsType[*DeathError](err); died != (want == "died") || errors.Is(err, ErrQuarantined) != (want == "quarantined") {
			t.Errorf("time %d gives %v, want %s", i+1, err, want)
		}
	}
	if err := p.Do(t.Context(), []Job{other})[0].Err; errors.Is(err, ErrQuarantined) {
		t.Errorf("another key is quarantined, too: %v", err)
	}
	if err := p.Do(t.Context(), []Job{{Name: "same", Key: "new", Input: bad.Input}})[0].Err; errors.Is(err, ErrQuarantined) {
		t.Errorf("a new key is quarantined: %v", err)
	}
}

// TestWhatHasNoKeyIsNeverQuarantined: deaths of jobs that have none say nothing of other jobs that have none.
func TestWhatHasNoKeyIsNeverQuarantined(t *testing.T) {
	p := pool(t)
	bad, good := order{Do: "exit", N: 1}.job(nil), order{Do: "echo", Arg: "hello"}.job(nil)
	bad.Key, good.Key = "", ""
	for range maxDeaths {
		err := p.Do(t.Context(), []Job{bad})[0].Err
		if _, died := errors.AsType[*DeathError](err); !died {
			t.Errorf("it gives %v", err)
		}
	}
	if res := p.Do(t.Context(), []Job{good})[0]; res.Err != nil || string(res.Output) != "hello" {
		t.Errorf("another one gives %q, %v", res.Output, res.Err)
	}
}

func TestSuccessForgetsDeaths(t *testing.T) {
	p := pool(t)
	p.count("k", 2)
	j := order{Do: "echo"}.job(nil)
	j.Key = "k"
	if err := p.Do(t.Context(), []Job{j})[0].Err; err != nil {
		t.Fatal(err)
	}
	if n := p.deaths["k"]; n != 0 {
		t.Errorf("%d deaths remembered", n)
	}
}

func TestCancel(t *testing.T) {
	p := pool(t, func(o *Options) { o.Wall = time.Minute })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	results := p.Do(ctx, []Job{order{Do: "sleep"}.job(nil), order{Do: "echo"}.job(nil)})
	for _, res := range results {
		if !errors.Is(res.Err, context.DeadlineExceeded) {
			t.Errorf("got %v", res.Err)
		}
	}
	if p.deaths[order{Do: "sleep"}.job(nil).Key] != 0 {
		t.Error("a cancelled job counts as a death")
	}
}

func TestChildrenAreReusedAndEnd(t *testing.T) {
	p := pool(t)
	j := order{Do: "echo"}.job(nil)
	var seen []int
	for range 2 {
		if err := p.Do(t.Context(), []Job{j, j})[0].Err; err != nil {
			t.Fatal(err)
		}
		seen = append(seen, p.idle[0].cmd.Process.Pid)
	}
	if seen[0] != seen[1] || p.idle[0].jobs != 4 {
		t.Errorf("children %v did %d jobs", seen, p.idle[0].jobs)
	}
	p.Close()
	if len(p.idle) > 0 || alive(seen[0]) {
		t.Errorf("child %d is left", seen[0])
	}
}

func TestUntrustedChildrenEndWithTheCall(t *testing.T) {
	p := pool(t, func(o *Options) { o.Trust = Untrusted })
	err := p.Do(t.Context(), []Job{order{Do: "echo"}.job(nil)})[0].Err
	if err != nil && !errors.Is(err, ErrNoSandbox) {
		t.Fatal(err)
	}
	if len(p.idle) > 0 {
		t.Error("a child waits")
	}
}

func TestStartErrors(t *testing.T) {
	tests := []struct {
		name    string
		command []string
		want    string
	}{
		{name: "no command", want: "no command"},
		{name: "no such program", command: []string{"/nowhere/waybill"}, want: "no such file"},
		{name: "another program", command: []string{options(t).Command[0], "-test.run=^$"}, want: "it does not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := New(Options{Command: tt.command, Trust: Trusted})
			defer p.Close()
			err := p.Do(t.Context(), []Job{{Name: "web"}})[0].Err
			if !strings.HasPrefix(message(err), "rendering web: starting a worker: ") || !strings.Contains(message(err), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestReduced(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{name: "nothing", text: "", want: ""},
		{name: "what is no crash", text: "the password is hunter2\n", want: ""},
		{
			name: "a panic and its stack",
			text: "panic: hunter2\n\tmore hunter2\n\ngoroutine 1 [running]:\nexample.com/a/b-c.(*T).Do(0x1, {0x2, 0x3})\n\t/src/b.go:7 +0x1\nmain.main()\n\t/src/m.go:3\n",
			want: "panic in example.com/a/b-c.(*T).Do, main.main",
		},
		{
			name: "the functions of the runtime are left out",
			text: "fatal error: stack overflow\n\nruntime stack:\nruntime.throw({0x1?, 0x2?})\n\t/go/panic.go:1\n\ngoroutine 1 [running]:\nmain.recurse(...)\n",
			want: "stack overflow in main.recurse",
		},
		{
			name: "what looks like a frame before the stack is none",
			text: "panic: x\nhunter2.secret(0x1)\ngoroutine 1 [running]:\n",
			want: "panic",
		},
		{name: "a fatal error of unknown text", text: "fatal error: hunter2\n", want: "fatal error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e tail
			fmt.Fprint(&e, tt.text)
			if got := e.reduced(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
