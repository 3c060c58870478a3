package git

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/refs"
)

// Update moves one branch by one commit.
type Update struct {
	Branch string   // short name: "waybill/state"
	Old    files.ID // where the branch must be, and the commit's parent; zero: it must not exist
	// Anew starts the branch anew: the commit has no parent, and what Old leads to is given up.
	Anew bool
	// After are commits that the commit comes after before it comes after Old: where the branch was before somebody
	// deleted it or set it back. They have to be at hand, see Has; what a server lacks of them is sent along.
	After   []files.ID
	Tree    *files.Folder
	Message string
	Author  Author    // and committer
	When    time.Time // author and committer date, to the second, in its zone
	// Stage orders updates where a server cannot move all or none: those of a stage move only
	// if all of the stages before it did.
	Stage int
}

// move is an update with the commit that carries it out.
type move struct {
	Update
	id   files.ID
	data []byte
}

func (m move) ref() string { return refs.Heads + m.Branch }

// moves makes the commits. It refuses what Git would not take, and a branch that
// stands twice.
func moves(updates []Update, sign Signer) ([]move, error) {
	all := make([]move, len(updates))
	seen := make(map[string]bool, len(updates))
	for i, u := range updates {
		data, err := u.commit(sign)
		if err != nil {
			return nil, fmt.Errorf("preparing branch %q: %w", u.Branch, err)
		}
		if seen[u.Branch] {
			return nil, fmt.Errorf("preparing branch %q: it stands twice", u.Branch)
		}
		seen[u.Branch] = true
		all[i] = move{Update: u, id: files.Sum("commit", data), data: data}
	}
	return all, nil
}

// commit returns the body of the commit object.
func (u Update) commit(sign Signer) ([]byte, error) {
	if err := refs.CheckBranch(u.Branch); err != nil {
		return nil, err
	}
	switch {
	case u.Tree == nil:
		return nil, errors.New("it has no tree")
	case u.When.Unix() < 0:
		return nil, fmt.Errorf("its date is %s; want one since 1970", u.When)
	case u.Author.Name == "" || strings.ContainsAny(u.Author.Name+u.Author.Email, "<>\n\x00"):
		return nil, fmt.Errorf("author %q <%s> is empty or has a character that a commit cannot hold", u.Author.Name, u.Author.Email)
	case strings.Contains(u.Message, "\x00"):
		return nil, errors.New("its message contains a zero byte")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", u.Tree.ID())
	for _, p := range u.Parents() {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	who := fmt.Sprintf("%s <%s> %d %s", u.Author.Name, u.Author.Email, u.When.Unix(), u.When.Format("-0700"))
	fmt.Fprintf(&b, "author %s\ncommitter %s\n", who, who)
	return signed(b.String(), "\n"+u.Message, sign)
}

// Parents are those of the commit.
func (u Update) Parents() []files.ID {
	all := slices.Clone(u.After)
	if !u.Old.IsZero() && !u.Anew && !slices.Contains(all, u.Old) {
		all = append(all, u.Old)
	}
	return all
}

// A Signer returns the signature of a commit, armored, which is kept in the commit.
type Signer func(commit []byte) (signature []byte, err error)

// signed is a commit of these headers and the rest, with its signature as the last header.
func signed(headers, rest string, sign Signer) ([]byte, error) {
	if sign == nil {
		return []byte(headers + rest), nil
	}
	signature, err := sign([]byte(headers + rest))
	if err != nil {
		return nil, fmt.Errorf("signing it: %w", err)
	}
	lines := strings.ReplaceAll(strings.TrimRight(string(signature), "\n"), "\n", "\n ")
	return []byte(headers + signatureHeader + lines + "\n" + rest), nil
}

// signatureHeader begins the header of a commit that holds its signature, whose further lines
// begin with a space.
const signatureHeader = "gpgsig "

// parted takes the signature out of a commit: what is left is what was signed. It is empty where
// there is none. What is read of a commit, its parents above all, depends on the order of its headers. So where
// the signature does not stand once, and behind those that say what the commit is, the whole commit is returned
// as what was signed, which no signature in it can be of.
func parted(commit []byte) (payload, signature []byte) {
	end := bytes.Index(commit, []byte("\n\n")) + 1 // of the headers
	var taking, moved bool
	last := "" // of the headers that say what the commit is
	at := 0
	for at < end {
		n := bytes.IndexByte(commit[at:], '\n') + 1
		line := commit[at : at+n]
		at += n
		name, _, _ := strings.Cut(string(line), " ")
		switch value, begins := bytes.CutPrefix(line, []byte(signatureHeader)); {
		case begins:
			moved = moved || last != "committer" || signature != nil
			taking = true
			signature = append(signature, value...)
		case taking && line[0] == ' ':
			signature = append(signature, line[1:]...)
		case slices.Contains([]string{"tree", "parent", "author", "committer"}, name):
			moved = moved || signature != nil
			last = name
			fallthrough
		default:
			taking = false
			payload = append(payload, line...)
		}
	}
	if moved {
		return commit, signature
	}
	return append(payload, commit[at:]...), signature
}

// outstanding leaves out moves that are done already, and finds the first that
// cannot be done.
func outstanding(all []move, at map[string]files.ID) ([]move, error) {
	var todo []move
	for _, m := range all {
		switch at[m.Branch] {
		case m.id:
		case m.Old:
			todo = append(todo, m)
		default:
			return nil, &RaceError{Branch: m.Branch, Want: m.Old, Got: at[m.Branch]}
		}
	}
	return todo, nil
}
