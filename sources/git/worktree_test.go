package git

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources"
)

// oddity is a work tree that is made odd by commands. Each line is one of git's, unless it
// begins with "write PATH TEXT", "link PATH TARGET", "remove PATH" or "commit", which adds
// and commits everything. Texts are quoted as in Go.
type oddity struct {
	name  string
	lines string
	// dirty says that the work tree is not as it was committed.
	dirty bool
	// folder is the one that is read.
	folder string
}

var oddities = []oddity{
	{name: "plain", lines: `
		write a.yaml "a"
		write b/c.yaml "c"
		write b.yaml "b"
		write b-c "x"
		commit`},
	{name: "new and changed and removed and moved", dirty: true, lines: `
		write a.yaml "a"
		write b.yaml "b"
		write c/d.yaml "d"
		commit
		write a.yaml "changed"
		remove b.yaml
		remove c/d.yaml
		write c/e.yaml "d"
		write new.yaml "new"`},
	{name: "staged and then removed", dirty: true, lines: `
		write a.yaml "a"
		commit
		write b.yaml "b"
		add b.yaml
		remove b.yaml
		write c.yaml "c"
		add -N c.yaml`},
	{name: "a folder in the place of a file and a file in that of a folder", dirty: true, lines: `
		write a "a"
		write b/c "c"
		write d/e "e"
		commit
		remove a
		write a/x "x"
		remove b/c
		remove b
		write b "b"
		remove d/e
		remove d
		link d a`},
	{name: "links", lines: `
		write real/a.yaml "a"
		link link.yaml real/a.yaml
		link folder real
		link out ../..
		link dangling nowhere
		commit`},
	{name: "links where there are none", lines: `
		write a.yaml "a"
		link link.yaml a.yaml
		commit
		config core.symlinks false
		remove link.yaml
		checkout link.yaml`},
	{name: "names that are no UTF-8, and odd ones", lines: `
		write bad\xff.yaml "a"
		write dir\xfe/b.yaml "b"
		write "with space.yaml" "c"
		write "new\nline" "d"
		write -dash "e"
		write é.yaml "f"
		write back\\slash "g"
		commit`},
	{name: "ignored, and tracked all the same", dirty: true, lines: `
		write .gitignore "*.log\nbuild/\n/top\nsub/deep.yaml\n"
		write kept.log "k"
		write build/kept.yaml "k"
		add -f .
		commit
		write a.log "no"
		write build/no.yaml "no"
		write other/build/no.yaml "no"
		write top "no"
		write other/top "yes"
		write sub/deep.yaml "no"
		write x/sub/deep.yaml "yes"
		write kept.log "changed"`},
	{name: "patterns that take back", dirty: true, lines: `
		write .gitignore "*.tmp\n!keep.tmp\nfolder/\n!folder/in.yaml\nother/*\n!other/in.yaml\n\\#odd\n\\!odd\ntrailing\\ \nspaces   \n"
		write a/.gitignore "!a.tmp\n*.x\n"
		write a/b/.gitignore "!y.x\n"
		commit
		write keep.tmp "yes"
		write no.tmp "no"
		write folder/in.yaml "no"
		write other/in.yaml "yes"
		write other/no.yaml "no"
		write "#odd" "no"
		write "!odd" "no"
		write "trailing " "no"
		write trailing "yes"
		write spaces "no"
		write a/a.tmp "yes"
		write a/b.tmp "no"
		write a/z.x "no"
		write a/b/y.x "yes"
		write a/b/z.x "no"
		write z.x "yes"`},
	{name: "wildcards", dirty: true, lines: `
		write .gitignore "**/deep\na/**/z\nb/**\nc/*/d\n[!a]1\n[[:upper:]]x\n?2\nfoo**bar\n*.[oa]\n**\\/e\n[a-c]-[]\n"
		commit
		write x/y/deep/f "no"
		write a/z "no"
		write a/b/c/z "no"
		write a/b/c/y "yes"
		write b/f "no"
		write c/x/d "no"
		write c/x/y/d "yes"
		write b1 "no"
		write a1 "yes"
		write Ax "no"
		write ax "yes"
		write 22 "no"
		write fooxbar "no"
		write foo/x/bar "yes"
		write m.o "no"
		write q/e "?"`},
	{name: "excluded by the repository and by the user", dirty: true, lines: `
		write a.yaml "a"
		commit
		write .git/info/exclude "*.mine\n!both.mine\n"
		write .git/global "*.all\nboth.mine\n"
		config core.excludesFile .git/global
		write x.mine "no"
		write x.all "no"
		write both.mine "yes"`},
	{name: "an ignore file that was removed", dirty: true, lines: `
		write .gitignore "*.x\n"
		commit
		remove .gitignore
		write a.x "yes"`},
	{name: "an ignore file that is a link", dirty: true, lines: `
		write patterns "*.x\n"
		link .gitignore patterns
		commit
		write a.x "yes"`},
	{name: "a submodule", lines: `
		upstream
		write a.yaml "a"
		-c protocol.file.allow=always submodule add -q ../inner.git sub
		commit`},
	{name: "a submodule that is not checked out", lines: `
		upstream
		write a.yaml "a"
		-c protocol.file.allow=always submodule add -q ../inner.git sub
		commit
		submodule deinit -q -f sub`},
	{name: "a submodule that was removed", dirty: true, lines: `
		upstream
		-c protocol.file.allow=always submodule add -q ../inner.git sub
		write a.yaml "a"
		commit
		remove sub`},
	{name: "a submodule that is not to be in the work tree", lines: `
		upstream
		-c protocol.file.allow=always submodule add -q ../inner.git sub
		write a.yaml "a"
		commit
		update-index --skip-worktree sub
		remove sub`},
	{name: "repositories inside", dirty: true, lines: `
		write a.yaml "a"
		commit
		nested nested/deep
		write nested/own.yaml "yes"
		write .git/info/exclude "ignored\n"
		nested ignored`},
	{name: "a folder that only looks like a repository", dirty: true, lines: `
		write a.yaml "a"
		commit
		write almost/.git/config "x"
		write almost/b.yaml "yes"
		write file/.git "gitdir: ../nowhere"
		write file/b.yaml "yes"`},
	{name: "a sparse checkout", lines: `
		write a.yaml "a"
		write in/b.yaml "b"
		write out/c.yaml "c"
		write out/deep/d.yaml "d"
		link out/link c.yaml
		commit
		sparse-checkout set --no-cone in`},
	{name: "a sparse checkout of folders", lines: `
		write a.yaml "a"
		write in/b.yaml "b"
		write out/c.yaml "c"
		write out/deep/d.yaml "d"
		commit
		sparse-checkout set --cone in`},
	{name: "a sparse index", lines: `
		write a.yaml "a"
		write in/b.yaml "b"
		write out/c.yaml "c"
		write out/deep/d.yaml "d"
		write out/.gitignore "x\n"
		link out/link c.yaml
		commit
		sparse-checkout set --cone --sparse-index in`},
	{name: "a sparse checkout in which a file is there all the same", dirty: true, lines: `
		write in/b.yaml "b"
		write out/c.yaml "c"
		write out/d.yaml "d"
		commit
		sparse-checkout set --cone in
		write out/c.yaml "changed"
		status`},
	{name: "the ignore file of a sparse folder", lines: `
		write in/b.yaml "b"
		write out/.gitignore "*.x\n"
		commit
		sparse-checkout set --no-cone in
		write out/a.x "no"`},
	{name: "skipped without a sparse checkout", lines: `
		write a.yaml "a"
		write b.yaml "b"
		commit
		update-index --skip-worktree a.yaml b.yaml
		write a.yaml "changed"
		remove b.yaml`},
	{name: "assumed to be unchanged", lines: `
		write a.yaml "a"
		write b.yaml "b"
		commit
		update-index --assume-unchanged a.yaml b.yaml
		write a.yaml "changed"
		remove b.yaml`},
	{name: "line ends by autocrlf", lines: `
		config core.autocrlf true
		write lf.yaml "a\nb\n"
		write crlf.yaml "a\r\nb\r\n"
		write binary "a\r\n\x00"
		write lonely "a\rb\r\n"
		commit
		remove lf.yaml
		remove crlf.yaml
		checkout .`},
	{name: "line ends that were stored", lines: `
		write crlf.yaml "a\r\nb\r\n"
		write mixed.yaml "a\r\nb\n"
		commit
		config core.autocrlf true
		remove crlf.yaml
		remove mixed.yaml
		checkout .`},
	{name: "line ends that were stored, by attributes", dirty: true, lines: `
		write auto.a "a\r\n"
		write plain.b "a\r\n"
		write old.c "a\r\n"
		commit
		write .gitattributes "*.a text=auto eol=lf\n*.b eol=lf\n\t*.c\t-crlf eol=lf\n"
		write auto.a "a\r\nb\r\n"
		write new.a "a\r\nb\r\n"
		write plain.b "a\r\nb\r\n"
		write old.c "a\r\nb\r\n"`},
	{name: "line ends by autocrlf, of what is new", dirty: true, lines: `
		write stored.yaml "a\r\n"
		commit
		config core.autocrlf input
		write new.yaml "a\r\nb\r\n"
		write binary "a\r\n\x01"
		write stored.yaml "a\r\nb\r\n"`},
	{name: "line ends by attributes", dirty: true, lines: `
		write .gitattributes "* text=auto\n*.bat eol=crlf\n*.bin -text\n*.raw binary\n/sub/*.yaml -text\n[attr]mine -text\n*.mine mine\n*.old crlf\n\"with space\" text\n"
		write sub/.gitattributes "x.yaml text\n"
		commit
		write a.yaml "a\r\n"
		write a.bat "a\r\n"
		write a.bin "a\r\n"
		write a.raw "a\r\n"
		write a.mine "a\r\n"
		write a.old "a\r\n\x00\r\r\n"
		write "with space" "\x00\r\n"
		write sub/a.yaml "a\r\n"
		write sub/x.yaml "a\r\n"
		write other/sub/a.yaml "a\r\n"`},
	{name: "attributes of the repository and of the user", dirty: true, lines: `
		write .gitattributes "*.yaml text\n"
		commit
		write .git/info/attributes "b.yaml -text\n"
		write .git/global "*.txt text\na.yaml -text\n"
		config core.attributesFile .git/global
		write a.yaml "a\r\n"
		write b.yaml "b\r\n"
		write c.txt "c\r\n"`},
	{name: "a filter", lines: `
		write .gitattributes "*.big filter=big\n"
		config filter.big.clean "sed s/large/pointer/"
		config filter.big.smudge "sed s/pointer/large/"
		write a.big "large\n"
		commit
		remove a.big
		checkout .`},
	{name: "a filter that nobody has", lines: `
		write .gitattributes "*.big filter=lfs diff=lfs merge=lfs -text\n"
		write a.big "version https://git-lfs.github.com/spec/v1\n"
		commit`},
	{name: "an encoding", lines: `
		write .gitattributes "*.yaml text working-tree-encoding=UTF-16LE\n*.id ident\n"
		write a.yaml "a\x00\n\x00"
		write b.id "$Id$\n"
		commit
		remove b.id
		remove a.yaml
		checkout .`},
	{name: "a work tree of another one", lines: `
		write a.yaml "a"
		write .gitignore "*.x\n"
		commit
		branch other
		worktree add -q linked other
		within linked
		write b.yaml "b"
		commit`},
	{name: "a work tree of another one, with its own config", dirty: true, lines: `
		write a.yaml "a"
		commit
		branch other
		worktree add -q linked other
		write .git/info/exclude "linked\n*.shared\n"
		within linked
		config extensions.worktreeConfig true
		config --worktree core.autocrlf true
		write b.yaml "b\r\n"
		write c.shared "no"`},
	{name: "a folder of the repository", dirty: true, folder: "apps/shop", lines: `
		write .gitignore "*.x\n/apps/shop/no.yaml\n"
		write apps/.gitignore "*.y\n"
		write apps/shop/a.yaml "a"
		write apps/other/b.yaml "b"
		commit
		write apps/shop/new.yaml "new"
		write apps/shop/no.yaml "no"
		write apps/shop/z.x "no"
		write apps/shop/z.y "no"`},
	{name: "an ignored folder in which something is tracked", folder: "build", lines: `
		write .gitignore "build\n"
		write build/a.yaml "a"
		add -f build/a.yaml
		commit
		write build/b.yaml "no"`},
	{name: "letters of either case", dirty: true, lines: `
		config core.ignorecase true
		write Apps/A.yaml "a"
		write b.yaml "b"
		write .gitignore "*.LOG\nNo/\n"
		commit
		write Apps/A.yaml "changed"
		write x.log "no"
		write no/x "no"`},
	{name: "a conflict", dirty: true, lines: `
		write a.yaml "a"
		commit
		branch other
		write a.yaml "mine"
		commit
		checkout -q other
		write a.yaml "theirs"
		commit
		fails merge -q main`},
	{name: "version 4 of the index", lines: `
		config index.version 4
		write a/long/path/to/a.yaml "a"
		write a/long/path/to/b.yaml "b"
		write b.yaml "b"
		commit
		update-index --index-version 4`},
	{name: "version 3 of the index, and extensions", dirty: true, lines: `
		write a.yaml "a"
		write b.yaml "b"
		commit
		update-index --untracked-cache
		update-index --skip-worktree a.yaml
		write c.yaml "c"
		status`},
	{name: "no commit and no index", dirty: true, lines: `
		write a.yaml "a"
		write .gitignore "*.x\n"
		write a.x "no"`},
	{name: "special files", dirty: true, lines: `
		write a.yaml "a"
		commit
		fifo pipe`},
}

