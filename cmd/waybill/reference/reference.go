// Package reference is what every command says of itself, as docs/commands.md has it.
package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Markdown is the page of a command and of those below it.
func Markdown(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# The commands\n\nThis page is what the commands say of themselves; `make docs` writes it.\n")
	fmt.Fprintf(&b, "Flags that every command has:\n\n```\n%s```\n", root.PersistentFlags().FlagUsages())
	describe(&b, root)
	return b.String()
}

// describe adds the commands below one, which are not hidden, in the order of their names.
func describe(b *strings.Builder, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if !cmd.IsAvailableCommand() || cmd.Name() == "help" {
			continue
		}
		heading := "##"
		if parent.HasParent() {
			heading = "###"
		}
		fmt.Fprintf(b, "\n%s %s\n\n```\n", heading, cmd.CommandPath())
		about, use := cmd.Long, cmd.UseLine()
		if about == "" {
			about = cmd.Short + "."
		}
		fmt.Fprintf(b, "%s\n\n%s\n", strings.TrimSpace(about), use)
		if cmd.Example != "" {
			fmt.Fprintf(b, "\nExamples:\n%s\n", cmd.Example)
		}
		if own := ownFlags(cmd); own.HasAvailableFlags() {
			fmt.Fprintf(b, "\nFlags:\n%s", own.FlagUsages())
		}
		b.WriteString("```\n")
		describe(b, cmd)
	}
}

// ownFlags are the flags of a command that not every command has.
func ownFlags(cmd *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			own.AddFlag(f)
		}
	})
	return own
}
