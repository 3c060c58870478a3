package commands

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/files"
)

// The ways in which a command about a roll-out is given.
const (
	ViaCLI     = "cli"
	ViaTrailer = "trailer"
	ViaComment = "comment"
)

// RolloutCommand is a command about a roll-out as a file of the branch.
type RolloutCommand struct {
	Verb rollouts.Verb `json:"verb"`
	Unit string        `json:"unit"` // as rollouts.Unit is written
	Run  string        `json:"run"`  // the 32 hex digits of the run that it is about
	// Stage or Cluster is what it is about, if the verb has one.
	Stage   string `json:"stage,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	// By is who gave it: the login at the forge, or, by the CLI, whoever one says to be.
	By  string    `json:"by"`
	Via string    `json:"via"` // ViaCLI or ViaComment
	At  time.Time `json:"at"`
	// PullRequest and Comment are where it was given; zero by the CLI.
	PullRequest int   `json:"pullRequest,omitempty"`
	Comment     int64 `json:"comment,omitempty"`
	// IsAuthor reports that who gave it opened the pull request that became the target of the run.
	IsAuthor bool `json:"isAuthor,omitempty"`
}

// rolloutFile begins the name of a file that a comment made, and cliFile of one that the CLI made.
const (
	rolloutFile = "rollout-"
	cliFile     = "cli-"
)

// isOfRollout reports the path of a command about a roll-out.
func isOfRollout(path string) bool {
	name := strings.TrimPrefix(path, folder+"/")
	return strings.HasPrefix(name, rolloutFile) || strings.HasPrefix(name, cliFile)
}

// Path is its file on the branch, by which it is known again.
func (c *RolloutCommand) Path() string { return folder + "/" + c.name() }

func (c *RolloutCommand) name() string {
	if c.Via == ViaComment {
		return fmt.Sprintf("%s%d-%d.json", rolloutFile, c.PullRequest, c.Comment)
	}
	sum := sha256.Sum256(c.encoded())
	return fmt.Sprintf("%s%s-%s.json", cliFile, c.At.UTC().Format("20060102T150405Z"), hex.EncodeToString(sum[:6]))
}

func (c *RolloutCommand) encoded() []byte {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil // a time beyond the year 9999, which no file is read with
	}
	return append(data, '\n')
}

// String is the command as people give it.
func (c *RolloutCommand) String() string {
	return strings.Join(strings.Fields(fmt.Sprintf("rollout %s %s@%s %s%s", c.Verb, c.Unit, c.Run, c.Stage, c.Cluster)), " ")
}

// Counts reports whether a command may count at a time still: for seven days, and not before it was given.
func (c *RolloutCommand) Counts(now time.Time) bool {
	age := now.Sub(c.At)
	return age < Lasts && age > -time.Hour
}

// Given is the command as a roll-out records it.
func (c *RolloutCommand) Given() rollouts.Command {
	return rollouts.Command{
		Verb: c.Verb, Run: c.Run, Stage: c.Stage, Cluster: c.Cluster, By: c.By, Via: c.Via, Ref: c.Path(), At: metav1.NewTime(c.At.UTC()),
	}
}

// problem says why a file is no command; nil if it is one.
func (c *RolloutCommand) problem(path string) error {
	_, isUnit := rollouts.ParseUnit(c.Unit)
	of := c.Via == ViaCLI && c.PullRequest == 0 && c.Comment == 0 || c.Via == ViaComment && c.PullRequest > 0 && c.Comment > 0
	switch {
	case !slices.Contains(RolloutVerbs, c.Verb) || !isUnit || !run.MatchString(c.Run):
		return errors.New("its verb, unit or run is none")
	case c.Stage != "" && c.Cluster != "" || c.Verb == rollouts.Approve && c.Stage == "":
		return errors.New("it is about no stage, or about more than one thing")
	case c.By == "" || c.At.IsZero() || !of:
		return errors.New("it does not say by whom, when and in which way it was given")
	case c.Path() != path:
		return errors.New("its name is not that of what it says")
	}
	return aims(c.Verb, c.Stage+c.Cluster != "")
}

// mostOfFile is how large the file of a command may be.
const mostOfFile = 16 << 10

// DecodeRollouts reads the commands about roll-outs of a commit of the branch, oldest first. Strange are the files that
// are none, each with why: they count for nothing.
func DecodeRollouts(root *files.Folder) (all []RolloutCommand, strange []string) {
	if root == nil {
		return nil, nil
	}
	for path, e := range root.All() {
		if !strings.HasPrefix(path, folder+"/") || !isOfRollout(path) {
			continue
		}
		c, err := decodeRollout(path, e)
		if err != nil {
			strange = append(strange, fmt.Sprintf("%s: %v", path, err))
			continue
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b RolloutCommand) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Path(), b.Path())) })
	return all, strange
}

func decodeRollout(path string, e files.Entry) (c RolloutCommand, err error) {
	if e.Blob == nil || e.Mode != files.ModeRegular {
		return c, errors.New("it is no file")
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		return c, err
	}
	if len(data) > mostOfFile {
		return c, errors.New("it is larger than 16 KiB")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("it is no JSON of a command: %w", err)
	}
	return c, c.problem(path)
}
