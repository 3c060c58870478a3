package interpreting_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-dev/waybill/cmd/waybill/interpreting"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// The cases beside a customization are asked as they are written, with the files that they name beside it.
func TestCases(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"desired.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wanted}\n",
		"observed.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: live}\n",
		"status.yaml":   "clusterName: eu\n---\nclusterName: us\n",
		"customizations_tests.yaml": `tests:
- {operation: ReviseReplica, desiredInputPath: desired.yaml, desiredReplicas: 3, result: {a: b}}
- {operation: AggregateStatus, observedInputPath: observed.yaml, statusInputPath: status.yaml}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := interpreting.Cases(filepath.Join(dir, "customizations.yaml"))
	if err != nil || len(cases) != 2 {
		t.Fatalf("there are %d cases, %v", len(cases), err)
	}
	first, second := &cases[0], &cases[1]
	if first.Operation != karmada.InterpreterOperationReviseReplica || first.Replicas != 3 || first.Desired == nil || first.Observed != nil || first.Want == nil {
		t.Errorf("the first is %+v", first)
	}
	if second.Operation != karmada.InterpreterOperationAggregateStatus || second.Replicas != 0 || second.Observed == nil || len(second.Reports) != 2 {
		t.Errorf("the second is %+v", second)
	}
}
