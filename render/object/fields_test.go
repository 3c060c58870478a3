package object_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/render/object"
)

type inlined struct {
	Kind string `json:"kind,omitempty"`
}

type Named struct {
	Name string `json:"name"`
}

func TestFields(t *testing.T) {
	of := reflect.TypeFor[struct {
		inlined `json:",inline"`
		Named   `json:"metadata,omitzero"`

		B      int  `json:"b"`
		A      *int `json:"a,omitempty"`
		Hidden int  `json:"-"`
		plain  int
	}]()
	want := []object.Field{
		{Name: "kind", Type: reflect.TypeFor[string]()},
		{Name: "metadata", Type: reflect.TypeFor[Named]()},
		{Name: "b", Type: reflect.TypeFor[int](), Required: true},
		{Name: "a", Type: reflect.TypeFor[*int]()},
	}
	if got := object.Fields(of); !slices.Equal(got, want) {
		t.Errorf("the fields are %+v, want %+v", got, want)
	}
	if got := object.FieldNames(of); !slices.Equal(got, []string{"kind", "metadata", "b", "a"}) {
		t.Errorf("the names are %q", got)
	}
}
