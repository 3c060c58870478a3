package validate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// What image references are made of, by their grammar: what may be added to a tag,
// and what may stand for one.
var (
	tagEnd      = regexp.MustCompile(`^[\w.-]{1,127}$`)
	tagOrDigest = regexp.MustCompile(`^(\w[\w.-]{0,127}|[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})$`)
)

// checkImageOverrider holds the fields and warns of values that Karmada takes and then
// drops without a word, or makes broken images of (section B.3).
func checkImageOverrider(fs *findings, o *karmada.ImageOverrider, at field) {
	oneOf(fs, at.at("component"), o.Component, karmada.ImageRegistry, karmada.ImageRepository, karmada.ImageTag)
	checkOperator(fs, at.at("operator"), o.Operator)
	switch o.Component {
	case karmada.ImageRegistry:
		checkRegistry(fs, o, at)
	case karmada.ImageRepository:
		checkRepository(fs, o, at)
	case karmada.ImageTag:
		checkTag(fs, o, at.at("value"))
	}
}

func checkRegistry(fs *findings, o *karmada.ImageOverrider, at field) {
	switch {
	case o.Operator == karmada.OverriderOpRemove:
		return
	case o.Operator == karmada.OverriderOpAdd:
		fs.warn(at.at("operator"), diag.RegistryAdd,
			fmt.Sprintf("appends %q to a registry that is there already, as in docker.io%s", o.Value, o.Value), "write operator: replace, which also adds a missing one")
	case o.Value == "":
		fs.warn(at.at("value"), diag.ImageValue, "is empty, so that the registry is removed", "write operator: remove")
	}
	if strings.HasSuffix(o.Value, "/") {
		fs.warn(at.at("value"), diag.ImageValue, fmt.Sprintf("%q ends in a slash, and another follows", o.Value), fmt.Sprintf("write %q", strings.TrimRight(o.Value, "/")))
	}
}

func checkRepository(fs *findings, o *karmada.ImageOverrider, at field) {
	switch {
	case o.Operator == karmada.OverriderOpRemove, o.Operator == karmada.OverriderOpReplace && o.Value == "":
		fs.warn(at, diag.ImageValue, "leaves no repository, which is no image", "write operator: replace with a value")
	case o.Operator == karmada.OverriderOpAdd:
		checkChangesSomething(fs, at.at("value"), len(o.Value))
	}
}

// checkTag warns of what is no tag or digest: the image then stays as it is.
func checkTag(fs *findings, o *karmada.ImageOverrider, at field) {
	want := map[karmada.OverriderOperator]*regexp.Regexp{karmada.OverriderOpAdd: tagEnd, karmada.OverriderOpReplace: tagOrDigest}[o.Operator]
	if want != nil && !want.MatchString(o.Value) {
		fs.warn(at, diag.ImageValue, fmt.Sprintf("%q makes no tag or digest, so that the image stays as it is", o.Value),
			`write the tag alone, as in "1.2", or a digest, as in "sha256:...", without ":" or "@" before it`)
	}
}
