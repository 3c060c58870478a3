package interpret_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
)

// TestAHushedInterpreterDoesNotSayWhy: what is wrong with an object may quote it.
func TestAHushedInterpreterDoesNotSayWhy(t *testing.T) {
	const canary = "hunter2"
	thing := of(t, things, "metadata: {name: t}\nspec: {password: "+canary+"}")
	deployment := of(t, "apps/v1 Deployment", "metadata: {name: d}\nspec: {replicas: "+canary+", template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1e99999}}}]}}}")
	for _, tt := range []struct {
		name, field, script string
		obj                 map[string]any
		says                string // unhushed, beside the canary
	}{
		{"an error", "replicaResource", "function GetReplicas(o) error(o.spec.password) end", thing, "customization mine: GetReplicas: line 1: "},
		{"a field", "replicaResource", "function GetReplicas(o) return 1, {[o.spec.password] = type} end", thing, "customization mine: GetReplicas: "},
		{"a name", "replicaRevision", "function ReviseReplica(o) o.metadata.name = o.spec.password return o end", thing, "customization mine: ReviseReplica: "},
		{"a selector", "dependencyInterpretation", "function GetDependencies(o) return {{apiVersion = 'v1', kind = 'Pod', labelSelector = {matchLabels = {['/' .. o.spec.password] = ''}}}} end", thing, "customization mine: GetDependencies: "},
		{"the object itself", "replicaResource", "", deployment, "reading .spec.replicas: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := interpret.New(teach(t, "mine", things, tt.field, tt.script))
			ask := func(in *interpret.Interpreter) error {
				_, _, _, replicas := in.Replicas(tt.obj)
				_, dependencies := in.Dependencies(tt.obj)
				var revision error
				if tt.field == "replicaRevision" {
					_, revision = in.Revise(tt.obj, 1)
				}
				return errors.Join(replicas, dependencies, revision)
			}
			loud, quiet := ask(in), ask(in.Hushed())
			if loud == nil || !strings.Contains(loud.Error(), tt.says) || !strings.Contains(loud.Error(), canary) {
				t.Errorf("it says %v, want %s and the value", loud, tt.says)
			}
			by, _, _ := strings.Cut(tt.says, "line")
			if quiet == nil || strings.Contains(quiet.Error(), canary) || !strings.Contains(quiet.Error(), "why is not said") || tt.obj["kind"] == "Thing" && !strings.Contains(quiet.Error(), by) {
				t.Errorf("hushed it says %v", quiet)
			}
		})
	}
}
