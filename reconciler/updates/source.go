package updates

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/words"
)

// Subscription is an image policy of a source with the values that it writes.
type Subscription struct {
	Policy *images.Policy
	// Automation says where they are written, and how; nil where the source has none, so that they are written
	// wherever they are.
	Automation *images.Automation
	Markers    []marker.Marker
	// Current is what the values are. Where they differ it is the newest.
	Current marker.Image
	// Why is why nothing is written, whatever there is; empty if something may be.
	Why Why
}

// Name is that of the policy.
func (s *Subscription) Name() images.Name { return s.Policy.Name }

// Source is what a source subscribes to.
type Source struct {
	Subscriptions []Subscription // in the order of names
	// Broken are the policies that have a mistake: of them nothing is known.
	Broken map[images.Name]bool
	// Diags say what is wrong with policies and with markers.
	Diags []diag.Diagnostic

	files map[string]*marker.File
}

// maxFile is how large a file with markers is, in bytes.
const maxFile = 5 << 20

// Read reads what a source subscribes to. Read is what package render made of the snapshot.
func Read(s sources.Snapshot, read *render.Source) (Source, error) {
	out := Source{files: map[string]*marker.File{}}
	var objs, others []*object.Object
	for _, o := range read.Objects {
		if images.Is(o.Ref()) {
			objs = append(objs, o)
		} else {
			others = append(others, o)
		}
	}
	repository := flux.Identify(read.Config.Flux.Self, read.Objects, read.Bound)
	lookup := flux.NewIndex(others)
	set, diags := images.Read(objs, func(source object.Ref) string { return repository.Foreign(source, lookup) })
	out.Diags, out.Broken = diags, set.Broken
	var err error
	if out.files, err = Markers(s); err != nil {
		return out, err
	}
	bad := out.markersOfNone(&set)
	for _, p := range set.Policies {
		out.Subscriptions = append(out.Subscriptions, out.subscription(p, &set, bad))
	}
	return out, nil
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
			hint := "add the policy, or remove the marker"
			if near := words.Nearest(n.Namespace+":"+n.Name, names); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			s.Diags = append(s.Diags, diag.Diagnostic{
				Code: diag.BadMarker, Severity: diag.Error, Pos: m.Pos, Hint: hint,
				Message: fmt.Sprintf("the marker of an image names the ImagePolicy %s, which is not in the source", n),
			})
		}
	}
	return bad
}

// subscription finds the values of a policy.
func (s *Source) subscription(p *images.Policy, set *images.Set, bad map[images.Name]bool) Subscription {
	sub := Subscription{Policy: p}
	within := []string{"."}
	if len(set.Automations) > 0 {
		within = nil
	}
	for _, a := range set.Automations {
		if !a.Suspended && a.Covers(p) {
			within = append(within, a.Path)
			if sub.Automation == nil {
				sub.Automation = a
			}
		}
	}
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
	sub.Current = Newest(p, sub.Markers)
	switch {
	case p.Suspended:
		sub.Why = Suspended
	case bad[p.Name]:
		sub.Why = MarkerBad
	case len(within) == 0:
		sub.Why = NotAutomated
	case len(sub.Markers) == 0:
		sub.Why = NoMarker
	}
	return sub
}

// Newest is what values of a policy are: the parts of the image with the newest tag among them.
func Newest(p *images.Policy, all []marker.Marker) (is marker.Image) {
	for i := range all {
		at := all[i].Image()
		if n, known := p.Rule.Compare(at.Tag, is.Tag); at.Tag != "" && (is.Tag == "" || known && n > 0) {
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
