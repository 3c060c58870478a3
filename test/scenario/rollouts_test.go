package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/test/twin"
)

// units prints what is recorded of what goes out in stages. Commits of the source have the numbers of their steps.
func (o *outcome) units() string {
	var b strings.Builder
	for _, r := range o.records() {
		s := r.Status
		fmt.Fprintf(&b, "%s %s", r.Unit, s.Phase)
		if s.Reason != "" {
			fmt.Fprintf(&b, " (%s)", s.Reason)
		}
		fmt.Fprintf(&b, ", base %s, target %s\n", o.version(s.Base), o.version(s.Target))
		if s.Message != "" {
			fmt.Fprintf(&b, "  %s\n", s.Message)
		}
		stages := map[string]rollouts.StageStatus{}
		order := []string{}
		for _, st := range s.Stages {
			stages[st.Name], order = st, append(order, st.Name)
		}
		for _, e := range r.Clusters {
			if !slices.Contains(order, e.Stage) {
				order = append(order, e.Stage)
			}
		}
		for _, name := range order {
			fmt.Fprintf(&b, "  %s %s", cmp.Or(name, "leaving"), cmp.Or(string(stages[name].Phase), "-"))
			for _, cluster := range slices.Sorted(maps.Keys(r.Clusters)) {
				if e := r.Clusters[cluster]; e.Stage == name {
					fmt.Fprintf(&b, ", %s %s %s", cluster, e.State, o.step(e.Shows))
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// records are what is recorded of units by a publication.
func (o *outcome) records() (all []rollouts.Rollout) {
	for i := range o.Plan.Rollouts {
		if r := o.Plan.Rollouts[i].After; r != nil {
			all = append(all, *r)
		}
	}
	return all
}

// ends reports a run of which all that is left is that its last step is published.
func (o *outcome) ends() bool {
	return slices.ContainsFunc(o.records(), func(r rollouts.Rollout) bool {
		return r.Status.Phase == rollouts.Finishing || r.Status.Phase == rollouts.Returning
	})
}

func (o *outcome) version(v rollouts.Version) string {
	if v.Absent {
		return o.step(v.Commit) + " (absent)"
	}
	return o.step(v.Commit)
}

// step is the number of the step that made a commit of the source.
func (o *outcome) step(commit string) string {
	if commit == "" {
		return "-"
	}
	return cmp.Or(o.commits[commit], "?")
}

// images prints what clusters' branches have of workloads and ConfigMaps, a cluster a line.
func images(t *testing.T, repo *twin.Repo, res *outcome) string {
	t.Helper()
	var b strings.Builder
	for _, is := range contents(t, repo, res) {
		list := make([]string, 0, len(is.objects))
		for _, m := range is.objects {
			list = append(list, shortly(m))
		}
		fmt.Fprintf(&b, "%s: %s\n", is.cluster, strings.Join(list, ", "))
	}
	return b.String()
}

func shortly(m twin.Manifest) string {
	words := []string{m.Metadata.Name}
	for _, c := range m.Spec.Template.Spec.Containers {
		words[0] = c.Image
	}
	for _, key := range slices.Sorted(maps.Keys(m.Data)) {
		words = append(words, key+"="+m.Data[key])
	}
	if n := m.Spec.Replicas; n != nil {
		words = append(words, fmt.Sprint("x", *n))
	}
	return strings.Join(words, " ")
}

// laws holds what is true of each publication of what goes out in stages, beside that of the one before.
func laws(t *testing.T, step string, before, now *outcome) {
	t.Helper()
	moved := map[string]bool{}
	for _, u := range now.Updates {
		if moved[u.Branch] {
			t.Errorf("%s: branch %s gets two commits in one plan", step, u.Branch)
		}
		moved[u.Branch] = true
	}
	was := map[rollouts.Unit]rollouts.Rollout{}
	if before != nil {
		for _, r := range before.records() {
			was[r.Unit] = r
		}
	}
	isUnsoaked := slices.ContainsFunc(now.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.RolloutUnsoaked })
	for _, r := range now.records() {
		last := was[r.Unit]
		for name, e := range r.Clusters {
			if e.Released.IsZero() || isReleased(&last, name) && last.Status.Run == r.Status.Run {
				continue // it is not released now
			}
			if r.Status.Phase == rollouts.Stopped && last.Status.Run == r.Status.Run && !isUnsoaked && !e.Joined {
				t.Errorf("%s: %s is stopped, and %s is released", step, r.Unit, name)
			}
			if early := unfinished(&r, e.Stage); early != "" && !isUnsoaked && last.Status.Run == r.Status.Run {
				t.Errorf("%s: %s: %s of stage %s is released before %s is over", step, r.Unit, name, e.Stage, early)
			}
		}
		for i := range r.Strategy.Stages {
			width(t, step, &last, &r, &r.Strategy.Stages[i])
		}
	}
}

// unfinished is a stage before another one that is not over; empty for none.
func unfinished(r *rollouts.Rollout, stage string) string {
	for _, st := range r.Status.Stages {
		switch {
		case st.Name == stage:
			return ""
		case st.Phase != rollouts.Done:
			return st.Name
		}
	}
	return ""
}

// width holds how many clusters of a stage are released and neither healthy nor failed, where one more is released
// now. What came otherwise than by its turn is not counted.
func width(t *testing.T, step string, last, r *rollouts.Rollout, s *rollouts.Stage) {
	t.Helper()
	out, all, fresh := 0, 0, 0
	for name, e := range r.Clusters {
		if e.Stage != s.Name {
			continue
		}
		if all++; e.State == rollouts.Released || e.State == rollouts.Failing {
			out++
			if !isReleased(last, name) && !e.Joined {
				fresh++
			}
		}
	}
	most, err := intstr.GetScaledValueFromIntOrPercent(&s.MaxConcurrency, all, false)
	if err != nil {
		t.Fatal(err)
	}
	isTurn := last.Status.Run == r.Status.Run && r.Status.Reason != rollouts.Bypassed
	if isTurn && fresh > 0 && out > max(1, most) {
		t.Errorf("%s: %s: %d clusters of %s are out at once, of which %d are new", step, r.Unit, out, s.Name, fresh)
	}
}

// totals holds, over the steps of a scenario, that what is divided has in no step of a run fewer replicas in all
// than it had before and is to have afterwards; and that clusters have one version of what is labelled so.
type totals struct {
	was map[string]int // by object, when no run was open
}

func (s *totals) hold(t *testing.T, step string, repo *twin.Repo, now *outcome) {
	t.Helper()
	sum := map[string]int{}
	for _, is := range contents(t, repo, now) {
		versions := map[string]string{} // of units, by the label
		for _, m := range is.objects {
			if m.Spec.Replicas != nil {
				sum[m.String()] += *m.Spec.Replicas
			}
			unit, version := m.Metadata.Labels["unit"], m.Metadata.Labels["version"]
			if versions[unit] == "" {
				versions[unit] = version
			}
			if unit != "" && versions[unit] != version {
				t.Errorf("%s: %s has versions %s and %s of %s", step, is.cluster, versions[unit], version, unit)
			}
		}
	}
	isOpen := slices.ContainsFunc(now.records(), func(r rollouts.Rollout) bool { return r.Status.Phase != rollouts.Done })
	if !isOpen || s.was == nil {
		s.was = sum
		return
	}
	for _, d := range now.Plan.Decisions {
		next := 0
		for _, c := range d.Targets {
			next += int(c.Replicas)
		}
		r := d.Template.Ref()
		name := twin.Manifest{Kind: r.Kind}
		name.Metadata.Name, name.Metadata.Namespace = r.Name, r.Namespace
		if least := min(s.was[name.String()], next); sum[name.String()] < least && d.Divided() {
			t.Errorf("%s: %s has %d replicas in all, and never should have fewer than %d", step, r, sum[name.String()], least)
		}
	}
}

func isReleased(r *rollouts.Rollout, cluster string) bool {
	e := r.Clusters[cluster]
	return !e.Released.IsZero()
}
