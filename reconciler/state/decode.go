package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Decode reads the state branch's folder. What is as it was in an earlier state, which may
// be nil, is taken from there; it is the same otherwise. A file that cannot be read is an
// error only if everything depends on it: if it says what was published last, what stays
// because a part of the source is broken or not listed, or because what leaves a cluster is not elsewhere yet, which random key
// was used, or what was observed of a cluster.
func Decode(root *files.Folder, earlier *State) (State, error) {
	s := State{
		Bindings: map[object.Ref]*karmada.ResourceBinding{}, Kept: map[object.Ref][]string{}, Missed: map[object.Ref][]string{}, Held: map[string]metav1.Condition{},
		Observed: map[string]*karmada.ClusterStatus{}, observed: map[string]*files.Blob{},
		root: root, files: map[object.Ref]*files.Blob{}, read: map[files.ID]*karmada.ResourceBinding{},
		written: map[object.Ref]*karmada.ResourceBinding{},
	}
	isOlder, err := formOf(root)
	if err != nil {
		return State{}, err
	}
	s.content = without(root, publishedFile)
	var was *rollouts.Record
	if earlier != nil {
		was = earlier.rollouts
	}
	s.rollouts = rollouts.Read(folderAt(root, rolloutsDir), was)
	s.Rollouts, s.UnreadableRollouts = s.rollouts.Rollouts, s.rollouts.Unreadable
	reads := reading{&s, earlier, isOlder, read{}}
	for path, e := range root.All() {
		if e.Blob == nil {
			continue
		}
		if b := earlier.known(e.Blob); b != nil && IsBindingOf(path, TemplateRef(b)) {
			s.keep(b, e.Blob)
			continue
		}
		if err := reads.add(path, e.Blob); err != nil {
			return State{}, err
		}
	}
	lengthen(&s, earlier)
	return s, nil
}

// formOf reads in which form a state is written: the one before there was a number, or that
// of Encode.
func formOf(root *files.Folder) (isOlder bool, err error) {
	e, ok := root.Lookup(formatFile)
	if !ok || e.Blob == nil {
		return true, nil
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", formatFile, err)
	}
	if is := strings.TrimSpace(string(data)); is != format && is != shardedFormat && is != stagedFormat {
		return false, fmt.Errorf("it is written in form %q, and this version of Waybill knows forms %s, %s and %s; use the version that wrote it, or a newer one", is, format, shardedFormat, stagedFormat)
	}
	return false, nil
}

func without(f *files.Folder, name string) *files.Folder {
	return files.NewFolder(slices.DeleteFunc(slices.Clone(f.Entries()), func(e files.Entry) bool { return e.Name == name }))
}

// reading is a state that is read.
type reading struct {
	*State

	earlier *State
	isOlder bool // see formOf
	lists   read
}

// add reads a file of the state branch.
func (s *reading) add(path string, from *files.Blob) error {
	read := s.reader(path)
	if read == nil {
		return nil
	}
	data, err := from.Bytes()
	if err != nil && !errors.Is(err, files.ErrMissing) {
		return fmt.Errorf("reading %s: %w", path, err) // it may be there the next time
	}
	if err == nil {
		err = read(data, from)
	}
	switch {
	case err == nil:
	case path == publishedFile || path == lastGoodFile || path == unlistedFile || path == olderHiddenFile || path == randomFile || path == failoverFile || path == leavingFile || strings.HasPrefix(path, observedDir+"/"):
		return fmt.Errorf("%s cannot be read, and nothing can be done without it: %s; git log -p %s -- %s shows what it was: put that back", path, bounded(err), Branch, path)
	default:
		s.Unreadable = append(s.Unreadable, Unreadable{path, bounded(err)})
	}
	return nil
}

