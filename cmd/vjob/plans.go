package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
)

func (a *app) plansCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "plans",
		Short: "list the context switches, latest first",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return cluster.BadField("--limit", limit, "1 or more")
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Plans(cmd.Context(), limit, 0)
			if err != nil {
				return err
			}
			return a.show(list, func() *table { return planTable(list.Plans) })
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 20, "at most so many")
	cmd.AddCommand(&cobra.Command{
		Use:   "show PLAN",
		Short: "show one context switch: its actions, dependencies, times and skews",
		Args:  arguments(1, "the number of a plan"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return cluster.BadField("plan", args[0], "the number of a plan (see vjob plans)")
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			plan, err := c.Plan(cmd.Context(), id)
			if err != nil {
				return err
			}
			if a.json() {
				return printJSON(a.out, plan, true)
			}
			return a.showPlan(&plan)
		},
	})
	return cmd
}

func planTable(plans []wire.Plan) *table {
	t := &table{heads: heads(">PLAN BEGAN STATE POLICY >ACTIONS >COST >ESTIMATED >TOOK NOTE")}
	for i := range plans {
		p := &plans[i]
		t.row(strconv.FormatInt(p.ID, 10), moment(&p.Began), p.State, p.Policy, strconv.Itoa(p.ActionCount),
			mib(p.CostMiB), span(seconds(p.MakespanSeconds)), took(p), p.Note)
	}
	return t
}

func took(p *wire.Plan) string {
	if p.Ended == nil {
		return "-"
	}
	return span(seconds(p.TookSeconds))
}

func (a *app) showPlan(p *wire.Plan) error {
	var b strings.Builder
	facts(&b, [][2]string{
		{"plan", strconv.FormatInt(p.ID, 10)},
		{"state", p.State},
		{"policy", p.Policy},
		{"began", moment(&p.Began)},
		{"ended", moment(p.Ended)},
		{"took", fmt.Sprintf("%s, estimated were %s", took(p), span(seconds(p.MakespanSeconds)))},
		{"cost", mib(p.CostMiB)},
		{"note", p.Note},
	})
	if len(p.Actions) > 0 {
		b.WriteByte('\n')
		t := actionTable(p.Actions)
		if a.colours() {
			t.paint = paint
		}
		if err := t.write(&b, a.width()); err != nil {
			return err
		}
	}
	if len(p.Skews) > 0 {
		b.WriteByte('\n')
		t := &table{heads: heads(">VJOB GANG >SKEW")}
		for _, s := range p.Skews {
			t.row(strconv.FormatInt(s.VJob, 10), s.Kind, span(seconds(s.Seconds)))
		}
		if err := t.write(&b, 0); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

func actionTable(actions []wire.Action) *table {
	t := &table{heads: heads(actionHeads + " STATE >TOOK NOTE")}
	for i := range actions {
		x := &actions[i]
		lasted := "-"
		if x.Began != nil && x.Ended != nil {
			lasted = span(x.Ended.Sub(*x.Began))
		}
		t.row(append(actionCells(x), x.State, lasted, x.Note)...)
	}
	return t
}

// actionHeads are the columns of an action that nobody has begun.
const actionHeads = ">ACTION WHAT VM FROM TO AFTER >ESTIMATED >COST"

func actionCells(x *wire.Action) []string {
	after := make([]string, len(x.After))
	for k, id := range x.After {
		after[k] = strconv.Itoa(id)
	}
	what := x.Kind
	if x.Live {
		what = "live " + what
	}
	if x.BytesPerSecond > 0 {
		what += " at " + cluster.Rate(x.BytesPerSecond).String()
	}
	return []string{
		strconv.Itoa(x.ID), what, x.VM, dash(x.From), dash(x.To), dash(strings.Join(after, ",")),
		fmt.Sprintf("%s…%s", span(seconds(x.StartSec)), span(seconds(x.EndSec))), mib(x.CostMiB),
	}
}
