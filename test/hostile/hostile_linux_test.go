//go:build e2e && !race

package hostile

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sys/unix"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/worker"
)

var update = flag.Bool("update", false, "rewrite golden sections")

// Arguments upon which this test binary is a child.
const (
	productChild = "hostile-product" // the renderer, behind walls
	naiveChild   = "hostile-naive"   // the naive renderer, behind walls
	bareChild    = "hostile-bare"    // the naive renderer, without any
)

// Limits of a child that is expected to die of them: a part of those of the product, so
// that the tests take less time. What is not expected to die is given patience.
const (
	memory    = 256 << 20 // bytes of heap
	impatient = 300 * time.Millisecond
	patient   = 20 * time.Second
)

// most is how many bytes of a text stand in a golden section.
const most = 600

// atLeast is how many fixtures there are, and how many of them must bite.
const (
	atLeast = 60
	biting  = 20
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case productChild:
			os.Exit(worker.Main(engines.Run))
		case naiveChild:
			os.Exit(worker.Main(naive))
		case bareChild:
			os.Exit(bare())
		case limitedChild:
			fmt.Fprintln(os.Stderr, limited(os.Args[2:]))
			os.Exit(3)
		}
	}
	if err := os.Setenv(secretVariable, rand.Text()); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestTheProductGivesNothingAway renders each fixture as the product does, without
// walls unless it takes a worker to survive: the guards refuse, and say what.
func TestTheProductGivesNothingAway(t *testing.T) {
	all := fixtures(t)
	if len(all) < atLeast {
		t.Errorf("there are %d fixtures, want %d", len(all), atLeast)
	}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			c := newCanaries(t)
			for _, v := range c.environment() {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			unpack(t, f.files(t, c.fill), c.source)
			t.Chdir(c.source)
			told := f.product(t, c)
			var got strings.Builder
			for _, text := range told {
				got.WriteString(readable(c.unfill.Replace(text)))
			}
			if hits := c.hits(t, strings.Join(told, "\n")); len(hits) > 0 {
				t.Errorf("it got at %s:\n%s", strings.Join(hits, ", "), got.String())
			}
			f.compare(t, got.String())
		})
	}
}

// product renders a fixture and returns what a user is told, and given.
func (f fixture) product(t *testing.T, c *canaries) (told []string) {
	t.Helper()
	job, err := json.Marshal(f.job(t, c.fill))
	if err != nil {
		t.Fatal(err)
	}
	files := f.files(t, c.fill)
	var output []byte
	if f.worker {
		results := pool(t, productChild, scarce()).Do(t.Context(), []worker.Job{{Name: f.name, Input: job, Files: files}})
		output, err = results[0].Output, results[0].Err
	} else {
		output, err = engines.Run(job, files)
	}
	if errors.Is(err, worker.ErrNoSandbox) {
		t.Skipf("this machine has no walls: %v", err)
	}
	if err != nil {
		return []string{reason(err)}
	}
	r, err := engine.Decode(output)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Diags {
		told = append(told, d.String())
	}
	if !r.Failed() {
		for _, m := range r.Manifests {
			told = append(told, "renders "+m.Object.Ref().String(), string(m.Object.YAML()))
		}
	}
	return told
}

