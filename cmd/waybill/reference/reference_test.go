package reference_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/reference"
)

// A page has commands and those below them, by their names, with their own flags; and none that is hidden, deprecated, does nothing
// by itself and by no other, or is the help.
func TestMarkdown(t *testing.T) {
	does := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "prog", Short: "The program"}
	root.PersistentFlags().Bool("everywhere", false, "of every command")
	one := &cobra.Command{Use: "one FILE", Short: "Does one", Long: "One does one thing.\n", Example: "  prog one a", Run: does}
	one.Flags().Int("size", 3, "how large")
	one.Flags().String("secret", "", "not shown")
	one.Flags().Bool("help", false, "help for one")
	if err := one.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	group := &cobra.Command{Use: "group", Short: "Has more"}
	group.PersistentFlags().Bool("grouped", false, "of the group")
	group.AddCommand(&cobra.Command{Use: "inner", Short: "Is inside", Run: does})
	root.AddCommand(
		one, group,
		&cobra.Command{Use: "hidden", Short: "Is hidden", Hidden: true, Run: does},
		&cobra.Command{Use: "old", Short: "Is old", Deprecated: "use one", Run: does},
		&cobra.Command{Use: "nothing", Short: "Does nothing"},
		&cobra.Command{Use: "help", Short: "Helps", Run: does},
	)
	const want = "# The commands\n\nThis page is what the commands say of themselves; `make docs` writes it.\n" +
		"Flags that every command has:\n\n```\n      --everywhere   of every command\n```\n" +
		"\n## prog group\n\n```\nHas more.\n\nprog group\n\nFlags:\n      --grouped   of the group\n```\n" +
		"\n### prog group inner\n\n```\nIs inside.\n\nprog group inner\n```\n" +
		"\n## prog one\n\n```\nOne does one thing.\n\nprog one FILE [flags]\n\nExamples:\n  prog one a\n\nFlags:\n      --size int   how large (default 3)\n```\n"
	if is := reference.Markdown(root); is != want {
		t.Errorf("the page is\n%s\nwant\n%s", is, want)
	}
}
