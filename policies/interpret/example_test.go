package interpret_test

import (
	"fmt"
	"maps"

	"github.com/waybill-dev/waybill/policies/interpret"
)

// Policies see replicas that nobody wrote; the output shows only what they changed.
func Example() {
	template := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web"},
		"spec":     map[string]any{"paused": true},
	}
	in := interpret.New()
	defaulted, added := interpret.Default(template)
	n, _, _, err := in.Replicas(defaulted)
	if err != nil {
		fmt.Println(err)
		return
	}
	revised, err := in.Revise(defaulted, n+2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n, interpret.Undefault(revised, added)["spec"])
	fmt.Println(maps.Equal(template["spec"].(map[string]any), map[string]any{"paused": true}))
	// Output:
	// 1 map[paused:true replicas:3]
	// true
}
