package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/energy"
)

func budgetCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "show what the cluster may draw, also by the hour; administrators state it",
		Long: `A budget is the most watts that the cluster, or the nodes with a label, may draw: always, or within a
window of time. Under a budget vjobs get less CPU, down to the floor that they were submitted with
(vjob submit --floor); then the last in the queue are suspended. docs/explanation/energy.md explains it.

Users see the limits, and which vjobs of theirs stop or wait for power.`,
		Example: `  vjob budget set 12kW
  vjob budget set 6kW --from 18:00 --to 08:00 --days Mo-Fr
  vjob budget set 3kW --group rack=r1
  vjob budget show
  vjob budget clear --group rack=r1`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return showBudgets(cmd.Context(), a) },
	}
	cmd.AddCommand(budgetShowCommand(a), budgetSetCommand(a), budgetClearCommand(a))
	return cmd
}

func budgetShowCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "what may be drawn, what is, and what will have to stop", Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return showBudgets(cmd.Context(), a) },
	}
}

// window is when a budget holds, by flags.
type window struct{ from, to, days, dates, when string }

// text is the window in the language of the settings.
func (w *window) text() (string, error) {
	if w.when != "" {
		if w.from+w.to+w.days+w.dates != "" {
			return "", cluster.Fault("--when", "--when states the whole window and excludes --from, --to, --days and --dates")
		}
		return w.when, nil
	}
	if (w.from == "") != (w.to == "") {
		return "", cluster.Fault("--from", "one of --from and --to given, want both, such as --from 18:00 --to 08:00")
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

func budgetSetCommand(a *cli.App) *cobra.Command {
	var w window
	var group string
	cmd := &cobra.Command{
		Use:   "set WATTS",
		Short: "state a budget; one that was stated for the same nodes and times is replaced",
		Args:  cli.Arguments(1, "watts, such as 350W or 12kW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			power, err := energy.ParseWatts(args[0])
			if err != nil {
				return err
			}
			when, err := w.text()
			if err != nil {
				return err
			}
			last := 0
			set := func(list []wire.Budget) ([]wire.Budget, error) {
				list = slices.DeleteFunc(list, func(o wire.Budget) bool { return o.Group == group && o.When == when })
				last = len(list)
				return append(list, wire.Budget{Watts: float64(power), Group: group, When: when}), nil
			}
			return byFlag(changeBudgets(cmd.Context(), a, set), last)
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

func budgetClearCommand(a *cli.App) *cobra.Command {
	var group string
	cmd := &cobra.Command{
		Use: "clear", Short: "take back what was stated, for all or for one group; budgets of the settings stay", Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			one := cmd.Flags().Changed("group")
			return changeBudgets(cmd.Context(), a, func(list []wire.Budget) ([]wire.Budget, error) {
				rest := slices.DeleteFunc(slices.Clone(list), func(b wire.Budget) bool { return !one || b.Group == group })
				if one && len(rest) == len(list) {
					return nil, cluster.BadField("--group", group, "nodes for which a budget was stated; vjob budget show lists them")
				}
				return rest, nil
			})
		},
	}
	cmd.Flags().StringVar(&group, "group", "", "only those of this `LABEL=VALUE`; \"\" is the cluster itself")
	return cmd
}

// byFlag returns an error about a budget of a list with the name of its flag: users see no
// list on the command line.
func byFlag(err error, at int) error {
	var told *client.Error
	if !errors.As(err, &told) {
		return err
	}
	key, ours := strings.CutPrefix(told.Field, fmt.Sprintf("budgets[%d].", at))
	flag, known := map[string]string{"watts": "watts", "group": "--group", "when": "the window"}[key]
	if !ours || !known {
		return err
	}
	said := *told
	said.Field, said.Message = flag, strings.Replace(told.Message, told.Field, flag, 1)
	return &said
}

// changeBudgets reads the budgets, changes and sends them, and shows the result.
func changeBudgets(ctx context.Context, a *cli.App, change func([]wire.Budget) ([]wire.Budget, error)) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	var next wire.BudgetsChange
	err = c.ChangeBudgets(ctx, func(stated []wire.Budget) (wire.BudgetsChange, error) {
		list, err := change(stated)
		next = wire.BudgetsChange{Budgets: append([]wire.Budget{}, list...)} // a list in any case
		return next, err
	})
	if err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(next)
	}
	return printBudgets(ctx, a, c)
}

func showBudgets(ctx context.Context, a *cli.App) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	return printBudgets(ctx, a, c)
}

func printBudgets(ctx context.Context, a *cli.App, c *client.Client) error {
	now, err := c.Budgets(ctx)
	if err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(now)
	}
	var b strings.Builder
	if len(now.Settings)+len(now.Stated) == 0 {
		b.WriteString("no budgets\n")
	} else if err := budgetTable(&now).Write(&b, a.Width()); err != nil {
		return err
	}
	if len(now.Limits) > 0 {
		b.WriteString("\nnow\n")
		if err := limitTable(now.Limits).Write(&b, a.Width()); err != nil {
			return err
		}
	}
	if len(now.Changes) > 0 {
		b.WriteString("\nto come\n")
		shown := now.Changes[:min(len(now.Changes), shownChanges)]
		if err := changeTable(shown).Write(&b, a.Width()); err != nil {
			return err
		}
		if n := len(now.Changes); n > len(shown) {
			fmt.Fprintf(&b, "and %d more until %s; -o json has them all\n", n-len(shown), display.Moment(&now.Changes[n-1].At))
		}
	}
	if len(now.Waits) > 0 {
		fmt.Fprintf(&b, "\nwaiting for power: %s\n", numbers(now.Waits))
	}
	_, err = io.WriteString(a.Out, b.String())
	return err
}

