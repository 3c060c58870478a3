package override_test

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
)

func ExampleApply() {
	pod := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": "nginx:1.28"}}},
	}
	_, changes, err := override.Apply(pod, &karmada.Overriders{
		ImageOverrider:  []karmada.ImageOverrider{{Component: karmada.ImageRegistry, Operator: karmada.OverriderOpAdd, Value: "eu.example.com"}},
		LabelsOverrider: []karmada.LabelAnnotationOverrider{{Operator: karmada.OverriderOpAdd, Value: map[string]string{"region": "eu"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range changes {
		fmt.Printf("%s %s: %q becomes %q\n", c.Overrider, c.Path, c.Old, c.New)
	}
	// Output:
	// imageOverrider[0] /spec/containers/0/image: "nginx:1.28" becomes "eu.example.com/nginx:1.28"
	// labelsOverrider[0] /metadata/labels/region: "" becomes "eu"
}
