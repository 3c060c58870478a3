package published

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/seal/unseal"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

// clone is a source of which a shallow clone does not have all.
type clone struct {
	*twin.Repo

	shallow bool
}

// Resolve implements Repository.
func (c *clone) Resolve(ctx context.Context, rev string) (files.ID, error) {
	id, err := c.Repo.Resolve(ctx, rev)
	if err != nil && c.shallow {
		err = fmt.Errorf("looking for %s: %w", rev, git.ErrShallow)
	}
	return id, err
}

// message is that of a commit that was published from a folder of a repository.
func message(repository, folder, commit string) string {
	text := "a change\n\nSource-Repository: " + repository + "\nSource-Commit: " + commit + "\n"
	if folder != "" {
		text += "Source-Path: " + folder + "\n"
	}
	return text
}

// Two sources cannot share a branch: one would take the other's work for its own, and remove it. A source is known by its place,
// however that is spelled, or by having the commit; and by its folder.
func TestWhoseBranchItIs(t *testing.T) {
	const here, elsewhere = "https://git.example/fleet", "https://git.example/other"
	source := twin.New(here)
	mine := source.Write("main", "mine", twin.Tree{"a": twin.File(nil)}.Folder()).String()
	theirs := files.Sum("commit", []byte("theirs")).String()
	for _, tt := range []struct {
		name               string
		repository, folder string // that the branch names
		commit             string
		edit               func(*Reader)
		want               string // part of the error; empty: it is ours
	}{
		{"ours", here, "", mine, nil, ""},
		{"ours, by another URL", "git@git.example:fleet.git", "", theirs, nil, ""},
		{"ours before it moved", elsewhere, "", mine, nil, ""},
		{"another one's", elsewhere, "", theirs, nil, "published from " + elsewhere},
		{"another folder's, of our commit", here, "prod", mine, nil, "published from the folder prod of " + here},
		{"all of it, and we are a folder", here, "", mine, func(r *Reader) { r.Subdir = "prod" }, "this is the folder prod of " + here},
		{"our folder", here, "prod", theirs, func(r *Reader) { r.Subdir = "prod/" }, ""},
		{"another one's, and it is taken over", elsewhere, "", theirs, func(r *Reader) { r.TakeOver = true }, ""},
		{"another folder's, and it is taken over", here, "prod", mine, func(r *Reader) { r.TakeOver = true }, ""},
		{"nobody's", "", "", "", nil, ""},
		{"of a commit that may be ours", elsewhere, "", theirs, func(r *Reader) { r.Source = &clone{source, true} }, "is not known"},
		{"in the source's own repository", elsewhere, "", theirs, func(r *Reader) { r.Target = r.Source }, ""},
	} {
		r := &Reader{Branches: At(twin.New("branches")), Source: &clone{source, false}}
		if tt.edit != nil {
			tt.edit(r)
		}
		h := git.Head{Commit: files.ID{1}, Message: message(tt.repository, tt.folder, tt.commit)}
		err := r.sameSource(t.Context(), sources.Revision{Repo: here}, "waybill/cluster/eu", h)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		many := r.sameSources(t.Context(), sources.Revision{Repo: here})
		if first, again := many("a", h), many("b", h); (first == nil) != (tt.want == "") || (again == nil) != (tt.want == "") {
			t.Errorf("%s, asked of two branches: %v, %v", tt.name, first, again)
		}
	}
}

