package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/exits"
)

// tellStatuses adds to the help of each command how it ends.
func tellStatuses(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		var b strings.Builder
		b.WriteString(cmd.Long)
		if cmd.Long == "" {
			b.WriteString(cmd.Short + ".")
		}
		b.WriteString("\n\nExit status:")
		for _, s := range exits.Statuses[cmd.Name()] {
			fmt.Fprintf(&b, "\n  %d  %s", s.Code, s.When)
		}
		cmd.Long = b.String()
	}
}

// strict has the commands that cobra brings refuse what they do not know.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args, cmd.RunE = cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				_, _, err := root.Find(args)
				return err
			}
		}
	}
}

// exitError ends the program with a status and, unless it is silent, a message.
type exitError struct {
	code int
	err  error // nil: everything was said
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// errSilent ends with status 1 after everything was said.
var errSilent = &exitError{code: 1}

// failure ends with a status for an error, unless that says which; nil for none.
func failure(code int, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	return &exitError{code: code, err: err}
}
