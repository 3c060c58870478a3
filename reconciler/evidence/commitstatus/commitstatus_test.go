package commitstatus_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/evidence/commitstatus"
	"github.com/waybill-dev/waybill/sources/forge"
)

// noon is when the first status is set.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// shown reads "CONTEXT STATE CREATOR", each a second after the one before it.
func shown(lines ...string) (all []forge.Status) {
	for i, line := range lines {
		f := strings.Fields(line)
		s := forge.Status{Context: "waybill/" + f[0], State: forge.State(f[1]), Time: noon.Add(time.Duration(i) * time.Second)}
		if len(f) > 2 {
			s.Creator = forge.User{ID: int64(len(f[2])), Login: f[2]}
		}
		all = append(all, s)
	}
	return all
}

func at(id string, lines ...string) commitstatus.Commit {
	return commitstatus.Commit{ID: id, Statuses: shown(lines...)}
}

func TestRead(t *testing.T) {
	t.Parallel()
	well := at("b1")
	sick := at("b1", "flux/m1/app failure flux")
	for _, tt := range []struct {
		name    string
		q       commitstatus.Question
		want    commitstatus.State
		spoken  string // CONTEXT CREATOR COMMIT STATE
		missing string
		ignored string
	}{
		{name: "nothing is said", want: "Silent"},
		{
			name: "all succeed", want: "Healthy", spoken: "flux/m1/app flux b2 success; flux/m1/root flux b2 success",
			q: commitstatus.Question{Commits: []commitstatus.Commit{at("b2", "flux/m1/root success flux", "flux/m1/app success flux")}},
		},
		{
			name: "one of two is missing", want: "Progressing", spoken: "flux/m1/root flux b2 success", missing: "flux/m1/app",
			q: commitstatus.Question{Commits: []commitstatus.Commit{at("b2", "flux/m1/root success flux")}},
		},
		{
			name: "one is pending", want: "Progressing", spoken: "flux/m1/app flux b2 pending; flux/m1/root flux b2 success", missing: "flux/m1/app",
			q: commitstatus.Question{Commits: []commitstatus.Commit{at("b2", "flux/m1/root success flux", "flux/m1/app pending flux")}},
		},
		{
			name: "of another cluster", want: "Silent",
			q: commitstatus.Question{Commits: []commitstatus.Commit{at("b2", "flux/m2/root success flux", "flux/m2/app success flux", "flux/m1/apps success flux")}},
		},
		{
			name: "each on a commit of its own", want: "Healthy", spoken: "flux/m1/app flux b2 success; flux/m1/root flux b3 success",
			q: commitstatus.Question{Commits: []commitstatus.Commit{at("b3", "flux/m1/root success flux", "flux/m1/app pending flux"), at("b2", "flux/m1/root failure flux", "flux/m1/app success flux")}},
		},
		{
			name: "a failure", want: "Failed", spoken: "flux/m1/app flux b2 failure; flux/m1/root flux b2 success",
			q: commitstatus.Question{Before: &well, Commits: []commitstatus.Commit{at("b2", "flux/m1/root success flux", "flux/m1/app failure flux")}},
		},
		{
			name: "an error", want: "Failed", spoken: "flux/m1/root flux b2 error", missing: "flux/m1/app",
			q: commitstatus.Question{Before: &well, Commits: []commitstatus.Commit{at("b2", "flux/m1/root error flux")}},
		},
		{
			name: "a failure, as before", want: "FailedBefore", spoken: "flux/m1/root flux b2 failure", missing: "flux/m1/app",
			q: commitstatus.Question{Before: &sick, Commits: []commitstatus.Commit{at("b2", "flux/m1/root failure flux")}},
		},
		{
			name: "a failure, and it is not known what was before", want: "FailedBefore", spoken: "flux/m1/root flux b2 failure", missing: "flux/m1/app",
			q: commitstatus.Question{Commits: []commitstatus.Commit{at("b2", "flux/m1/root failure flux")}},
		},
		{
			name: "what failed before is well", want: "Healthy", spoken: "flux/m1/app flux b2 success; flux/m1/root flux b2 success",
			q: commitstatus.Question{Before: &sick, Commits: []commitstatus.Commit{at("b2", "flux/m1/root success flux", "flux/m1/app success flux")}},
		},
		{
			name: "it failed before as a stranger says", want: "Failed", spoken: "flux/m1/root flux b2 failure", missing: "flux/m1/app",
			q: commitstatus.Question{Before: new(at("b1", "flux/m1/app failure eve")), Commits: []commitstatus.Commit{at("b2", "flux/m1/root failure flux")}},
		},
		{
			name: "strangers, and accounts that are gone", want: "Silent", ignored: "flux/m1/app  b2 success; flux/m1/root eve b2 success",
			q: commitstatus.Question{Creators: []string{"flux", ""}, Commits: []commitstatus.Commit{at("b2", "flux/m1/root success eve", "flux/m1/app success")}},
		},
		{
			name: "a stranger after who counts", want: "Progressing", spoken: "flux/m1/root flux b2 pending", missing: "flux/m1/app flux/m1/root", ignored: "flux/m1/root eve b2 success",
			q: commitstatus.Question{Commits: []commitstatus.Commit{at("b2", "flux/m1/root pending flux", "flux/m1/root success eve")}},
		},
		{
			name: "nobody counts", want: "Silent", ignored: "flux/m1/root flux b2 success",
			q: commitstatus.Question{Creators: []string{}, Commits: []commitstatus.Commit{at("b2", "flux/m1/root success flux")}},
		},
		{
			name: "of two who count the later one", want: "Healthy", spoken: "flux/m1/app flux b2 success; flux/m1/root Bot b2 success",
			q: commitstatus.Question{Creators: []string{"FLUX", "bot"}, Commits: []commitstatus.Commit{at("b2", "flux/m1/root failure flux", "flux/m1/root success Bot", "flux/m1/app success flux")}},
		},
		{
			name: "Argo CD", want: "Healthy", spoken: "argocd/m1/m1 flux b2 success",
			q: commitstatus.Question{Applications: []string{"m1"}, Commits: []commitstatus.Commit{at("b2", "argocd/m1/m1 success flux")}},
		},
		{
			name: "Argo CD beside Flux, which fails", want: "Failed", spoken: "flux/m1/app flux b2 failure; argocd/m1/m1 flux b2 success", missing: "flux/m1/root",
			q: commitstatus.Question{Before: &well, Applications: []string{"m1"}, Commits: []commitstatus.Commit{at("b2", "argocd/m1/m1 success flux", "flux/m1/app failure flux")}},
		},
	} {
		tt.q.Cluster, tt.q.Kustomizations = "m1", []string{"root", "app"}
		if tt.q.Creators == nil {
			tt.q.Creators = []string{"flux"}
		}
		got := tt.q.Read()
		if got.State != tt.want || said(got.Spoken) != tt.spoken || said(got.Ignored) != tt.ignored || short(strings.Join(got.Missing, " ")) != tt.missing {
			t.Errorf("%s: %s, spoken %q, missing %q, ignored %q; want %s, %q, %q, %q", tt.name, got.State, said(got.Spoken), short(strings.Join(got.Missing, " ")), said(got.Ignored), tt.want, tt.spoken, tt.missing, tt.ignored)
		}
	}
}

