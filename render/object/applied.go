package object

import "maps"

// LastApplied is the annotation in which kubectl apply keeps the whole manifest, values
// and all. What is exported from a server has it; it means nothing anywhere else.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// WithoutApplied returns a manifest without LastApplied; content itself if it has none.
func WithoutApplied(content map[string]any) map[string]any {
	meta, _ := content["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if _, ok := annotations[LastApplied]; !ok {
		return content
	}
	content, meta, annotations = maps.Clone(content), maps.Clone(meta), maps.Clone(annotations)
	delete(annotations, LastApplied)
	content["metadata"], meta["annotations"] = meta, annotations
	if len(annotations) == 0 {
		delete(meta, "annotations")
	}
	return content
}
