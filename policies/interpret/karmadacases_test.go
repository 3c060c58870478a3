package interpret_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/lua"
	"github.com/waybill-dev/waybill/policies/interpret/thirdparty"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// A karmadaCase is one of customizations_tests.yaml: an operation and the files that it is given.
type karmadaCase struct {
	Operation         string `json:"operation"`
	DesiredInputPath  string `json:"desiredInputPath"`
	ObservedInputPath string `json:"observedInputPath"`
	StatusInputPath   string `json:"statusInputPath"`
	DesiredReplicas   int32  `json:"desiredReplicas"`
}

// TestCasesOfKarmada asks Karmada's own cases of the kinds of other projects, all operations. They
// come without answers: Karmada holds that none is an error. What its scripts answer here is
// held to what plain Lua makes of them.
func TestCasesOfKarmada(t *testing.T) {
	t.Parallel()
	files := thirdparty.Karmada()
	suites, err := fs.Glob(files, "*/*/*/customizations_tests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	right, all := map[string]int{}, map[string]int{}
	for _, name := range suites {
		var suite struct{ Tests []karmadaCase }
		if err := yaml.Unmarshal(read(t, files, name), &suite); err != nil {
			t.Fatal(err)
		}
		s := karmadaSuite{t: t, files: files, dir: path.Dir(name), rules: rulesOf(t, files, path.Dir(name))}
		for i, c := range suite.Tests {
			c.Operation = strings.TrimSpace(c.Operation)
			all[c.Operation]++
			if err := s.check(c); err != nil {
				t.Errorf("%s, case %d, %s: %v", s.dir, i+1, c.Operation, err)
			} else {
				right[c.Operation]++
			}
		}
	}
	t.Logf("counted: %s's cases: %s", thirdparty.Source, counted(right, all))
}

// counted is how many of all are right, by name: "health 3 of 4, ...".
func counted(right, all map[string]int) string {
	names := make([]string, 0, len(all))
	for name, n := range all {
		names = append(names, fmt.Sprintf("%s %d of %d", name, right[name], n))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// karmadaSuite are the cases of one kind.
type karmadaSuite struct {
	t     *testing.T
	files fs.FS
	dir   string
	rules karmada.CustomizationRules
}

func rulesOf(t *testing.T, files fs.FS, dir string) karmada.CustomizationRules {
	t.Helper()
	var c karmada.ResourceInterpreterCustomization
	if err := yaml.Unmarshal(read(t, files, path.Join(dir, "customizations.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	return c.Spec.Customizations
}

// check asks the interpreter, which is to answer, and then the script itself, in our Lua and in
// plain Lua, which are to agree.
func (s *karmadaSuite) check(c karmadaCase) error {
	desired, observed := s.object(c.DesiredInputPath), s.object(c.ObservedInputPath)
	obj := desired
	if obj == nil {
		obj = observed
	}
	if by := interpret.New().Answered(obj, karmada.InterpreterOperation(c.Operation)); !strings.HasPrefix(by, thirdparty.Source+" ") {
		return fmt.Errorf("%q answers", by)
	}
	script, function, args := s.call(c, obj, desired, observed)
	if script == nil {
		return errors.New("the operation is unknown")
	}
	want, err := plainLua(script.LuaScript, function, args)
	if err != nil {
		return fmt.Errorf("plain Lua: %w", err)
	}
	code, err := lua.Compile(script.LuaScript)
	if err != nil {
		return err
	}
	got, err := code.Undated().Call(stubs, function, args...)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(lean(want), lean(got)); diff != "" {
		return fmt.Errorf("the answer is another than that of plain Lua (-want +got):\n%s", diff)
	}
	return s.answers(c, obj, desired, observed)
}

// call is the script of an operation, its function, and what that is given.
func (s *karmadaSuite) call(c karmadaCase, obj, desired, observed map[string]any) (script *karmada.LuaScript, function string, args []any) {
	switch karmada.InterpreterOperation(c.Operation) {
	case karmada.InterpreterOperationInterpretReplica:
		return s.rules.ReplicaResource, "GetReplicas", []any{obj}
	case karmada.InterpreterOperationInterpretComponent:
		return s.rules.ComponentResource, "GetComponents", []any{obj}
	case karmada.InterpreterOperationReviseReplica:
		return s.rules.ReplicaRevision, "ReviseReplica", []any{obj, int64(c.DesiredReplicas)}
	case karmada.InterpreterOperationInterpretDependency:
		return s.rules.DependencyInterpretation, "GetDependencies", []any{obj}
	case karmada.InterpreterOperationInterpretHealth:
		return s.rules.HealthInterpretation, "InterpretHealth", []any{obj}
	case karmada.InterpreterOperationInterpretStatus:
		return s.rules.StatusReflection, "ReflectStatus", []any{obj}
	case karmada.InterpreterOperationAggregateStatus:
		return s.rules.StatusAggregation, "AggregateStatus", []any{obj, s.statuses(c.StatusInputPath)}
	case karmada.InterpreterOperationRetain:
		return s.rules.Retention, "Retain", []any{desired, observed}
	case karmada.InterpreterOperationAll, karmada.InterpreterOperationPrune: // no case has them
	}
	return nil, "", nil
}

// answers asks the interpreter.
func (s *karmadaSuite) answers(c karmadaCase, obj, desired, observed map[string]any) (err error) {
	in := interpret.New()
	switch karmada.InterpreterOperation(c.Operation) {
	case karmada.InterpreterOperationInterpretReplica:
		_, _, _, err = in.Replicas(obj)
	case karmada.InterpreterOperationInterpretComponent:
		_, _, err = in.Components(obj)
	case karmada.InterpreterOperationReviseReplica:
		_, err = in.Revise(obj, c.DesiredReplicas)
	case karmada.InterpreterOperationInterpretDependency:
		_, err = in.Dependencies(obj)
	case karmada.InterpreterOperationInterpretHealth:
		if in.Health(obj) == karmada.ResourceUnknown {
			err = errors.New("its health is unknown")
		}
	case karmada.InterpreterOperationInterpretStatus:
		_, err = in.Reflect(obj)
	case karmada.InterpreterOperationAggregateStatus:
		var reports []karmada.AggregatedStatusItem
		if err = yaml.Unmarshal(marshalled(s.t, s.statuses(c.StatusInputPath)), &reports); err == nil {
			_, err = in.Aggregate(obj, reports)
		}
	case karmada.InterpreterOperationRetain:
		_, err = in.Retain(desired, observed)
	case karmada.InterpreterOperationAll, karmada.InterpreterOperationPrune: // no case has them
	}
	return err
}

// object reads an object; nil without a path.
func (s *karmadaSuite) object(name string) map[string]any {
	s.t.Helper()
	if name == "" {
		return nil
	}
	return documents(s.t, read(s.t, s.files, path.Join(s.dir, name)))[0].(map[string]any)
}

// statuses reads what clusters report.
func (s *karmadaSuite) statuses(name string) []any {
	s.t.Helper()
	if name == "" {
		return nil
	}
	return documents(s.t, read(s.t, s.files, path.Join(s.dir, name)))
}

func read(t *testing.T, files fs.FS, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// documents decodes the documents of a file, as manifests are decoded.
func documents(t *testing.T, data []byte) (all []any) {
	t.Helper()
	d := utilyaml.NewYAMLToJSONDecoder(bytes.NewReader(data))
	for {
		var doc map[string]any
		if err := d.Decode(&doc); err != nil {
			return all
		}
		all = append(all, whole(doc))
	}
}

func marshalled(t *testing.T, v any) []byte {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
