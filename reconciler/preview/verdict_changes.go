package preview

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// changes says in which fields objects differ: which images, or else the field that differs in most objects, and the file that
// all of it comes from.
func (v *Verdict) changes(changed []*Change) {
	v.and()
	in := words.Count(len(clustersOf(changed, touched)), "cluster")
	images, others := imagesOf(changed)
	if len(images) > 0 && len(images) <= 3 && len(others) == 0 {
		v.images(images)
		v.say(" in %s", in)
		return
	}
	var refs []object.Ref
	for _, c := range changed {
		refs = append(refs, c.Objects...)
	}
	v.say("changes ")
	v.named(refs)
	v.say(" in %s", in)
	if f, n := commonest(changed); f != nil {
		v.say(": ")
		v.quote(fieldText(f))
		if n < len(refs) {
			v.say(" in %s", words.Count(n, "object"))
		}
	}
	v.because(changed)
}

// image is a change of an image, without its registry.
type image struct {
	name, from, to string
}

// images says which images change.
func (v *Verdict) images(images map[image]map[string]bool) {
	keys := slices.SortedFunc(maps.Keys(images), func(a, b image) int {
		return cmp.Or(len(images[b])-len(images[a]), strings.Compare(a.name, b.name), strings.Compare(a.to, b.to))
	})
	v.say("image ")
	for i, k := range keys {
		if i > 0 {
			v.say(", ")
		}
		v.quote(k.name + " " + k.from + " -> " + k.to)
		if n := len(images[k]); n > 1 {
			v.say(" (%s)", registriesOf(n))
		}
	}
}

func registriesOf(n int) string { return fmt.Sprintf("%d registries", n) }

// imagesOf are the images that change, with the registries of each, and the paths of what changes besides and is not routine.
func imagesOf(changed []*Change) (images map[image]map[string]bool, others []string) {
	images = map[image]map[string]bool{}
	for f := range fieldsOf(changed) {
		is, registry, ok := imageOf(f)
		if !ok {
			others = append(others, f.Path)
			continue
		}
		if images[is] == nil {
			images[is] = map[string]bool{}
		}
		images[is][registry] = true
	}
	return images, others
}

// fieldsOf are the fields that differ and are not routine.
func fieldsOf(changed []*Change) iter.Seq[*fields.Field] {
	return func(yield func(*fields.Field) bool) {
		for _, c := range changed {
			for _, s := range c.Changed {
				for i := range s.Fields {
					if f := &s.Fields[i]; !f.Routine && !yield(f) {
						return
					}
				}
			}
		}
	}
}

// imageOf is a field as a change of an image; false if it is none.
func imageOf(f *fields.Field) (is image, registry string, ok bool) {
	from, isFrom := f.From.(string)
	to, isTo := f.To.(string)
	if !strings.HasSuffix(f.Path, ".image") || !isFrom || !isTo || f.Hidden {
		return image{}, "", false
	}
	name, registry := imageName(to)
	is = image{name, tagOf(from), tagOf(to)}
	if was, _ := imageName(from); was != name {
		is.from = was + ":" + is.from
	}
	return is, registry, true
}

// imageName is the last part of the name of an image, and what stands before it.
func imageName(ref string) (name, registry string) {
	ref, _, _ = strings.Cut(ref, "@")
	i := strings.LastIndex(ref, "/")
	name, _, _ = strings.Cut(ref[i+1:], ":")
	return name, ref[:max(i, 0)]
}

// tagOf is the tag of an image, or the beginning of its digest.
func tagOf(ref string) string {
	if _, digest, ok := strings.Cut(ref, "@"); ok {
		_, sum, _ := strings.Cut(digest, ":")
		return "@" + sum[:min(len(sum), 12)]
	}
	_, tag, ok := strings.Cut(ref[strings.LastIndex(ref, "/")+1:], ":")
	if !ok {
		return "latest"
	}
	return tag
}

// because names the cause of changes, if all of them have the same one and are of several objects.
func (v *Verdict) because(changes []*Change) {
	var cause *Cause
	objects := 0
	for _, c := range changes {
		objects += len(c.Objects)
		for i := range c.Causes {
			if is := &c.Causes[i]; cause == nil {
				cause = is
			} else if *is != *cause {
				return
			}
		}
	}
	if cause != nil && objects > 1 {
		v.say(", because ")
		if cause.Message == Edited && cause.Pos.File != "" {
			v.quote(cause.Pos.String())
			v.say(" changed")
			return
		}
		v.quote(cause.String())
	}
}

// commonest is the field that differs, by its path and values, in most objects, and in how many; those that are routine do not
// count. Of several it is the first by its path.
func commonest(changed []*Change) (most *fields.Field, objects int) {
	in, first := map[string]int{}, map[string]*fields.Field{}
	for _, c := range changed {
		seen := map[string]bool{}
		for _, s := range c.Changed {
			for i := range s.Fields {
				f := &s.Fields[i]
				if text := fieldText(f); !f.Routine && !seen[text] {
					seen[text], first[text] = true, f
					in[text] += len(c.Objects)
				}
			}
		}
	}
	texts := slices.SortedFunc(maps.Keys(first), func(a, b string) int { return cmp.Or(in[b]-in[a], strings.Compare(a, b)) })
	if len(texts) == 0 {
		return nil, 0
	}
	return first[texts[0]], in[texts[0]]
}

// fieldText says how a field differs, in a few words.
func fieldText(f *fields.Field) string {
	const most = 40 // of a value
	value := func(v any) string {
		text := strings.Join(strings.Fields(fmt.Sprint(v)), " ")
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "..."
		}
		return text
	}
	switch {
	case f.Hidden || f.Lines != "" || f.Op == fields.Reorder:
		return f.Path
	case f.Op == fields.Add:
		return f.Path + " = " + value(f.To)
	case f.Op == fields.Remove:
		return "no " + f.Path
	}
	return f.Path + " " + value(f.From) + " -> " + value(f.To)
}
