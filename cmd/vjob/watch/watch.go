// Package watch has the command that shows the cluster live.
package watch

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
)

// Command is `vjob watch`.
func Command(a *cli.App) *cobra.Command {
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "show the cluster live, and the running context switch with its progress",
		Long:  "Shows the nodes, the vjobs, the actions under way and the latest events. q ends it.",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every < 100*time.Millisecond || every > time.Hour {
				return cluster.BadField("--interval", every, "between 100ms and 1h")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			if once || a.Structured() || a.Width() == 0 {
				return watchOnce(cmd.Context(), a, c)
			}
			return watch(cmd.Context(), a, c, every)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "print one picture and end")
	cmd.Flags().DurationVar(&every, "interval", 500*time.Millisecond, "`TIME` between two looks")
	return cmd
}

// latestEvents is how many events a look asks for.
const latestEvents = 50

// look asks for everything that a picture shows.
func look(ctx context.Context, c *client.Client) (scene, error) {
	status, err := c.Status(ctx)
	if err != nil {
		return scene{}, err
	}
	list, err := c.Events(ctx, client.EventQuery{Latest: true, Limit: latestEvents})
	if err != nil {
		return scene{}, err
	}
	return scene{status: status, events: list.Events}, nil
}

func watchOnce(ctx context.Context, a *cli.App, c *client.Client) error {
	s, err := look(ctx, c)
	if err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(s.status)
	}
	width := a.Width()
	if width == 0 {
		width = 100
	}
	f := frame{width: max(width, 40), colours: a.Colours()}
	_, err = io.WriteString(a.Out, f.draw(&s))
	return err
}

func watch(ctx context.Context, a *cli.App, c *client.Client, every time.Duration) error {
	p := tea.NewProgram(&watcher{ctx: ctx, client: c, every: every, colours: a.Colours()},
		tea.WithContext(ctx), tea.WithInput(a.In), tea.WithOutput(a.Out), tea.WithoutSignalHandler())
	last, err := p.Run()
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, context.Canceled) {
		return nil // the user has seen enough
	}
	if w, ok := last.(*watcher); ok && err == nil {
		err = w.fatal
	}
	return err
}

// watcher is the live view: it looks, draws, and looks again.
type watcher struct {
	ctx     context.Context //nolint:containedctx // bubbletea gives its commands none
	client  *client.Client
	every   time.Duration
	colours bool

	width, height int
	scene         scene
	seen          bool
	trouble       error // of the last look
	fatal         error
}

// seenMsg is what a look has brought.
type seenMsg struct {
	scene scene
	err   error
}

// Init looks for the first time.
func (w *watcher) Init() tea.Cmd { return w.look }

func (w *watcher) look() tea.Msg {
	s, err := look(w.ctx, w.client)
	return seenMsg{s, err}
}

// Update takes in a key, a new size of the terminal, or what a look has brought.
func (w *watcher) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		switch m.String() {
		case "q", "ctrl+c", "esc":
			return w, tea.Quit
		}
	case tea.WindowSizeMsg:
		w.width, w.height = m.Width, m.Height
	case seenMsg:
		w.trouble = m.err
		switch {
		case m.err == nil:
			w.scene, w.seen = m.scene, true
		case !w.seen || errors.Is(m.err, cluster.ErrUnauthenticated): // there is nothing to show
			w.fatal = m.err
			return w, tea.Quit
		}
		return w, tea.Tick(w.every, func(time.Time) tea.Msg { return w.look() })
	}
	return w, nil
}

// View draws the last scene.
func (w *watcher) View() tea.View {
	v := tea.NewView("looking …")
	v.AltScreen = true
	if !w.seen || w.width == 0 {
		return v
	}
	f := frame{width: w.width, height: w.height, colours: w.colours, live: true}
	if w.trouble != nil {
		f.trouble = w.trouble.Error()
	}
	// A final newline would be a line of its own, and push the title out.
	v.SetContent(strings.TrimSuffix(f.draw(&w.scene), "\n"))
	return v
}

// scene is what a picture shows.
type scene struct {
	status wire.Status
	events []wire.Event
}
