package lua

import "testing"

// TestAFailedRunLeavesNoMachine: a machine in which an error was raised, caught or not, or a limit
// was met, is used by no other call; any other one is.
func TestAFailedRunLeavesNoMachine(t *testing.T) {
	for body, again := range map[string]bool{
		"return 1":                                true,
		"return pcall(tostring, 1)":               true,
		"error('x')":                              false,
		"return pcall(error, 'x')":                false,
		"return xpcall(error, type)":              false,
		"while true do end":                       false,
		"pcall(function() while true do end end)": false,
		"return ('x'):rep(1e9)":                   false,
		"return function() end":                   false, // it cannot come back
	} {
		s, err := Compile("function F() " + body + " end")
		if err != nil {
			t.Fatal(err)
		}
		for len(idle) > 0 {
			<-idle
		}
		_, err = s.Call(Kube{}, "F")
		if kept := len(idle) == 1; kept != again {
			t.Errorf("%s: the machine is used again: %v (%v)", body, kept, err)
		}
	}
}
