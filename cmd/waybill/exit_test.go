package main

import (
	"errors"
	"testing"
)

// TestWhichStatusAnErrorEndsWith: that which it has itself, with or without a message, and otherwise the command's.
func TestWhichStatusAnErrorEndsWith(t *testing.T) {
	wrong := errors.New("wrong")
	for name, tt := range map[string]struct {
		err  error
		code int
		says string
	}{
		"an error":          {wrong, 2, "wrong"},
		"one with a status": {&exitError{code: 3, err: wrong}, 3, "wrong"},
		"one with a status, of which all was said":   {&exitError{code: 3}, 3, "exit status 3"},
		"one of which all was said":                  {errSilent, 1, "exit status 1"},
		"one with a status, among others that count": {errors.Join(&exitError{code: 4, err: wrong}), 4, "wrong"},
	} {
		err := failure(2, tt.err)
		e, ok := errors.AsType[*exitError](err)
		if !ok || e.code != tt.code || err.Error() != tt.says || errors.Is(err, wrong) != (tt.says == "wrong") {
			t.Errorf("%s: it ends with %+v, want %d and %q", name, err, tt.code, tt.says)
		}
	}
	if err := failure(2, nil); err != nil {
		t.Errorf("no error ends with %v", err)
	}
}
