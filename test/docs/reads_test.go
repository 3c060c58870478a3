package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// languages are those that blocks are marked by.
var languages = []string{"sh", "console", "output", "yaml", "json", "text", "go", "diff", "mermaid", "promql"}

func reference(t *testing.T) Reference {
	t.Helper()
	out, err := exec.Command(binary, "reference").Output()
	if err != nil {
		t.Fatal(err)
	}
	r := ReadReference(string(out))
	if len(r.flags) < 20 || len(r.common) == 0 {
		t.Fatalf("the reference has %d commands and %d common flags", len(r.flags), len(r.common))
	}
	return r
}

// inline finds code within a line.
var inline = regexp.MustCompile("`([^`\n]+)`")

// TestCommandsExist holds that each command of ours in the pages exists with its flags, and each
// target of make.
func TestCommandsExist(t *testing.T) {
	t.Parallel()
	known, makefile := reference(t), read(t, root+"/Makefile")
	for _, page := range pages(t) {
		text := read(t, page)
		blocks, loose := Read(text)
		for _, l := range loose {
			t.Errorf("%s:%d: %q is a command in no fenced block: fence it as sh, or as console if it wants a cluster", page, l.Line, l.Text)
		}
		for _, b := range blocks {
			if !slices.Contains(languages, b.Language) {
				t.Errorf("%s:%d: the block is marked as %q, which is none of %v", page, b.Line, b.Language, languages)
			}
			if b.Language != "sh" && b.Language != "console" {
				continue
			}
			for _, words := range b.Commands() {
				if p := known.Problem(words); p != "" {
					t.Errorf("%s:%d: %s", page, b.Line, p)
				}
				if words[0] == "make" && len(words) > 1 && !strings.Contains(makefile, "\n"+words[1]+":") {
					t.Errorf("%s:%d: make has no target %s", page, b.Line, words[1])
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatchIndex(text, -1) {
			code := strings.ReplaceAll(text[m[2]:m[3]], `\|`, "|") // as in a table
			if !strings.HasPrefix(code, "waybill ") {
				continue
			}
			for _, words := range split(code) {
				if p := known.Problem(words); p != "" {
					t.Errorf("%s:%d: `%s`: %s", page, 1+strings.Count(text[:m[0]], "\n"), code, p)
				}
			}
		}
	}
}

// TestUnknownIsSeen holds that the check above can fail.
func TestUnknownIsSeen(t *testing.T) {
	t.Parallel()
	known := reference(t)
	for line, want := range map[string]string{
		"waybill publish --to origin":                       "",
		"WAYBILL_PASSWORD=x waybill diff -o=json --no-such": "waybill diff has no flag --no-such",
		"waybill cluster join eu-1 --contxt kind-eu":        "waybill cluster join has no flag --contxt",
		"waybill pubish":                                         "there is no command waybill pubish",
		"../bin/waybill get flux --migrate -Q":                   "waybill get has no flag -Q",
		"waybill exec -it web-1 -n shop --cluster eu-1 -- sh -Q": "",
		"kubectl get --no-such":                                  "",
	} {
		var problems []string
		for _, words := range split(line) {
			problems = append(problems, known.Problem(words))
		}
		if got := strings.Join(problems, ""); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]*)\)`)

// TestLinksLeadSomewhere holds that each link to a file of this repository finds it, and its heading.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			name, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if name != "" {
				target = filepath.Join(filepath.Dir(page), name)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s: %v", page, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: the link %s: the page has no such heading", page, m[1])
			}
		}
	}
}

// TestEveryPageIsInTheIndex holds that docs/README.md leads to every page.
func TestEveryPageIsInTheIndex(t *testing.T) {
	t.Parallel()
	index := read(t, root+"/docs/README.md")
	for _, page := range pages(t) {
		name, err := filepath.Rel(filepath.Join(root, "docs"), page)
		if err != nil {
			t.Fatal(err)
		}
		if name != "README.md" && !strings.HasPrefix(name, "..") && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}

// anchors are the headings of a page as forges name them.
func anchors(page string) (found []string) {
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			heading = strings.ToLower(strings.TrimSpace(heading))
			found = append(found, strings.ReplaceAll(notInAnchor.ReplaceAllString(heading, ""), " ", "-"))
		}
	}
	return found
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
