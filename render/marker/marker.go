package marker

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Policy is the name of an ImagePolicy.
type Policy struct{ Namespace, Name string }

func (p Policy) String() string { return p.Namespace + "/" + p.Name }

// Part is what of an image a value is.
type Part string

// The parts. Whole is name:tag, or name:tag@digest.
const (
	Whole  Part = ""
	Name   Part = "name"
	Tag    Part = "tag"
	Digest Part = "digest"
)

// Image is what of an image is written.
type Image struct {
	Name   string `json:"name"`
	Tag    string `json:"tag"`
	Digest string `json:"digest,omitempty"`
}

// String is the image as Whole has it.
func (i Image) String() string {
	s := i.Name + ":" + i.Tag
	if i.Digest != "" {
		s += "@" + i.Digest
	}
	return s
}

// part is what a value of a part is for the image.
func (i Image) part(p Part) string {
	switch p {
	case Name:
		return i.Name
	case Tag:
		return i.Tag
	case Digest:
		return i.Digest
	case Whole:
	}
	return i.String()
}

// Marker is a value that a policy writes.
type Marker struct {
	Pos    diag.Pos
	Policy Policy
	Part   Part
	Value  string

	node     int // among those of the file
	from, to int // bytes of the scalar, with its quotes
	quote    string
}

// Image is what of an image the value says: parts that it does not say are empty.
func (m *Marker) Image() Image {
	switch m.Part {
	case Name:
		return Image{Name: m.Value}
	case Tag:
		return Image{Tag: m.Value}
	case Digest:
		return Image{Digest: m.Value}
	case Whole:
	}
	rest, digest, _ := strings.Cut(m.Value, "@")
	slash := strings.LastIndexByte(rest, '/')
	name, tag, _ := strings.Cut(rest[slash+1:], ":")
	return Image{Name: rest[:slash+1] + name, Tag: tag, Digest: digest}
}

// Bad is a marker that writes nothing, and why. No value of its policies may be written, for the values of a policy
// change together or not at all.
type Bad struct {
	Policies   []Policy // none where it names none
	Diagnostic diag.Diagnostic
}

// word finds what might be a marker, and written what is one.
const word = `"$imagepolicy"`

var written = regexp.MustCompile(`\{\s*"\$imagepolicy"\s*:\s*"([^"]*)"\s*\}`)

// named reads the policy and the part of a marker. Of one with a mistake the policy is zero where it names none.
func named(text string) (p Policy, part Part, ok bool) {
	f := strings.SplitN(text, ":", 3)
	if len(f) == 1 || f[0] == "" || f[1] == "" {
		return Policy{}, "", false
	}
	if p = (Policy{f[0], f[1]}); len(f) == 2 {
		return p, Whole, true
	}
	part = Part(f[2])
	return p, part, part == Name || part == Tag || part == Digest
}

var tag = regexp.MustCompile(`^` + reference.TagRegexp.String() + `$`)

// problem says why a value is not the part of an image that its marker says; empty if it is.
func (m *Marker) problem() string {
	switch m.Part {
	case Tag:
		if !tag.MatchString(m.Value) {
			return fmt.Sprintf("%q is no tag", m.Value)
		}
		return ""
	case Digest:
		if !lock.IsDigest(m.Value) {
			return fmt.Sprintf("%q is no digest, as sha256:... with 64 digits", m.Value)
		}
		return ""
	case Whole, Name:
	}
	ref, err := reference.ParseNormalizedNamed(m.Value)
	if err != nil {
		return fmt.Sprintf("%q is no image", m.Value)
	}
	if m.Part == Name && !reference.IsNameOnly(ref) {
		return fmt.Sprintf("%q has a tag or a digest; want a name alone", m.Value)
	}
	return ""
}
