package replay

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/papers/jobs/backfill"
	"vjob/sim/replay"
	"vjob/sim/swf"
)

// replayedLog is what a log came to.
type replayedLog struct {
	title   string
	log     *swf.Log
	given   bool // how many processors there are
	results []*backfill.Result
}

// The JSON of `vjob replay -o json` of a log.
type (
	logJSON struct {
		Title       string           `json:"title"`
		Processors  int64            `json:"processors"`
		Declared    int64            `json:"processors_of_the_log"` // 0: it does not say
		Lines       int              `json:"lines"`
		Conventions []conventionJSON `json:"conventions"`
		*logRunJSON                  // the only run
		Runs        []logRunJSON     `json:"runs"`
	}
	conventionJSON struct {
		Text    string `json:"convention"`
		Jobs    int    `json:"jobs"`
		Line    int    `json:"first_line"`
		LeftOut bool   `json:"left_out"`
	}
	logRunJSON struct {
		Policy         string  `json:"policy"`
		Jobs           int     `json:"jobs"`
		AtOnce         int     `json:"started_at_once"`
		MeanWait       float64 `json:"mean_wait_s"`
		MedianWait     float64 `json:"median_wait_s"`
		P95Wait        float64 `json:"p95_wait_s"`
		MaxWait        float64 `json:"max_wait_s"`
		MeanSlowdown   float64 `json:"mean_bsld"`
		MedianSlowdown float64 `json:"median_bsld"`
		P95Slowdown    float64 `json:"p95_bsld"`
		MaxSlowdown    float64 `json:"max_bsld"`
		Makespan       int64   `json:"makespan_s"`
		Used           float64 `json:"utilisation"`
	}
)

func (l *replayedLog) json() logJSON {
	out := logJSON{
		Title: l.title, Processors: l.log.Processors, Declared: l.log.Declared, Lines: l.log.Lines,
		Conventions: []conventionJSON{}, Runs: []logRunJSON{},
	}
	for _, c := range l.log.Counts {
		out.Conventions = append(out.Conventions, conventionJSON{c.Convention.String(), c.Jobs, c.Line, c.Convention.Skips()})
	}
	for _, r := range l.results {
		s := r.Summary()
		out.Runs = append(out.Runs, logRunJSON{
			r.Policy, s.Jobs, s.AtOnce, s.Wait.Mean, s.Wait.Median, s.Wait.P95, s.Wait.Max,
			s.Slowdown.Mean, s.Slowdown.Median, s.Slowdown.P95, s.Slowdown.Max, int64(s.Makespan), s.Used,
		})
	}
	if len(out.Runs) == 1 {
		out.logRunJSON = &out.Runs[0]
	}
	return out
}

// table prints the figures with the policies side by side, and what was done about
// the gaps of the log.
func (l *replayedLog) table(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s on %s\n\n", display.Clean(l.title), cluster.Count(len(l.results[0].Jobs), "job"), l.pool())
	if err := logFigures(l.results).Write(&b, 0); err != nil {
		return err
	}
	if err := writeConventions(&b, l.log); err != nil {
		return err
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// pool formats the number of processors and its source.
func (l *replayedLog) pool() string {
	text := cluster.Count(int(l.log.Processors), "processor")
	switch {
	case !l.given:
		return text + ", as the log says (" + l.log.Word + ")"
	case l.log.Declared > 0 && l.log.Declared != l.log.Processors:
		return fmt.Sprintf("%s (the log says %d)", text, l.log.Declared)
	}
	return text
}

// logFigures has one column per policy.
func logFigures(results []*backfill.Result) *display.Table {
	t := &display.Table{Heads: []display.Column{{}}}
	sums := make([]backfill.Summary, len(results))
	for i, r := range results {
		t.Heads = append(t.Heads, display.Column{Name: r.Policy, Right: true})
		sums[i] = r.Summary()
	}
	line := func(name string, value func(s *backfill.Summary) string) {
		cells := []string{name}
		for i := range sums {
			cells = append(cells, value(&sums[i]))
		}
		t.Row(cells...)
	}
	clock := func(name string, value func(s *backfill.Summary) float64) {
		line(name, func(s *backfill.Summary) string { return replay.Clock(display.Seconds(value(s))) })
	}
	ratio := func(name string, value func(s *backfill.Summary) float64) {
		line(name, func(s *backfill.Summary) string { return strconv.FormatFloat(value(s), 'f', 2, 64) })
	}
	clock("mean wait", func(s *backfill.Summary) float64 { return s.Wait.Mean })
	clock("median wait", func(s *backfill.Summary) float64 { return s.Wait.Median })
	clock("95 % wait at most", func(s *backfill.Summary) float64 { return s.Wait.P95 })
	clock("longest wait", func(s *backfill.Summary) float64 { return s.Wait.Max })
	ratio("mean bounded slowdown (10 s)", func(s *backfill.Summary) float64 { return s.Slowdown.Mean })
	ratio("median bounded slowdown", func(s *backfill.Summary) float64 { return s.Slowdown.Median })
	ratio("95 % have at most", func(s *backfill.Summary) float64 { return s.Slowdown.P95 })
	ratio("largest bounded slowdown", func(s *backfill.Summary) float64 { return s.Slowdown.Max })
	line("started at once", func(s *backfill.Summary) string { return strconv.Itoa(s.AtOnce) })
	clock("makespan", func(s *backfill.Summary) float64 { return float64(s.Makespan) })
	line("processors used", func(s *backfill.Summary) string { return display.Percent(s.Used) })
	return t
}