// readable is a text as it stands in a golden section: it ends in a newline, is not
// long, and shows what does not print.
func readable(text string) string {
	var b strings.Builder
	for _, r := range strings.TrimRight(text, "\n") {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	text = b.String()
	if n := len(text); n > most {
		text = fmt.Sprintf("%s... (%d bytes)", text[:most], n)
	}
	return text + "\n"
}

// reason is the text of a worker's error. Of the limits, which one is reached first
// depends on the machine.
func reason(err error) string {
	dead, ok := errors.AsType[*worker.DeathError](err)
	if !ok {
		return err.Error()
	}
	switch dead.Reason {
	case worker.CPULimit, worker.TimeLimit, worker.OutOfMemory:
		return "the worker died: it passed a limit"
	default:
		return "the worker died: " + string(dead.Reason)
	}
}

// compare holds what a user is told against the golden section, or rewrites it.
func (f fixture) compare(t *testing.T, got string) {
	t.Helper()
	if *update {
		f.rewrite(t, got)
		return
	}
	if diff := cmp.Diff(f.section(golden, strings.NewReplacer()), got); diff != "" {
		t.Errorf("(-golden +got):\n%s", diff)
	}
}

func (f fixture) rewrite(t *testing.T, got string) {
	t.Helper()
	kept := &txtar.Archive{Comment: f.archive.Comment}
	for _, file := range f.archive.Files {
		if file.Name != golden {
			kept.Files = append(kept.Files, file)
		}
	}
	kept.Files = append(kept.Files, txtar.File{Name: golden, Data: []byte(got)})
	if err := os.WriteFile(f.path, txtar.Format(kept), 0o600); err != nil {
		t.Fatal(err)
	}
}

// scarce are the limits of children that are to reach them.
func scarce() worker.Options {
	return worker.Options{Memory: memory, CPU: impatient, Wall: 2 * impatient, Jobs: 2}
}

// pool starts children of this test binary with the product's limits but for those
// that are given.
func pool(t *testing.T, child string, o worker.Options) *worker.Pool {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Command = []string{program, child}
	p := worker.New(o)
	t.Cleanup(p.Close)
	return p
}

// errand is the fixture's job for the naive renderer.
func (f fixture) errand(t *testing.T, c *canaries) errand {
	t.Helper()
	return errand{Job: f.job(t, c.fill), Source: c.source, API: c.api, DNS: c.dns, Env: c.environment()[1:]}
}

func (e errand) encode(t *testing.T) []byte {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestWallsHoldWithoutGuards renders each fixture with the naive renderer in the
// worker's sandbox, as if all guards had failed: it gets at nothing, and takes nobody
// along when it dies.
func TestWallsHoldWithoutGuards(t *testing.T) {
	t.Parallel()
	var mild, deadly []fixture
	for _, f := range fixtures(t) {
		if f.deadly() {
			deadly = append(deadly, f)
		} else {
			mild = append(mild, f)
		}
	}
	behindWalls(t, pool(t, naiveChild, worker.Options{Jobs: 2}), mild)
	behindWalls(t, pool(t, naiveChild, scarce()), deadly)
}

// behindWalls renders fixtures in the children of a pool. Each has canaries of its own,
// so that it is known whose fault it was.
func behindWalls(t *testing.T, p *worker.Pool, all []fixture) {
	t.Helper()
	birds := make([]*canaries, len(all))
	jobs := make([]worker.Job, len(all))
	for i, f := range all {
		birds[i] = newCanaries(t)
		files := f.files(t, birds[i].fill)
		unpack(t, files, birds[i].source)
		jobs[i] = worker.Job{Name: f.name, Input: f.errand(t, birds[i]).encode(t), Files: files}
	}
	for i, r := range p.Do(t.Context(), jobs) {
		if errors.Is(r.Err, worker.ErrNoSandbox) {
			t.Skipf("this machine has no walls: %v", r.Err)
		}
		text := string(r.Output)
		if r.Err != nil {
			text += r.Err.Error()
		}
		delete(birds[i].secrets, "values") // the job's own is on its side of the walls
		if hits := birds[i].hits(t, text); len(hits) > 0 {
			t.Errorf("%s got at %s through the walls:\n%s", all[i].name, strings.Join(hits, ", "), text)
		}
		if _, dead := errors.AsType[*worker.DeathError](r.Err); dead && !all[i].deadly() {
			t.Errorf("%s died, so that nothing was tried: %v", all[i].name, r.Err)
		}
	}
}

// TestTheNaiveRendererWorksBehindWalls makes sure that it can render there at all.
func TestTheNaiveRendererWorksBehindWalls(t *testing.T) {
	t.Parallel()
	kustomized := `-- kustomization.yaml --
resources: [base]
-- base/kustomization.yaml --
configMapGenerator: [{name: harmless, literals: [a=b]}]
`
	released := `-- chart/Chart.yaml --
apiVersion: v2
name: c
version: 1.0.0
-- chart/templates/x.yaml --
name: {{ print "harm" "less" }}
`
	for _, text := range []string{kustomized, released} {
		f := fixture{archive: txtar.Parse([]byte(text))}
		c := newCanaries(t)
		r := pool(t, naiveChild, worker.Options{}).Do(t.Context(), []worker.Job{{Input: f.errand(t, c).encode(t), Files: f.files(t, c.fill)}})[0]
		if errors.Is(r.Err, worker.ErrNoSandbox) {
			t.Skipf("this machine has no walls: %v", r.Err)
		}
		if want := "name: harmless"; r.Err != nil || !strings.Contains(string(r.Output), want) {
			t.Errorf("it gave %q and %v, want %q", r.Output, r.Err, want)
		}
	}
}

// TestFixturesBite renders each fixture with the naive renderer in a process without
// walls, to see that it does what it says.
func TestFixturesBite(t *testing.T) {
	t.Parallel()
	bite := 0
	all := fixtures(t)
	for _, f := range all {
		if f.bites != "no" {
			bite++
		}
	}
	if bite < biting {
		t.Errorf("%d fixtures bite, want %d", bite, biting)
	}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := newCanaries(t)
			unpack(t, f.files(t, c.fill), c.source)
			text, dead := f.withoutWalls(t, c)
			hits := c.hits(t, text)
			if dead {
				hits = append(hits, "death")
			}
			if got := strings.Join(hits, " "); got != f.bites && (got != "" || f.bites != "no") {
				t.Errorf("it gets at %q, and says %q:\n%.3000s", got, f.bites, text)
			}
		})
	}
}

// withoutWalls runs the naive renderer over the folder of the fixture and returns what
// it says, and whether it died.
func (f fixture) withoutWalls(t *testing.T, c *canaries) (string, bool) {
	t.Helper()
	patience := patient
	if f.deadly() {
		patience = 2 * impatient
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	errand := f.errand(t, c)
	errand.OnDisk = true
	cmd := exec.CommandContext(ctx, program, bareChild)
	var output, complaint bytes.Buffer
	cmd.Stderr = &complaint
	cmd.Stdin, cmd.Stdout = bytes.NewReader(errand.encode(t)), &output
	cmd.Dir, cmd.Env = c.source, c.environment()
	if err = cmd.Run(); err != nil && !f.deadly() {
		t.Logf("%v: %.2000s", err, complaint.String())
	}
	return output.String(), err != nil
}

// bare is the main function of a process that renders naively. It has limits of its
// own, so that the machine survives.
func bare() int {
	debug.SetMaxStack(memory / 4)
	limit := unix.Rlimit{Cur: 4 * memory, Max: 4 * memory}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	job, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	output, err := naive(job, fstest.MapFS{})
	_, _ = os.Stdout.Write(output)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
	}
	return 0
}
