package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

// eventKinds are the kinds that can be asked for.
var eventKinds = []string{"submitted", "state", "plan", "action", "node", "alarm"}

func (a *app) eventsCommand() *cobra.Command {
	var follow bool
	var kinds []string
	var vjob string
	q := client.EventQuery{Latest: true}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "print what has happened, or happens",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, k := range kinds {
				if !slices.Contains(eventKinds, k) {
					return cluster.BadField("--kind", k, "one of "+strings.Join(eventKinds, ", "))
				}
			}
			if q.Limit < 1 {
				return cluster.BadField("--limit", q.Limit, "1 or more")
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			if vjob != "" {
				if q.VJob, err = resolve(cmd.Context(), c, vjob); err != nil {
					return err
				}
			}
			q.Latest = q.After == 0
			if follow {
				return a.followEvents(cmd.Context(), c, q, kinds)
			}
			list, err := c.Events(cmd.Context(), q)
			if err != nil {
				return err
			}
			list.Events = ofKinds(list.Events, kinds)
			return a.show(list, func() *table { return eventTable(list.Events) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "go on as things happen")
	flags.StringSliceVar(&kinds, "kind", nil, "only these `KINDS`: "+strings.Join(eventKinds, ", "))
	flags.StringVar(&vjob, "vjob", "", "only those of this `VJOB`")
	flags.Int64Var(&q.After, "after", 0, "only those after this `NUMBER`, earliest first")
	flags.IntVarP(&q.Limit, "limit", "n", 200, "at most so many from the past")
	complete(cmd, "kind", eventKinds...)
	return cmd
}

// followEvents prints some of the past, then what happens until the context ends.
func (a *app) followEvents(ctx context.Context, c *client.Client, q client.EventQuery, kinds []string) error {
	if q.After == 0 {
		past, err := c.Events(ctx, q)
		if err != nil {
			return err
		}
		if err := a.printEvents(ofKinds(past.Events, kinds)); err != nil {
			return err
		}
		q.After = past.Last
	}
	q.Latest = q.After == 0
	for event, err := range c.Follow(ctx, q) {
		if err != nil {
			return err
		}
		if err := a.printEvents(ofKinds([]wire.Event{event}, kinds)); err != nil {
			return err
		}
	}
	return nil
}

// printEvents prints one line for each event.
func (a *app) printEvents(events []wire.Event) error {
	for _, e := range events {
		if a.json() {
			if err := printJSON(a.out, e, false); err != nil {
				return err
			}
			continue
		}
		kind := fmt.Sprintf("%-9s", clean(e.Kind))
		if a.colours() {
			kind = coloured(colourOf[e.Kind], kind)
		}
		if _, err := fmt.Fprintf(a.out, "%s  %s  %s\n", moment(&e.At), kind, clean(told(&e))); err != nil {
			return err
		}
	}
	return nil
}

// ofKinds keeps the events of the kinds; no kinds keep all.
func ofKinds(events []wire.Event, kinds []string) []wire.Event {
	if len(kinds) == 0 {
		return events
	}
	kept := []wire.Event{}
	for _, e := range events {
		if slices.Contains(kinds, e.Kind) {
			kept = append(kept, e)
		}
	}
	return kept
}

// about is what an event is about.
func about(e *wire.Event) string {
	switch {
	case e.VM != "":
		return "VM " + e.VM
	case e.VJob != 0:
		return "vjob " + strconv.FormatInt(e.VJob, 10)
	case e.Plan != 0:
		return "plan " + strconv.FormatInt(e.Plan, 10)
	case e.Node != "":
		return "node " + e.Node
	}
	return "cluster"
}

// told is an event in one line: its text, with what it is about in front unless
// the text says so.
func told(e *wire.Event) string {
	subject := about(e)
	if strings.Contains(e.Text, subject) || e.Plan != 0 && strings.HasPrefix(e.Text, "context switch") {
		return e.Text
	}
	return subject + ": " + e.Text
}

func eventTable(events []wire.Event) *table {
	t := &table{heads: heads(">EVENT TIME KIND ABOUT TEXT")}
	for i := range events {
		e := &events[i]
		t.row(strconv.FormatInt(e.Seq, 10), moment(&e.At), e.Kind, about(e), e.Text)
	}
	return t
}
