package energy

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/internal/chart"
)

// accountFlags are the flags of `vjob energy account`.
type accountFlags struct{ from, to, by, svg string }

func energyAccountCommand(a *cli.App) *cobra.Command {
	var f accountFlags
	cmd := &cobra.Command{
		Use:   "account",
		Short: "show the energy that vjobs have drawn over a time, and its cost",
		Long: `Adds up the energy that vjobs have drawn: their shares of what their nodes drew, by owner, project, queue or
vjob. What nodes have drawn for no vjob, because they were empty or off, stands on a line of its own, so that
the lines add up to what all nodes have drawn. By node it is what each node has drawn.

Whole hours of UTC count that begin in the time. Where there are prices (vjob price), COST is what the energy has
cost by them, and AT ONCE what it would have cost if no vjob had waited for a lower price (vjob submit
--flexible). Users see what their own vjobs have drawn.`,
		Example: `  vjob energy account --by project
  vjob energy account --from "2026-11-01 00:00" --to "2026-12-01 00:00" --by queue --svg november.svg`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return energyAccount(a, cmd, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "`TIME` of its beginning; a week before the end if not given")
	flags.StringVar(&f.to, "to", "", "`TIME` of its end; now if not given")
	flags.StringVar(&f.by, "by", "owner", "add up by `KEY`: owner, project, queue, vjob or node (administrators)")
	flags.StringVar(&f.svg, "svg", "", "draw the energy as bars into this `FILE`")
	return cmd
}

func energyAccount(a *cli.App, cmd *cobra.Command, f *accountFlags) error {
	from, err := cli.ParseMomentFlag("--from", f.from, nil, a.Now())
	if err != nil {
		return err
	}
	to, err := cli.ParseMomentFlag("--to", f.to, nil, a.Now())
	if err != nil {
		return err
	}
	svg, err := cli.Writable("--svg", f.svg)
	if err != nil {
		return err
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	account, err := c.Energy(cmd.Context(), from, to, f.by)
	if err != nil {
		return err
	}
	if err := svg.Write(func(w io.Writer) error { return chart.WriteAmounts(w, accountFigure(&account)) }); err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(account)
	}
	return printAccount(a, &account)
}

func printAccount(a *cli.App, account *wire.EnergyAccount) error {
	var b strings.Builder
	display.Facts(&b, [][2]string{{"hours", fmt.Sprintf("from %s until %s", display.Moment(&account.From), display.Moment(&account.Until))}})
	b.WriteByte('\n')
	if err := accountTable(account).Write(&b, a.Width()); err != nil {
		return err
	}
	if left := account.Total.UnpricedJoules; left > 0 {
		fmt.Fprintf(&b, "\nthe price of %s is not known: costs are without it\n", display.KWh(left))
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// unusedName is what energy is called that was drawn for no vjob.
const unusedName = "(no vjob)"

func accountTable(account *wire.EnergyAccount) *display.Table {
	words := strings.ToUpper(cmp.Or(account.By, "name")) + " >ENERGY >PART"
	if account.Unit != "" {
		words += fmt.Sprintf(" >%[1]s >%[1]s_AT_ONCE", account.Unit)
	}
	t := &display.Table{Heads: display.Heads(words)}
	add := func(name string, l *wire.EnergyLine) {
		part := "-"
		if account.Total.Joules > 0 {
			part = display.Percent(l.Joules / account.Total.Joules)
		}
		cells := []string{name, display.KWh(l.Joules), part}
		if account.Unit != "" {
			cells = append(cells, cost(l.Cost), cost(l.CostAtOnce))
		}
		t.Row(cells...)
	}
	for i := range account.Lines {
		add(cmp.Or(account.Lines[i].Name, "(none)"), &account.Lines[i])
	}
	if account.Unused != nil {
		add(unusedName, account.Unused)
	}
	add("all", &account.Total)
	return t
}

// cost is an amount of money or carbon.
func cost(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}

func accountFigure(account *wire.EnergyAccount) *chart.Amounts {
	day := func(t time.Time) string { return display.Moment(&t) }
	b := &chart.Amounts{
		Title:    "Energy by " + account.By,
		Subtitle: fmt.Sprintf("from %s until %s: %s", day(account.From), day(account.Until), display.KWh(account.Total.Joules)), Unit: "kWh",
	}
	add := func(name string, l *wire.EnergyLine, aside bool) {
		b.Amounts = append(b.Amounts, chart.Amount{Name: name, Value: l.Joules / 3.6e6, Text: display.KWh(l.Joules), Secondary: aside})
	}
	for i := range account.Lines {
		add(cmp.Or(account.Lines[i].Name, "(none)"), &account.Lines[i], false)
	}
	if account.Unused != nil {
		add(unusedName, account.Unused, true)
	}
	return b
}
