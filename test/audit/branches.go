package audit

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	sigsyaml "sigs.k8s.io/yaml"
)

// Wanted is the file at the root of the source by which it says what each cluster is to hold, for the
// oracle alone. A line is "CLASS CLUSTER OBJECT", where OBJECT is as a Ref prints it.
const Wanted = "wanted.txt"

// The classes of Wanted.
const (
	Must = "must" // it has to be there
	May  = "may"  // it may not be there yet, and what is there may not leave, unless its kind is protected and somebody allowed it
	Free = "free" // it may leave, if it does so by a failover or a division
)

const allowTrailer = "Waybill-Allow-Prune"

// protected are the kinds that leave a cluster only if somebody allowed it.
var protected = []string{"namespaces", "customresourcedefinitions", "persistentvolumeclaims", "persistentvolumes", "statefulsets"}

// commit is one of a cluster's branch.
type commit struct {
	id, source string
	published  time.Time
	objects    map[Ref]string // where each is
	failedOver map[string]bool
}

// Record has a bare repository note when each of its refs was set, in a file.
func Record(bare, file string) error {
	const executable = 0o700
	hook := fmt.Sprintf("#!/bin/sh\necho \"$(date +%%s.%%N) $1 $3\" >>'%s'\n", file)
	return os.WriteFile(filepath.Join(bare, "hooks", "update"), []byte(hook), executable)
}

// readPushes returns when each commit became the head of each ref, by ref and commit.
func readPushes(file string) (map[string]time.Time, error) {
	data, err := os.ReadFile(file) //nolint:gosec // the caller's
	if err != nil {
		return nil, err
	}
	at := map[string]time.Time{}
	for line := range strings.Lines(string(data)) {
		var seconds, nanos int64
		var ref, id string
		if _, err := fmt.Sscanf(line, "%d.%d %s %s", &seconds, &nanos, &ref, &id); err != nil {
			return nil, fmt.Errorf("%s: %q is no push: %w", file, line, err)
		}
		if _, known := at[ref+" "+id]; !known {
			at[ref+" "+id] = time.Unix(seconds, nanos)
		}
	}
	return at, nil
}

// repository is one that is read by git.
type repository string

func (r repository) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", string(r)}, args...)...) //nolint:gosec,noctx // it reads
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

// branch reads the commits of a cluster's branch, the oldest first.
func (r repository) branch(cluster string, pushes map[string]time.Time, named map[string]Ref) ([]*commit, error) {
	ref := "refs/heads/waybill/cluster/" + cluster
	out, err := r.git("log", "--first-parent", "--reverse", "--format=%H%x00%(trailers:key=Source-Commit,valueonly,separator=%x20)%x00%(trailers:key=Failed-Over,valueonly,separator=%x20)", ref)
	if err != nil {
		return nil, err
	}
	var all []*commit
	for line := range strings.Lines(out) {
		const fields = 3
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x00", fields)
		c := &commit{id: f[0], source: f[1], objects: map[Ref]string{}, failedOver: map[string]bool{}}
		for path := range strings.FieldsSeq(f[2]) {
			c.failedOver[path] = true
		}
		at, ok := pushes[ref+" "+c.id]
		if !ok && len(all) > 0 {
			at = all[len(all)-1].published // it came with a later one
		}
		c.published = at
		if err := r.list(c, named); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for i := len(all) - 2; i >= 0; i-- {
		if all[i].published.IsZero() {
			all[i].published = all[i+1].published
		}
	}
	return all, nil
}

// list fills in the objects of a commit. Named has those whose paths are known.
func (r repository) list(c *commit, named map[string]Ref) error {
	paths, err := r.git("ls-tree", "-r", "--name-only", c.id, "manifests/")
	if err != nil {
		return err
	}
	for path := range strings.FieldsSeq(paths) {
		at, known := named[path]
		if !known {
			text, err := r.git("show", c.id+":"+path)
			if err != nil {
				return err
			}
			if at, err = refOf(text); err != nil {
				return fmt.Errorf("%s in %s: %w", path, c.id, err)
			}
			named[path] = at
		}
		c.objects[at] = path
	}
	return nil
}

func refOf(manifest string) (Ref, error) {
	var o struct {
		APIVersion, Kind string
		Metadata         struct{ Name, Namespace string }
	}
	if err := sigsyaml.Unmarshal([]byte(manifest), &o); err != nil {
		return Ref{}, err
	}
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group = ""
	}
	return Ref{group, plural(o.Kind), o.Metadata.Namespace, o.Metadata.Name}, nil
}

// plural is what requests call a kind, by the convention that all kinds here follow.
func plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(name, "s"):
		return name + "es"
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

// wants is what a commit of the source says in Wanted: the class by cluster and object. It is nil for a
// commit that does not say it.
func (r repository) wants(source string) map[string]string {
	text, err := r.git("show", source+":"+Wanted)
	if err != nil {
		return nil
	}
	all := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		class, rest, _ := strings.Cut(lines.Text(), " ")
		all[rest] = class
	}
	return all
}

// allows reports whether one of the source commits after another, up to a third, allows removals.
func (r repository) allows(after, upTo string) (bool, error) {
	out, err := r.git("log", "--format=%(trailers:key="+allowTrailer+",valueonly)", after+".."+upTo)
	return strings.TrimSpace(out) != "", err
}

// newest are the commits that were the head at some time in a span before a moment.
func newest(all []*commit, at time.Time, span time.Duration) []*commit {
	last := slices.IndexFunc(all, func(c *commit) bool { return c.published.After(at) })
	if last < 0 {
		last = len(all)
	}
	first := last - 1
	for first > 0 && all[first].published.After(at.Add(-span)) {
		first--
	}
	return all[max(first, 0):last]
}

func short(id string) string {
	const most = 12
	return strconv.Quote(id[:min(most, len(id))])
}
