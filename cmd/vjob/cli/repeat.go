package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/display"
)

// repeat runs a command again and again until the context ends. On a terminal what it prints takes the place of
// what it printed before; elsewhere an empty line separates the two, of tables. The first failure ends it; a later one
// is shown, since the daemon may come back.
func (a *App) repeat(ctx context.Context, every time.Duration, run func() error) error {
	out := a.Out
	defer func() { a.Out = out }()
	for first := true; ; first = false {
		var b bytes.Buffer
		a.Out = &b
		err := run()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || errors.Is(err, cluster.ErrUnauthenticated)):
			return err
		case err != nil:
			_, _ = fmt.Fprintf(&b, "vjob: %s\n", display.Clean(err.Error()))
		}
		text := b.String()
		switch {
		case a.Width() > 0 && !a.Structured():
			text = a.picture(text, every, first)
		case !first && !a.Structured():
			text = "\n" + text
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
		if !program.Sleep(ctx, every) {
			return nil
		}
	}
}

// The sequences of a terminal that a picture needs.
const (
	clearScreen = "\x1b[2J"
	toTheTop    = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// picture draws a text over the one before, as much of it as the terminal has lines.
func (a *App) picture(text string, every time.Duration, first bool) string {
	now := a.Now()
	lines := append([]string{fmt.Sprintf("every %s; %s; ^C ends", display.Span(every), display.Moment(&now)), ""},
		strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
	if a.Height != nil {
		if height := a.Height(); height > 3 && len(lines) >= height {
			left := len(lines) - (height - 2)
			lines = append(lines[:height-2], fmt.Sprintf("… and %s more", cluster.Count(left, "line")))
		}
	}
	var b strings.Builder
	if first {
		b.WriteString(clearScreen)
	}
	b.WriteString(toTheTop)
	for _, line := range lines {
		b.WriteString(line + clearLine + "\n")
	}
	return b.String() + clearBelow
}
