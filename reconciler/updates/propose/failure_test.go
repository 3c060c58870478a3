package propose_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/twin"
)

// A registry that does not answer is noted once: since when, and why as it began. When it answers that is forgotten, and nothing else is.
func TestARegistryThatIsAwayIsNoted(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	for i, why := range []string{"503", "429"} { // the second is no news
		w.registry.fails = &registry.Error{Class: registry.Unavailable, Of: image, Err: errors.New("it answers " + why)}
		before := w.head(updates.MemoryBranch).Commit
		w.runs()
		if f := w.memory().Policies[web].Failure; f == nil || f.Why != updates.NotAnswered || f.Message != image+": it answers 503" || !f.Since.Equal(w.now.Add(-time.Duration(i)*time.Minute)) {
			t.Fatalf("noted is %+v", f)
		}
		if moved := w.head(updates.MemoryBranch).Commit != before; moved != (i == 0) {
			t.Errorf("the %s answer is written: %t", why, moved)
		}
	}
	since := w.memory().Policies[web].Failure.Since
	w.registry.fails = nil
	w.source["apps/bad.yaml"] = "a: &x " + strings.TrimPrefix(value(image+":1.0.0"), "image: ")
	w.commit()
	w.runs()
	if f := w.memory().Policies[web].Failure; f == nil || f.Why != updates.MarkerBad || !f.Since.Equal(since) {
		t.Errorf("with a marker that is a mistake noted is %+v", f)
	}
	delete(w.source, "apps/bad.yaml")
	w.commit()
	w.runs(stays)
	if r := w.memory().Policies[web]; r.Failure != nil || r.Proposal == nil {
		t.Errorf("when it answers noted is %+v", r)
	}
}

// A policy that is a mistake is noted, too; of one that is gone nothing is, unless it may be in what cannot be read.
func TestAPolicyThatIsAMistakeIsNoted(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0")
	text := w.source["images.yaml"]
	w.source["images.yaml"] = strings.Replace(text, "semver: {range: '*'}", "semver: {range: 'not at all'}", 1)
	w.commit()
	w.runs()
	if f := w.memory().Policies[web].Failure; f == nil || f.Why != updates.Broken {
		t.Fatalf("noted is %+v", f)
	}
	w.source["images.yaml"] = "a: [\n"
	w.commit()
	w.runs()
	if f := w.memory().Policies[web].Failure; f == nil {
		t.Error("in a file that cannot be read it is forgotten")
	}
	for _, name := range []string{"images.yaml", "apps/web.yaml", "apps/job.yaml"} {
		delete(w.source, name)
	}
	w.commit()
	w.runs()
	if len(w.memory().Policies) > 0 {
		t.Errorf("of a policy that is gone noted is %+v", w.memory().Policies)
	}
}

// What a page says of a subscription follows from what is remembered: it is what was found, as long as nothing is new.
func TestWhatIsRememberedIsWhatWasFound(t *testing.T) {
	for name, change := range map[string]func(*world){
		"nothing newer":         func(w *world) { w.registry.tags[image] = []string{"1.0.0"} },
		"something newer":       func(*world) {},
		"no tag that fits":      func(w *world) { w.registry.tags[image] = []string{"main"} },
		"a registry away":       func(w *world) { w.registry.fails = errors.New("503") },
		"a tag that moved":      func(w *world) { w.follows("b") },
		"a tag that moved back": func(w *world) { w.follows("b"); w.runsAnyway(); w.follows("a") },
	} {
		w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
		change(w)
		found := w.runsAnyway().Found
		said := found.Verdicts[0]
		is := updates.Remembered(said.Subscription, updates.Facts{Now: w.now, Memory: w.memory()})
		if is.Why != said.Why || is.Next.Tag != said.Next.Tag || is.Message != said.Message {
			t.Errorf("%s: remembered is %+v %s %s, and found was %+v %s %s", name, is.Next, is.Why, is.Message, said.Next, said.Why, said.Message)
		}
	}
}

// follows has the values follow a tag that moves, which stands for a digest now.
func (w *world) follows(letter string) {
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "policy: {semver: {range: '*'}}", "digestReflectionPolicy: Always\n  filterTags: {pattern: '^latest$'}\n  policy: {alphabetical: {}}", 1)
	for _, file := range []string{"apps/web.yaml", "apps/job.yaml"} {
		w.source[file] = value(image + ":latest@" + digest("a"))
	}
	w.registry.tags[image] = []string{"latest"}
	w.registry.digests[image+":latest"] = digest(letter)
	w.commit()
}

// What is noted of a failure is one line that is not long.
func TestWhatIsNotedIsShort(t *testing.T) {
	m := updates.NewMemory()
	s := &updates.Subscription{Policy: &images.Policy{Name: web}}
	m.Judged(&updates.Source{}, []updates.Verdict{{Subscription: s, Why: updates.NotAnswered, Message: "a\nb\x1b[31m" + strings.Repeat("x", 10_000)}}, time.Unix(0, 0))
	if said := m.Policies[web].Failure.Message; strings.ContainsAny(said, "\n\x1b") || len(said) > 200 {
		t.Errorf("noted is %q", said)
	}
}

