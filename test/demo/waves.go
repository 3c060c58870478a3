package main

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sigsyaml "sigs.k8s.io/yaml"
)

// soak is how long a change is watched in a stage, as careful says.
const soak = 10 * time.Second

// ofWeb is the status of commits that says how far a change of web is.
const ofWeb = "waybill/rollout/web/web"

// record is what the state branch says of web.
type record struct {
	Status struct {
		Run, Phase, Reason string
		Commands           []struct{ By, Via string }
	}
}

// record reads the state branch.
func (w *waves) record() (r record, err error) {
	if err := w.git("-C", w.source, "fetch", "-q", "origin"); err != nil {
		return r, err
	}
	out, err := w.command("git", "-C", w.source, "show", "origin/waybill/state:rollouts/web/web.yaml").Output()
	if err != nil {
		return r, err
	}
	return r, sigsyaml.Unmarshal(out, &r)
}

// phase waits until the run of the commit that was merged last is in a phase, for a reason, if one is named.
func (w *waves) phase(phase, reason string) error {
	return w.await("the run is "+phase+" "+reason, func() (string, bool) {
		r, err := w.record()
		if err != nil {
			return err.Error(), false
		}
		is := r.Status
		return fmt.Sprintf("%+v", is), is.Phase == phase && (reason == "" || is.Reason == reason)
	})
}

// merge has another image of web, by a pull request that is merged, and shows what it says before.
func (w *waves) merge(from, to string) (err error) {
	if err := w.ask("checkout", "-q", "-B", "web-"+to, "origin/main"); err != nil {
		return err
	}
	if err := w.replace("web.yaml", "web:"+from, "web:"+to); err != nil {
		return err
	}
	if w.pull, err = w.open("web-"+to, "web "+to); err != nil {
		return err
	}
	if err := w.typed("diff", "origin/main", "HEAD"); err != nil {
		return err
	}
	return w.accepted()
}

// accepted notes where the branches of clusters are, and merges the pull request.
func (w *waves) accepted() (err error) {
	w.before = map[string]string{}
	if err := w.git("-C", w.source, "fetch", "-q", "origin"); err != nil {
		return err
	}
	for name := range w.clusters {
		if w.before[name], err = w.commitOf("origin/waybill/cluster/" + name); err != nil {
			return err
		}
	}
	w.say("\nThe pull request is merged.")
	if err := w.accept(w.pull); err != nil {
		return err
	}
	if err := w.git("-C", w.source, "fetch", "-q", "origin"); err != nil {
		return err
	}
	w.head, err = w.commitOf("origin/main")
	return err
}

// untouched fails if the branch of a cluster is not the one that it was before the pull request was merged.
func (w *waves) untouched(clusters ...string) error {
	if err := w.git("-C", w.source, "fetch", "-q", "origin"); err != nil {
		return err
	}
	for _, name := range clusters {
		switch is, err := w.commitOf("origin/waybill/cluster/" + name); {
		case err != nil:
			return err
		case is != w.before[name]:
			return fmt.Errorf("the branch of %s was %s and is %s", name, w.before[name], is)
		}
	}
	return nil
}

// soaked fails if a cluster was released sooner after another than a change has to be watched there. When it was, the
// commit of its branch says: the date of that is the source's.
func (w *waves) soaked(first, next string) error {
	if err := w.git("-C", w.source, "fetch", "-q", "origin"); err != nil {
		return err
	}
	var at [2]time.Time
	for i, name := range []string{first, next} {
		out, err := w.command("git", "-C", w.source, "log", "-1", "--format=%(trailers:key=Plan-Time,valueonly)", "origin/waybill/cluster/"+name).Output()
		if err != nil {
			return err
		}
		if at[i], err = time.Parse(time.RFC3339, strings.TrimSpace(string(out))); err != nil {
			return err
		}
	}
	if after := at[1].Sub(at[0]); after < soak {
		return fmt.Errorf("%s got the change %s after %s", next, after, first)
	}
	return nil
}

// over waits until the run is done, and shows it.
func (w *waves) over() error {
	if err := w.phase("Done", ""); err != nil {
		return err
	}
	if err := w.typed("get", "rollouts"); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(w.clusters)) {
		if err := w.ask("log", "-2", "--oneline", "origin/waybill/cluster/"+name); err != nil {
			return err
		}
	}
	return w.status(w.head, ofWeb, "success")
}

// copies are the replicas of web in a cluster, all of them there and of a version.
type copies struct {
	cluster, version string
	replicas         int
}

// run waits until clusters have what they should.
func (w *waves) run(all ...copies) error {
	for _, c := range all {
		want := fmt.Sprintf("%s:%s %[3]d/%[3]d/%[3]d/%[3]d", w.image, c.version, c.replicas)
		if err := w.until(c.cluster, func(out string, err error) bool { return err == nil && out == want },
			"get", "-n", "web", "deployment", "web", "-o",
			"jsonpath={.spec.template.spec.containers[0].image} {.spec.replicas}/{.status.replicas}/{.status.updatedReplicas}/{.status.availableReplicas}"); err != nil {
			return err
		}
	}
	return nil
}

// waybillIn is waybill in the source.
func (w *waves) waybillIn(args ...string) *exec.Cmd {
	cmd := w.command("waybill", append(args, "--plain-http")...)
	cmd.Dir = filepath.Join(w.dir, w.source)
	return cmd
}

// typed runs waybill in the source, and shows what it prints. It ends with 1 if it shows a difference.
func (w *waves) typed(args ...string) error {
	cmd := w.waybillIn(args...)
	w.say("\n$ waybill %s", strings.Join(cmd.Args[1:], " "))
	cmd.Stdout, cmd.Stderr = w.out, w.out
	err := cmd.Run()
	differs := args[0] == "diff" && cmd.ProcessState.ExitCode() == 1
	if err != nil && !differs {
		return fmt.Errorf("waybill %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
