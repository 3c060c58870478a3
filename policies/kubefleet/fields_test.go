package kubefleet

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestFieldsAreKubeFleets holds the Go type, by whose fields Read knows what there is, against the list of the
// CRD's fields.
func TestFieldsAreKubeFleets(t *testing.T) {
	data, err := os.ReadFile("testdata/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			want = append(want, strings.Join(strings.Fields(line), " "))
		}
	}
	spec, _ := reflect.TypeFor[StagedUpdateStrategy]().FieldByName("Spec")
	got := fieldsOf(spec, "")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the type has\n%s\nand KubeFleet\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// fieldsOf prints a field and those below it as the list has them.
func fieldsOf(f reflect.StructField, above string) []string {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	path, star := above+name, "*"
	if strings.Contains(options, "omitempty") {
		star = ""
	}
	of, kind := f.Type, ""
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	below := path + "."
	switch {
	case of == reflect.TypeFor[intstr.IntOrString]():
		return []string{star + path + " integer-or-string"}
	case of == reflect.TypeFor[metav1.Duration](), of.Kind() == reflect.String:
		return []string{star + path + " string"}
	case of.Kind() == reflect.Slice:
		kind, of, below = "array", of.Elem(), path+"[]."
	case of.Kind() == reflect.Map, of.Kind() == reflect.Struct:
		kind = "object"
	}
	all := []string{star + path + " " + kind}
	if of.Kind() == reflect.Struct {
		for f := range of.Fields() {
			all = append(all, fieldsOf(f, below)...)
		}
	}
	return all
}
