package interpret

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestFirstLayerWithAHookAnswers(t *testing.T) {
	custom := kind{"example.com/v1", "Thing"}
	front := layer{
		health:   map[kind]healthHook{deployment: func(map[string]any) (bool, error) { return false, nil }},
		replicas: map[kind]replicasHook{custom: func(map[string]any) (int32, *karmada.ReplicaRequirements, error) { return 4, nil, nil }},
	}
	behind := layer{health: map[kind]healthHook{
		deployment: func(map[string]any) (bool, error) { return true, nil },
		custom:     func(map[string]any) (bool, error) { return false, nil },
	}}
	in := &Interpreter{layers: []layer{front, behind, native()}}
	d := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "spec": map[string]any{"replicas": int64(2)}}
	thing := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing"}
	if got := in.Health(d); got != karmada.ResourceUnhealthy {
		t.Errorf("the health of a Deployment is %s, want that of the first layer, Unhealthy", got)
	}
	if n, _, ok, err := in.Replicas(d); n != 2 || !ok || err != nil {
		t.Errorf("the replicas of a Deployment are %d, %t, %v, want those of the built-in kinds, 2", n, ok, err)
	}
	if n, _, ok, err := in.Replicas(thing); n != 4 || !ok || err != nil {
		t.Errorf("the replicas of a Thing are %d, %t, %v, want those of the first layer, 4", n, ok, err)
	}
	if got := in.Health(thing); got != karmada.ResourceUnhealthy {
		t.Errorf("the health of a Thing is %s, want that of the second layer, Unhealthy", got)
	}
}
