package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func recommendationsCommand(a *cli.App) *cobra.Command {
	var kind, state string
	var all bool
	var limit int
	cmd := &cobra.Command{
		Use:   "recommendations",
		Short: "list the changes that wait for approval",
		Long: `Lists the changes that wait for the approval of an administrator: where the settings say so
(automation), vjobs start, VMs leave crowded or drained nodes or move to where they draw less, and power
management switches nodes, only once that is approved. docs/how-to/approve-changes.md says more.`,
		Example: `  vjob recommendations
  vjob recommendations show 12
  vjob recommendations --all --kind balance
  vjob approve 12`,
		Args: cli.NoArguments,
	}
	var l *cli.Listing[wire.Recommendation]
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 1 {
			return cluster.BadField("--limit", limit, "1 or more")
		}
		if state == "" && !all {
			state = "pending"
		}
		c, err := a.Client()
		if err != nil {
			return err
		}
		list, err := c.Recommendations(cmd.Context(), kind, state, limit)
		if err != nil {
			return err
		}
		if len(list.Recommendations) == 0 && !a.Structured() {
			return writeNotMade(a.Out, list.NotMade)
		}
		return l.Show(list, list.Recommendations)
	}
	l = cli.List(a, cmd, recommendationColumns)
	flags := cmd.Flags()
	flags.StringVar(&kind, "kind", "", "only those of this `KIND`: start, balance, consolidate, drain or power")
	flags.StringVar(&state, "state", "", "only those in this `STATE`; default: pending")
	flags.BoolVar(&all, "all", false, "those that were decided on as well")
	flags.IntVarP(&limit, "limit", "n", 100, "at most so `MANY`")
	cmd.AddCommand(&cobra.Command{
		Use: "show NUMBER", Short: "show one recommendation: its changes, reason, benefit and cost", Args: cli.Arguments(1, "the number of a recommendation"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := recommendationNumber(args[0])
			if err != nil {
				return err
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.Recommendation(cmd.Context(), id)
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(r)
			}
			return showRecommendation(a.Out, &r)
		},
	})
	return cmd
}

// writeNotMade says that there are no recommendations, and why.
func writeNotMade(out io.Writer, list []wire.NotMade) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No recommendations match. vjob recommendations --all lists those of any kind and state.")
		return err
	}
	var b strings.Builder
	b.WriteString("No recommendations wait for approval.\n")
	for _, n := range list {
		fmt.Fprintf(&b, "%s: %s (see %s)\n", strings.Join(n.Kinds, ", "), display.Clean(n.Why), n.See)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func approveCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "approve NUMBER...", Short: "approve recommendations, which are then carried out",
		Long: `Approves recommendations, in the order of the arguments. A recommendation is compared with the present state first: if the
cluster has changed, it is refused, with what differs, and nothing is changed.`,
		Example: "  vjob approve 12 13", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return decideOn(cmd.Context(), a, args, func(ctx context.Context, id int64) (wire.Recommendation, error) {
				c, err := a.Client()
				if err != nil {
					return wire.Recommendation{}, err
				}
				return c.Approve(ctx, id)
			})
		},
	}
}

func rejectCommand(a *cli.App) *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: "reject NUMBER...", Short: "reject recommendations, which are not repeated for a while",
		Example: "  vjob reject 12 --why 'n4 is about to be replaced'", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return decideOn(cmd.Context(), a, args, func(ctx context.Context, id int64) (wire.Recommendation, error) {
				c, err := a.Client()
				if err != nil {
					return wire.Recommendation{}, err
				}
				return c.Reject(ctx, id, why)
			})
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "`REASON`, which others read")
	return cmd
}

// decideOn decides on one recommendation after the other, and goes on after one that fails.
func decideOn(ctx context.Context, a *cli.App, args []string, do func(context.Context, int64) (wire.Recommendation, error)) error {
	numbers := make([]int64, len(args))
	for i, arg := range args {
		var err error
		if numbers[i], err = recommendationNumber(arg); err != nil {
			return err
		}
	}
	done := wire.RecommendationList{Recommendations: []wire.Recommendation{}}
	var failed []error
	for _, id := range numbers {
		r, err := do(ctx, id)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		done.Recommendations = append(done.Recommendations, r)
	}
	if err := a.Show(done, func() *display.Table { return recommendationTable(done.Recommendations) }); err != nil {
		return err
	}
	return errors.Join(failed...)
}

func recommendationNumber(arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, cluster.BadField("recommendation", arg, "the number of a recommendation (see vjob recommendations)")
	}
	return id, nil
}

