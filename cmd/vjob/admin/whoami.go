package admin

import (
	"fmt"

	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func whoamiCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "print the account under which the daemon knows you",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			who, err := c.Whoami(cmd.Context())
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(who)
			}
			_, err = fmt.Fprintf(a.Out, "%s, role %s, by %s\n", display.Clean(who.Name), display.Clean(who.Role), display.Clean(who.Via))
			return err
		},
	}
}
