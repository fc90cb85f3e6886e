package db_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

// BenchmarkReport measures a report of a year by user and month. It reports how much more memory the process has at
// most afterwards.
func BenchmarkReport(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("vjobs=%d", n), func(b *testing.B) {
			d := newDB(b)
			first := storetest.Start.UTC().Truncate(24 * time.Hour)
			fillHistory(b, d, n, first)
			f := journal.ReportFilter{By: []journal.ReportKey{journal.ReportUser, journal.ReportQueue}}
			for m := range 13 {
				f.Borders = append(f.Borders, first.AddDate(0, m, 0))
			}
			before := peakMiB(b)
			for b.Loop() {
				if r := must[journal.Report](b)(d.Report(b.Context(), f)); r.Total.Ended != n {
					b.Fatalf("%d vjobs ended", r.Total.Ended)
				}
			}
			b.ReportMetric(float64(peakMiB(b)-before), "MiB-more")
		})
	}
}

// fillHistory writes n ended vjobs of 50 users, evenly over a year.
func fillHistory(b *testing.B, d *db.DB, n int, first time.Time) {
	b.Helper()
	submitted(b)(d.Submit(b.Context(), storetest.Submission("", 1)))
	step := int64(364*24*time.Hour) / int64(n)
	runSQL(b, d, `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ?1)
		INSERT INTO vjobs (owner, name, submitted_ns, priority, walltime_ns, state, held, cause, version, started_ns, ended_ns, vm_count, cpu_milli, memory_mib, spec, queue, outcome)
		SELECT 'user' || (i % 50), '', ?2 + i * ?3, 0, 0, 'terminated', 0, '', 5, ?2 + i * ?3 + (i * 7919 % 3600) * 1000000000, ?2 + i * ?3 + 7200000000000, 1, 1000, 1024, spec, 'batch', 'completed'
		FROM c, vjobs WHERE vjobs.id = 1`, n, first.UnixNano(), step)
	runSQL(b, d, "INSERT INTO accounts (vjob, running_ns, cpu_ns, memory_mib_seconds, crowded_ns, wanted_ns, energy_joules, reserved_milliseconds) SELECT id, 3600000000000, 0, 0, 0, 0, 0, 3600000 FROM vjobs WHERE id > 1")
	runSQL(b, d, `INSERT INTO usage_hours (hour_ns, vjob, node, cpu_milliseconds, used_milliseconds, memory_mib_seconds)
		SELECT started_ns / 3600000000000 * 3600000000000, id, 'node' || (id % 100), 3600000, 1800000, 3600 FROM vjobs WHERE id > 1`)
	runSQL(b, d, `INSERT INTO vjob_hours (hour_ns, vjob, owner, project, queue, millijoules, waited_ns)
		SELECT started_ns / 3600000000000 * 3600000000000, id, owner, '', queue, 1000, 0 FROM vjobs WHERE id > 1`)
}

// peakMiB is the most memory that the process has had.
func peakMiB(b *testing.B) int {
	b.Helper()
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	_, text, _ := strings.Cut(string(raw), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(text)[0])
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