func recommendationTable(list []wire.Recommendation) *display.Table {
	return display.TableOf(recommendationColumns, list)
}

// recommendationColumns are the columns of recommendations.
var recommendationColumns = []display.Field[wire.Recommendation]{
	{Head: ">NUMBER", Cell: func(r *wire.Recommendation) any { return r.ID }},
	{Head: "KIND", Cell: func(r *wire.Recommendation) any { return r.Kind }},
	{Head: "STATE", Cell: func(r *wire.Recommendation) any { return r.State }},
	{Head: "MADE", Cell: func(r *wire.Recommendation) any { return r.At }},
	{Head: "EXPIRES", Level: display.Wide, Cell: func(r *wire.Recommendation) any { return r.Expires }},
	{Head: "EFFECT", Cell: func(r *wire.Recommendation) any { return effect(r) }},
	{Head: ">COST", Cell: func(r *wire.Recommendation) any {
		return display.Shown{Text: cpuTime(r.CostSeconds), Value: r.CostSeconds}
	}},
	{Head: "CHANGES", Cell: func(r *wire.Recommendation) any {
		if on := dependsOn(r); on != "" {
			return r.Changes + " (after " + on + ")"
		}
		return r.Changes
	}},
	{Head: "WHY", Cell: func(r *wire.Recommendation) any { return cmp.Or(r.Note, r.Reason) }},
}

// effect returns what a recommendation changes, such as "imbalance 0.42 to 0.08" or "310 W to 110 W".
func effect(r *wire.Recommendation) string {
	var parts []string
	if r.ImbalanceBefore != 0 || r.ImbalanceAfter != 0 {
		parts = append(parts, fmt.Sprintf("imbalance %.2f to %.2f", r.ImbalanceBefore, r.ImbalanceAfter))
	}
	if r.WattsBefore != 0 || r.WattsAfter != 0 {
		parts = append(parts, fmt.Sprintf("%.0f W to %.0f W", r.WattsBefore, r.WattsAfter))
	}
	return display.Dash(strings.Join(parts, ", "))
}

// cpuTime formats CPU seconds.
func cpuTime(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return display.Span(display.Seconds(seconds).Round(time.Second)) + " CPU"
}

func showRecommendation(out io.Writer, r *wire.Recommendation) error {
	var b strings.Builder
	decided := ""
	if r.By != "" {
		decided = fmt.Sprintf("%s, by %s", display.Moment(r.Decided), display.Clean(r.By))
	}
	plan := ""
	if r.Plan != 0 {
		plan = fmt.Sprintf("context switch %d", r.Plan)
	}
	display.Facts(&b, [][2]string{
		{"recommendation", strconv.FormatInt(r.ID, 10)},
		{"kind", r.Kind},
		{"state", r.State},
		{"note", display.Clean(r.Note)},
		{"made", display.Moment(&r.At)},
		{"expires", display.Moment(&r.Expires)},
		{"decided", decided},
		{"carried out by", plan},
		{"reason", display.Clean(r.Reason)},
		{"effect", effect(r)},
		{"benefit", cpuTime(r.BenefitSeconds)},
		{"cost", cpuTime(r.CostSeconds)},
		{"depends on", dependsOn(r)},
		{"switches on", display.Clean(strings.Join(r.On, ", "))},
		{"switches off", display.Clean(strings.Join(r.Off, ", "))},
	})
	if len(r.Moves) > 0 {
		b.WriteByte('\n')
		t := &display.Table{Heads: display.Heads("VM FROM TO")}
		for _, m := range r.Moves {
			t.Row(m.VM, display.Dash(m.From), m.To)
		}
		if err := t.Write(&b, 0); err != nil {
			return err
		}
	}
	if len(r.Prerequisites) > 0 {
		b.WriteByte('\n')
		t := &display.Table{Heads: display.Heads("CHANGE BEGINS_AFTER")}
		for i := range r.Prerequisites {
			t.Row(display.Clean(r.Prerequisites[i].Change), display.Clean(r.Prerequisites[i].After))
		}
		if err := t.Write(&b, 0); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// dependsOn names the recommendations that are applied before, such as "recommendations 3, 4".
func dependsOn(r *wire.Recommendation) string {
	numbers := make([]string, len(r.DependsOn))
	for i, id := range r.DependsOn {
		numbers[i] = strconv.FormatInt(id, 10)
	}
	switch len(numbers) {
	case 0:
		return ""
	case 1:
		return "recommendation " + numbers[0]
	}
	return "recommendations " + strings.Join(numbers, ", ")
}
