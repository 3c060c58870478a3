package plant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/survivors/plant"
)

// TestFile holds what is written for the bodies of a function, and which bugs that plants.
func TestFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body, want, bugs string
	}{
		{
			name: "a case", body: "if isNew { x = 1 }",
			want: "if switches.Holds(2, switches.Fails(3, isNew)) { if !switches.On(4) { x = 1 } }", bugs: "holds isNew, fails isNew, removed x = 1",
		},
		{
			name: "an error is dropped, and none is made up", body: "if err != nil { return err }",
			want: "if switches.Fails(2, err != nil) { return err }", bugs: "fails err != nil",
		},
		{
			name: "another pointer is no error", body: "if was != nil { return err }",
			want: "if switches.Holds(2, switches.Fails(3, was != nil)) { return err }", bugs: "holds was != nil, fails was != nil",
		},
		{
			name: "one of two conditions is forgotten, and a bound is moved", body: "return isNew && n < len(all)",
			want: "return switches.Holds(2, switches.Fails(3, switches.Holds(4, isNew) && switches.Holds(5, switches.Wider(6, n < len(all), n == len(all)))))",
			bugs: "holds isNew && n < len(all), fails isNew && n < len(all), holds isNew, holds n < len(all), bound n < len(all)",
		},
		{
			name: "what may do something is asked once", body: "return next() >= 1 || !(n >= 2)",
			want: "return switches.Holds(2, switches.Fails(3, switches.Fails(4, next() >= 1) || switches.Fails(5, !(switches.Narrower(6, n >= 2, n == 2)))))",
			bugs: "holds next() >= 1 || !(n >= 2), fails next() >= 1 || !(n >= 2), fails next() >= 1, fails !(n >= 2), bound n >= 2",
		},
		{
			name: "cases of a switch", body: "switch { case isNew: x++; default: defer done() }",
			want: "switch { case switches.Holds(2, switches.Fails(3, isNew)): if !switches.On(4) { x++ }; default: if !switches.On(5) { defer done() } }",
			bugs: "holds isNew, fails isNew, removed x++, removed defer done()",
		},
		{
			name: "what is received", body: "select { case <-done: stop(); case x = <-next: }",
			want: "select { case <-done: if !switches.On(2) { stop() }; case x = <-next: }", bugs: "removed stop()",
		},
		{name: "the compiler wants these", body: "y := 1; _ = y; panic(y)", want: "y := 1; _ = y; panic(y)"},
		{name: "a switch over a value, and a number that is returned", body: "switch n { case 1: return n + 1 }", want: "switch n { case 1: return n + 1 }"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const before, after = "package p\n\nfunc f() any {\n\t", "\n\treturn nil\n}\n"
			text, bugs, err := plant.File("p.go", []byte(before+tt.body+after), "example.com/switches", 2)
			if err != nil {
				t.Fatal(err)
			}
			want := before + tt.want + after
			if len(bugs) > 0 {
				want = strings.Replace(want, "package p", `package p; import switches "example.com/switches"`, 1)
			}
			if string(text) != want {
				t.Errorf("the text is\n%s\nwant\n%s", text, want)
			}
			var all []string
			for i, b := range bugs {
				all = append(all, fmt.Sprintf("%s %s", b.Kind, b.Text))
				if b.ID != i+2 || b.Line != 4 || b.File != "p.go" {
					t.Errorf("bug %d is %+v, want its number, and line 4 of p.go", i+2, b)
				}
			}
			if got := strings.Join(all, ", "); got != tt.bugs {
				t.Errorf("the bugs are %s, want %s", got, tt.bugs)
			}
		})
	}
	if _, _, err := plant.File("p.go", []byte("package"), "example.com/switches", 1); err == nil {
		t.Error("what is no Go is no error")
	}
}
