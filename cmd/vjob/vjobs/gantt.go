package vjobs

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/internal/chart"
)

// ganttFlags are the flags of `vjob gantt`.
type ganttFlags struct {
	svg   string
	limit int
	ahead string
}

func ganttCommand(a *cli.App) *cobra.Command {
	var f ganttFlags
	cmd := &cobra.Command{
		Use:   "gantt",
		Short: "show the forecast starts and ends of vjobs, and the use of the cluster meanwhile",
		Long: `Shows the forecast schedule, which assumes that all vjobs use up their walltimes and that no
others are submitted: each vjob as a bar from now on, the vjobs inside a container after it,
and the use of the cluster. The forecast respects quotas, and placements on nodes as far as
they can be computed quickly.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return showGantt(a, cmd, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.svg, "svg", "", "draw it into this `FILE` instead")
	flags.IntVarP(&f.limit, "limit", "n", 40, "at most so many vjobs; 0: all")
	flags.StringVar(&f.ahead, "ahead", "", "only so much `TIME` from now on, such as 12h; none: until the last known end")
	return cmd
}

func showGantt(a *cli.App, cmd *cobra.Command, f *ganttFlags) error {
	if f.limit < 0 {
		return cluster.BadField("--limit", f.limit, "0 or more")
	}
	ahead := time.Duration(0)
	if f.ahead != "" {
		var err error
		if ahead, err = cli.ParseWalltime("--ahead", f.ahead); err != nil {
			return err
		}
	}
	svg, err := cli.Writable("--svg", f.svg, "")
	if err != nil {
		return err
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	s, err := c.Forecast(cmd.Context())
	if err != nil {
		return err
	}
	switch {
	case svg != nil:
		return svg.Write(func(w io.Writer) error { return chart.Write(w, scheduleFigure(&s, f.limit, ahead)) })
	case a.Structured():
		return a.Print(s)
	}
	g := newGantt(&s, f.limit, ahead, a.Width(), a.Now().Location())
	_, err = io.WriteString(a.Out, g.text())
	return err
}

// gantt is a schedule on its way to text. Every column of the plot is as much time.
type gantt struct {
	*wire.Schedule
	rows    []wire.Slot // those that are shown
	hidden  int
	zone    *time.Location
	columns int
	step    time.Duration
}

// The glyphs of the chart.
const (
	glyphRuns     = '█'
	glyphReserved = '▓'
	glyphPlanned  = '▒'
	glyphWaits    = '·'
	glyphOpen     = '>' // goes on beyond the chart
)

var levels = []rune(" ▁▂▃▄▅▆▇█")

const (
	plainWidth  = 100 // where there is no terminal
	ganttLabels = 42  // left of the plot
	leastPlot   = 20
)

// newGantt fits a schedule into so many columns of text.
func newGantt(s *wire.Schedule, limit int, ahead time.Duration, width int, zone *time.Location) *gantt {
	g := &gantt{Schedule: s, rows: s.VJobs, zone: zone}
	if limit > 0 && len(g.rows) > limit {
		g.rows, g.hidden = g.rows[:limit], len(g.rows)-limit
	}
	if width <= 0 {
		width = plainWidth
	}
	g.columns = max(leastPlot, width-ganttLabels)
	if ahead == 0 {
		ahead = lastEnd(s, g.rows)
	}
	g.step = (max(ahead, time.Minute)/time.Duration(g.columns) + time.Second).Truncate(time.Second)
	return g
}

// lastEnd is how far ahead the last end lies that is known, or the last start.
func lastEnd(s *wire.Schedule, rows []wire.Slot) (ahead time.Duration) {
	for i := range rows {
		for _, t := range []*time.Time{rows[i].Start, rows[i].End} {
			if t != nil {
				ahead = max(ahead, t.Sub(s.At))
			}
		}
	}
	return ahead
}

func (g *gantt) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d columns of %s: %c runs  %c reserved  %c planned  %c waits  %c goes on\n",
		g.At.In(g.zone).Format("2006-01-02 15:04"), g.columns, display.Span(g.step), glyphRuns, glyphReserved, glyphPlanned, glyphWaits, glyphOpen)
	g.line(&b, "ID", "NAME", "START", "END", g.axis())
	for i := range g.rows {
		r := &g.rows[i]
		g.line(&b, strconv.FormatInt(r.ID, 10), slotName(r), g.clock(r.Start), g.clock(r.End), g.bar(r))
	}
	if g.hidden > 0 {
		fmt.Fprintf(&b, "and %s more; -n 0 shows all\n", cluster.Count(g.hidden, "vjob"))
	}
	for _, m := range []struct {
		name, of string
		most     int64
		used     func(u *wire.Use) int64
	}{
		{"CPU", display.CPU(g.CPUMilli), g.CPUMilli, func(u *wire.Use) int64 { return u.CPUMilli }},
		{"memory", display.MiB(g.MemoryMiB), g.MemoryMiB, func(u *wire.Use) int64 { return u.MemoryMiB }},
		{"nodes", strconv.Itoa(g.Nodes), int64(g.Nodes), func(u *wire.Use) int64 { return int64(u.Nodes) }},
	} {
		g.line(&b, "", m.name, "", "of "+m.of, g.level(m.most, m.used))
	}
	return b.String()
}

// slotName is its name, set in where it runs inside a container.
func slotName(s *wire.Slot) string {
	if s.Inner != 0 {
		return "└ " + display.Dash(s.Name)
	}
	return display.Dash(s.Name)
}

// line is one line: the labels, then the plot.
func (g *gantt) line(b *strings.Builder, id, name, start, end, plot string) {
	name = runewidth.FillRight(runewidth.Truncate(display.Clean(name), 12, "…"), 12)
	b.WriteString(strings.TrimRight(fmt.Sprintf("%6s  %s %-8s %-10s %s", id, name, start, end, plot), " ") + "\n")
}

// clock is the time of day, or the day where it is another.
func (g *gantt) clock(t *time.Time) string {
	if t == nil {
		return "-"
	}
	at, now := t.In(g.zone), g.At.In(g.zone)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("01-02")
}

// axis has the time at every fifteenth column.
func (g *gantt) axis() string {
	const every = 15
	var b strings.Builder
	for i := 0; i+5 <= g.columns; i += every {
		at := g.At.Add(time.Duration(i) * g.step)
		mark := at.In(g.zone).Format("15:04")
		if g.step*every >= 24*time.Hour {
			mark = at.In(g.zone).Format("01-02")
		}
		b.WriteString(runewidth.FillRight(mark, every))
	}
	return b.String()
}

func (g *gantt) bar(r *wire.Slot) string {
	plot := []rune(strings.Repeat(" ", g.columns))
	fill := func(from, to int, with rune) {
		for i := max(0, from); i < min(to, g.columns); i++ {
			plot[i] = with
		}
	}
	if r.Start == nil {
		fill(0, g.columns, glyphWaits)
		return string(plot)
	}
	glyph := glyphPlanned
	switch {
	case r.Runs:
		glyph = glyphRuns
	case r.Reserved:
		glyph = glyphReserved
	}
	from, to := g.column(*r.Start), g.columns
	if r.End != nil {
		to = max(from+1, g.column(r.End.Add(g.step-time.Nanosecond)))
	}
	fill(0, from, glyphWaits)
	fill(from, to, glyph)
	if r.End == nil || to > g.columns {
		plot[g.columns-1] = glyphOpen
	}
	return string(plot)
}

// column is where an instant lies in the plot, or before or behind it.
func (g *gantt) column(t time.Time) int {
	if t.Before(g.At) {
		return 0
	}
	return int(min(t.Sub(g.At)/g.step, time.Duration(g.columns+1)))
}

// level is how much is used, at most, in the time of each column.
func (g *gantt) level(most int64, used func(u *wire.Use) int64) string {
	peaks := make([]int64, g.columns)
	for i := range g.Use {
		from, to := g.column(g.Use[i].At), g.columns
		if i+1 < len(g.Use) {
			to = g.column(g.Use[i+1].At.Add(g.step - time.Nanosecond))
		}
		for k := from; k < min(to, g.columns); k++ {
			peaks[k] = max(peaks[k], used(&g.Use[i]))
		}
	}
	var b strings.Builder
	for _, n := range peaks {
		height := 0
		if n > 0 && most > 0 {
			height = int(max(1, min(n*int64(len(levels)-1)/most, int64(len(levels)-1))))
		}
		b.WriteRune(levels[height])
	}
	return b.String()
}
