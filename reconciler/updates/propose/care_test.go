package propose_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/twin"
)

// publicKey is a key as cosign writes it.
func publicKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// A registry that does not say who signed an image leaves the pull request open; one that says that nobody did closes it.
func TestSignaturesThatAreNotAnswered(t *testing.T) {
	s := sourceOf(", verify: [{images: ['ghcr.io/acme/*'], keys: [cosign.pub]}]")
	s["cosign.pub"] = publicKey(t)
	w := begin(t, s, "1.0.0", "1.1.0")
	w.runs(opened)
	for _, err := range []error{&registry.Error{Class: registry.Busy, Of: image, Err: errors.New("429")}, context.DeadlineExceeded} {
		w.registry.unkept = err
		if r := w.runs(); r.Found.Verdicts[0].Why != updates.NotAnswered || !w.forge.all[0].Open {
			t.Errorf("with %v it is %+v", err, r.Found.Verdicts[0])
		}
	}
	w.registry.unkept = &registry.Error{Class: registry.Unverified, Of: image, Err: errors.New("it has no signature")}
	if r := w.runs(closed); r.Found.Verdicts[0].Why != updates.Unverified {
		t.Errorf("without a signature it is %+v", r.Found.Verdicts[0])
	}
}

// What is closed in a run that loses a race is not taken for closed by a person.
func TestALostRaceOfWhatIsObsolete(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.proposer.Repository = &raced{w.repo, func() {
		theirs := twin.Of(w.head(updates.MemoryBranch).Tree)
		theirs["policies/shop/other.json"] = twin.File([]byte(`{"keptBack":{"1":"why"}}`))
		w.repo.Write(updates.MemoryBranch, "theirs", theirs.Folder())
	}}
	w.runs(closed)
	if got := w.memory().Policies[web]; len(got.KeptBack) > 0 || got.Proposal != nil || w.forge.all[0].Open {
		t.Errorf("remembered is %+v", got)
	}
}

// stubborn is a forge that does not close pull requests.
type stubborn struct{ *pulls }

func (stubborn) ClosePullRequest(context.Context, int) error { return errors.New("503") }

// What could not be closed is closed the next time.
func TestAForgeThatDoesNotClose(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.proposer.Forge = stubborn{w.forge}
	if r, err := w.proposer.Run(t.Context()); err == nil || len(r.Outcomes) > 0 {
		t.Errorf("done is %v, and the error %v", r.Outcomes, err)
	}
	w.proposer.Forge = w.forge
	w.runs(closed)
}

// stale is a forge that shows pull requests as open for a while after they were closed.
type stale struct {
	*pulls

	closes *[]int
}

func (s stale) ClosePullRequest(_ context.Context, number int) error {
	*s.closes = append(*s.closes, number)
	return nil
}

// A pull request that is to be closed for two reasons is closed once, though the forge shows it as open a moment later.
func TestAPullRequestIsClosedOnce(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	m := w.memory()
	m.Close(updates.Closing{Branch: branch})
	root, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w.repo.Write(updates.MemoryBranch, "to be closed", root)
	var closes []int
	w.proposer.Forge = stale{w.forge, &closes}
	w.runs(closed)
	if !slices.Equal(closes, []int{1}) || len(w.memory().Closing) > 0 {
		t.Errorf("closed are %v, and to be closed %+v", closes, w.memory().Closing)
	}
}

// What the forge merged after the base was read is not proposed again, and that it was reverted is learned later.
func TestMergedBehindTheBase(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.forge.all[0].Merged, w.forge.all[0].Open = digest("c")[7:], false
	w.runs()
	if p := w.memory().Policies[web].Proposal; p == nil || p.Merged == "" || len(w.forge.all) != 1 {
		t.Fatalf("remembered is %+v", p)
	}
	w.source["other.yaml"] = "a: b\n" // the merge was reverted before anybody looked
	w.commit()
	w.runs()
	if got := w.memory().Policies[web]; len(got.KeptBack) != 1 {
		t.Errorf("remembered is %+v", got)
	}
}

