package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/kustomize"
)

var update = flag.Bool("update", false, "rewrite the golden sections of testdata")

// source makes a file system of the files of a scenario. Sections that begin with @ are
// what the scenario asks for and expects.
func source(a *txtar.Archive) (files fstest.MapFS, asked map[string]string) {
	files, asked = fstest.MapFS{}, map[string]string{}
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "@") {
			asked[f.Name] = string(f.Data)
		} else {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return files, asked
}

// decodedMap reads YAML as the sources are read: whole numbers are int64.
func decodedMap(t *testing.T, text string) map[string]any {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(asJSON, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// chartOf stands for a Helm engine: it shows what it is asked for.
func chartOf(c kustomize.HelmChart) ([]byte, error) {
	if c.Name == "broken" {
		return nil, errors.New("template: no such function")
	}
	if c.Name == "nothing" {
		return []byte("---\n# no manifests\n"), nil
	}
	asked, err := json.Marshal(c)
	return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\ndata:\n  asked: '%s'\n", c.ReleaseName, c.Namespace, asked), err
}

// outcome builds a scenario and writes down what comes of it.
func outcome(t *testing.T, a *txtar.Archive) (out, diags string) {
	t.Helper()
	files, asked := source(a)
	o := Options{Dir: strings.TrimSpace(asked["@dir"]), Inflate: chartOf}
	if _, ok := asked["@nocharts"]; ok {
		o.Inflate = nil
	}
	var said strings.Builder
	if text, ok := asked["@flux"]; ok {
		f, problems := kustomize.ReadFlux(decodedMap(t, text))
		for _, p := range problems {
			fmt.Fprintf(&said, "%v: %s\n", p.Severity, p.Message)
		}
		o.Dir, o.Overlay = f.Path, &f.Overlay
	}
	built, err := stream(files, o)
	if e, ok := errors.AsType[*Error](err); ok {
		for _, d := range e.Diags {
			fmt.Fprintln(&said, d)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return string(built), said.String()
}

func TestScenarios(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no scenarios", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out, diags := outcome(t, a)
			if *update {
				golden(t, name, a, out, diags)
				return
			}
			_, asked := source(a)
			if diff := cmp.Diff(asked["@out"], out); diff != "" {
				t.Errorf("@out (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(asked["@diagnostics"], diags); diff != "" {
				t.Errorf("@diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

func golden(t *testing.T, name string, a *txtar.Archive, out, diags string) {
	t.Helper()
	kept := a.Files[:0]
	for _, f := range a.Files {
		if f.Name != "@out" && f.Name != "@diagnostics" {
			kept = append(kept, f)
		}
	}
	a.Files = append(kept, txtar.File{Name: "@diagnostics", Data: []byte(diags)}, txtar.File{Name: "@out", Data: []byte(out)})
	if err := os.WriteFile(name, bytes.TrimRight(txtar.Format(a), " "), 0o600); err != nil {
		t.Fatal(err)
	}
}
