package traces_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"vjob/papers/jobs/backfill"
	"vjob/sim/swf"
)

var (
	table = flag.Bool("table", false, "replay whole logs and print the table of figures")
	only  = flag.String("only", "", "only logs with this prefix of their name")
)

// measured is a replay, how long it took, and the most bytes of heap in use
// meanwhile, the log included.
type measured struct {
	*backfill.Result
	took   time.Duration
	memory uint64
}

func measure(t *testing.T, log *swf.Log, policy string) measured {
	t.Helper()
	debug.FreeOSMemory()
	var m measured
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	look := func(int, int, backfill.Time) {
		metrics.Read(heap)
		m.memory = max(m.memory, heap[0].Value.Uint64())
	}
	begun := time.Now()
	r, err := backfill.Run(t.Context(), log, policy, look)
	if err != nil {
		t.Fatal(err)
	}
	m.Result, m.took = r, time.Since(begun)
	look(0, 0, 0)
	return m
}

// TestTable replays whole logs under every discipline and prints the figures.
func TestTable(t *testing.T) {
	if !*table {
		t.Skip("-table prints the figures of whole logs")
	}
	dir, whole := folder()
	if !whole {
		fmt.Println("VJOB_TRACES names no folder with whole logs: these are two that are cut")
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	row := func(cells ...any) {
		_, _ = fmt.Fprintln(w, "| "+strings.Join(texts(cells), "\t | ")+"\t |")
		_ = w.Flush()
	}
	row("log", "jobs", "discipline", "starts", "mean wait", "mean slowdown", "used", "time", "MiB", "reference")
	row("---", "---", "---", "---", "---", "---", "---", "---", "---", "---")
	e := expectations(t, dir)
	for _, name := range e.names() {
		if !strings.HasPrefix(name, *only) {
			continue
		}
		trace := e.Traces[name]
		part := trace.Whole
		if part.Jobs == 0 {
			part = trace.First
		}
		log := load(t, dir, name, trace.Processors, part.Jobs)
		for _, d := range disciplines {
			m, f := measure(t, log, d[1]), part.Policies[d[0]]
			s := m.Summary()
			row(name, s.Jobs, d[1], f.verdict(t, &m), fmt.Sprintf("%.0f s", s.Wait.Mean), fmt.Sprintf("%.1f", s.Slowdown.Mean),
				fmt.Sprintf("%.1f %%", 100*s.Used), fmt.Sprintf("%.2f s", m.took.Seconds()), m.memory>>20, f.time())
		}
	}
}

// verdict says whether every job starts when the other simulator starts it.
func (f *figure) verdict(t *testing.T, m *measured) string {
	t.Helper()
	switch {
	case f.Starts == "":
		return "nothing to compare"
	case digest(m.Result) != f.Starts || len(f.differences(m.Summary())) > 0:
		t.Errorf("%s: not as expected", m.Policy)
		return "DIFFERENT"
	default:
		return "equal"
	}
}

// time is how long the other simulator took.
func (f *figure) time() string {
	if f.Error != "" {
		return f.Error
	}
	return fmt.Sprintf("%.1f s", f.Seconds)
}

func texts(cells []any) []string {
	list := make([]string, len(cells))
	for i, c := range cells {
		list[i] = fmt.Sprint(c)
	}
	return list
}