// What was merged and reverted since the last run is kept back at once.
func TestMergedAndReverted(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.forge.all[0].Merged, w.forge.all[0].Open = w.commit().String(), false // which says 1.0.0, as if the revert came with it
	if r := w.runs(); r.Found.Takes() || len(w.memory().Policies[web].KeptBack) != 1 {
		t.Errorf("it is %+v", r.Found.Verdicts[0])
	}
	w = begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.forge.all[0].Merged, w.forge.all[0].Open = w.commit().String(), false
	w.source["other.yaml"] = "a: b\n"
	w.commit()
	if r := w.runs(); r.Found.Takes() || len(w.memory().Policies[web].KeptBack) != 1 {
		t.Errorf("it is %+v", r.Found.Verdicts[0])
	}
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.runs(opened)
}

const automated = "---\napiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\nmetadata: {name: all, namespace: shop}\n" +
	"spec:\n  interval: 10m\n  sourceRef: {name: flux-system}\n  update: {path: ./apps}\n"

// automatedSource is a source whose one automation writes values below apps.
func automatedSource() map[string]string {
	s := sourceOf("")
	s["waybill.yaml"] += "  flux: {self: [GitRepository/shop/flux-system]}\n"
	s["automation.yaml"] = strings.TrimPrefix(automated, "---\n")
	return s
}

// Where an automation is a mistake, cannot be read or is suspended, nothing is written, least of all outside of its folder, and
// what is proposed stays.
func TestAnAutomationThatDoesNotAct(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(string) string
		why  updates.Why
	}{
		"a mistake": {func(a string) string { return a + "  git: {commit: {author: {email: a@b}}, push: {refspec: 'a:b'}}\n" }, updates.Unclear},
		"a bad branch": {func(a string) string {
			return a + "  git: {commit: {author: {email: a@b}}, push: {branch: waybill/state}}\n"
		}, updates.Unclear},
		"unreadable": {func(a string) string { return a + "  git: {\n" }, updates.Unclear},
		"suspended":  {func(a string) string { return a + "  suspend: true\n" }, updates.Suspended},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, automatedSource(), "1.0.0", "1.1.0")
			w.source["elsewhere.yaml"] = value(image + ":1.0.0")
			w.commit()
			w.runs(opened)
			if got := w.changes(branch); len(got) != 2 || got["elsewhere.yaml"] != "" {
				t.Fatalf("changed is %v", got)
			}
			w.source["automation.yaml"] = tt.edit(w.source["automation.yaml"])
			w.commit()
			if r := w.runs(); r.Found.Verdicts[0].Why != tt.why || !w.forge.all[0].Open || w.memory().Policies[web].Proposal == nil {
				t.Errorf("it is %+v", r.Found.Verdicts[0])
			}
		})
	}
}

// A branch that an automation names, and of which nothing is remembered, is written only over nothing.
func TestABranchOfPeople(t *testing.T) {
	s := automatedSource()
	s["automation.yaml"] += "  git: {commit: {author: {email: a@b}}, push: {branch: staging}}\n"
	w := begin(t, s, "1.0.0", "1.1.0")
	base := w.head("main")
	ids, err := w.repo.Publish(t.Context(), []git.Update{{Branch: "staging", Tree: base.Tree, Message: "Update\n\nWaybill-Update: image " + image + " 1.0.0\n", Author: git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}, When: w.now}})
	if err != nil {
		t.Fatal(err)
	}
	w.runs("Theirs staging")
	if w.head("staging").Commit != ids[0] {
		t.Error("the branch was moved")
	}
}

