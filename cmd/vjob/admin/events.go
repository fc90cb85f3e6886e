package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/ctxswitch/journal"
)

// eventKinds are the kinds that can be asked for.
var eventKinds = journal.EventKinds()

func eventsCommand(a *cli.App) *cobra.Command {
	var follow bool
	var vjob string
	q := client.EventQuery{Latest: true}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "print what has happened, or happens",
		Args:  cli.NoArguments,
	}
	var l *cli.Listing[wire.Event]
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, k := range q.Kinds {
			if !slices.Contains(eventKinds, k) {
				return cluster.BadField("--kind", k, "one of "+strings.Join(eventKinds, ", "))
			}
		}
		if q.Limit < 1 {
			return cluster.BadField("--limit", q.Limit, "1 or more")
		}
		c, err := a.Client()
		if err != nil {
			return err
		}
		if vjob != "" {
			list, err := cli.Resolve(cmd.Context(), c, []string{vjob})
			if err != nil {
				return cluster.Renamed("--vjob", err)
			}
			if q.VJob = list[0].ID; list[0].Array {
				q.VJob, q.Array, q.Indexes = 0, list[0].ID, list[0].Indexes
			}
		}
		q.Latest = q.After == 0
		if follow && cmd.Flags().Changed("watch") {
			return cluster.Fault("--watch", "given beside --follow, want one of them")
		}
		if follow {
			return followEvents(cmd.Context(), a, c, q)
		}
		list, err := c.Events(cmd.Context(), q)
		if err != nil {
			return err
		}
		return l.Show(list, list.Events)
	}
	l = cli.List(a, cmd, display.EventFields)
	flags := cmd.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "go on as things happen")
	cli.WordsVar(flags, &q.Kinds, "kind", nil, "only these `KINDS`: "+strings.Join(eventKinds, ", "))
	flags.StringVar(&vjob, "vjob", "", "only those of this `VJOB`, or of an array or some vjobs of it")
	flags.Int64Var(&q.After, "after", 0, "only those after this `NUMBER`, earliest first")
	flags.IntVarP(&q.Limit, "limit", "n", 200, "at most so `MANY` from the past")
	cli.Complete(cmd, "kind", eventKinds...)
	return cmd
}

// followEvents prints some of the past, then what happens until the context ends.
func followEvents(ctx context.Context, a *cli.App, c *client.Client, q client.EventQuery) error {
	if q.After == 0 {
		past, err := c.Events(ctx, q)
		if err != nil {
			return err
		}
		if err := printEvents(a, past.Events); err != nil {
			return err
		}
		q.After = past.Last
	}
	q.Latest = q.After == 0
	for event, err := range c.Follow(ctx, q) {
		if err != nil {
			return err
		}
		if err := printEvents(a, []wire.Event{event}); err != nil {
			return err
		}
	}
	return nil
}

// printEvents prints one line for each event.
func printEvents(a *cli.App, events []wire.Event) error {
	for _, e := range events {
		if a.Structured() {
			if err := a.PrintLine(e); err != nil {
				return err
			}
			continue
		}
		kind := fmt.Sprintf("%-9s", display.Clean(e.Kind))
		if a.Colours() {
			kind = display.Coloured(display.ColourOf[e.Kind], kind)
		}
		if _, err := fmt.Fprintf(a.Out, "%s  %s  %s\n", display.Moment(&e.At), kind, display.Clean(display.Event(&e))); err != nil {
			return err
		}
	}
	return nil
}
