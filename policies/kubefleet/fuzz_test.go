package kubefleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	strictjson "sigs.k8s.io/json"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// FuzzRead shows that no document makes Read panic; that it finds as many unknown fields as Kubernetes' strict
// decoder; that what it takes, that decoder takes too, with as many stages; and that Assign puts each
// cluster into one stage.
func FuzzRead(f *testing.F) {
	for _, spec := range []string{
		`{"stages": [{"name": "a", "labelSelector": {"matchLabels": {"a": "b"}}, "sortingLabelKey": "a", "maxConcurrency": "50%", "afterStageTasks": [{"type": "TimedWait", "waitTime": "1h"}, {"type": "Approval"}], "beforeStageTasks": [{"type": "Approval"}]}]}`,
		`{"stages": [{"name": "a", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}, "maxConcurrency": 2}, {"name": "b", "labelSelector": {}}], "x": 1}`,
		`{"stages": [null, 1, {"name": null, "labelSelector": {"x": {}}, "afterStageTasks": [{"y": 1}]}, {"maxConcurrency": 1e99}]}`,
		`[]`, `{"stages": {}}`, `1`,
	} {
		f.Add(spec, MaxFailures, "10%")
		f.Add(spec, ProgressDeadline+".a", "1h")
		f.Add(spec, FailureAction, "Return")
	}
	f.Fuzz(func(t *testing.T, spec, key, value string) {
		if !json.Valid([]byte(spec)) {
			t.Skip()
		}
		metadata, err := json.Marshal(map[string]any{"name": "x", "annotations": map[string]string{key: value}})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": %s, "spec": %s}`, versions[0], ClusterKind, metadata, spec)
		o, _ := object.Single("s.json", []byte(text))
		if o == nil {
			t.Skip("it is over a limit, or has a key twice")
		}
		s, ds := Read(o)
		if (s == nil) != diag.HasErrors(ds) {
			t.Fatalf("read as %v with %v", s, ds)
		}
		content, err := json.Marshal(withoutNulls(o.Content()))
		if err != nil {
			t.Fatal(err)
		}
		w := &StagedUpdateStrategy{}
		strict, err := strictjson.UnmarshalStrict(content, w, strictjson.DisallowUnknownFields)
		unknown := slices.DeleteFunc(slices.Clone(ds), func(d diag.Diagnostic) bool { return d.Code != diag.UnknownField || d.Message == annotated(o, key) })
		if err == nil && len(strict) < 100 && len(strict) != len(unknown) {
			t.Errorf("of %s the decoder does not know %v, and Read %v", text, strict, unknown)
		}
		if s == nil {
			return
		}
		if err != nil || len(w.Spec.Stages) != len(s.Stages) {
			t.Fatalf("%s is read, and the decoder says %v", text, err)
		}
		clusters := []Cluster{{Name: "b"}, {Name: "a", Labels: map[string]string{"a": "b"}}, {Name: "c", Labels: map[string]string{"a": "7"}}}
		a, n := s.Assign(clusters), 0
		for _, m := range a.Stages {
			n += len(m.Clusters)
		}
		if a.Refused {
			n += len(a.Unmatched)
		}
		if n != len(clusters) {
			t.Errorf("%d clusters are in %+v", len(clusters), a)
		}
	})
}

// annotated is what is said of an annotation that there is not, which is no field for the decoder.
func annotated(o *object.Object, key string) string {
	return title(o.Ref()) + ": " + object.FieldPath(field{"metadata", "annotations", key}) + ": is not an annotation of a strategy"
}

// withoutNulls drops the keys that have no value, as an API server does.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			if e != nil {
				out[key] = withoutNulls(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutNulls(v[i])
		}
		return out
	}
	return v
}