// A schedule that cannot be read is a mistake of the config, with its place.
func TestAScheduleThatIsNone(t *testing.T) {
	for _, settings := range []string{", schedule: ['0 25 * * *']", ", schedule: ['0 2 * * *'], timeZone: Europe/Atlantis"} {
		w := begin(t, sourceOf(settings), "1.0.0", "1.1.0")
		_, err := w.proposer.Run(t.Context())
		if wrong, is := errors.AsType[*render.ConfigError](err); !is || wrong.Diagnostic.Pos != (diag.Pos{File: "waybill.yaml", Line: 4}) || len(w.forge.all) > 0 {
			t.Errorf("with %s the error is %v", settings, err)
		}
	}
}

// A preview is asked for the room that there is beside what is said of roll-outs, and is not cut.
func TestAPreviewOfSomeLength(t *testing.T) {
	long := strings.Repeat("n", 253) + "/" + strings.Repeat("p", 253)
	for _, units := range [][]string{nil, {"shop/web"}, {long, long, long, long}} {
		w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
		w.proposer.Preview = func(_ context.Context, _, _ string, limit int) (string, updates.Effect, error) {
			return strings.Repeat("a", limit), updates.Effect{Ends: units}, nil
		}
		w.runs(opened)
		if got := len(w.forge.drafts[0].Body); got > forge.MaxBody || got < forge.MaxBody-1024 {
			t.Errorf("with %d open roll-outs the body has %d bytes", len(units), got)
		}
	}
}

// Of two values the one that the order reads counts, so that it does not go down.
func TestAValueThatIsNoVersion(t *testing.T) {
	for _, file := range []string{"apps/job.yaml", "apps/web.yaml"} {
		s := sourceOf("")
		s["apps/job.yaml"], s["apps/web.yaml"] = value(image+":1.5.0"), value(image+":1.5.0")
		s[file] = value(image + ":latest")
		w := begin(t, s, "1.0.0", "1.4.0", "1.5.0", "2.0.0")
		if r := w.runs(); r.Found.Verdicts[0].Current.Tag != "1.5.0" || r.Found.Verdicts[0].Why != updates.UpToDate {
			t.Errorf("with latest in %s it is %+v", file, r.Found.Verdicts[0])
		}
	}
}

// A forge that shows no pull request to whoever asks, as to a token that is for another repository, says nothing of one; of one that
// was deleted nobody can say more than that it was.
func TestAForgeThatShowsNothing(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	none := &forge.Error{Status: http.StatusNotFound}
	w.forge.hidden, w.forge.closed = none, none
	if _, err := w.proposer.Run(t.Context()); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("the error is %v", err)
	}
	if got := w.memory().Policies[web]; len(got.KeptBack) > 0 || got.Proposal == nil {
		t.Fatalf("remembered is %+v", got)
	}
	w.forge.closed = nil
	w.runs()
	if got := w.memory().Policies[web]; len(got.KeptBack) != 1 {
		t.Errorf("remembered is %+v", got)
	}
}

// A pull request that cannot be closed keeps no other from being opened.
func TestAForgeThatDoesNotCloseOne(t *testing.T) {
	w := grouped(t, "each, limits: {open: 9, perHour: 9}")
	w.registry.tags[image] = []string{"1.0.0"}
	w.runs("Opened " + podinfoBranch)
	w.charts.Uses = nil
	w.registry.tags[image] = []string{"1.0.0", "1.1.0"}
	w.proposer.Forge = stubborn{w.forge}
	if _, err := w.proposer.Run(t.Context()); err == nil || len(w.forge.all) != 4 || len(w.memory().Closing) != 1 {
		t.Errorf("there are %d pull requests, to be closed are %+v, and the error is %v", len(w.forge.all), w.memory().Closing, err)
	}
}

// Two sources of one repository do not take each other's pull requests for what is not wanted any more.
func TestTwoSources(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.repo.Write("next", "another source", twin.Tree{"waybill.yaml": twin.File([]byte(w.source["waybill.yaml"]))}.Folder())
	w.proposer.Base = "next"
	if _, err := w.proposer.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "is that of the source main, and this is next") || !w.forge.all[0].Open {
		t.Errorf("the error is %v", err)
	}
	w.proposer.Base = "main"
	w.runs(stays)
}

