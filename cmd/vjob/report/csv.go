package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
)

// outcomes are those of vjobs that have ended, as the columns of CSV have them.
var outcomes = []string{"completed", "failed", "overdue", "deleted", "broken"}

// writeCSV prints the rows of a report as CSV, RFC 4180. The sum of all is not among them: a spreadsheet would count it.
func writeCSV(out io.Writer, r *wire.Report) error {
	w := csv.NewWriter(out)
	head := []string{"since", "until"}
	period := periodOf(r)
	for _, key := range r.By {
		if key != period {
			head = append(head, key)
		}
	}
	head = append(head, "reserved_cpu_hours", "used_cpu_hours", "memory_gib_hours", "energy_kwh", "capacity_percent", "unknown_use_vjobs",
		"started", "wait_mean_seconds", "wait_median_seconds", "wait_p95_seconds", "wait_max_seconds", "ended")
	head = append(head, outcomes...)
	head = append(head, "slowdown_mean", "slowdown_median", "lost_runs", "lost_preempted", "lost_requeued", "lost_failed", "lost_running_hours", "lost_cpu_hours")
	if err := w.Write(head); err != nil {
		return err
	}
	for i := range r.Rows {
		if err := w.Write(csvLine(&r.Rows[i], r.By, period)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func csvLine(row *wire.ReportRow, by []string, period string) []string {
	line := []string{row.Since.Format(time.RFC3339), row.Until.Format(time.RFC3339)}
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	for _, key := range by {
		if key != period {
			line = append(line, harmless(csvKey(row, key)))
		}
	}
	line = append(line, number(row.ReservedCPUHours), number(row.UsedCPUHours), number(row.MemoryGiBHours), number(row.EnergyKWh), number(row.CapacityPercent),
		strconv.Itoa(row.UnknownUseVJobs), strconv.Itoa(row.Started), number(row.WaitMeanSeconds), number(row.WaitMedianSeconds), number(row.WaitP95Seconds),
		number(row.WaitMaxSeconds), strconv.Itoa(row.Ended))
	for _, outcome := range outcomes {
		line = append(line, strconv.Itoa(row.Outcomes[outcome]))
	}
	return append(line, number(row.SlowdownMean), number(row.SlowdownMedian), strconv.Itoa(row.LostRuns), strconv.Itoa(row.LostPreempted),
		strconv.Itoa(row.LostRequeued), strconv.Itoa(row.LostFailed), number(&row.LostRunningHours), number(row.LostCPUHours))
}

// csvKey is the name of a group by one key; "" for none.
func csvKey(row *wire.ReportRow, key string) string {
	of := map[string]*string{"user": row.User, "project": row.Project, "queue": row.Queue, "node": row.Node, "outcome": row.Outcome}[key]
	if of == nil {
		return ""
	}
	return *of
}

// harmless keeps spreadsheets from taking a name for a formula.
func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
