package override

import (
	_ "crypto/sha256" // digests of images are checked with it
	_ "crypto/sha512" // digests of images are checked with it
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// image changes the images of the object's containers, or the one that the
// predicate names (section B.3).
func (a *applier) image(o *karmada.ImageOverrider) error {
	if o.Predicate != nil {
		return a.imageAt(o.Predicate.Path, o)
	}
	return a.containers(func(path string, c *node) error {
		path += "/image"
		n := c.fields["image"]
		before, ok := n.text()
		if !ok && !n.isNull() {
			return fmt.Errorf("%s: want a string, got %s", path, n.typeName())
		}
		if err := a.spend(imageWork); err != nil {
			return err
		}
		after, err := a.overrideImage(before, o)
		if err != nil {
			return located(path, err)
		}
		if after != before {
			c.fields["image"] = &node{value: after}
			a.record(path, before, after)
		}
		return nil
	})
}

// imageAt changes the one image at path, which is split at slashes and not
// unescaped.
func (a *applier) imageAt(path string, o *karmada.ImageOverrider) error {
	tokens, err := literalTokens(path)
	if err != nil {
		return err
	}
	before, after, err := a.edit(tokens, func(s string) (string, error) { return a.overrideImage(s, o) })
	if err != nil {
		return located(path, err)
	}
	if after != before {
		a.record(path, before, after)
	}
	return nil
}

func (a *applier) overrideImage(s string, o *karmada.ImageOverrider) (string, error) {
	i, err := parseImage(s)
	if err != nil {
		if a.secret {
			return "", fmt.Errorf("parsing a text that is no image: %w", err)
		}
		return "", fmt.Errorf("parsing image %q: %w", s, err)
	}
	switch o.Component {
	case karmada.ImageRegistry:
		i.host = overridden(i.host, o)
	case karmada.ImageRepository:
		i.repository = overridden(i.repository, o)
	case karmada.ImageTag:
		i.setVersion(overridden(i.tag+i.digest, o), o.Operator)
	default:
		return "", fmt.Errorf("image component %q is none of Registry, Repository and Tag", o.Component)
	}
	return i.String(), nil
}

// overridden applies an operator to a component of an image: add is no more than
// concatenation.
func overridden(component string, o *karmada.ImageOverrider) string {
	switch o.Operator {
	case karmada.OverriderOpAdd:
		return component + o.Value
	case karmada.OverriderOpReplace:
		return o.Value
	case karmada.OverriderOpRemove:
		return ""
	default:
		return component
	}
}

// image is a reference taken apart. At most one of tag and digest is there.
type image struct{ host, repository, tag, digest string }

// parseImage takes a reference apart. Its host is what stands before the first
// slash, if that could not be part of a repository's name. Of a tag and a digest it
// keeps the tag alone, as Karmada does: any override of such an image loses the
// digest.
func parseImage(s string) (image, error) {
	ref, err := reference.Parse(s)
	if err != nil {
		return image{}, err
	}
	var i image
	if r, ok := ref.(reference.Named); ok {
		i.repository = r.Name()
	}
	if host, rest, ok := strings.Cut(i.repository, "/"); ok && (strings.ContainsAny(host, ".:") || host == "localhost") {
		i.host, i.repository = host, rest
	}
	if r, ok := ref.(reference.Tagged); ok {
		i.tag = r.Tag()
	} else if r, ok := ref.(reference.Digested); ok {
		i.digest = r.Digest().String()
	}
	return i, nil
}

var (
	wholeTag    = regexp.MustCompile("^(?:" + reference.TagRegexp.String() + ")$")
	wholeDigest = regexp.MustCompile("^(?:" + reference.DigestRegexp.String() + ")$")
)

// setVersion makes v the tag or the digest, whichever it can be. If it can be
// neither, the image keeps what it has, unless that is to be removed.
func (i *image) setVersion(v string, op karmada.OverriderOperator) {
	switch {
	case op == karmada.OverriderOpRemove:
		i.tag, i.digest = "", ""
	case wholeTag.MatchString(v):
		i.tag, i.digest = v, ""
	case wholeDigest.MatchString(v):
		i.tag, i.digest = "", v
	}
}

// String puts the reference together again. It need not be valid.
func (i *image) String() string {
	s := i.repository
	if i.host != "" {
		s = i.host + "/" + s
	}
	switch {
	case i.tag != "":
		return s + ":" + i.tag
	case i.digest != "":
		return s + "@" + i.digest
	}
	return s
}
