package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
)

func (a *app) sharesCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "shares",
		Aliases: []string{"share"},
		Short:   "show fair share: which part of the cluster is for whom, and who has used how much of late",
		Long: `Shows the accounts, projects with their users below them. FACTOR is what goes into the
priority of their vjobs: 1 for who has used nothing of late, 0.5 for who has used just
the part that is meant for him, and less for more. What was used counts for half after
each half-life.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Shares(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(list, func() *table { return shareTable(list.Shares) })
		},
	}
}

func shareTable(shares []wire.Share) *table {
	t := &table{heads: heads("ACCOUNT >SHARE >PART >CPU-HOURS >OF_ALL >FACTOR")}
	for i := range shares {
		s := &shares[i]
		depth := strings.Count(s.Account, "/")
		name := s.Account[strings.LastIndexByte(s.Account, '/')+1:]
		share, part := "-", "-"
		if s.Share > 0 || s.Part > 0 {
			share, part = trimmed(s.Share), percent(s.Part)
		}
		t.row(strings.Repeat("  ", depth)+name, share, part, trimmed(s.Used/3600), percent(s.Taken), fmt.Sprintf("%.2f", s.Factor))
	}
	return t
}
