// Package docs holds README.md and the pages of docs to what the program does. A fenced block is
// marked by its language, and the language says what is done with it:
//
//   - sh runs, block after block of a page in one folder, as a reader would type it; "sh exit=1" must
//     end with that status;
//   - output is what the block above it printed; a line "..." stands for any lines;
//   - console wants what a test has not, a cluster or a forge: its commands, targets of make and
//     flags must exist;
//   - others are read by no shell.
//
// A page may begin with a setup: an archive in testdata, called as the page, whose files lie in its
// folder, and whose comment a shell ran there. "go test
// ./test/docs -update" writes the outputs anew that have no "...".
package docs

import (
	"slices"
	"strings"
)

// Block is a fenced block of a page.
type Block struct {
	Line     int    // of its fence, from 1
	Language string // the first word behind the fence
	Exit     string // the status that its shell ends with
	Text     string
}

// Loose is a line of a page that looks like a command and is in no fenced block.
type Loose struct {
	Line int
	Text string
}

// tools begin a line that somebody may type.
var tools = []string{"waybill", "git", "make", "kubectl", "helm", "flux", "argocd", "go", "bin/waybill", "podman", "docker", "cd", "export", "curl"}

// Read finds the fenced blocks of a page, and the commands that stand in an indented one.
func Read(page string) (blocks []Block, loose []Loose) {
	var open *Block
	n := 0
	for line := range strings.Lines(page) {
		n++
		line = strings.TrimSuffix(line, "\n")
		mark, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = fence(n, mark)
		case isFence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.Text += line + "\n"
		default:
			if text, ok := strings.CutPrefix(line, "    "); ok && isCommand(text) {
				loose = append(loose, Loose{n, text})
			}
		}
	}
	if open != nil {
		blocks = append(blocks, *open)
	}
	return blocks, loose
}

func fence(line int, mark string) *Block {
	b := &Block{Line: line, Exit: "0"}
	for i, word := range strings.Fields(mark) {
		if status, ok := strings.CutPrefix(word, "exit="); ok {
			b.Exit = status
		} else if i == 0 {
			b.Language = word
		}
	}
	return b
}

func isCommand(line string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(line, "$ "), " ")
	return slices.Contains(tools, first)
}

// Commands are the simple commands of a block, each as its words: lines are joined at a backslash
// and divided where the shell divides them. In a block with prompts, only lines with one count.
func (b Block) Commands() [][]string {
	text := strings.ReplaceAll(b.Text, "\\\n", " ")
	prompts := strings.HasPrefix(text, "$ ") || strings.Contains(text, "\n$ ")
	var found [][]string
	for line := range strings.Lines(text) {
		rest, prompt := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if prompts && !prompt {
			continue
		}
		found = append(found, split(rest)...)
	}
	return found
}

// split divides a line of a shell into commands and words. It knows quotes, comments and what stands
// between commands, and not more.
func split(line string) (commands [][]string) {
	var command []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	endWord := func() {
		if inWord {
			command = append(command, word.String())
		}
		word.Reset()
		inWord = false
	}
	endCommand := func() {
		endWord()
		if len(command) > 0 {
			commands = append(commands, command)
		}
		command = nil
	}
	for _, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == '#' && !inWord:
			endCommand()
			return commands
		case r == ' ' || r == '\t' || r == '\n':
			endWord()
		case strings.ContainsRune("|&;()`", r):
			endCommand()
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	endCommand()
	return commands
}
