// Package interpreting reads the files of a question to the rule for a kind: rules, objects, what clusters report, and the cases
// beside rules.
package interpreting

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/interpretation"
	"github.com/waybill-dev/waybill/render/object"
)

// Files say what is asked, by the names of files; empty for none.
type Files struct {
	Operation, Desired, Observed string
	Reports                      string // what clusters report
	Replicas                     int32
}

// Question reads what is asked.
func (f Files) Question(in io.Reader) (q interpretation.Question, err error) {
	q.Replicas = f.Replicas
	if q.Operation, err = interpretation.OperationOf(f.Operation); err != nil {
		return q, fmt.Errorf("--operation: %w", err)
	}
	if q.Desired, err = readObject(in, f.Desired); err != nil {
		return q, err
	}
	if q.Observed, err = readObject(in, f.Observed); err != nil {
		return q, err
	}
	q.Reports, err = readReports(in, f.Reports)
	return q, err
}

// A caseFile is customizations_tests.yaml.
type caseFile struct {
	Tests []struct {
		Operation string `json:"operation"`
		Desired   string `json:"desiredInputPath"`
		Observed  string `json:"observedInputPath"`
		Status    string `json:"statusInputPath"`
		Replicas  int32  `json:"desiredReplicas"`
		Result    any    `json:"result"`
	} `json:"tests"`
}

// Cases reads the cases beside a file; none where there is no file of cases.
func Cases(name string) ([]interpretation.Case, error) {
	dir := filepath.Dir(name)
	path := filepath.Join(dir, "customizations_tests.yaml")
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || name == "-" {
		return nil, nil
	}
	var file caseFile
	if err == nil {
		err = yaml.Unmarshal(data, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the cases: %s: %w", path, err)
	}
	in := func(name string) string {
		if name == "" {
			return ""
		}
		return filepath.Join(dir, name)
	}
	var cases []interpretation.Case
	for i, t := range file.Tests {
		one := Files{Operation: t.Operation, Desired: in(t.Desired), Observed: in(t.Observed), Reports: in(t.Status), Replicas: t.Replicas}
		q, err := one.Question(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: case %d: %w", path, i+1, err)
		}
		cases = append(cases, interpretation.Case{Question: q, Name: fmt.Sprintf("%s: case %d", path, i+1), Want: t.Result})
	}
	return cases, nil
}

// readInput reads a file, or the standard input for -.
func readInput(in io.Reader, name string) ([]byte, error) {
	if name == "-" && in != nil {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}

// readObject reads the one object of a file; nil without a name.
func readObject(in io.Reader, name string) (map[string]any, error) {
	if name == "" {
		return nil, nil
	}
	data, err := readInput(in, name)
	if err != nil {
		return nil, err
	}
	d := object.Decode(name, data)
	if len(d.Objects) != 1 {
		return nil, fmt.Errorf("%s has %d objects; want one", name, len(d.Objects))
	}
	return d.Objects[0].Content(), nil
}

// readReports reads what clusters report; nil without a name.
func readReports(in io.Reader, name string) (all []karmada.AggregatedStatusItem, err error) {
	if name == "" {
		return nil, nil
	}
	data, err := readInput(in, name)
	if err != nil {
		return nil, err
	}
	err = eachDocument(data, func(doc []byte) error {
		var item karmada.AggregatedStatusItem
		if err := yaml.Unmarshal(doc, &item); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, item)
		return nil
	})
	return all, err
}

// eachDocument goes through the documents of a file that are not empty.
func eachDocument(data []byte, read func([]byte) error) error {
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		if err := read(doc); err != nil {
			return err
		}
	}
}