// A roll-out that stopped at a commit that is no more, because the history was rewritten, stops nothing.
func TestARolloutOfALostCommit(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	lost := rollouts.Version{Commit: digest("c")[7:47]}
	w.recorded = []rollouts.Rollout{{
		Unit: rollouts.Unit{Namespace: "shop", Name: "web"}, Status: rollouts.Status{Phase: rollouts.Stopped, Base: lost, Target: lost},
	}}
	w.runs(opened)
}

// wordy has images that say much of themselves.
type wordy struct{ *registries }

func (w wordy) Image(ctx context.Context, ref string) (registry.Image, error) {
	is, err := w.registries.Image(ctx, ref)
	is.Source = "https://example.com/" + strings.Repeat("a", 480)
	is.Changelog, is.URL = is.Source, is.Source
	return is, err
}

// What images say of themselves leaves room for what the change does.
func TestAPreviewBesideManyLinks(t *testing.T) {
	s := sourceOf(", group: all")
	policy := s["images.yaml"]
	for i := range 60 {
		name := fmt.Sprint("web", i)
		s[name+".yaml"] = strings.NewReplacer("name: web,", "name: "+name+",", "{name: web}", "{name: "+name+"}").Replace(policy)
		s["apps/"+name+".yaml"] = strings.ReplaceAll(value(image+":1.0.0"), "shop:web", "shop:"+name)
	}
	w := begin(t, s, "1.0.0", "1.1.0")
	w.proposer.Registries = func(render.ConfigSpec) (propose.Registry, propose.Catalog, error) {
		return wordy{w.registry}, w.catalog, nil
	}
	least := 0
	w.proposer.Preview = func(_ context.Context, _, _ string, limit int) (string, updates.Effect, error) {
		least = limit
		return "", updates.Effect{}, nil
	}
	w.runs("Opened waybill/update/_all")
	if least < forge.MaxBody/3 || !strings.Contains(w.forge.drafts[0].Body, " more\n") {
		t.Errorf("there is room for %d bytes", least)
	}
}

// A server that moves the memory and not the branch leaves a branch that is Waybill's still.
func TestAServerThatMovesNotAll(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.repo.Refuse(branch)
	if _, err := w.proposer.Run(t.Context()); err == nil {
		t.Fatal("it was pushed")
	}
	w.repo.Refuse()
	w.runs(edited)
	if got := w.changes(branch)["apps/web.yaml"]; got != value(image+":1.2.0") {
		t.Errorf("the branch changes %q", got)
	}
	w.runs(stays)
	if got := w.memory().Policies[web].Proposal.Over; got != "" {
		t.Errorf("remembered is %s", got)
	}
}

// What is obsolete is Waybill's to close, too, where the server left the branch at the commit before.
func TestAServerThatMovesNotAllOfWhatIsObsolete(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.repo.Refuse(branch)
	if _, err := w.proposer.Run(t.Context()); err == nil {
		t.Fatal("it was pushed")
	}
	w.repo.Refuse()
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.runs(closed)
	if w.forge.all[0].Open {
		t.Error("it stays open")
	}
}

// A commit that says to be Waybill's, and comes after a person's, keeps what is obsolete open, as the person's does.
func TestAPersonsCommitUnderWhatIsObsolete(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	h := w.head(branch)
	tree := twin.Of(h.Tree)
	tree["x"] = twin.File([]byte("x"))
	mine := w.repo.Write(branch, "mine", tree.Folder())
	u := git.Update{Branch: branch, Old: mine, Tree: h.Tree, Message: h.Message, Author: h.Author, When: w.now}
	if _, err := w.repo.Publish(t.Context(), []git.Update{u}); err != nil {
		t.Fatal(err)
	}
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.runs(theirs)
	if !w.forge.all[0].Open {
		t.Error("a person's pull request was closed")
	}
}
