package probe_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/endpoints/probe"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// memory is a repository that answers some questions with an error, by their numbers from one on.
type memory struct {
	t      *testing.T
	fails  map[int]error
	refs   map[string]files.ID
	trees  map[files.ID]*files.Folder
	asked  int
	writes []git.Update
}

func (m *memory) Name() string { return "https://git.example/status" }

func (m *memory) next() error {
	m.asked++
	return m.fails[m.asked]
}

// Refs implements probe.Repository.
func (m *memory) Refs(_ context.Context, wanted func(string, files.ID) bool, most git.Bounds) (git.RemoteRefs, error) {
	if most.Pack == 0 || most.Objects == 0 || most.Object == 0 || most.All == 0 || most.Paths == 0 {
		m.t.Errorf("what is read has no bounds: %+v", most)
	}
	all := git.RemoteRefs{Refs: m.refs, Read: map[files.ID]git.Head{}}
	for ref, id := range m.refs {
		if wanted(ref+"y", id) || wanted(ref, files.ID{9}) {
			m.t.Errorf("more is read than %s at %s", ref, id)
		}
		if wanted(ref, id) {
			all.Read[id] = git.Head{Tree: m.trees[id]}
		}
	}
	if err := m.next(); err != nil {
		return git.RemoteRefs{}, err
	}
	return all, nil
}

// Replace implements probe.Repository.
func (m *memory) Replace(_ context.Context, u git.Update, _ *files.Folder) (files.ID, error) {
	if err := m.next(); err != nil {
		return files.ID{}, err
	}
	if m.refs[u.Branch] != u.Old {
		m.t.Errorf("%s is to lead from %s, and is at %s", u.Branch, u.Old, m.refs[u.Branch])
	}
	id := files.Sum("commit", []byte(strconv.Itoa(len(m.writes))))
	m.refs[u.Branch], m.trees[id], m.writes = id, u.Tree, append(m.writes, u)
	return id, nil
}

// Delete implements probe.Repository.
func (m *memory) Delete(_ context.Context, ref string, at files.ID) error {
	if err := m.next(); err != nil {
		return err
	}
	if m.refs[ref] != at {
		m.t.Errorf("%s is deleted at %s, and is at %s", ref, at, m.refs[ref])
	}
	delete(m.refs, ref)
	return nil
}

// TestEachQuestionIsAnswered has a repository fail at each question. That something is refused is what was asked; any other error comes
// back, with what may be left.
func TestEachQuestionIsAnswered(t *testing.T) {
	away := errors.New("the server is away")
	moved := &git.RaceError{Branch: "b", Got: files.ID{7}}
	hidden := fmt.Errorf("writing: %w", &git.RaceError{Branch: "b", Want: files.ID{7}})
	refused := fmt.Errorf("writing: %w", &git.RefusedError{Ref: "r", Why: "not this one"})
	const unseen = "the host does not show it to who writes"
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.FixedZone("", 3600))
	refs := func(deeds ...string) (all []probe.Try) {
		for _, text := range deeds {
			ref, do := probe.Refs, text
			if branch, is := strings.CutPrefix(text, "branch "); is {
				ref, do = probe.Branches, branch
			}
			do, why, _ := strings.Cut(do, ": ")
			all = append(all, probe.Try{Ref: ref + "x", Do: probe.Deed(do), Why: why})
		}
		return all
	}
	branch := []string{"branch write", "branch read", "branch replace", "branch delete"}
	for _, c := range []struct {
		name  string
		fails map[int]error
		want  []probe.Try
		bus   exchange.Bus
		asked bool  // somebody has to say so
		err   error // that comes back
		left  string
	}{
		{name: "nothing fails", want: refs("write", "read", "replace", "delete"), bus: exchange.Refs},
		{name: "write", fails: map[int]error{1: away}, err: away},
		{name: "read", fails: map[int]error{2: away}, err: away, left: probe.Refs + "x"},
		{name: "replace", fails: map[int]error{3: away}, err: away, left: probe.Refs + "x"},
		{name: "delete", fails: map[int]error{4: away}, err: away, left: probe.Refs + "x"},
		{name: "write a ref that is there", fails: map[int]error{1: moved}, err: moved},
		{name: "replace what somebody else replaced", fails: map[int]error{3: moved}, err: moved, left: probe.Refs + "x"},
		{name: "delete what somebody else replaced", fails: map[int]error{4: moved}, err: moved, left: probe.Refs + "x"},
		{name: "write a branch", fails: map[int]error{1: refused, 2: away}, err: away},
		{name: "delete a branch", fails: map[int]error{1: refused, 5: away}, err: away, left: probe.Branches + "x"},
		{
			name: "a write is refused", fails: map[int]error{1: refused}, want: refs(append([]string{"write: not this one"}, branch...)...),
			bus: exchange.Branch,
		},
		{
			name: "a read is refused", fails: map[int]error{2: refused}, bus: exchange.Branch, asked: true,
			want: refs(append([]string{"write", "read: not this one", "replace", "delete"}, branch...)...),
		},
		{
			name: "who writes does not see it", fails: map[int]error{3: hidden, 4: hidden},
			bus: exchange.Branch, asked: true, left: probe.Refs + "x",
			want: refs(append([]string{"write", "read", "replace: " + unseen, "delete: " + unseen}, branch...)...),
		},
		{
			name: "a replacement is refused, and what is there is deleted", fails: map[int]error{3: refused}, bus: exchange.Branch, asked: true,
			want: refs(append([]string{"write", "read", "replace: not this one", "delete"}, branch...)...),
		},
		{
			name: "a deletion is refused", fails: map[int]error{4: refused}, want: refs("write", "read", "replace", "delete: not this one"),
			bus: exchange.Refs, left: probe.Refs + "x",
		},
		{
			name: "all writes are refused", fails: map[int]error{1: refused, 2: refused},
			want: refs("write: not this one", "branch write: not this one"), asked: true,
		},
	} {
		m := &memory{t: t, fails: c.fails, refs: map[string]files.ID{}, trees: map[files.ID]*files.Folder{}}
		got, err := probe.Of(t.Context(), m, "x", noon)
		want := probe.Host{Repository: m.Name(), Tries: c.want, Bus: c.bus, Unasked: !c.asked}
		if c.err != nil {
			want = probe.Host{}
		}
		if d := cmp.Diff(want, got); d != "" || !errors.Is(err, c.err) {
			t.Errorf("%s: %v\n%s", c.name, err, d)
		}
		if says := err != nil && strings.Contains(err.Error(), c.left+" may be there still"); says != (c.err != nil && c.left != "") {
			t.Errorf("%s: that %q may be left is told: %t", c.name, c.left, says)
		}
		if _, isLeft := m.refs[c.left]; isLeft != (c.left != "") || len(m.refs) > 1 {
			t.Errorf("%s: there is left %v, want %q", c.name, m.refs, c.left)
		}
		for _, u := range m.writes {
			if u.When != noon.UTC() || u.Author.Name == "" || u.Author.Email == "" || !strings.HasPrefix(u.Message, "waybill doctor: ") ||
				u.Tree == nil {
				t.Errorf("%s: it writes %+v", c.name, u)
			}
		}
		if len(m.writes) == 2 && m.writes[0].Tree.ID() == m.writes[1].Tree.ID() {
			t.Errorf("%s: it replaces a commit by the same", c.name)
		}
	}
}
