package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/tests/golden"
)

// reported has two months of two users, one of them with vjobs from before use was recorded.
func reported() map[string]any {
	month := func(n int) time.Time { return time.Date(2026, time.Month(n), 1, 0, 0, 0, 0, time.UTC) }
	return map[string]any{"/v1/report": wire.Report{
		Since: month(10), Until: noon, Zone: "UTC", By: []string{"month", "user"},
		Rows: []wire.ReportRow{
			{Since: month(10), Until: month(11), User: new("ann"), UnknownUseVJobs: 3, Started: 3, WaitMeanSeconds: new(90.0), WaitMedianSeconds: new(60.0), WaitP95Seconds: new(200.0), WaitMaxSeconds: new(200.0)},
			{
				Since: month(11), Until: noon, User: new("=cmd()"), ReservedCPUHours: new(12.5), UsedCPUHours: new(8.25), MemoryGiBHours: new(100.0), EnergyKWh: new(1.5), CapacityPercent: new(41.6667),
				UnknownUseVJobs: 1, Ended: 4, Outcomes: map[string]int{"completed": 3, "broken": 1}, SlowdownMean: new(2.5), SlowdownMedian: new(1.25),
				LostRuns: 2, LostFailed: 1, LostPreempted: 1, LostRunningHours: 0.5, LostCPUHours: new(0.5),
			},
		},
		Total: wire.ReportRow{Since: month(10), Until: noon, ReservedCPUHours: new(12.5), UsedCPUHours: new(8.25), MemoryGiBHours: new(100.0), UnknownUseVJobs: 4, LostCPUHours: new(0.5)},
	}}
}

func TestReport(t *testing.T) {
	s, f := against(t, reported())
	golden.Same(t, "testdata/report.golden", s.ok("report", "--by", "month,user", "--since", "2026-10-01"))
	golden.Same(t, "testdata/report-csv.golden", s.ok("report", "--by", "month,user", "--since", "2026-10-01", "-o", "csv"))
	if out := s.ok("report", "-o", "json"); !strings.Contains(out, `"reserved_cpu_hours": null`) {
		t.Errorf("as JSON:\n%s", out)
	}
	for _, c := range []struct{ flag, text, want string }{
		{"since", "7d", "2026-11-14T12:00:00Z"},
		{"since", "yesterday", "2026-11-20T00:00:00Z"},
		{"until", "today", "2026-11-21T00:00:00Z"},
		{"until", "2026-11-20 10:30", "2026-11-20T10:30:00Z"},
	} {
		s.ok("report", "--"+c.flag, c.text)
		if want := c.flag + "=" + strings.ReplaceAll(c.want, ":", "%3A"); !strings.Contains(f.query, want) {
			t.Errorf("--%s %s asks for %s, want %s", c.flag, c.text, f.query, want)
		}
	}
	for _, args := range [][]string{
		{"report", "--since", "soon"}, {"report", "--since", "-3d"}, {"report", "--until", "2026-13-01"}, {"report", "now"},
	} {
		if r := s.run(args...); r.code == cli.ExitOK || r.err == "" || r.out != "" {
			t.Errorf("%v: exit %d, %q, %q", args, r.code, r.out, r.err)
		}
	}
}

// What a daemon has run is in its report: use, waiting times, outcomes, and the run that a requeue threw away.
func TestReportOfADaemon(t *testing.T) {
	s, _ := live(t)
	s.ok("submit", "--name", "one", "--vms", "2", "--mem", "256MiB", "--steps", "5m@1", "--project", "p")
	s.waitFor("terminated", "list", "--all", "--name", "one")
	s.ok("submit", "--name", "two", "--vms", "1", "--mem", "256MiB", "--steps", "60m@1")
	s.waitFor("running", "list")
	s.ok("requeue", "two")
	s.waitFor("running", "list")
	s.ok("delete", "two")
	s.waitFor("terminated", "list", "--all", "--name", "two")
	var r wire.Report
	if err := json.Unmarshal([]byte(s.ok("report", "--by", "project,outcome", "-o", "json")), &r); err != nil {
		t.Fatal(err)
	}
	all := &r.Total
	if all.Started != 2 || all.Ended != 2 || all.Outcomes["completed"] != 1 || all.Outcomes["deleted"] != 1 || all.WaitMaxSeconds == nil || all.SlowdownMedian == nil {
		t.Errorf("in sum %+v", all)
	}
	if *all.ReservedCPUHours <= 0 || *all.UsedCPUHours <= 0 || *all.MemoryGiBHours <= 0 || *all.CapacityPercent <= 0 || *all.CapacityPercent > 100 || all.UnknownUseVJobs != 0 {
		t.Errorf("use in sum %+v", all)
	}
	if all.LostRuns != 1 || all.LostRequeued != 1 || all.LostRunningHours <= 0 || *all.LostCPUHours <= 0 || *all.LostCPUHours >= *all.ReservedCPUHours {
		t.Errorf("lost in sum %+v", all)
	}
	if len(r.Rows) != 2 || *r.Rows[0].Project+*r.Rows[1].Project != "p" {
		t.Errorf("rows %+v", r.Rows)
	}
}
