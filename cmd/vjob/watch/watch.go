// Package watch has the command that shows the cluster live: its terminal, and what it asks of the daemon. Package screen is
// the view itself.
package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/watch/screen"
)

const watchHelp = `Shows nodes, vjobs, plans (context switches), events and alarms live, a page each; the default is vjobs. Enter opens the row of
the cursor: a vjob with its VMs and its history, a node with its VMs, a plan with the progress of its actions, an alarm with
what to do. ? lists the keys, q ends it.

The view asks the daemon for what is visible only, soon after something has happened and rarely otherwise. --once prints a page and
ends; -o json prints the state of the whole cluster.`

// Command is `vjob watch`.
func Command(a *cli.App) *cobra.Command {
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "watch [PAGE]",
		Short: "show the cluster live: nodes, vjobs, context switches with their progress, events, alarms",
		Long:  watchHelp,
		Example: `  vjob watch
  vjob watch nodes
  vjob watch plans --once`,
		Args: onePage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if every < 100*time.Millisecond || every > time.Hour {
				return cluster.BadField("--interval", every, "between 100ms and 1h")
			}
			page := screen.VJobs
			if len(args) == 1 {
				page = screen.Kind(slices.Index(screen.PageNames, args[0])) //nolint:gosec // the page exists
			}
			if once || a.Structured() || a.Width() == 0 {
				return watchOnce(cmd.Context(), a, page)
			}
			return watch(cmd.Context(), a, page, every)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "print the page once and end")
	cmd.Flags().DurationVar(&every, "interval", 500*time.Millisecond, "least `TIME` between two looks")
	return cmd
}

// onePage checks that the argument is a page.
func onePage(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && !slices.Contains(screen.PageNames, args[0]) {
		return &cli.UsageError{Cmd: cmd, Err: cluster.BadField("page", strings.Join(args, " "), "one of "+strings.Join(screen.PageNames, ", "))}
	}
	return nil
}

// begin returns the view of a page.
func begin(a *cli.App, page screen.Kind) *screen.State {
	return screen.New(screen.Settings{Page: page, Colours: a.Colours(), CheckFilter: func(text string) error {
		_, err := cli.ParseFilter(text)
		return err
	}}, a.Now())
}

// watchOnce prints a page as high as it is.
func watchOnce(ctx context.Context, a *cli.App, page screen.Kind) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	if a.Structured() {
		status, err := c.Status(ctx)
		if err != nil {
			return err
		}
		return a.Print(status)
	}
	s, f := begin(a, page), &feed{client: c, admin: true}
	for _, q := range []screen.Query{{Kind: screen.Pulse}, s.Query()} {
		answer := f.read(ctx, q)
		if answer.Err != nil {
			return answer.Err
		}
		if events, is := answer.Value.([]wire.Event); is {
			s.Hear(events)
			continue
		}
		s.Take(answer)
	}
	width := a.Width()
	if width == 0 {
		width = 1000 // nothing is cut
	}
	s.Resize(width, 0)
	_, err = fmt.Fprintln(a.Out, s.Draw())
	return err
}

// framesPerSecond bounds how often the terminal is drawn.
const framesPerSecond = 20

// watch shows the view until the user ends it.
func watch(ctx context.Context, a *cli.App, page screen.Kind, every time.Duration) error {
	looks, err := a.ImpatientClient()
	if err != nil {
		return err
	}
	defer looks.Close()
	stream, err := a.Client()
	if err != nil {
		return err
	}
	defer stream.Close()
	l := &live{ctx: ctx, feed: &feed{client: looks, admin: true}, state: begin(a, page), pace: pace{every: every}, now: a.Now}
	first := l.feed.read(ctx, screen.Query{Kind: screen.Pulse})
	if first.Err != nil {
		return first.Err
	}
	l.state.Take(first)
	l.pulsed = a.Now()
	p := tea.NewProgram(l, tea.WithContext(ctx), tea.WithInput(a.In), tea.WithOutput(a.Out), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	following, end := context.WithCancel(ctx)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		follow(following, stream, func(events []wire.Event) { p.Send(eventsMsg(events)) })
	}()
	_, err = p.Run()
	end()
	<-followed
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, context.Canceled) {
		return nil // the user has seen enough
	}
	return errors.Join(err, l.fatal)
}
