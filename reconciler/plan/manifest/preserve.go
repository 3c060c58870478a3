package manifest

import (
	"encoding/json"
	"maps"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
)

// preserved are the labels that a new copy of a template gets in a cluster from the one that
// failed, as JSON; empty for none (Karmada section A.14).
func preserved(d *schedule.Decision, cluster string) string {
	if d.Moves == nil {
		return ""
	}
	labels := evict.Labels(d.Moves.Tasks, d.Scheduled, cluster)
	if len(labels) == 0 {
		return ""
	}
	data, err := json.Marshal(labels)
	if err != nil {
		panic("manifest: labels do not encode: " + err.Error())
	}
	return string(data)
}

// labelled returns a content with labels, which are JSON, besides its own. Nothing of the content
// is changed.
func labelled(content map[string]any, labels string) map[string]any {
	if labels == "" {
		return content
	}
	added := map[string]string{}
	if err := json.Unmarshal([]byte(labels), &added); err != nil {
		panic("manifest: labels do not decode: " + err.Error())
	}
	meta, _ := content["metadata"].(map[string]any)
	own, _ := meta["labels"].(map[string]any)
	content, meta, all := maps.Clone(content), maps.Clone(meta), map[string]any{}
	maps.Copy(all, own)
	for key, value := range added {
		all[key] = value
	}
	meta["labels"], content["metadata"] = all, meta
	return content
}
