package admin

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/ctxswitch/journal"
)

func alarmsCommand(a *cli.App) *cobra.Command {
	var kind string
	var ended bool
	var limit int
	cmd := &cobra.Command{
		Use:     "alarms",
		Aliases: []string{"alarm"},
		Short:   "list what needs an administrator, and what to do about it; acknowledge it (administrators)",
		Long: `Lists the open alarms: what needs an administrator because vjob cannot decide it safely. Below each stands what to
do next. An alarm ends by itself when its cause has ended. COUNT is how often it was raised, with at most an hour
in between.`,
		Example: `  vjob alarms
  vjob alarms ack 3 --comment "disk ordered"
  vjob alarms --ended --kind node-silent`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return cluster.BadField("--limit", limit, "1 or more")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.Alarms(cmd.Context(), kind, ended, limit)
			switch {
			case err != nil:
				return err
			case a.Structured():
				return a.Print(list)
			}
			return printAlarms(a, list.Alarms, ended)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kind, "kind", "", "only alarms of this `KIND`, such as node-silent")
	flags.BoolVar(&ended, "ended", false, "also those that have ended")
	flags.IntVar(&limit, "limit", 100, "at most this many, the newest")
	kinds := make([]string, len(journal.AlarmKinds))
	for i, k := range journal.AlarmKinds {
		kinds[i] = string(k)
	}
	cli.Complete(cmd, "kind", kinds...)
	cmd.AddCommand(acknowledgeCommand(a))
	return cmd
}

func acknowledgeCommand(a *cli.App) *cobra.Command {
	var comment string
	cmd := &cobra.Command{
		Use:   "ack ID...",
		Short: "acknowledge open alarms, so that other administrators know that they are taken care of",
		Args:  cli.Arguments(-1, "the number of an alarm"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids := make([]int64, len(args))
			for i, text := range args {
				id, err := strconv.ParseInt(text, 10, 64)
				if err != nil || id < 1 {
					return cluster.BadField("ID", text, "the number of an alarm, which vjob alarms lists")
				}
				ids[i] = id
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			done := []wire.Alarm{}
			for _, id := range ids {
				alarm, err := c.Acknowledge(cmd.Context(), id, comment)
				if err != nil {
					return err
				}
				done = append(done, alarm)
				if a.Structured() {
					continue
				}
				if _, err := fmt.Fprintf(a.Out, "alarm %d is acknowledged: %s\n", alarm.ID, display.Clean(alarm.Text)); err != nil {
					return err
				}
			}
			if a.Structured() {
				return a.Print(wire.AlarmList{Alarms: done})
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "`TEXT` for other administrators, on one line")
	return cmd
}

// printAlarms prints alarms with what to do about each below it.
func printAlarms(a *cli.App, alarms []wire.Alarm, ended bool) error {
	if len(alarms) == 0 {
		text := "no open alarms"
		if ended {
			text = "no alarms"
		}
		_, err := fmt.Fprintln(a.Out, text)
		return err
	}
	var b strings.Builder
	for i := range alarms {
		alarm := &alarms[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		head := fmt.Sprintf("%d  %s  %s", alarm.ID, alarm.Kind, display.Clean(alarm.Object))
		if a.Colours() && alarm.Ended == nil && alarm.AckedBy == "" {
			head = display.Coloured(display.Red, head)
		}
		fmt.Fprintln(&b, head)
		display.Facts(&b, display.AlarmFacts(alarm))
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}
