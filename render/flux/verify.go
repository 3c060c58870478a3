package flux

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// Verification is what spec.verify asks, as Flux reads it: that one of some keys signed a chart.
type Verification struct {
	By string // who asks: the kind and the name of the object
	// Keys are public keys as cosign writes them, by the names that messages call them.
	Keys map[string]string
	// Problem is why it cannot be found out here whether one of them did; empty if it can.
	Problem string
}

const (
	cosign = "cosign"
	// keySuffix ends the entries of a Secret that are keys.
	keySuffix = ".pub"
)

// ReadVerification returns what is asked of who signed the chart of a release: by the HelmRelease itself, or by the HelmChart or
// OCIRepository that it names. It is nil where nothing is.
func ReadVerification(release *object.Object, s *Index, in *Repository) *Verification {
	if !isHelmRelease(release) {
		return nil
	}
	owner, field := release, []string{"spec", "chart", "spec"}
	if ref := fieldAt(release.Content(), "spec", "chartRef"); ref != nil {
		owner = s.find(sourceGroup, textAt(ref, "kind"), cmp.Or(textAt(ref, "namespace"), release.Ref().Namespace), textAt(ref, "name"))
		field = []string{"spec"}
	}
	if owner == nil {
		return nil
	}
	spec := fieldAt(owner.Content(), field...)
	asked := fieldAt(spec, "verify")
	if asked == nil {
		return nil
	}
	v := &Verification{By: fmt.Sprintf("%s %s/%s", owner.Ref().Kind, owner.Ref().Namespace, owner.Ref().Name)}
	namespace := owner.Ref().Namespace
	if owner == release { // helm-controller makes the HelmChart where its source is
		namespace = cmp.Or(textAt(spec, "sourceRef", "namespace"), namespace)
	}
	v.Keys, v.Problem = keysOf(asked, namespace, release, s, in)
	return v
}

// keysOf are the keys that a verify names, or why there are none.
func keysOf(verify any, namespace string, release *object.Object, s *Index, in *Repository) (keys map[string]string, problem string) {
	name := textAt(verify, "secretRef", "name")
	switch provider := cmp.Or(textAt(verify, "provider"), cosign); {
	case provider != cosign:
		return nil, fmt.Sprintf("its verify.provider is %q, and only %s with keys is checked here", provider, cosign)
	case name == "":
		return nil, "its verify has no secretRef, and signatures without a key are not checked here"
	}
	o := s.find("", "Secret", namespace, name)
	if o == nil || in.apart(o, release) {
		return nil, fmt.Sprintf("the Secret %s/%s with its keys is not in the source", namespace, name)
	}
	if _, sealed := o.Sealed(); sealed {
		return nil, fmt.Sprintf("the Secret %s/%s with its keys is encrypted; public keys are no secret", namespace, name)
	}
	all, err := texts(o, "Secret")
	if err != nil {
		return nil, err.Error()
	}
	keys = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if strings.HasSuffix(key, keySuffix) {
			keys[key+" of Secret "+namespace+"/"+name] = all[key]
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Sprintf("the Secret %s/%s has no key: none of its entries ends with %s", namespace, name, keySuffix)
	}
	return keys, ""
}