// Who has no source goes by the state: what a cluster's branch names has to be the same, down to the folder.
func TestWhoseBranchItIsWithoutASource(t *testing.T) {
	here := sources.Revision{Repo: "https://git.example/fleet", Path: "prod"}
	r := &Reader{Branches: At(twin.New("branches"))}
	for _, tt := range []struct {
		name, branch, repository, folder string
		ours                             bool
	}{
		{"the same", "waybill/cluster/eu", "git@git.example:fleet", "prod/", true},
		{"another folder", "waybill/cluster/eu", "https://git.example/fleet", "test", false},
		{"no folder", "waybill/cluster/eu", "https://git.example/fleet", "", false},
		{"another repository", "waybill/cluster/eu", "https://git.example/other", "prod", false},
		{"the state, which says where it is", state.Branch, "https://git.example/other", "test", true},
	} {
		h := git.Head{Message: message(tt.repository, tt.folder, "c")}
		if err := r.sameSource(t.Context(), here, tt.branch, h); (err == nil) != tt.ours {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A source has one name, and two sources have two, however somebody writes them.
func TestSourceID(t *testing.T) {
	if a, b := SourceID("https://git.example/fleet.git", "/prod/"), SourceID("git@git.example:fleet", "prod"); a != b {
		t.Errorf("%q and %q are one source", a, b)
	}
	one := SourceID("https://git.example/fleet", "")
	for _, other := range []string{SourceID("https://git.example/fleet", "prod"), SourceID("https://git.example/fleet/prod", ""), SourceID("https://git.example/fleet", "prod/eu")} {
		if other == one {
			t.Errorf("%q is two sources", one)
		}
	}
	if a := SourceID("https://git.example/fleet", "."); a != one {
		t.Errorf("%q is another source than %q", a, one)
	}
}

// signed are those of whom one has to sign, and the key of one.
func signed(t *testing.T) (signing.Signers, signing.Key) {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public()
	s, err := signing.ParseSigners([]byte("publisher " + public.String() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s, key
}

// Once a state counted, none from before it does: who was suspended since would be applied to.
func TestAStateGoesOn(t *testing.T) {
	allowed, key := signed(t)
	repo := twin.New("branches")
	root := twin.Tree{"a": twin.File(nil)}.Folder()
	first := repo.Write(state.Branch, "first", root)
	second := repo.Write(state.Branch, "second", root)
	third := repo.Write(state.Branch, "third", root)
	other := repo.Write("other", "made anew", root)
	lost := files.Sum("commit", []byte("lost"))
	says := repo.Write("says", "next\n\n"+ancestry.Line(state.Branch, lost)+"\n", root)
	after := repo.Write("says", "after that", root)
	repo.Sign = key.SignCommit
	saysSigned := repo.Write("says-signed", "next\n\n"+ancestry.Line(state.Branch, lost)+"\n", root)
	otherCluster := repo.Write("says-other", "next\n\n"+ancestry.Line("eu", lost)+"\n", root)
	for _, tt := range []struct {
		name       string
		head, last files.ID
		edit       func(*Reader)
		goes       bool
	}{
		{"the first that is seen", first, files.ID{}, nil, true},
		{"the same", second, second, nil, true},
		{"the next", second, first, nil, true},
		{"one after the next", third, first, nil, true},
		{"the one before", first, second, nil, false},
		{"the one before, and a person wants to go there", first, second, func(r *Reader) { r.Rollback = true }, true},
		{"another history", other, second, nil, false},
		{"one that replaces it, signed", saysSigned, lost, nil, true},
		{"one that replaces it, and nobody signed that", says, lost, nil, false},
		{"one after that, which nobody signed, either", after, lost, nil, false},
		{"one that replaces it for a cluster", otherCluster, lost, nil, false},
		{"one that replaces it, where nothing is signed", says, lost, func(r *Reader) { r.Signers = signing.Signers{} }, true},
	} {
		r := &Reader{Branches: At(repo), Signers: allowed}
		if tt.edit != nil {
			tt.edit(r)
		}
		err := r.GoesOn(t.Context(), tt.head, tt.last)
		if (err == nil) != tt.goes {
			t.Errorf("%s: %v", tt.name, err)
		}
		if refused, ok := errors.AsType[*ancestry.RefusedError](err); err != nil && (!ok || !refused.State || refused.Applied != tt.last) {
			t.Errorf("%s: the refusal is %+v", tt.name, refused)
		}
	}
}

// TestTheWayBack goes from a head to a commit, which is not asked what it says, and no further; or to the newest that says
// something. On the way to what is gone by already nothing is asked.
func TestTheWayBack(t *testing.T) {
	repo := twin.New("branches")
	var all []files.ID
	for _, message := range []string{"root", "says", "then", "says again", "head"} {
		all = append(all, repo.Write("main", message, twin.Tree{"a": twin.File(nil)}.Folder()))
	}
	never, says := func(git.Head) bool { return false }, func(h git.Head) bool { return strings.HasPrefix(h.Message, "says") }
	for _, tt := range []struct {
		name       string
		head, last files.ID
		says       func(git.Head) bool
		want       Trace
		asked      int
	}{
		{"to itself", all[4], all[4], says, Trace{Follows: true}, 0},
		{"to one before", all[4], all[1], never, Trace{Follows: true}, 3},
		{"to the first", all[4], all[0], never, Trace{Follows: true}, 4},
		{"to one that comes later", all[1], all[4], never, Trace{}, 2},
		{"by one that says something", all[4], all[0], says, Trace{Said: all[3]}, 2},
		{"to one that says something", all[4], all[3], says, Trace{Follows: true}, 1},
		{"to nothing", all[2], files.ID{}, never, Trace{Follows: true}, 3},
	} {
		c := &counting{Repo: repo}
		if got, err := Walk(t.Context(), c, tt.head, tt.last, tt.says); err != nil || got != tt.want || len(c.asked) != tt.asked {
			t.Errorf("%s: it is %+v, asked is %q, %v; want %+v", tt.name, got, c.asked, err, tt.want)
		}
		c = &counting{Repo: repo, fails: max(tt.asked, 1)}
		if got, err := Walk(t.Context(), c, tt.head, tt.last, tt.says); (err == nil) != (tt.asked == 0) || err != nil && got != (Trace{}) {
			t.Errorf("%s, where that cannot be read: it is %+v, %v", tt.name, got, err)
		}
	}
	for _, last := range []files.ID{{}, all[4]} {
		c := &counting{Repo: repo, fails: 1}
		if err := (&Reader{Branches: At(c)}).GoesOn(t.Context(), all[4], last); err != nil || len(c.asked) > 0 {
			t.Errorf("whether it goes on from %s: %v, asked is %q", last, err, c.asked)
		}
	}
}

// A commit of the state that says it holds observations alone is passed over for what was planned only if that is so.
func TestThePlanBelowObservations(t *testing.T) {
	repo := twin.New("branches")
	content := twin.Tree{"bindings/a": twin.File([]byte("1")), "terms.json": twin.File([]byte("{}"))}
	planned := repo.Write(state.Branch, "plan", content.Folder())
	observed := func(text string, edit func(twin.Tree)) git.Head {
		next := twin.Of(content.Folder())
		edit(next)
		repo.Write(state.Branch, text, next.Folder())
		h, _, err := repo.Branch(t.Context(), state.Branch)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	const says = "observed\n\nObserved: eu\n"
	for range 2 {
		h := observed(says, func(twin.Tree) {})
		if got, err := Planned(t.Context(), repo, h); err != nil || got.Commit != planned {
			t.Errorf("below an observation is %.12s, %v", got.Commit.String(), err)
		}
	}
	h := observed(says, func(t twin.Tree) { t["bindings/a"] = twin.File([]byte("2")) })
	if _, err := Planned(t.Context(), repo, h); err == nil || !strings.Contains(err.Error(), "something else as well") {
		t.Errorf("what it holds besides is passed over: %v", err)
	}
	h = observed("by hand", func(twin.Tree) {})
	if got, err := Planned(t.Context(), repo, h); err != nil || got.Commit != h.Commit {
		t.Errorf("what says nothing of observations is %.12s, %v", got.Commit.String(), err)
	}
}

// In a cluster a source is known by its place; in a virtual one, which shares an API server, by the cluster's name as well, so
// that no round deletes what that of another virtual cluster applied.
func TestWhoASourceIsInACluster(t *testing.T) {
	virtual := map[string]string{karmada.VirtualOfAnnotation: "host"}
	cluster := func(name, id string, annotations map[string]string) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}, Spec: karmada.ClusterSpec{ID: id}}
	}
	in := Desired{
		Clusters: []*karmada.Cluster{cluster("alone", "1", nil), cluster("host", "2", nil), cluster("inner", "", virtual), cluster("own", "3", virtual), cluster("stray", "", map[string]string{karmada.VirtualOfAnnotation: "nobody"}), cluster("unsaid", "", nil)},
		formerly: []string{"before"}, revision: sources.Revision{Repo: "https://git.example/fleet"},
	}
	for i, want := range []struct{ owner, former, id string }{
		{"git.example/fleet", "before", "1"},
		{"git.example/fleet", "before", "2"},
		{"git.example/fleet#inner", "before#inner", "2"},
		{"git.example/fleet#own", "before#own", "3"},
		{"git.example/fleet#stray", "before#stray", ""},
		{"git.example/fleet", "before", ""},
	} {
		c := in.Clusters[i]
		if got := in.Owner(c.Name); got != want.owner {
			t.Errorf("in %s it is %q, want %q", c.Name, got, want.owner)
		}
		if got := in.FormerOwners(c.Name); len(got) != 1 || got[0] != want.former {
			t.Errorf("in %s it was %q, want %q", c.Name, got, want.former)
		}
		if got := in.IDOf(c); got != want.id {
			t.Errorf("%s has to be %q, want %q", c.Name, got, want.id)
		}
	}
	if got := in.Owner("unknown"); got != "git.example/fleet" {
		t.Errorf("in a cluster that is not registered it is %q", got)
	}
}

// limited refuses to fetch too much: more branches than a few, or one that alone is.
type limited struct {
	*twin.Repo

	big   string
	err   error // of any request for the branch
	alone error // of a request for the branch alone; nil: err
	asked int
}

// Fetch implements Repository.
func (l *limited) Fetch(_ context.Context, branches ...string) error {
	l.asked++
	if len(branches) == 1 && branches[0] == l.big && l.alone != nil {
		return l.alone
	}
	if slices.Contains(branches, l.big) {
		return l.err
	}
	return nil
}

// One agent that writes more than is fetched silences itself, and no other; a server that fails is another matter.
func TestOneBranchIsTooMuch(t *testing.T) {
	branches := map[string]string{"eu": "status/eu", "us": "status/us"}
	for _, tt := range []struct {
		name    string
		err     error
		alone   error
		refused bool
		fails   bool
		asked   int
	}{
		{"all is well", nil, nil, false, false, 1},
		{"it is too much", &git.LimitError{}, nil, true, false, 3},
		{"the server fails", errors.New("connection refused"), nil, false, true, 1},
		{"it is too much, and then the server fails", &git.LimitError{}, errors.New("connection refused"), false, true, 0},
	} {
		from := &limited{Repo: twin.New("told"), big: "status/us", err: tt.err, alone: tt.alone}
		refused, err := FetchEach(t.Context(), from, branches)
		if tt.asked > 0 && from.asked != tt.asked {
			t.Errorf("%s: it is asked %d times", tt.name, from.asked)
		}
		if (err != nil) != tt.fails || (refused["us"] != nil) != tt.refused || refused["eu"] != nil {
			t.Errorf("%s: %v, %v", tt.name, refused, err)
		}
	}
}

// What another one writes counts if the key signed it.
func TestSignedBy(t *testing.T) {
	_, key := signed(t)
	_, other := signed(t)
	repo := twin.New("told")
	root := twin.Tree{"a": twin.File(nil)}.Folder()
	public := key.Public()
	for _, tt := range []struct {
		name string
		by   *signing.Key
		key  *signing.Public
		want bool
	}{
		{"the key", &key, &public, true}, {"another one", &other, &public, false}, {"nobody", nil, &public, false}, {"nobody has to", nil, nil, true},
	} {
		if repo.Sign = nil; tt.by != nil {
			repo.Sign = tt.by.SignCommit
		}
		h, err := SignedBy(t.Context(), repo, repo.Write("b", "status of "+tt.name, root), tt.key)
		if (err == nil) != tt.want || (h.Tree != nil) != tt.want {
			t.Errorf("signed by %s: %v", tt.name, err)
		}
	}
}

// Which random key was used last: what the state says, and, where somebody deleted its branch, what the newest commit says that
// names one.
func TestTheRandomKeyThatWasUsedLast(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	head := func(key string, later time.Duration) git.Head {
		text := "x\n\nSource-Repository: https://git.example/fleet\n"
		if key != "" {
			text += "Random-Key: " + key + "\n"
		}
		return git.Head{Message: text, When: at.Add(later)}
	}
	heads := []git.Head{head("b", time.Hour), head("c", 2*time.Hour), head("a", 0), head("", 3*time.Hour)}
	if got := lastRandom(&state.State{}, heads); got.Key != "c" || got.Source != "git.example/fleet" {
		t.Errorf("without a state it is %+v", got)
	}
	if got := lastRandom(&state.State{Commit: "s", Random: state.Random{Key: "of the state"}}, heads); got.Key != "of the state" {
		t.Errorf("with a state it is %+v", got)
	}
	if got := lastRandom(&state.State{}, nil); got != (state.Random{}) {
		t.Errorf("where nothing is published it is %+v", got)
	}
}

// What others put beside what Waybill publishes goes along when a cluster is published elsewhere; where something is there by that name
// already, what came along stands.
func TestWhatOthersPutGoesAlong(t *testing.T) {
	entry := func(text string) files.Entry { return twin.File([]byte(text)) }
	was := tree.Published{Foreign: map[string]files.Entry{"both": entry("was"), "before": entry("was")}}
	is := tree.Published{Foreign: map[string]files.Entry{"both": entry("is"), "now": entry("is")}}
	all := Foreign(was, is)
	for path, want := range map[string]string{"both": "was", "before": "was", "now": "is"} {
		if all[path].ID != entry(want).ID {
			t.Errorf("%s is not as it %s", path, want)
		}
	}
	if len(all) != 3 || len(is.Foreign) != 2 || len(was.Foreign) != 2 {
		t.Errorf("all are %v", all)
	}
}

// Whatever SOPS encrypted is private, be it no Secret, and what cannot be decrypted is not fit to be applied.
func TestWhatIsEncryptedIsPrivate(t *testing.T) {
	const plain = "apiVersion: v1\ndata:\n  k: %s\nkind: %s\nmetadata:\n  name: a\n  namespace: shop\n"
	const sops = "sops:\n  mac: ENC[AES256_GCM,data:x]\n  version: 3.9.0\n"
	none := func() (unseal.Identities, error) { return unseal.Identities{}, nil }
	for _, tt := range []struct {
		name, kind, value, more string
		private, unfit          bool
	}{
		{"a ConfigMap", "ConfigMap", "v", "", false, false},
		{"a Secret", "Secret", "v", "", true, false},
		{"a Secret of another API", "SealedSecret", "v", "", true, false},
		{"a ConfigMap that is encrypted", "ConfigMap", "v", sops, true, true},
		{"a Secret that is encrypted", "Secret", "ENC[AES256_GCM,data:x]", sops, true, true},
	} {
		o, err := manifestOf("manifests/a.yaml", []byte(fmt.Sprintf(plain, tt.value, tt.kind)+tt.more), none)
		if err != nil || o.Private != tt.private || (o.Unfit != "") != tt.unfit || o.Ref.Name != "a" {
			t.Errorf("%s: private %v, unfit because %q, %v", tt.name, o.Private, o.Unfit, err)
		}
	}
	_, err := manifestOf("manifests/a.yaml", []byte(fmt.Sprintf(plain, "v", "ConfigMap")+sops), func() (unseal.Identities, error) {
		return unseal.Identities{}, errors.New("the Secret is not there")
	})
	if err == nil {
		t.Error("where the identities cannot be had, it is read")
	}
}
