package rendering

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// document is a manifest as a cluster would get it.
type document struct {
	Key    string // apiVersion, kind, namespace/name
	Source string // the file it is of, if it says so
	Object any    // as kubectl reads it
}

// documents reads a stream with kubectl's splitter. What is empty, or nothing but
// comments, is left out.
func documents(t *testing.T, stream string) []document {
	t.Helper()
	var all []document
	source := ""
	reader := kubeyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(stream)))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if said, ok := strings.CutPrefix(strings.TrimPrefix(string(text), "---\n"), "# Source: "); ok {
			source, _, _ = strings.Cut(said, "\n")
		}
		if d, ok := decode(t, text); ok {
			d.Source = source
			all = append(all, d)
		}
	}
}

func decode(t *testing.T, text []byte) (d document, ok bool) {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	if err == nil {
		err = kubejson.Unmarshal(data, &d.Object)
	}
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	if o, isMap := d.Object.(map[string]any); isMap {
		d.Key = key(o)
	}
	return d, d.Object != nil
}

func key(o map[string]any) string {
	meta, _ := o["metadata"].(map[string]any)
	return fmt.Sprint(o["apiVersion"], " ", o["kind"], " ", meta["namespace"], "/", meta["name"])
}

// same checks that two streams hold the same documents in the same order.
func same(t *testing.T, want, got []document) {
	t.Helper()
	if diff := cmp.Diff(keys(want), keys(got)); diff != "" {
		t.Fatalf("documents (-the program's +ours):\n%s", diff)
	}
	for i := range want {
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("%s (-the program's +ours):\n%s", want[i].Key, diff)
		}
	}
}

func keys(all []document) []string {
	var keys []string
	for _, d := range all {
		keys = append(keys, d.Key)
	}
	return keys
}
