package propose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/lock"
)

// grouped is a world with two policies of a namespace, one of another and a chart, each with a newer version.
func grouped(t *testing.T, group string) *world {
	t.Helper()
	s := sourceOf(", group: " + group)
	policy := s["images.yaml"]
	for _, n := range []string{"shop:api", "till:web"} {
		namespace, name, _ := strings.Cut(n, ":")
		s[name+namespace+".yaml"] = strings.NewReplacer("name: web, namespace: shop", "name: "+name+", namespace: "+namespace, "{name: web}", "{name: "+name+"}").Replace(policy)
		s["apps/"+name+namespace+".yaml"] = strings.ReplaceAll(value(image+":1.0.0"), "shop:web", n)
	}
	w := begin(t, s, "1.0.0", "1.1.0")
	w.source[lock.FileName] = string(lock.Lock{}.With(entry(podinfo, "1.0.0")).Encode())
	w.charts.Uses = []planner.ChartUse{{Ref: podinfo}}
	w.catalog.versions["podinfo"] = []string{"1.0.0", "1.1.0"}
	w.commit()
	return w
}

// One pull request has all that a group says; what is newer joins it, and what is closed unmerged is kept back whole.
func TestGroups(t *testing.T) {
	w := grouped(t, "all")
	w.runs("Opened waybill/update/_all")
	if got := w.changes("waybill/update/_all"); len(got) != 5 || w.forge.drafts[0].Title != "Update 3 images and 1 chart" {
		t.Errorf("%s changes %v", w.forge.drafts[0].Title, got)
	}
	for _, part := range []string{"of ImagePolicy shop/api", "of ImagePolicy shop/web", "of ImagePolicy till/web", "of the range `1.x`", "these versions are not proposed again"} {
		if !strings.Contains(w.forge.drafts[0].Body, part) {
			t.Errorf("%q is not in\n%s", part, w.forge.drafts[0].Body)
		}
	}
	w.runs("Stays waybill/update/_all")
	w.catalog.versions["podinfo"] = append(w.catalog.versions["podinfo"], "1.2.0")
	w.runs("Edited waybill/update/_all")
	w.forge.asked = 0
	w.runs("Stays waybill/update/_all")
	if w.forge.asked != 1 {
		t.Errorf("one pull request was asked for %d times", w.forge.asked)
	}
	w.forge.all[0].Open = false
	if w.runs(); len(w.memory().Open()) > 0 || strings.Count(fmt.Sprint(w.memory().Policies), "pull request 1 was closed") != 4 {
		t.Errorf("remembered is %v", w.memory().Policies)
	}
	w.catalog.versions["podinfo"] = append(w.catalog.versions["podinfo"], "1.3.0")
	w.runs("Opened waybill/update/_all")
	if w.forge.drafts[1].Title != "Update https://charts.example/podinfo to 1.3.0" {
		t.Errorf("it is called %s", w.forge.drafts[1].Title)
	}
}

// A namespace has one pull request, and charts have one; who turns to another group has the others closed, and nothing is
// kept back by that.
func TestAnotherGroup(t *testing.T) {
	w := grouped(t, "namespace, limits: {open: 9, perHour: 9}")
	w.runs("Opened waybill/update/_charts/_all", "Opened waybill/update/shop/_all", "Opened waybill/update/till/_all")
	w.source["waybill.yaml"] = strings.Replace(w.source["waybill.yaml"], "group: namespace", "group: each", 1)
	w.commit()
	r := w.runsAnyway()
	var did []string
	for _, o := range r.Outcomes {
		did = append(did, string(o.Did)+" "+o.Branch+" "+o.Why)
	}
	slices.Sort(did)
	want := []string{
		"Closed waybill/update/_charts/_all it is proposed on " + podinfoBranch, "Closed waybill/update/shop/_all it is proposed on waybill/update/shop/api",
		"Closed waybill/update/till/_all it is proposed on waybill/update/till/web", "Opened " + podinfoBranch + " ",
		"Opened waybill/update/shop/api ", "Opened waybill/update/shop/web ", "Opened waybill/update/till/web ",
	}
	if !slices.Equal(did, want) {
		t.Errorf("done is %q, want %q", did, want)
	}
	for n, record := range w.memory().Policies {
		if len(record.KeptBack) > 0 || !record.Proposal.IsOpen() {
			t.Errorf("%s is remembered as %+v", n, record)
		}
	}
	if w.memory().Policies[web].Proposal.PullRequest == 2 {
		t.Error("it kept the pull request of the group")
	}
}

// A pull request of very many names some of them.
func TestAGroupOfMany(t *testing.T) {
	w := charted(t, ", group: all")
	var locked lock.Lock
	for i := range 60 {
		ref := podinfo
		ref.Name = fmt.Sprintf("chart%02d", i)
		w.charts.Uses, locked = append(w.charts.Uses, planner.ChartUse{Ref: ref}), locked.With(entry(ref, "1.0.0"))
		w.catalog.versions[ref.Name] = []string{"1.1.0"}
	}
	w.source[lock.FileName] = string(locked.Encode())
	w.commit()
	w.runs("Opened waybill/update/_all")
	if body := w.forge.drafts[0].Body; strings.Count(body, "first seen") != 50 || !strings.Contains(body, "\n* and 10 more\n") {
		t.Errorf("the body is\n%s", body)
	}
	if got := w.changes("waybill/update/_all")[lock.FileName]; strings.Count(got, "version: 1.1.0") != 60 || updates.ChartFolder != "_charts" {
		t.Errorf("the file is\n%s", got)
	}
}
