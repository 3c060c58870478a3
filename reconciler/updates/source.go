package updates

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/words"
)

// Subscription is an image policy of a source with the values that it writes, or a chart that a range names, with its entry of
// the lock file.
type Subscription struct {
	Policy *images.Policy // nil for a chart
	Chart  *Chart         // nil for an image
	// Repository is what has the versions: an image without a tag, or where a chart is. Rule says which of them are wanted.
	Repository string
	Rule       *imagepolicy.Rule
	// Automation says where they are written, and how; nil where the source has none, so that they are written
	// wherever they are.
	Automation *images.Automation
	Markers    []marker.Marker
	// Current is what the values are. Where they differ it is the newest. Of a chart it is the version and the archive's digest.
	Current marker.Image
	// Why is why nothing is written, whatever there is; empty if something may be.
	Why Why
}

// Name is that of the policy, or the one that a chart has here.
func (s *Subscription) Name() images.Name {
	if s.Chart != nil {
		return s.Chart.name()
	}
	return s.Policy.Name
}

// What is a word for what is subscribed to.
func (s *Subscription) What() string {
	if s.Chart != nil {
		return "chart"
	}
	return "image"
}

// Places are where the values stand, as FILE:LINE, or for a chart the releases that name it.
func (s *Subscription) Places() (all []string) {
	for _, m := range s.Markers {
		all = append(all, m.Pos.String())
	}
	if s.Chart != nil {
		for _, by := range s.Chart.By {
			all = append(all, by.Pos.String())
		}
	}
	return all
}

// At are the subscriptions of what stands somewhere in the source: those with a value between there and where the next of others begins
// in the same file, and the charts that a release names which stands there.
func (s *Source) At(where diag.Pos, others []diag.Pos) (all []*Subscription) {
	end := diag.Pos{}
	for _, o := range others {
		if o.File == where.File && o.Line > where.Line && (end.Line == 0 || o.Line < end.Line) {
			end = o
		}
	}
	for i := range s.Subscriptions {
		sub := &s.Subscriptions[i]
		isWithin := slices.ContainsFunc(sub.Markers, func(m marker.Marker) bool {
			return m.Pos.File == where.File && m.Pos.Line >= where.Line && (end.Line == 0 || m.Pos.Line < end.Line)
		})
		if isWithin || sub.Chart != nil && slices.ContainsFunc(sub.Chart.By, func(by planner.Cited) bool { return by.Pos == where }) {
			all = append(all, sub)
		}
	}
	return all
}

// chartInterval is how long the repository of a chart is left alone.
const chartInterval = time.Hour

// Interval is how long the registry is left alone between two looks.
func (s *Subscription) Interval() time.Duration {
	if s.Chart != nil {
		return chartInterval
	}
	return s.Policy.Repository.Interval
}

// isWritten reports that there is a value to write.
func (s *Subscription) isWritten() bool { return s.Chart != nil || len(s.Markers) > 0 }

// Source is what a source subscribes to.
type Source struct {
	Subscriptions []Subscription // in the order of names
	// Broken are the policies that have a mistake: of them nothing is known. Partial says that a part of the source cannot be
	// read, so that there may be others.
	Broken  map[images.Name]bool
	Partial bool
	// Unsure says that charts may be named by what cannot be read, or is suspended.
	Unsure bool
	// Diags say what is wrong with policies and with markers.
	Diags []diag.Diagnostic

	files map[string]*marker.File
	lock  []byte // the lock file
}

// maxFile is how large a file with markers is, in bytes.
const maxFile = 5 << 20

// Read reads what a source subscribes to. Read is what package render made of the snapshot, and charts are those that it names.
func Read(s sources.Snapshot, read *render.Source, charts Charts) (Source, error) {
	out := Source{files: map[string]*marker.File{}}
	repository := flux.Identify(read.Config.Flux.Self, read.Objects, read.Bound)
	set, _, diags := images.Split(&read.Config, &repository, read.Objects)
	out.Diags, out.Broken, out.Partial = diags, set.Broken, len(read.Broken) > 0
	var err error
	if out.files, err = Markers(s); err != nil {
		return out, err
	}
	bad := out.markersOfNone(&set)
	for _, p := range set.Policies {
		out.Subscriptions = append(out.Subscriptions, out.subscription(p, &set, bad))
	}
	return out, out.readCharts(s, &read.Lock, charts)
}

// Markers are the files of a snapshot that have markers, by their paths.
func Markers(s sources.Snapshot) (map[string]*marker.File, error) {
	all := map[string]*marker.File{}
	for _, f := range s.Files() {
		if f.Kind != sources.Regular || f.Size > maxFile || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(f.Path)) {
			continue
		}
		data, err := s.ReadFile(f.Path)
		if err != nil {
			return nil, fmt.Errorf("looking for markers of images: %w", err)
		}
		if marker.Has(f.Path, data) {
			read := marker.Read(f.Path, data)
			all[f.Path] = &read
		}
	}
	return all, nil
}