// bounded is the text of an error, on a line that is not too long.
func bounded(err error) string {
	const most = 200
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// reader returns what reads the file at a path; nil for a file that says nothing.
func (s *reading) reader(path string) func(data []byte, from *files.Blob) error {
	into := func(v any) func([]byte, *files.Blob) error {
		return func(data []byte, _ *files.Blob) error { return json.Unmarshal(data, v) }
	}
	switch dir, _, _ := strings.Cut(path, "/"); {
	case dir == bindingsDir:
		return func(data []byte, from *files.Blob) error { return s.addBinding(path, data, from) }
	case dir == clustersDir:
		return s.addCluster
	case dir == observedDir:
		name, ok := strings.CutSuffix(strings.TrimPrefix(path, observedDir+"/"), ".yaml")
		if !ok {
			return nil
		}
		return func(data []byte, from *files.Blob) error { return s.addObserved(name, data, from, s.earlier) }
	case dir == ReleasesFolder:
		return s.addRelease
	case s.isOlder:
		return s.olderReader(path)
	case path == publishedFile:
		return into(&s.Published)
	case path == lastGoodFile:
		return into(&s.LastGood)
	case path == unlistedFile:
		return into(&s.Unlisted)
	case path == sourceerrors.File:
		return into(&s.SourceErrors)
	case path == scriptsFile:
		return into(&s.Scripts)
	case path == randomFile:
		return s.addRandom
	case path == keptFile:
		return s.addKept
	case path == failoverFile:
		return into(&s.Failover)
	case path == leavingFile:
		return func(data []byte, _ *files.Blob) (err error) {
			s.Leaving, err = decodeLeaving(data)
			return err
		}
	}
	return nil
}

// addCluster reads the condition of a cluster that is held.
func (s *State) addCluster(data []byte, _ *files.Blob) error {
	if !bytes.Contains(data, []byte(HeldCondition)) {
		return nil
	}
	c := karmada.Cluster{}
	if err := decodeInto(data, &c); err != nil {
		return err
	}
	for _, condition := range c.Status.Conditions {
		if condition.Type == HeldCondition && condition.Status == metav1.ConditionTrue {
			s.Held[c.Name] = condition
		}
	}
	return nil
}

// addRandom reads which random key was used. One that is not named is not none.
func (s *State) addRandom(data []byte, _ *files.Blob) error {
	err := json.Unmarshal(data, &s.Random)
	if err == nil && s.Random.Key == "" {
		err = errors.New("it names no key")
	}
	return err
}

// kept is an entry of the file that lists what clusters keep, and what waits.
type kept struct {
	Object   object.Ref `json:"object"`
	Clusters []string   `json:"clusters"`
	// Missing are clusters that it is not in yet.
	Missing []string `json:"missing,omitempty"`
}

func (s *State) addKept(data []byte, _ *files.Blob) error {
	var list []kept
	err := json.Unmarshal(data, &list)
	for _, k := range list {
		s.Kept[k.Object], s.Missed[k.Object] = k.Clusters, k.Missing
	}
	return err
}

func (s *State) addRelease(data []byte, _ *files.Blob) error {
	var r Release
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	s.Releases = append(s.Releases, r)
	return nil
}

func (s *reading) addBinding(path string, data []byte, from *files.Blob) error {
	b, canonical, err := s.lists.decode(data)
	if err != nil {
		return err
	}
	r := TemplateRef(b)
	switch {
	case r.Kind == "" || r.Name == "":
		return errors.New("it is no binding: it names no object")
	case !IsBindingOf(path, r):
		return fmt.Errorf("it is the binding of %s", r)
	}
	if canonical = modernized(b) && canonical; canonical {
		s.keep(b, from)
	}
	s.Bindings[r] = b
	return nil
}

// known returns the binding that a blob was read to; nil if it was not.
func (s *State) known(b *files.Blob) *karmada.ResourceBinding {
	if s == nil {
		return nil
	}
	return s.read[b.ID()]
}

// keep files a binding with what it was read from.
func (s *State) keep(b *karmada.ResourceBinding, from *files.Blob) {
	r := TemplateRef(b)
	s.Bindings[r], s.written[r], s.files[r], s.read[from.ID()] = b, b, from, b
}
