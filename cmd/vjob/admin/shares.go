package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func sharesCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "shares",
		Aliases: []string{"share"},
		Short:   "show fair share: the share of each user and project, and its recent usage",
		Long: `Shows the accounts, projects with their users below them. FACTOR enters the priority of
their vjobs: 1 without recent usage, 0.5 for usage equal to the share, and less for more.
Usage counts for half after each half-life.`,
	}
	return cli.ListCommand(a, cmd, shareColumns, func(ctx context.Context, c *client.Client) (any, []wire.Share, error) {
		list, err := c.Shares(ctx)
		return list, list.Shares, err
	})
}

// shareColumns are the columns of fair shares.
var shareColumns = []display.Field[wire.Share]{
	{Head: "ACCOUNT", Cell: func(s *wire.Share) any {
		depth := strings.Count(s.Account, "/")
		name := s.Account[strings.LastIndexByte(s.Account, '/')+1:]
		return display.Shown{Text: strings.Repeat("  ", depth) + name, Value: s.Account}
	}},
	{Head: ">SHARE", Cell: func(s *wire.Share) any { return ofShare(s, s.Share) }},
	{Head: ">PART", Cell: func(s *wire.Share) any { return ofShare(s, display.Share(s.Part)) }},
	{Head: ">CPU-HOURS", Cell: func(s *wire.Share) any { return s.Used / 3600 }},
	{Head: ">OF_ALL", Cell: func(s *wire.Share) any { return display.Share(s.Taken) }},
	{Head: ">FACTOR", Cell: func(s *wire.Share) any { return display.Shown{Text: fmt.Sprintf("%.2f", s.Factor), Value: s.Factor} }},
}

// ofShare is a value of an account that has a share; of others nil.
func ofShare(s *wire.Share, value any) any {
	if s.Share > 0 || s.Part > 0 {
		return value
	}
	return nil
}
