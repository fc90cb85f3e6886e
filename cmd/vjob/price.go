package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
)

func (a *app) priceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "price",
		Short: "show what energy costs, in money or in carbon; administrators also state it",
		Long: `Shows what energy costs over time. vjobs that were submitted with --flexible wait for a lower price, and
vjob energy account tells what was saved by that.

A file of prices is CSV: a line "time,EUR/MWh", or with another unit such as gCO2/kWh, then a line for each
step: when it begins, with its zone, and the price. Steps are of equal length and have no gaps.`,
		Example: `  vjob price
  vjob price check tomorrow.csv
  vjob price set tomorrow.csv
  vjob price clear`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showPrices(cmd.Context()) },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "show", Short: "what energy costs now and in the next hours", Args: noArguments,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.showPrices(cmd.Context()) },
		},
		a.priceFileCommand("set FILE", "replace the prices that were stated by those of a file, or of the standard input: -", false),
		a.priceFileCommand("check FILE", "say what is wrong with the prices of a file, and change nothing", true),
		&cobra.Command{
			Use: "clear", Short: "take back the prices that were stated; those of the settings count again", Args: noArguments,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return a.changePrices(cmd.Context(), wire.PricesChange{})
			},
		},
	)
	return cmd
}

func (a *app) priceFileCommand(use, short string, check bool) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: arguments(1, "a file with prices, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := a.readInput(args[0])
			if err != nil {
				return err
			}
			if strings.TrimSpace(string(data)) == "" {
				return fmt.Errorf("%s is empty: vjob price clear takes prices back", args[0])
			}
			return a.changePrices(cmd.Context(), wire.PricesChange{CSV: string(data), Check: check})
		},
	}
}

// changePrices states prices, and shows what counts then.
func (a *app) changePrices(ctx context.Context, change wire.PricesChange) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	if err := c.SetPrices(ctx, change); err != nil || change.Check {
		return err
	}
	return a.printPrices(ctx, c)
}

func (a *app) showPrices(ctx context.Context) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	return a.printPrices(ctx, c)
}

func (a *app) printPrices(ctx context.Context, c *client.Client) error {
	p, err := c.Prices(ctx)
	if err != nil {
		return err
	}
	if a.json() {
		return printJSON(a.out, p, true)
	}
	if p.Unit == "" {
		_, err := fmt.Fprintln(a.out, "no prices")
		return err
	}
	var b strings.Builder
	stated := "in the settings"
	if p.StatedBy != "" {
		stated = fmt.Sprintf("stated by %s, %s", clean(p.StatedBy), moment(p.StatedAt))
	}
	now := "not known"
	if p.Now != nil {
		now = fmt.Sprintf("%s %s", trimmed(*p.Now), p.Unit)
	}
	step := time.Duration(p.StepSeconds) * time.Second
	facts(&b, [][2]string{
		{"prices", stated}, {"known", fmt.Sprintf("from %s until %s, in steps of %s", moment(p.From), moment(p.Until), step)}, {"now", now},
	})
	if t := comingPrices(&p, a.now()); len(t.rows) > 0 {
		b.WriteByte('\n')
		if err := t.write(&b, a.width()); err != nil {
			return err
		}
	}
	_, err = io.WriteString(a.out, b.String())
	return err
}

// How many of the next steps are shown, and how long the longest bar is.
const (
	comingSteps = 24
	longestBar  = 30
)

// comingPrices are the next steps with bars; prices below nothing have none.
func comingPrices(p *wire.Prices, now time.Time) *table {
	t := &table{heads: heads("FROM >" + p.Unit + " PRICE")}
	step := time.Duration(p.StepSeconds) * time.Second
	first := max(0, int(now.Sub(*p.From)/step))
	coming := p.Values[min(first, len(p.Values)):]
	coming = coming[:min(len(coming), comingSteps)]
	most := 0.0
	if len(coming) > 0 {
		most = slices.Max(coming)
	}
	for i, v := range coming {
		at := p.From.Add(time.Duration(first+i) * step)
		bar := ""
		if v > 0 {
			bar = strings.Repeat("█", max(1, int(math.Round(longestBar*v/most))))
		}
		t.row(moment(&at), trimmed(v), bar)
	}
	return t
}
