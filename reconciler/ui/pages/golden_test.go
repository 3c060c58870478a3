package pages_test

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/ui/pages"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what pages show with a file: each after the line that says what was asked for.
func golden(t *testing.T, name string, shown ...page) {
	t.Helper()
	var b strings.Builder
	for _, p := range shown {
		b.WriteString("=== " + p.asked + "\n")
		write(&b, "", reflect.ValueOf(p.is))
	}
	file := "testdata/" + name + ".txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

// page is what a page shows, and what was asked for.
type page struct {
	asked string
	is    any
}

// write writes what is not empty of a value: a field a line, and what is short in one.
func write(b *strings.Builder, indent string, v reflect.Value) {
	for name, field := range fieldsOf(v) {
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if line, ok := inline(field); ok {
			fmt.Fprintf(b, "%s%s: %s\n", indent, name, line)
			continue
		}
		if field.Kind() == reflect.Struct {
			fmt.Fprintf(b, "%s%s\n", indent, name)
			write(b, indent+"  ", field)
			continue
		}
		for n := range field.Len() {
			if line, ok := inline(field.Index(n)); ok {
				fmt.Fprintf(b, "%s%s %d: %s\n", indent, name, n+1, line)
				continue
			}
			fmt.Fprintf(b, "%s%s %d\n", indent, name, n+1)
			write(b, indent+"  ", field.Index(n))
		}
	}
}

// fieldsOf are the fields of a struct that are not empty.
func fieldsOf(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for i := range v.NumField() {
			if is := v.Type().Field(i); is.IsExported() && !v.Field(i).IsZero() && !yield(is.Name, v.Field(i)) {
				return
			}
		}
	}
}

// inline writes a value that has room in a line.
func inline(v reflect.Value) (line string, ok bool) {
	switch is := v.Interface().(type) {
	case pages.Link:
		return strings.TrimSpace(is.Text + " <" + is.URL + ">"), true
	case pages.Mark:
		return is.Word + " " + is.Sign + " " + is.Tone, true
	case pages.Moment:
		return strings.TrimSpace(is.At + " (" + is.Ago + ")"), true
	}
	switch {
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		return fmt.Sprintf("%q", v.Interface()), true
	case v.Kind() == reflect.Slice:
		return "", false
	case v.Kind() == reflect.Struct:
		var parts []string
		for name, field := range fieldsOf(v) {
			part, ok := inline(field)
			if !ok {
				return "", false
			}
			parts = append(parts, name+" "+part)
		}
		line = strings.Join(parts, ", ")
		return line, len(line) <= 120
	}
	return fmt.Sprint(v.Interface()), true
}