// Whichever question the repository does not answer at a look, that is an error, and the next look ends where it would have.
func TestAQuestionThatIsNotAnswered(t *testing.T) {
	scene := func() *world {
		source := sourceOf("")
		source["images.yaml"] = strings.Replace(source["images.yaml"], "spec:\n  imageRepo", "spec:\n  digestReflectionPolicy: IfNotPresent\n  imageRepo", 1)
		w := begin(t, source, "1.0.0", "1.1.0")
		base := w.head("main").Commit.String()
		w.runs(opened)
		merged := w.forge.merge(branch)
		w.forge.all[0].Open, w.forge.all[0].Merged = false, merged
		w.recorded = []rollouts.Rollout{{Status: rollouts.Status{
			Phase: rollouts.Stopped, Base: rollouts.Version{Commit: base}, Target: rollouts.Version{Commit: merged},
		}}}
		w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.0.0"), value(image+":1.0.0")
		w.commit()
		w.registry.tags[image] = []string{"1.0.0", "1.1.0", "1.2.0"}
		w.now = w.now.Add(time.Hour)
		return w
	}
	end := func(w *world) string {
		w.t.Helper()
		w.now = w.now.Add(time.Minute)
		if _, err := w.proposer.Run(t.Context()); err != nil {
			w.t.Fatal(err)
		}
		open := 0
		for _, p := range w.forge.all {
			if p.Open {
				open++
			}
		}
		return fmt.Sprintf("%d of %d pull requests are open, %v, %+v", open, len(w.forge.all), w.changes(branch), w.memory().Policies[web].KeptBack)
	}
	unfailing := scene()
	want := end(unfailing)
	if !strings.HasPrefix(want, "1 of 2 pull requests are open") || !strings.Contains(want, "1.1.0") || !strings.Contains(want, ":1.2.0") {
		t.Fatalf("in the end %s", want)
	}
	for n := 1; ; n++ {
		w := scene()
		repo := twin.FailingAt(n, w.repo)
		w.proposer.Repository = repo
		r, err := w.proposer.Run(t.Context())
		if !repo.HasFailed() {
			if err != nil || n < 5 {
				t.Errorf("after %d questions it is %v", n, err)
			}
			break
		}
		if !errors.Is(err, twin.ErrDown) {
			t.Errorf("of question %d it is %v, and done is %+v", n, err, r.Outcomes)
		}
		w.proposer.Repository = w.repo
		if is := end(w); is != want {
			t.Errorf("after question %d in the end\n%s, want\n%s", n, is, want)
		}
	}
	for n := 1; ; n++ {
		w := scene()
		by := &failing{registries: w.registry, left: n}
		w.proposer.Registries = func(render.ConfigSpec) (propose.Registry, propose.Catalog, error) { return by, w.catalog, nil }
		if r, err := w.proposer.Run(t.Context()); err != nil {
			t.Errorf("of question %d to the registry it is %v, and done is %+v", n, err, r.Outcomes)
		}
		if by.left > 0 {
			if n < 4 {
				t.Errorf("the registry is asked %d questions", n-1)
			}
			return
		}
		if len(w.forge.all) > 1 {
			t.Errorf("after question %d to the registry there are %d pull requests", n, len(w.forge.all))
		}
		if is := end(w); is != want {
			t.Errorf("after question %d to the registry in the end\n%s, want\n%s", n, is, want)
		}
	}
}

// failing is a registry that does not answer one question.
type failing struct {
	*registries

	left int // questions until that
}

func (f *failing) fails() error {
	if f.left--; f.left == 0 {
		return errors.New("503")
	}
	return nil
}

func (f *failing) Tags(ctx context.Context, repository string, known registry.Known) (registry.Known, error) {
	if err := f.fails(); err != nil {
		return known, err
	}
	return f.registries.Tags(ctx, repository, known)
}

func (f *failing) Image(ctx context.Context, ref string) (registry.Image, error) {
	if err := f.fails(); err != nil {
		return registry.Image{}, err
	}
	return f.registries.Image(ctx, ref)
}

func (f *failing) Digest(ctx context.Context, ref string) (string, error) {
	if err := f.fails(); err != nil {
		return "", err
	}
	return f.registries.Digest(ctx, ref)
}

// A source whose config is a mistake is not looked at by the defaults.
func TestAConfigThatIsAMistake(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.source["waybill.yaml"] += "  more: true\n"
	w.commit()
	_, err := w.proposer.Run(t.Context())
	var bad *render.ConfigError
	if !errors.As(err, &bad) || bad.Diagnostic.Pos.File != "waybill.yaml" || len(w.forge.all) > 0 {
		t.Errorf("it is %v, and there are %d pull requests", err, len(w.forge.all))
	}
}
