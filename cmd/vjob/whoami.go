package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "print who the daemon takes you for",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			who, err := c.Whoami(cmd.Context())
			if err != nil {
				return err
			}
			if a.json() {
				return printJSON(a.out, who, true)
			}
			_, err = fmt.Fprintf(a.out, "%s, role %s, by %s\n", clean(who.Name), clean(who.Role), clean(who.Via))
			return err
		},
	}
}
