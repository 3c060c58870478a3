package worker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// alive reports that a process is there.
func alive(pid int) bool { return unix.Kill(pid, 0) == nil }

// canary is what an escape finds outside.
const canary = "tweet"

// outside sets up what escapes are after, and returns them.
func outside(t *testing.T) []order {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "canary")
	if err := os.WriteFile(file, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	orders := []order{
		{Do: "read", Arg: file},
		{Do: "list", Arg: dir},
		{Do: "write", Arg: filepath.Join(dir, "written")},
		{Do: "make", Arg: filepath.Join(dir, "made")},
		{Do: "read", Arg: "/proc/self/environ"},
		{Do: "read", Arg: "/etc/hosts"},
		{Do: "exec", Arg: "echo " + canary},
		{Do: "parent environment"},
		{Do: "signal"},
		{Do: "trace", N: os.Getpid()},
		{Do: "forks"},
		{Do: "listen", Arg: "127.0.0.1:0"},
		{Do: "limits"},
		{Do: "namespace"},
		{Do: "executable memory"},
	}
	for _, at := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", filepath.Join(dir, "s")}, {"unix", "@waybill-" + filepath.Base(dir)}} {
		orders = append(orders, order{Do: "dial", Arg: at[0] + " " + greet(t, at[0], at[1])})
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.Close() })
	return append(orders, order{Do: "send", Arg: u.LocalAddr().String()})
}

// greet listens, and sends the canary to whoever connects.
func greet(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, canary)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// escape has a child try all escapes and returns what each says.
func escape(t *testing.T, orders []order, l layers) []string {
	t.Helper()
	p := pool(t, func(o *Options) { o.layers = &l })
	var jobs []Job
	for _, o := range orders {
		if o.Do == "trace" && !l.Seccomp {
			o = order{Do: "exec", Arg: "false"} // it would stop the test
		}
		jobs = append(jobs, o.job(nil))
	}
	var said []string
	for i, res := range p.Do(t.Context(), jobs) {
		if res.Err != nil {
			t.Errorf("%v: %v", orders[i], res.Err)
		}
		said = append(said, string(res.Output))
	}
	return said
}

func TestEscapes(t *testing.T) {
	t.Setenv("CANARY", canary)
	orders := outside(t)
	all := layers{Namespaces: true, Landlock: true, Seccomp: true, Limits: true}
	for i, said := range escape(t, orders, all) {
		if !strings.HasPrefix(said, "denied: ") {
			t.Errorf("%v with all walls: %s", orders[i], said)
		}
	}
	if _, err := os.Stat(orders[2].Arg); err == nil {
		t.Error("the file was written")
	}
	for i, said := range escape(t, orders, layers{}) {
		if !strings.HasPrefix(said, "hit") && !impossible(orders[i], said) {
			t.Errorf("%v with no wall does not bite: %s", orders[i], said)
		}
	}
}

// impossible reports that an escape cannot work even without walls, for want of
// rights that the tests do not have everywhere.
func impossible(o order, said string) bool {
	return o.Do == "trace" || o.Do == "read" && o.Arg == "/proc/self/environ" && said == "hit "
}

