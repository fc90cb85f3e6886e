package admin

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func plansCommand(a *cli.App) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "plans",
		Short: "list the context switches, latest first",
	}
	cli.ListCommand(a, cmd, display.PlanFields, func(ctx context.Context, c *client.Client) (any, []wire.Plan, error) {
		if limit < 1 {
			return nil, nil, cluster.BadField("--limit", limit, "1 or more")
		}
		list, err := c.Plans(ctx, limit)
		return list, list.Plans, err
	})
	cmd.Flags().IntVarP(&limit, "limit", "n", 20, "at most so `MANY`")
	cmd.AddCommand(&cobra.Command{
		Use:   "show PLAN",
		Short: "show one context switch: its actions, dependencies, times and skews",
		Args:  cli.Arguments(1, "the number of a plan"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return cluster.BadField("plan", args[0], "the number of a plan (see vjob plans)")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			plan, err := c.Plan(cmd.Context(), id)
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(plan)
			}
			return showPlan(a, &plan)
		},
	})
	return cmd
}

func showPlan(a *cli.App, p *wire.Plan) error {
	var b strings.Builder
	display.Facts(&b, [][2]string{
		{"plan", strconv.FormatInt(p.ID, 10)},
		{"state", p.State},
		{"policy", p.Policy},
		{"began", display.Moment(&p.Began)},
		{"ended", display.Moment(p.Ended)},
		{"estimated", display.Span(display.Seconds(p.MakespanSeconds))},
		{"took", display.Took(p)},
		{"ratio", display.Ratio(p)},
		{"cost", display.MiB(p.CostMiB)},
		{"note", p.Note},
	})
	if len(p.Gangs) > 0 {
		b.WriteByte('\n')
		t := &display.Table{Heads: display.Heads(">VJOB GANG WHY")}
		for _, g := range p.Gangs {
			t.Row(strconv.FormatInt(g.VJob, 10), g.Kind, display.Dash(g.Why))
		}
		if err := t.Write(&b, a.Width()); err != nil {
			return err
		}
	}
	if len(p.Actions) > 0 {
		b.WriteByte('\n')
		t := actionTable(p.Actions)
		if a.Colours() {
			t.Paint = display.Paint
		}
		if err := t.Write(&b, a.Width()); err != nil {
			return err
		}
	}
	if len(p.Skews) > 0 {
		b.WriteByte('\n')
		t := &display.Table{Heads: display.Heads(">VJOB GANG >SKEW")}
		for _, s := range p.Skews {
			t.Row(strconv.FormatInt(s.VJob, 10), s.Kind, display.Span(display.Seconds(s.Seconds)))
		}
		if err := t.Write(&b, 0); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

func actionTable(actions []wire.Action) *display.Table {
	t := &display.Table{Heads: display.Heads(display.ActionHeads + " STATE >TOOK NOTE")}
	for i := range actions {
		x := &actions[i]
		lasted := "-"
		if x.Began != nil && x.Ended != nil {
			lasted = display.Span(x.Ended.Sub(*x.Began))
		}
		t.Row(append(display.ActionCells(x), x.State, lasted, x.Note)...)
	}
	return t
}
