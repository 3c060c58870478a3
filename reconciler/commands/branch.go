package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// folder has the commands, a file each, by their comments.
const folder = "orders"

// Decode reads the commands of a commit of the branch about pull requests, in the order of their comments. What is no
// command is left out, and reported: it allows nothing. DecodeRollouts reads those about roll-outs.
func Decode(root *files.Folder) (all []Command, strange []string) {
	if root == nil {
		return nil, nil
	}
	for path, e := range root.All() {
		if !strings.HasPrefix(path, folder+"/") || isOfRollout(path) {
			continue
		}
		o, err := decode(e)
		if err != nil || !o.valid() || path != o.path() {
			strange = append(strange, path)
			continue
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b Command) int { return cmp.Compare(a.Comment, b.Comment) })
	return all, strange
}

func decode(e files.Entry) (o Command, err error) {
	data, err := e.Blob.Bytes()
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	return o, err
}

func (o *Command) path() string { return folder + "/" + o.name() }

func (o *Command) name() string { return fmt.Sprintf("%d-%d.json", o.PullRequest, o.Comment) }

// layout is the folder of commands.
func layout(all []Command, ofRollouts []RolloutCommand) (*files.Folder, error) {
	var entries []files.Entry
	for i := range all {
		data, err := json.MarshalIndent(all[i], "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encoding an order: %w", err)
		}
		entries = append(entries, files.FileEntry(all[i].name(), files.NewBlob(append(data, '\n'))))
	}
	for i := range ofRollouts {
		c := &ofRollouts[i]
		entries = append(entries, files.FileEntry(c.name(), files.NewBlob(c.encoded())))
	}
	top := []files.Entry{files.FileEntry("format", files.NewBlob([]byte("1\n")))}
	if len(entries) > 0 {
		top = append(top, files.DirEntry(folder, files.NewFolder(entries)))
	}
	return files.NewFolder(top), nil
}

// Change is what becomes of commands: Merged are those whose pull request was merged.
type Change struct {
	Taken, Merged, Void []Command
	// Given are new ones about roll-outs, and Ended those that count no more.
	Given, Ended []RolloutCommand
}

// Empty reports that nothing becomes of them.
func (c *Change) Empty() bool {
	return len(c.Taken)+len(c.Merged)+len(c.Void)+len(c.Given)+len(c.Ended) == 0
}

// Update is the update of the branch that a change makes of what a head of it has; the zero head
// is that of a branch that is not there.
func (c *Change) Update(head git.Head, now time.Time) (git.Update, error) {
	all, _ := Decode(head.Tree)
	all = slices.DeleteFunc(all, func(o Command) bool {
		return slices.ContainsFunc(slices.Concat(c.Void, c.Merged), func(v Command) bool { return v.path() == o.path() })
	})
	all = slices.Concat(all, c.Merged, c.Taken)
	ofRollouts, _ := DecodeRollouts(head.Tree)
	ofRollouts = slices.DeleteFunc(ofRollouts, func(o RolloutCommand) bool {
		return slices.ContainsFunc(slices.Concat(c.Ended, c.Given), func(e RolloutCommand) bool { return e.Path() == o.Path() })
	})
	root, err := layout(all, slices.Concat(ofRollouts, c.Given))
	return git.Update{
		Branch: Branch, Old: head.Commit, Tree: root, Message: c.message(),
		Author: git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}, When: now.UTC().Truncate(time.Second),
	}, err
}

// message says what becomes of commands: the first in the subject, and all below it.
func (c *Change) message() string {
	var lines []string
	for i := range c.Taken {
		o := &c.Taken[i]
		lines = append(lines, fmt.Sprintf("%s, by %s on pull request %d", strings.TrimPrefix(o.String(), "/waybill "), o.By, o.PullRequest))
	}
	for i := range c.Merged {
		o := &c.Merged[i]
		lines = append(lines, fmt.Sprintf("merged as %s: pull request %d; %s, by %s", o.Merged, o.PullRequest, strings.TrimPrefix(o.String(), "/waybill "), o.By))
	}
	for i := range c.Void {
		o := &c.Void[i]
		lines = append(lines, fmt.Sprintf("void: %s, by %s on pull request %d", strings.TrimPrefix(o.String(), "/waybill "), o.By, o.PullRequest))
	}
	for i := range c.Given {
		o := &c.Given[i]
		lines = append(lines, fmt.Sprintf("%s, by %s (%s)", o, o.By, o.Via))
	}
	for i := range c.Ended {
		o := &c.Ended[i]
		lines = append(lines, fmt.Sprintf("ended: %s, by %s (%s)", o, o.By, o.Via))
	}
	if len(lines) == 1 {
		return lines[0] + "\n"
	}
	return fmt.Sprintf("%d orders\n\n%s\n", len(lines), strings.Join(lines, "\n"))
}