// TestLayers says which escapes each layer stops alone.
func TestLayers(t *testing.T) {
	orders := outside(t)
	walls, err := Walls(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	stops := map[string]func(order) bool{
		"seccomp": func(o order) bool { return true },
		landlockWall: func(o order) bool {
			return o.Do == "read" || o.Do == "list" || o.Do == "write" || o.Do == "make" || o.Do == "exec" || o.Do == "parent environment"
		},
		userNamespace: func(o order) bool {
			return o.Do == "send" || o.Do == "dial" && strings.HasPrefix(o.Arg, "tcp") || o.Do == "dial" && strings.Contains(o.Arg, "@")
		},
	}
	turned := map[string]layers{
		"seccomp": {Seccomp: true}, landlockWall: {Landlock: true}, userNamespace: {Namespaces: true},
	}
	for name, l := range turned {
		if !up(walls, name) {
			t.Logf("%s is not to be had here", name)
			continue
		}
		for i, said := range escape(t, orders, l) {
			if stops[name](orders[i]) && !strings.HasPrefix(said, "denied: ") {
				t.Errorf("%v with %s alone: %s", orders[i], name, said)
			}
		}
	}
}

func up(walls []Wall, name string) bool {
	for _, w := range walls {
		if w.Name == name {
			return w.Up
		}
	}
	return false
}

func TestWalls(t *testing.T) {
	walls, err := Walls(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range walls {
		t.Logf("%-45s %-5v %s", w.Name, w.Up, w.Detail)
	}
	for _, name := range []string{"empty environment", "resource limits"} {
		if !up(walls, name) {
			t.Errorf("%s is not up", name)
		}
	}
	enough := up(walls, "seccomp") && (up(walls, userNamespace) || up(walls, landlockWall))
	p := pool(t, func(o *Options) { o.Trust = Untrusted })
	err = p.Do(t.Context(), []Job{order{Do: "echo"}.job(nil)})[0].Err
	if refused := errors.Is(err, ErrNoSandbox); refused == enough {
		t.Errorf("untrusted input gives %v with walls %v", err, walls)
	}
	if len(p.Missing()) != len(missing(walls)) && enough {
		t.Errorf("missing are %v", p.Missing())
	}
}

func TestTriesBite(t *testing.T) {
	o := options(t)
	o.layers = &layers{}
	walls, err := Walls(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range walls {
		if w.Up && strings.HasPrefix(w.Name, tryPrefix) && !strings.Contains(w.Name, "parent's memory") {
			t.Errorf("%s is up (%s) where nothing is", w.Name, w.Detail)
		}
	}
}

func TestUntrustedNeedsWalls(t *testing.T) {
	all := layers{Namespaces: true, Landlock: true, Seccomp: true, Limits: true}
	tests := []struct {
		name    string
		without func(*layers)
		refused bool
	}{
		{name: "all walls", without: func(*layers) {}},
		{name: "no namespaces", without: func(l *layers) { l.Namespaces = false }},
		{name: "no Landlock", without: func(l *layers) { l.Landlock = false }},
		{name: "neither", without: func(l *layers) { l.Namespaces, l.Landlock = false, false }, refused: true},
		{name: "no filter", without: func(l *layers) { l.Seccomp = false }, refused: true},
		{name: "none", without: func(l *layers) { *l = layers{} }, refused: true},
	}
	walls, err := Walls(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	if !up(walls, userNamespace) || !up(walls, landlockWall) || !up(walls, "seccomp") {
		t.Skip("not all walls are to be had here")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := all
			tt.without(&l)
			p := pool(t, func(o *Options) { o.Trust, o.layers = Untrusted, &l })
			ran := order{Do: "echo", Arg: "ran"}.job(nil)
			res := p.Do(t.Context(), []Job{ran})[0]
			if errors.Is(res.Err, ErrNoSandbox) != tt.refused || (string(res.Output) == "ran") == tt.refused {
				t.Errorf("got %q, %v", res.Output, res.Err)
			}
		})
	}
}

// TestNothingIsLeft has a child without walls start another process and exit.
func TestNothingIsLeft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := pool(t, func(o *Options) { o.layers = &layers{} })
	p.Do(t.Context(), []Job{order{Do: "leave behind", Arg: "sleep 100 & echo $! > " + file}.job(nil)})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(data))
	for range 100 {
		if !running(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is left", pid)
}

// running reports that a process is there, and more than a zombie that nobody took
// notice of.
func running(pid string) bool {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	_, state, _ := strings.Cut(string(data), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// TestParentDies starts this binary again as a parent whose child spins, kills it, and
// looks for the child.
func TestParentDies(t *testing.T) {
	if os.Getenv("WORKER_PARENT") != "" {
		p := pool(t, func(o *Options) { o.Wall, o.CPU = time.Minute, time.Minute })
		child, err := p.launcher.start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("child %d\n", child.cmd.Process.Pid)
		child.do(t.Context(), order{Do: "spin"}.job(nil))
		return
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestParentDies$")
	parent.Env = append(os.Environ(), "WORKER_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscanf(out, "child %d\n", &child); err != nil || !alive(child) {
		t.Fatalf("no child %d: %v", child, err)
	}
	time.Sleep(50 * time.Millisecond)
	_ = parent.Process.Kill()
	_ = parent.Wait() // it was killed
	for range 100 {
		if !alive(child) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("child %d outlives its parent", child)
	_ = unix.Kill(child, unix.SIGKILL)
}

// TestInheritedFilesAreClosed opens a file such that children inherit it.
func TestInheritedFilesAreClosed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(file, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(file, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd) //nolint:errcheck // it was for this only
	for i, said := range escape(t, []order{{Do: "inherited", N: fd}}, layers{}) {
		if said != "denied: bad file descriptor" {
			t.Errorf("%d: %s", i, said)
		}
	}
}

// openFiles is how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestNoLeaks(t *testing.T) {
	without := 0
	round := func() {
		p := pool(t, func(o *Options) { o.Jobs = 3 })
		p.launcher.without = without // what is refused is not tried again
		var jobs []Job
		for i := range 6 {
			jobs = append(jobs, order{Do: "exit", N: i}.job(nil), order{Do: "echo"}.job(nil))
		}
		p.Do(t.Context(), jobs)
		p.Close()
		without = p.launcher.without
	}
	round()
	files, goroutines := openFiles(t), runtime.NumGoroutine()
	round()
	for range 100 {
		if openFiles(t) <= files && runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d files and %d goroutines; before %d and %d", openFiles(t), runtime.NumGoroutine(), files, goroutines)
}

// left reports that this process has children still.
func left() bool {
	_, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
	return !errors.Is(err, unix.ECHILD)
}

// TestAllThreads looks at each layer that the kernel has for threads, not processes.
func TestAllThreads(t *testing.T) {
	walls, err := Walls(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	order := []order{{Do: "everywhere", Arg: "/", N: 32}}
	for name, l := range map[string]layers{"seccomp": {Seccomp: true}, landlockWall: {Landlock: true}} {
		for _, said := range escape(t, order, l) {
			if up(walls, name) && !strings.HasPrefix(said, "denied: ") {
				t.Errorf("%s alone: %s", name, said)
			}
		}
	}
}
