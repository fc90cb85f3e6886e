package admin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func sharesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "shares",
		Aliases: []string{"share"},
		Short:   "show fair share: the share of each user and project, and its recent usage",
		Long: `Shows the accounts, projects with their users below them. FACTOR enters the priority of
their vjobs: 1 without recent usage, 0.5 for usage equal to the share, and less for more.
Usage counts for half after each half-life.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.Shares(cmd.Context())
			if err != nil {
				return err
			}
			return a.Show(list, func() *display.Table { return shareTable(list.Shares) })
		},
	}
}

func shareTable(shares []wire.Share) *display.Table {
	t := &display.Table{Heads: display.Heads("ACCOUNT >SHARE >PART >CPU-HOURS >OF_ALL >FACTOR")}
	for i := range shares {
		s := &shares[i]
		depth := strings.Count(s.Account, "/")
		name := s.Account[strings.LastIndexByte(s.Account, '/')+1:]
		share, part := "-", "-"
		if s.Share > 0 || s.Part > 0 {
			share, part = display.Trimmed(s.Share), display.Percent(s.Part)
		}
		t.Row(strings.Repeat("  ", depth)+name, share, part, display.Trimmed(s.Used/3600), display.Percent(s.Taken), fmt.Sprintf("%.2f", s.Factor))
	}
	return t
}