// markersOfNone says what is wrong with markers, and returns the policies of which no value may be written therefore.
func (s *Source) markersOfNone(set *images.Set) map[images.Name]bool {
	bad := map[images.Name]bool{}
	for _, file := range sorted(s.files) {
		for _, b := range s.files[file].Bad {
			s.Diags = append(s.Diags, b.Diagnostic)
			for _, p := range b.Policies {
				bad[images.Name(p)] = true
			}
		}
		for _, m := range s.files[file].Markers {
			n := images.Name(m.Policy)
			if set.Policy(n) != nil || set.Broken[n] {
				continue
			}
			var names []string
			for _, p := range set.Policies {
				names = append(names, p.Name.Namespace+":"+p.Name.Name)
			}
			s.Diags = append(s.Diags, diag.Diagnostic{
				Code: diag.BadMarker, Severity: diag.Error, Pos: m.Pos,
				Hint:    words.Meant(n.Namespace+":"+n.Name, names, "add the policy, or remove the marker"),
				Message: fmt.Sprintf("the marker of an image names the ImagePolicy %s, which is not in the source", n),
			})
		}
	}
	return bad
}

// subscription finds the values of a policy.
func (s *Source) subscription(p *images.Policy, set *images.Set, bad map[images.Name]bool) Subscription {
	sub := Subscription{Policy: p, Repository: p.Repository.Image, Rule: p.Rule}
	within, why := s.automate(&sub, set)
	for _, file := range sorted(s.files) {
		if !slices.ContainsFunc(within, func(dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }) {
			continue
		}
		for _, m := range s.files[file].Markers {
			if images.Name(m.Policy) == p.Name {
				sub.Markers = append(sub.Markers, m)
			}
		}
	}
	sub.Current = newest(p.Rule, sub.Markers)
	switch {
	case p.Suspended:
		sub.Why = Suspended
	case bad[p.Name]:
		sub.Why = MarkerBad
	case len(within) == 0:
		sub.Why = why
	case len(sub.Markers) == 0:
		sub.Why = NoMarker
	}
	return sub
}

// automate finds the first automation that writes a policy, and the folders in which all of them do: all of the source where it
// has no automation, not even one that cannot be read. Why says why there is no folder.
func (s *Source) automate(sub *Subscription, set *images.Set) (within []string, why Why) {
	if len(set.Automations)+len(set.BrokenAutomations) == 0 && !s.Partial {
		return []string{"."}, ""
	}
	why = NotAutomated
	if s.Partial || set.BrokenAutomations[sub.Name().Namespace] {
		why = Unclear
	}
	for _, a := range set.Automations {
		switch {
		case !a.Covers(sub.Policy):
		case a.Suspended:
			why = Suspended
		default:
			within = append(within, a.Path)
			sub.Automation = cmp.Or(sub.Automation, a)
		}
	}
	return within, why
}

// newer reports whether a tag is newer than another one, or a version where that is none.
func newer(by *imagepolicy.Rule, tag, than string) bool {
	if n, known := by.Compare(tag, than); known {
		return n > 0
	}
	_, isVersion := by.Compare(tag, tag)
	return isVersion
}

// newest is what values of a policy are: the parts of the image with the newest tag among them. A tag that is no version, as
// latest, counts where no other one is.
func newest(by *imagepolicy.Rule, all []marker.Marker) (is marker.Image) {
	for i := range all {
		at := all[i].Image()
		if at.Tag != "" && (is.Tag == "" || newer(by, at.Tag, is.Tag)) {
			is.Tag, is.Digest = at.Tag, at.Digest
		}
		if is.Name == "" {
			is.Name = at.Name
		}
	}
	for i := range all { // a digest, or a name, of its own
		at := all[i].Image()
		if at.Tag == "" && is.Digest == "" {
			is.Digest = at.Digest
		}
	}
	return is
}

// ValuesAt is what the values of subscriptions are in another version of the source, by their names. One that has none there is
// not in it.
func ValuesAt(s sources.Snapshot, of []Subscription) (map[images.Name]marker.Image, error) {
	files, err := Markers(s)
	if err != nil {
		return nil, err
	}
	written := map[images.Name][]marker.Marker{}
	for _, f := range files {
		for _, m := range f.Markers {
			written[images.Name(m.Policy)] = append(written[images.Name(m.Policy)], m)
		}
	}
	locked, err := lockOf(s)
	if err != nil {
		return nil, err
	}
	values := map[images.Name]marker.Image{}
	for i := range of {
		if sub := &of[i]; sub.Chart == nil {
			values[sub.Name()] = newest(sub.Rule, written[sub.Name()])
		} else if e, ok := locked.Lookup(sub.Chart.Ref); ok {
			values[sub.Name()] = valueOf(e)
		}
	}
	return values, nil
}