func said(all []commitstatus.Spoken) string {
	var lines []string
	for _, s := range all {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", short(s.Context), s.Creator, s.Commit, s.State))
	}
	return strings.Join(lines, "; ")
}

func short(contexts string) string { return strings.ReplaceAll(contexts, "waybill/", "") }

// FuzzRead holds Read to its laws: what strangers set changes nothing but what is ignored, the order of statuses is none, and
// no cluster is healthy without a success of each that syncs it.
func FuzzRead(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7})
	f.Add([]byte{40, 41, 9, 17, 33, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		contexts := []string{"flux/m1/root", "flux/m1/app", "argocd/m1/m1", "flux/m2/root"}
		states := []string{"success", "failure", "pending", "error"}
		var lines, trusted []string
		for _, b := range data[:min(len(data), 12)] {
			who := []string{"flux", "eve"}[b>>4&1]
			line := contexts[b&3] + " " + states[b>>2&3] + " " + who
			if lines = append(lines, line); who == "flux" {
				trusted = append(trusted, line)
			}
		}
		ask := func(statuses []forge.Status) commitstatus.Answer {
			q := commitstatus.Question{
				Cluster: "m1", Kustomizations: []string{"root", "app"}, Applications: []string{"m1"}, Creators: []string{"flux"},
				Commits: []commitstatus.Commit{{ID: "b2", Statuses: statuses}}, Before: new(at("b1")),
			}
			return q.Read()
		}
		all := shown(lines...)
		got := ask(all)
		own := ask(slices.DeleteFunc(slices.Clone(all), func(s forge.Status) bool { return s.Creator.Login != "flux" }))
		if got.State != own.State || said(got.Spoken) != said(own.Spoken) || len(own.Ignored) > 0 {
			t.Errorf("strangers change %+v to %+v", own, got)
		}
		turned := slices.Clone(all)
		slices.Reverse(turned)
		if again := ask(turned); again.State != got.State || said(again.Spoken) != said(got.Spoken) {
			t.Errorf("the order changes %+v to %+v", got, again)
		}
		if got.State == commitstatus.Healthy {
			isWhole := contains(trusted, "flux/m1/root success") && contains(trusted, "flux/m1/app success") || contains(trusted, "argocd/m1/m1 success")
			if !isWhole {
				t.Errorf("healthy by %q", trusted)
			}
		}
	})
}

func contains(lines []string, what string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, what) })
}