// A work tree is what git add -A and git commit make of it.
func TestAWorkTreeIsWhatGitWouldCommit(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	for _, o := range oddities {
		t.Run(o.name, func(t *testing.T) {
			dir := o.make(t)
			if status := run(t, dir, "status", "--porcelain"); (status != "") != o.dirty && o.name != "special files" {
				t.Fatalf("git status says %q", status)
			}
			compareWithGit(t, dir, o.folder)
		})
	}
}

func (o oddity) make(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	run(t, ".", "init", "-q", "-b", "main", dir)
	for line := range strings.Lines(o.lines) {
		if line = strings.TrimSpace(line); line != "" {
			dir = command(t, dir, line)
		}
	}
	return dir
}

// command runs a line of an oddity in a folder, and returns the one to go on in.
func command(t *testing.T, dir, line string) string {
	t.Helper()
	words := split(t, line)
	at := func(n int) string { return filepath.Join(dir, words[n]) }
	var err error
	switch words[0] {
	case "write":
		if err = os.MkdirAll(filepath.Dir(at(1)), 0o700); err == nil {
			err = os.WriteFile(at(1), []byte(words[2]), 0o600)
		}
	case "link":
		err = os.Symlink(words[2], at(1))
	case "remove":
		err = os.RemoveAll(at(1))
	case "fifo":
		err = mkfifo(at(1))
	case "within":
		return at(1)
	case "commit":
		run(t, dir, "add", "-A")
		run(t, dir, "commit", "-q", "--allow-empty", "-m", "m")
	case "nested":
		run(t, dir, "init", "-q", "-b", "main", words[1])
		command(t, at(1), `write inner.yaml "inner"`)
		command(t, at(1), "commit")
	case "upstream":
		command(t, filepath.Dir(dir), "nested inner")
		run(t, filepath.Dir(dir), "clone", "-q", "--bare", "inner", "inner.git")
	case "fails":
		if out, err := attempt(t, dir, words[1:]...); err == nil {
			t.Fatalf("git %s: %s", line, out)
		}
	default:
		run(t, dir, words...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// split takes a line apart at its spaces, and reads what is quoted or escaped.
func split(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	for line != "" {
		var word string
		if line[0] == '"' {
			n, err := fmt.Sscanf(line, "%q", &word)
			if n != 1 || err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			quoted := 1
			for quoted < len(line) && line[quoted] != '"' {
				if line[quoted] == '\\' {
					quoted++
				}
				quoted++
			}
			line = strings.TrimLeft(line[quoted+1:], " ")
		} else {
			word, line, _ = strings.Cut(line, " ")
			if strings.Contains(word, `\`) {
				if _, err := fmt.Sscanf(`"`+word+`"`, "%q", &word); err != nil {
					t.Fatal(err)
				}
			}
		}
		words = append(words, word)
	}
	return words
}

// On a file system on which case does not matter a file is the tracked one.
func TestAFileInOtherLettersIsTheTrackedOne(t *testing.T) {
	dir := oddity{lines: `
		write Apps/A.yaml "a"
		write Apps/both.yaml "tracked"
		commit
		config core.ignorecase true
		remove Apps/A.yaml
		write Apps/Both.yaml "another"
		write apps/a.yaml "changed"`}.make(t)
	s, err := WorkTree(dir, noUser)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Apps/A.yaml": "changed", "Apps/both.yaml": "tracked"}
	if d := cmp.Diff(want, contents(t, s)); d != "" {
		t.Error(d)
	}
}

// A file that changed is read as it stands where a filter would change it, and the filter
// does not run.
func TestNoFilterRuns(t *testing.T) {
	dir := oddity{lines: `
		write .gitattributes "*.big filter=big\n"
		config filter.big.clean "sed s/large/pointer/"
		config filter.big.smudge "sed s/pointer/large/"
		write a.big "large\n"
		commit
		config filter.big.clean "touch ran"
		config filter.big.process "touch ran"
		write a.big "a larger one\n"
		write b.big "new\n"`}.make(t)
	s, err := WorkTree(dir, noUser)
	if err != nil {
		t.Fatal(err)
	}
	all := contents(t, s)
	if all["a.big"] != "a larger one\n" || all["b.big"] != "new\n" {
		t.Errorf("it is read as %q", all)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the filter ran")
	}
}

// What a work tree lacks, because it is to be read of the repository or is too deep, is listed as unreadable.
func TestWhatCannotBeReadOfAWorkTree(t *testing.T) {
	deep := strings.Repeat("d/", maxDepth)
	dir := oddity{lines: `
		write a.yaml "a"
		write out/lost.yaml "lost"
		write out/b.yaml "b"
		commit
		sparse-checkout set --no-cone /a.yaml
		write ` + deep + `b.yaml "b"
		write ` + deep + `d/c.yaml "c"`}.make(t)
	blob := run(t, dir, "rev-parse", "HEAD:out/lost.yaml")
	if err := os.Remove(filepath.Join(dir, ".git/objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	s, err := WorkTree(dir, noUser)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range s.Files() {
		if got[f.Path] = f.Why; f.Kind == sources.Unreadable != (f.Why != "") {
			t.Errorf("%s is of the kind %v, because %q", f.Path, f.Kind, f.Why)
		}
	}
	want := map[string]string{
		"a.yaml": "", "out/b.yaml": "", "out/lost.yaml": "blob " + blob + ": it is not in the repository",
		deep + "b.yaml": "", deep + "d": "it is in more than 64 folders",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestWhatIsNoWorkTree(t *testing.T) {
	dir := oddity{lines: `
		upstream
		-c protocol.file.allow=always submodule add -q ../inner.git sub
		write .gitignore "ignored\n"
		write ignored/deep/a.yaml "a"
		write b.yaml "b"
		commit`}.make(t)
	run(t, dir, "submodule", "deinit", "-q", "-f", "sub")
	outside := t.TempDir()
	for at, want := range map[string]error{
		outside:                               ErrNoWorkTree,
		filepath.Join(dir, "ignored"):         ErrNoWorkTree,
		filepath.Join(dir, "ignored", "deep"): ErrNoWorkTree,
		filepath.Join(outside, "none"):        fs.ErrNotExist,
	} {
		if _, err := WorkTree(at, noUser); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", at, err, want)
		}
	}
	for at, want := range map[string]string{
		filepath.Join(dir, "sub"):                           "git submodule update --init",
		filepath.Join(dir, ".git"):                          "without a work tree",
		filepath.Join(filepath.Dir(dir), "inner.git"):       "--rev",
		filepath.Join(filepath.Dir(dir), "inner.git/hooks"): "--rev",
	} {
		if _, err := WorkTree(at, noUser); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", at, err, want)
		}
	}
	run(t, dir, "update-index", "--split-index")
	if _, err := WorkTree(dir, noUser); err == nil || !strings.Contains(err.Error(), "--no-split-index") {
		t.Errorf("a split index: %v", err)
	}
}

// compareWithGit holds a work tree against what git would commit.
func compareWithGit(t *testing.T, dir, folder string) {
	t.Helper()
	index := run(t, dir, "rev-parse", "--absolute-git-dir") + "/index"
	if data, err := os.ReadFile(index); err == nil {
		if err := os.WriteFile(index+".copy", data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_INDEX_FILE", index+".copy")
	run(t, dir, "-c", "advice.addEmbeddedRepo=false", "add", "-A", "--sparse")
	commit := run(t, dir, "commit-tree", "-m", "m", run(t, dir, "write-tree"))
	if err := os.Unsetenv("GIT_INDEX_FILE"); err != nil {
		t.Fatal(err)
	}
	want, err := mustOpen(t, Options{Location: dir}).Snapshot(t.Context(), commit, folder)
	if err != nil {
		t.Fatal(err)
	}
	got, err := WorkTree(filepath.Join(dir, folder), noUser)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(contents(t, want), contents(t, got)); d != "" {
		t.Errorf("the work tree (-commit +work tree):\n%s", d)
	}
}

// noUser is an environment without files of a user.
func noUser(name string) string {
	return map[string]string{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}[name]
}

// contents returns what is at each path of a snapshot.
func contents(t *testing.T, s sources.Snapshot) map[string]string {
	t.Helper()
	all := map[string]string{}
	last := ""
	for _, f := range s.Files() {
		if f.Path <= last {
			t.Errorf("%q comes after %q", f.Path, last)
		}
		switch last = f.Path; f.Kind {
		case sources.Symlink:
			all[f.Path] = "-> " + f.Target
		case sources.Submodule:
			all[f.Path] = "-> submodule"
		default:
			data, err := s.ReadFile(f.Path)
			if err != nil {
				t.Errorf("reading %q: %v", f.Path, err)
			}
			all[f.Path] = string(data)
		}
	}
	return all
}

// Random patterns, some nested, some of them for what is tracked.
func TestWhatIsIgnoredIsWhatGitIgnores(t *testing.T) {
	const runs = 12
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 0))
		dir := filepath.Join(t.TempDir(), "work")
		run(t, ".", "init", "-q", "-b", "main", dir)
		names := []string{"a", "b", "ab", "aa", "a.b", "A", " a", "-", "!a"}
		pieces := []string{"a", "b", "*", "?", "**", "/", "/", "[ab]", "[!a]", "[^b]", "[a-b]", "!", "\\", " ", ".", "-", "[[:alpha:]]", "[]", "#", "a/", "**/", "/**"}
		random := func(from []string, most int) string {
			var b strings.Builder
			for range 1 + r.IntN(most) {
				b.WriteString(from[r.IntN(len(from))])
			}
			return b.String()
		}
		for range 40 {
			depth := 1 + r.IntN(4)
			var path []string
			for range depth {
				path = append(path, names[r.IntN(len(names))])
			}
			full := filepath.Join(dir, filepath.Join(path...))
			if os.MkdirAll(filepath.Dir(full), 0o700) != nil {
				continue // a file is in the way
			}
			if r.IntN(5) == 0 {
				var lines strings.Builder
				for range 1 + r.IntN(6) {
					lines.WriteString(strings.ReplaceAll(random(pieces, 5), `\/`, "/") + "\n") // an escaped slash says nothing that one does not
				}
				full = filepath.Join(filepath.Dir(full), ".gitignore")
				_ = os.WriteFile(full, []byte(lines.String()), 0o600)
				continue
			}
			if os.WriteFile(full, []byte("x"), 0o600) == nil && r.IntN(8) == 0 {
				run(t, dir, "add", "-f", strings.ReplaceAll(full, dir+"/", ":(literal)"))
			}
		}
		compareWithGit(t, dir, "")
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}
