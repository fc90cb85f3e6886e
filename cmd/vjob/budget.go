package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/energy"
)

func (a *app) budgetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "show and state what the cluster may draw, also by the hour (administrators)",
		Long: `A budget is the most watts that the cluster, or the nodes with a label, may draw: always, or within a
window of time. Under a budget vjobs get less CPU, down to the floor that they were submitted with
(vjob submit --floor); then the last in the queue are suspended. docs/energy.md tells how.`,
		Example: `  vjob budget set 12kW
  vjob budget set 6kW --from 18:00 --to 08:00 --days Mo-Fr
  vjob budget set 3kW --group rack=r1
  vjob budget show
  vjob budget clear --group rack=r1`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showBudgets(cmd.Context()) },
	}
	cmd.AddCommand(a.budgetShowCommand(), a.budgetSetCommand(), a.budgetClearCommand())
	return cmd
}

func (a *app) budgetShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "what may be drawn, what is, and what will have to stop", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showBudgets(cmd.Context()) },
	}
}

// window is when a budget holds, by flags.
type window struct{ from, to, days, dates, when string }

// text is the window in the language of the settings.
func (w *window) text() (string, error) {
	if w.when != "" {
		if w.from+w.to+w.days+w.dates != "" {
			return "", cluster.BadField("--when", w.when, "the whole window, without --from, --to, --days and --dates")
		}
		return w.when, nil
	}
	if (w.from == "") != (w.to == "") {
		return "", cluster.BadField("--from", w.from, "both --from and --to, such as --from 18:00 --to 08:00")
	}
	var parts []string
	for _, part := range []string{w.dates, w.days} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if w.from != "" {
		parts = append(parts, w.from+"-"+w.to)
	}
	return strings.Join(parts, " "), nil
}

func (a *app) budgetSetCommand() *cobra.Command {
	var w window
	var group string
	cmd := &cobra.Command{
		Use:   "set WATTS",
		Short: "state a budget; one that was stated for the same nodes and times is replaced",
		Args:  arguments(1, "watts, such as 350W or 12kW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			power, err := energy.ParseWatts(args[0])
			if err != nil {
				return err
			}
			when, err := w.text()
			if err != nil {
				return err
			}
			return a.changeBudgets(cmd.Context(), func(list []wire.Budget) []wire.Budget {
				b := wire.Budget{Watts: float64(power), Group: group, When: when}
				if i := slices.IndexFunc(list, func(o wire.Budget) bool { return o.Group == group && o.When == when }); i >= 0 {
					list[i] = b
					return list
				}
				return append(list, b)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&w.from, "from", "", "from this `TIME` of day on, such as 18:00")
	flags.StringVar(&w.to, "to", "", "until this `TIME` of day; an earlier one is that of the next day")
	flags.StringVar(&w.days, "days", "", "on these `DAYS` of the week, such as Mo-Fr")
	flags.StringVar(&w.dates, "dates", "", "on these `DATES`, such as 2026-12-24..2027-01-02 or 12-24..01-02")
	flags.StringVar(&w.when, "when", "", "the whole `WINDOW`, in the language of the settings")
	flags.StringVar(&group, "group", "", "for the nodes with this `LABEL=VALUE`; without it for the cluster")
	return cmd
}

func (a *app) budgetClearCommand() *cobra.Command {
	var group string
	cmd := &cobra.Command{
		Use: "clear", Short: "take back what was stated, for all or for one group; budgets of the settings stay", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			one := cmd.Flags().Changed("group")
			return a.changeBudgets(cmd.Context(), func(list []wire.Budget) []wire.Budget {
				return slices.DeleteFunc(list, func(b wire.Budget) bool { return !one || b.Group == group })
			})
		},
	}
	cmd.Flags().StringVar(&group, "group", "", "only those of this `LABEL=VALUE`; \"\" is the cluster itself")
	return cmd
}

// changeBudgets reads the budgets, changes them and states them, and shows what holds
// then.
func (a *app) changeBudgets(ctx context.Context, change func([]wire.Budget) []wire.Budget) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	now, err := c.Budgets(ctx)
	if err != nil {
		return err
	}
	next := wire.BudgetsChange{Budgets: change(now.Stated)}
	if err := c.SetBudgets(ctx, next); err != nil {
		return err
	}
	if a.json() {
		return printJSON(a.out, next, true)
	}
	return a.printBudgets(ctx, c)
}

func (a *app) showBudgets(ctx context.Context) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	return a.printBudgets(ctx, c)
}

func (a *app) printBudgets(ctx context.Context, c *client.Client) error {
	now, err := c.Budgets(ctx)
	if err != nil {
		return err
	}
	if a.json() {
		return printJSON(a.out, now, true)
	}
	var b strings.Builder
	if len(now.Settings)+len(now.Stated) == 0 {
		b.WriteString("no budgets\n")
	} else if err := budgetTable(&now).write(&b, a.width()); err != nil {
		return err
	}
	if len(now.Limits) > 0 {
		b.WriteString("\nnow\n")
		if err := limitTable(now.Limits).write(&b, a.width()); err != nil {
			return err
		}
	}
	if len(now.Changes) > 0 {
		b.WriteString("\nto come\n")
		if err := changeTable(now.Changes).write(&b, a.width()); err != nil {
			return err
		}
	}
	_, err = io.WriteString(a.out, b.String())
	return err
}

// ofWhom is the group of a budget for people.
func ofWhom(group string) string { return cmp.Or(group, "the cluster") }

func budgetTable(now *wire.Budgets) *table {
	t := &table{heads: heads(">BUDGET FOR WHEN STATED_BY")}
	for _, b := range now.Settings {
		t.row(watts(b.Watts), ofWhom(b.Group), cmp.Or(b.When, "otherwise"), "the settings")
	}
	by := now.StatedBy
	if now.StatedAt != nil {
		by += ", " + moment(now.StatedAt)
	}
	for _, b := range now.Stated {
		t.row(watts(b.Watts), ofWhom(b.Group), cmp.Or(b.When, "otherwise"), by)
	}
	return t
}

func limitTable(limits []wire.Limit) *table {
	t := &table{heads: heads("FOR >BUDGET >DRAWN >AT_MOST NOTE")}
	for _, l := range limits {
		var notes []string
		if l.ShortWatts > 0 {
			notes = append(notes, fmt.Sprintf("its nodes draw %s more without any vjob", watts(l.ShortWatts)))
		}
		if l.UnknownNodes > 0 {
			notes = append(notes, count(l.UnknownNodes, "node")+" of unknown power not counted")
		}
		t.row(ofWhom(l.Group), watts(l.Watts), watts(l.DrawnWatts), watts(l.MostWatts), dash(strings.Join(notes, "; ")))
	}
	return t
}

func changeTable(changes []wire.BudgetChange) *table {
	t := &table{heads: heads("AT BUDGETS STOP FROM")}
	for _, c := range changes {
		limits := make([]string, len(c.Limits))
		for i, l := range c.Limits {
			limits[i] = watts(l.Watts)
			if l.Group != "" {
				limits[i] += " " + l.Group
			}
		}
		stops := make([]string, len(c.Stops))
		for i, id := range c.Stops {
			stops[i] = strconv.FormatInt(id, 10)
		}
		from := ""
		if len(stops) > 0 {
			from = moment(&c.From)
		}
		t.row(moment(&c.At), cmp.Or(strings.Join(limits, ", "), "none"), dash(strings.Join(stops, ",")), dash(from))
	}
	return t
}
