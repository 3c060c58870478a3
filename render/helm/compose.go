package helm

import (
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"
)

// ValuesRef names values that stand elsewhere.
type ValuesRef struct {
	// Kind is ConfigMap or Secret, of the release's namespace, or Cluster: what is
	// known of the cluster that the release is rendered for.
	Kind string
	Name string // empty for Cluster
	// Key is the key of the data; for Cluster name, region, provider, zone,
	// labels.<key> or annotations.<key>.
	Key        string
	TargetPath string // where the text goes, as --set has it; empty for YAML that is merged
	Optional   bool   // it may be missing
	Literal    bool   // with TargetPath: the text is a string as it is
}

// The kinds of ValuesRef.
const (
	kindConfigMap = "ConfigMap"
	kindSecret    = "Secret"
	kindCluster   = "Cluster"
)

const (
	// defaultKey is the key of the data if none is given.
	defaultKey = "values.yaml"
	// maxValues is how many bytes values may have: those that a file of a chart may.
	maxValues = 5 << 20
)

func (n node) valuesRef() ValuesRef {
	n.known("kind", "name", "valuesKey", "targetPath", "optional", "literal")
	ref := ValuesRef{
		Kind:       n.at("kind").oneOf(kindConfigMap, kindSecret, kindCluster),
		Name:       n.at("name").text(),
		Key:        n.at("valuesKey").text(),
		TargetPath: n.at("targetPath").text(),
		Optional:   n.at("optional").flag(),
		Literal:    n.at("literal").flag(),
	}
	n.at("kind").required()
	if ref.Kind == kindCluster {
		n.clusterRef(&ref)
		return ref
	}
	n.at("name").required()
	if ref.Key == "" {
		ref.Key = defaultKey
	}
	return ref
}

// clusterRef checks a reference to a fact about the cluster, which is a string.
func (n node) clusterRef(ref *ValuesRef) {
	ref.Literal = true
	if ref.Name != "" {
		n.at("name").fail("remove it", "is %q; the cluster is the one that the release is rendered for", ref.Name)
	}
	n.at("targetPath").required()
	fact, key, _ := strings.Cut(ref.Key, ".")
	ok := slices.Contains([]string{"name", "region", "provider", "zone"}, ref.Key) ||
		key != "" && (fact == "labels" || fact == "annotations")
	if !ok {
		n.at("valuesKey").fail("", "is %q; of a Cluster it must be name, region, provider, zone, labels.<key> or annotations.<key>", ref.Key)
	}
}

// Compose merges valuesFrom in its order, and then values, as helm-controller does.
// Each target path is set in the values so far, with the release's own merged over
// them; where that reaches into a mapping of the release's own, it wins over them.
//
// Lookup returns the text of a reference, or that there is none. Its error becomes a
// problem of the reference. Texts of Secrets are in no message.
func (s *Spec) Compose(lookup func(ValuesRef) (text []byte, found bool, err error)) (Values, []Problem) {
	r := &reader{}
	own := map[string]any(NewValues(s.Values)) // changed below, by way of what is merged
	result := map[string]any{}
	for i, ref := range s.ValuesFrom {
		at := node{r: r, path: []any{"spec", "valuesFrom", i}}
		text, found, err := lookup(ref)
		switch {
		case err != nil:
			at.fail("", "cannot be read: %s", err)
		case !found && !ref.Optional:
			at.fail("create it, or set optional: true", "names %s, which is not there", ref)
		case !found:
		case ref.TargetPath != "":
			result = merged(result, own)
			at.put(result, ref, string(text))
		default:
			result = merged(result, at.decode(ref, text))
		}
	}
	return merged(result, own), r.problems
}

// String names the reference, as in a message.
func (r ValuesRef) String() string {
	if r.Kind == kindCluster {
		return r.Key + " of the cluster"
	}
	return fmt.Sprintf("the key %q of the %s %q", r.Key, r.Kind, r.Name)
}

// decode reads values.
func (n node) decode(ref ValuesRef, text []byte) map[string]any {
	if len(text) > maxValues {
		n.fail("", "names %s, which has %d bytes; %d is the limit", ref, len(text), maxValues)
		return nil
	}
	values, err := DecodeValues(text)
	switch {
	case err != nil && ref.Kind == kindSecret:
		n.fail("", "names %s, which holds no YAML mapping", ref)
	case err != nil:
		n.fail("", "names %s, which holds no YAML mapping: %s", ref, err)
	}
	return values
}

// put sets a text at the reference's target path. One in quotes, or a literal one, is
// a string; any other is read as --set reads it.
func (n node) put(values map[string]any, ref ValuesRef, text string) {
	parse := strvals.ParseInto
	switch quoted := quotedBy(text, `'`) || quotedBy(text, `"`); {
	case ref.Literal:
		parse = strvals.ParseLiteralInto
	case quoted:
		parse = strvals.ParseIntoString
		text = strings.Trim(text, `'"`)
	}
	if err := parse(ref.TargetPath+"="+text, values); err != nil {
		n.at("targetPath").fail("", "is %q, at which the value of %s cannot be set%s", ref.TargetPath, ref, reason(ref, err))
	}
}

func quotedBy(text, quote string) bool {
	return strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote)
}

// reason is why a value cannot be set, if that cannot hold a part of a secret.
func reason(ref ValuesRef, err error) string {
	if ref.Kind == kindSecret {
		return ""
	}
	return ": " + err.Error()
}
