// Package argocd marks manifests for Argo CD where it needs to be told.
//
// Argo CD applies like kubectl: it writes the whole object into an annotation of it, and
// the API server refuses annotations over 262,144 bytes. An object for which that is too
// little is marked to be applied by the server instead.
package argocd

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

const (
	syncOptions     = "argocd.argoproj.io/sync-options"
	serverSideApply = "ServerSideApply"
	lastApplied     = "kubectl.kubernetes.io/last-applied-configuration"
)

// maxAnnotations is what the annotations of an object may have in all, in bytes (the API
// server's limit), less what Argo CD and Waybill add to an object themselves.
const maxAnnotations = 256<<10 - 1<<10

// maxEscaped is the most bytes that JSON makes of one byte of a string.
const maxEscaped = 6

// ServerSide returns content with the option ServerSideApply=true if Argo CD could not
// apply it otherwise. Options that it has stay; if one of them is about server-side
// apply, it is left to say so.
func ServerSide(content map[string]any) map[string]any {
	if atMost(content)*maxEscaped <= maxAnnotations {
		return content
	}
	data, err := json.Marshal(content)
	if err != nil {
		return content
	}
	meta, _ := content["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	size := len(lastApplied) + len(data)
	for key, value := range annotations {
		text, _ := value.(string)
		size += len(key) + len(text)
	}
	if size <= maxAnnotations {
		return content
	}
	return with(content, annotations)
}

// with returns content with the option, in copies of its maps.
func with(content, annotations map[string]any) map[string]any {
	old, _ := annotations[syncOptions].(string)
	options := strings.FieldsFunc(old, func(r rune) bool { return r == ',' })
	if slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(strings.TrimSpace(o), serverSideApply+"=") }) {
		return content
	}
	return object.Annotate(content, syncOptions, strings.Join(append(options, serverSideApply+"=true"), ","))
}

// atMost is no less than a sixth of what v takes as JSON.
func atMost(v any) int {
	const scalar = 8 // a number, true, null, and what stands around a value
	switch v := v.(type) {
	case map[string]any:
		n := scalar
		for key, value := range v {
			n += len(key) + scalar + atMost(value)
		}
		return n
	case []any:
		n := scalar
		for _, value := range v {
			n += atMost(value)
		}
		return n
	case string:
		return len(v) + scalar
	}
	return scalar
}