// groupName formats the group of a budget.
func groupName(group string) string { return cmp.Or(group, "the cluster") }

func budgetTable(now *wire.Budgets) *display.Table {
	t := &display.Table{Heads: display.Heads(">BUDGET FOR WHEN STATED_BY")}
	for _, b := range now.Settings {
		t.Row(display.Watts(b.Watts), groupName(b.Group), cmp.Or(b.When, "otherwise"), "the settings")
	}
	by := cmp.Or(now.StatedBy, "administrators")
	if now.StatedAt != nil {
		by += ", " + display.Moment(now.StatedAt)
	}
	for _, b := range now.Stated {
		t.Row(display.Watts(b.Watts), groupName(b.Group), cmp.Or(b.When, "otherwise"), by)
	}
	return t
}

func limitTable(limits []wire.Limit) *display.Table {
	t := &display.Table{Heads: display.Heads("FOR >BUDGET >DRAWN >AT_MOST NOTE")}
	for _, l := range limits {
		var notes []string
		if l.ShortWatts > 0 {
			notes = append(notes, fmt.Sprintf("its nodes draw %s more without any vjob", display.Watts(l.ShortWatts)))
		}
		if l.Nodes+l.UnknownNodes == 0 {
			notes = append(notes, "no node has this label any more: without effect")
		}
		if l.UnknownNodes > 0 {
			notes = append(notes, cluster.Count(l.UnknownNodes, "node")+" of unknown power not counted")
		}
		t.Row(groupName(l.Group), display.Watts(l.Watts), display.Watts(l.DrawnWatts), display.Watts(l.MostWatts), display.Dash(strings.Join(notes, "; ")))
	}
	return t
}

// shownChanges is how many coming changes of the budgets are printed.
const shownChanges = 8

// numbers is "12,13".
func numbers(ids []int64) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(list, ",")
}

func changeTable(changes []wire.BudgetChange) *display.Table {
	t := &display.Table{Heads: display.Heads("AT BUDGETS STOP FROM")}
	for _, c := range changes {
		limits := make([]string, len(c.Limits))
		for i, l := range c.Limits {
			limits[i] = display.Watts(l.Watts)
			if l.Group != "" {
				limits[i] += " " + l.Group
			}
		}
		from := ""
		if len(c.Stops) > 0 {
			from = display.Moment(&c.From)
		}
		t.Row(display.Moment(&c.At), cmp.Or(strings.Join(limits, ", "), "none"), display.Dash(numbers(c.Stops)), display.Dash(from))
	}
	return t
}
