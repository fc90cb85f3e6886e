package admin

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
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func priceCommand(a *cli.App) *cobra.Command {
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
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return showPrices(cmd.Context(), a) },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "show", Short: "what energy costs now and in the next hours", Args: cli.NoArguments,
			RunE: func(cmd *cobra.Command, _ []string) error { return showPrices(cmd.Context(), a) },
		},
		priceFileCommand(a, "set FILE", "replace the prices that were stated by those of a file, or of the standard input: -", false),
		priceFileCommand(a, "check FILE", "say what is wrong with the prices of a file, and change nothing", true),
		&cobra.Command{
			Use: "clear", Short: "take back the prices that were stated; those of the settings count again", Args: cli.NoArguments,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return changePrices(cmd.Context(), a, wire.PricesChange{})
			},
		},
	)
	return cmd
}

func priceFileCommand(a *cli.App, use, short string, check bool) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cli.Arguments(1, "a file with prices, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := a.ReadInput(args[0])
			if err != nil {
				return err
			}
			if strings.TrimSpace(string(data)) == "" {
				return cluster.BadField(args[0], "an empty file", "a line \"time,EUR/MWh\", then one for each step; vjob price clear takes prices back")
			}
			return changePrices(cmd.Context(), a, wire.PricesChange{CSV: string(data), Check: check})
		},
	}
}

// changePrices states prices, and shows what counts then.
func changePrices(ctx context.Context, a *cli.App, change wire.PricesChange) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	if err := c.SetPrices(ctx, change); err != nil || change.Check {
		return err
	}
	return printPrices(ctx, a, c)
}

func showPrices(ctx context.Context, a *cli.App) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	return printPrices(ctx, a, c)
}

func printPrices(ctx context.Context, a *cli.App, c *client.Client) error {
	p, err := c.Prices(ctx)
	if err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(p)
	}
	if p.Unit == "" {
		_, err := fmt.Fprintln(a.Out, "no prices")
		return err
	}
	var b strings.Builder
	stated := "in the settings"
	if p.StatedBy != "" {
		stated = fmt.Sprintf("stated by %s, %s", display.Clean(p.StatedBy), display.Moment(p.StatedAt))
	}
	now := "not known"
	if p.Now != nil {
		now = fmt.Sprintf("%s %s", display.Trimmed(*p.Now), p.Unit)
	}
	step := time.Duration(p.StepSeconds) * time.Second
	display.Facts(&b, [][2]string{
		{"prices", stated}, {"known", fmt.Sprintf("from %s until %s, in steps of %s", display.Moment(p.From), display.Moment(p.Until), step)}, {"now", now},
	})
	if t := comingPrices(&p, a.Now()); len(t.Rows) > 0 {
		b.WriteByte('\n')
		if err := t.Write(&b, a.Width()); err != nil {
			return err
		}
	}
	_, err = io.WriteString(a.Out, b.String())
	return err
}

// How many of the next steps are shown, and how long the longest bar is.
const (
	comingSteps = 24
	longestBar  = 30
)

// comingPrices are the next steps with bars; prices below nothing have none.
func comingPrices(p *wire.Prices, now time.Time) *display.Table {
	t := &display.Table{Heads: display.Heads("FROM >" + p.Unit + " PRICE")}
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
		t.Row(display.Moment(&at), display.Trimmed(v), bar)
	}
	return t
}
