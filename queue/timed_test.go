package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/tests/cpupool"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// moment reads vjobs such as "7 running 3 60m ran 20m": number, state, processors, walltime
// ("-" for none) and running time. A running vjob was started that long ago.
func moment(t *testing.T, size cluster.MilliCPU, lines ...string) *queue.Input {
	t.Helper()
	needs := map[cluster.VJobID]cluster.MilliCPU{}
	m := &queue.Input{Now: noon, Total: cluster.Resources{CPU: size}, Capacity: func() queue.Capacity {
		return &cpupool.Pool{Free: size, Needs: needs}
	}}
	for _, line := range lines {
		f := strings.Fields(line)
		j := job(t, strings.Join(f[:3], " "), &cpupool.Pool{Needs: needs})
		j.Need.CPU = needs[j.ID]
		if f[3] != "-" {
			j.Walltime = span(t, f[3])
		}
		if len(f) > 5 {
			j.Ran = span(t, f[5])
		}
		if j.State == cluster.Running {
			j.Since = noon.Add(-j.Ran)
		}
		m.Jobs = append(m.Jobs, j)
	}
	return m
}

func span(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTimed(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy queue.Policy
		jobs   []string
		want   []string // target, estimated start after so long or "-", reason
	}{
		{
			"easy: a short one passes, a long one does not",
			queue.EASY{},
			[]string{"1 running 3 60m ran 20m", "2 waiting 4 60m", "3 waiting 1 50m", "4 waiting 1 30m"},
			[]string{
				"run - runs",
				"wait 40m0s waits: needs 3 CPU more, which will be there in 40m0s at the latest; 1st in line",
				"wait 1h40m0s waits: would delay 2, which comes first and starts in 40m0s at the latest; 2nd in line behind 2",
				"run - runs: it fills a gap without delaying 2",
			},
		},
		{
			"easy: a long one uses what the first leaves",
			queue.EASY{},
			[]string{"1 running 3 60m", "2 waiting 3 60m", "3 waiting 1 10h", "4 waiting 1 1m"},
			[]string{
				"run - runs",
				"wait 1h0m0s waits: needs 2 CPU more, which will be there in 1h0m0s at the latest; 1st in line",
				"run - runs: it fills a gap without delaying 2",
				"wait 2h0m0s waits: needs 1 CPU more; 2nd in line behind 2",
			},
		},
		{
			"easy: without a walltime a vjob passes none and is passed by none",
			queue.EASY{},
			[]string{"1 running 3 -", "2 waiting 4 60m", "3 waiting 1 1m", "4 waiting 1 -"},
			[]string{
				"run - runs",
				"wait - waits: needs 3 CPU more, and when it will be there cannot be known: what runs has no walltime; 1st in line",
				"wait - waits: would delay 2, which comes first; 2nd in line behind 2",
				"wait - waits: would delay 2, which comes first; 3rd in line behind 2 and 3",
			},
		},
		{
			"easy: only the first in line is protected",
			queue.EASY{},
			[]string{"1 running 2 60m", "2 waiting 4 10m", "3 waiting 3 10m", "4 waiting 2 60m"},
			[]string{
				"run - runs",
				"wait 1h0m0s waits: needs 2 CPU more, which will be there in 1h0m0s at the latest; 1st in line",
				"wait 1h10m0s waits: needs 1 CPU more; 2nd in line behind 2",
				"run - runs: it fills a gap without delaying 2",
			},
		},
		{
			"dynamic easy: gaps are filled without walltimes, and for the first in line they are cleared",
			queue.DynamicEASY{},
			[]string{"1 running 2 60m ran 20m", "2 running 1 - ran 40m", "3 waiting 2 60m", "4 waiting 1 -", "5 waiting 1 1m"},
			[]string{
				"run - runs",
				"run - runs",
				"wait 40m0s waits: needs 1 CPU more; 1st in line",
				"run - runs: there is room",
				"wait 1h40m0s waits: needs 1 CPU more; 2nd in line behind 3",
			},
		},
		{
			"dynamic easy: a vjob in a gap is suspended for the head only",
			queue.DynamicEASY{},
			[]string{"1 running 2 60m ran 20m", "2 waiting 3 60m", "3 waiting 1 60m", "4 running 1 - ran 1m", "5 running 1 - ran 1m"},
			[]string{
				"run - runs",
				"wait - waits: needs 1 CPU more; 1st in line",
				"wait 40m0s waits: needs 1 CPU more; 2nd in line behind 2",
				"run - runs",
				"run - runs",
			},
		},
		{
			"dynamic easy: all vjobs before the head run",
			queue.DynamicEASY{},
			[]string{"1 running 1 60m ran 20m", "2 waiting 2 60m", "3 running 1 - ran 1m", "4 running 2 - ran 1m"},
			[]string{
				"run - runs",
				"run - runs: there is room",
				"run - runs",
				"suspend - suspended to make room for 1, 2 and 3: needs 2 CPU more",
			},
		},
		{
			"dynamic easy: no suspension for a vjob that need not wait long",
			queue.DynamicEASY{Patience: time.Hour},
			[]string{"1 running 1 60m ran 20m", "2 waiting 3 60m", "3 running 3 60m ran 20m"},
			[]string{
				"run - runs",
				"wait 40m0s waits: there will be room by itself within 40m0s, sooner than a suspension pays",
				"run - runs",
			},
		},
		{
			"dynamic easy: those that no longer fit together are not waited for",
			queue.DynamicEASY{Patience: time.Hour},
			[]string{"1 running 3 60m ran 20m", "2 running 2 60m ran 20m"},
			[]string{
				"run - runs",
				"suspend - suspended to make room for 1: needs 1 CPU more",
			},
		},
		{
			"conservative: no vjob delays an earlier one",
			queue.Conservative{},
			[]string{"1 running 2 60m", "2 waiting 3 10m", "3 waiting 4 10m", "4 waiting 2 60m", "5 waiting 2 61m", "6 waiting 1 10m"},
			[]string{
				"run - runs",
				"wait 1h0m0s waits: its place in time has not come; starts in 1h0m0s at the latest; 1st in line",
				"wait 1h10m0s waits: its place in time has not come; starts in 1h10m0s at the latest; 2nd in line behind 2",
				"run - runs: there is room",
				"wait 1h20m0s waits: its place in time has not come; starts in 1h20m0s at the latest; 3rd in line behind 2 and 3",
				"wait 1h0m0s waits: its place in time has not come; starts in 1h0m0s at the latest; 4th in line behind 2, 3 and 5",
			},
		},
		{
			"conservative with OAR's gap: starts are after the gap and before bookings",
			queue.WithGap{Policy: queue.Conservative{}, Gap: 61 * time.Second},
			[]string{"1 running 2 60m ran 20m", "2 waiting 4 60m", "3 waiting 2 39m", "4 waiting 2 40m", "5 waiting 4 -"},
			[]string{
				"run - runs",
				"wait 41m1s waits: its place in time has not come; starts in 41m1s at the latest; 1st in line",
				"run - runs: there is room",
				"wait 1h42m2s waits: its place in time has not come; starts in 1h42m2s at the latest; 2nd in line behind 2",
				"wait 2h23m3s waits: its place in time has not come; starts in 2h23m3s at the latest; 3rd in line behind 2 and 4",
			},
		},
		{
			"conservative: no vjob passes one without a known start",
			queue.Conservative{},
			[]string{"1 running 2 -", "2 waiting 3 10m", "3 waiting 1 1m"},
			[]string{
				"run - runs",
				"wait - waits: when there will be room for it cannot be known: what runs has no walltime; 1st in line",
				"wait - waits: may not pass 2, since its start cannot be known; 2nd in line behind 2",
			},
		},
		{
			"first fit: a vjob that started recently is not suspended",
			queue.FirstFit{MinRun: time.Minute},
			[]string{"1 waiting 2 10m", "2 running 3 60m ran 20s", "3 running 1 60m ran 5m"},
			[]string{
				"wait 59m40s waits: needs 1 CPU more; 1st in line",
				"run - runs: it is left alone for 40s yet",
				"run - runs",
			},
		},
		{
			"first fit: after min run it is",
			queue.FirstFit{MinRun: time.Minute},
			[]string{"1 waiting 2 10m", "2 running 3 60m ran 60s"},
			[]string{
				"run - runs: there is room",
				"suspend - suspended to make room for 1: needs 1 CPU more",
			},
		},
		{
			"first fit: room that comes by itself soon is waited for",
			queue.FirstFit{Patience: 2 * time.Minute},
			[]string{"1 waiting 2 10m", "2 running 2 60m ran 59m", "3 running 2 60m"},
			[]string{
				"wait 1m0s waits: there will be room by itself within 1m0s, sooner than a suspension pays",
				"run - runs",
				"run - runs",
			},
		},
		{
			"first fit: room that comes late is not",
			queue.FirstFit{Patience: 30 * time.Second},
			[]string{"1 waiting 2 10m", "2 running 2 60m ran 59m", "3 running 2 60m"},
			[]string{
				"run - runs: there is room",
				"run - runs",
				"suspend - suspended to make room for 1 and 2: needs 2 CPU more",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, v := range c.policy.Select(moment(t, 4000, c.jobs...)) {
				start := "-"
				if !v.Start.IsZero() {
					start = v.Start.Sub(noon).String()
				}
				got = append(got, fmt.Sprintf("%s %s %s", v.Target, start, v.Reason))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// The verdict of a vjob within min run expires with it.
func TestAgain(t *testing.T) {
	m := moment(t, 4000, "1 waiting 2 10m", "2 running 3 60m ran 20s")
	if v := (queue.FirstFit{MinRun: time.Minute}).Select(m); !v[1].Again.Equal(noon.Add(40*time.Second)) || !v[0].Again.IsZero() {
		t.Errorf("%+v", v)
	}
}

// Five vjobs on four processors fill two slots and half of a third.
func TestTimeSlices(t *testing.T) {
	policy := queue.TimeSlices{Quantum: time.Hour, Count: queue.Observed}
	for _, c := range []struct {
		name string
		jobs []string
		want []string // wish, again after so long or "-", reason
	}{
		{"alone", []string{"1 waiting 4 -"}, []string{"run - runs: it is the turn of its slot"}},
		{"the first turn", []string{"1 waiting 3 -", "2 waiting 2 -", "3 waiting 2 -", "4 waiting 1 -", "5 waiting 3 -"}, []string{
			"run 1h0m0s runs: it is the turn of its slot, 1 of 3",
			"wait 1h0m0s waits: for the turn of its slot: needs 2 CPU more; 1st in line",
			"wait 1h0m0s waits: for the turn of its slot: needs 2 CPU more; 2nd in line behind 2",
			"run 1h0m0s runs: it is the turn of its slot, 1 of 3",
			"wait 1h0m0s waits: for the turn of its slot: needs 3 CPU more; 3rd in line behind 2 and 3",
		}},
		{"within the quantum nothing changes", []string{"1 running 3 - ran 20m", "2 waiting 2 -", "3 waiting 2 -", "4 running 1 - ran 20m"}, []string{
			"run 40m0s runs: it is the turn of its slot, 1 of 2",
			"wait 40m0s waits: for the turn of its slot: needs 2 CPU more; 1st in line",
			"wait 40m0s waits: for the turn of its slot: needs 2 CPU more; 2nd in line behind 2",
			"run 40m0s runs: it is the turn of its slot, 1 of 2",
		}},
		{"then comes the next slot", []string{"1 running 3 - ran 60m", "2 suspended 2 -", "3 waiting 2 -", "4 running 1 - ran 60m"}, []string{
			"suspend 1h0m0s suspended: the turn of its slot is over",
			"run 1h0m0s runs: it is the turn of its slot, 2 of 2",
			"run 1h0m0s runs: it is the turn of its slot, 2 of 2",
			"suspend 1h0m0s suspended: the turn of its slot is over",
		}},
		{"and after the last the first again", []string{"1 suspended 3 -", "2 running 2 - ran 60m", "3 running 2 - ran 60m"}, []string{
			"run 1h0m0s runs: it is the turn of its slot, 1 of 2",
			"suspend 1h0m0s suspended: the turn of its slot is over",
			"suspend 1h0m0s suspended: the turn of its slot is over",
		}},
		{"room that is left goes to the others", []string{"1 suspended 3 -", "2 running 2 - ran 10m", "3 waiting 3 -"}, []string{
			"wait 50m0s waits: for the turn of its slot: needs 1 CPU more; 2nd in line behind 3",
			"run 50m0s runs: it is the turn of its slot, 2 of 3",
			"wait 50m0s waits: for the turn of its slot: needs 1 CPU more; 1st in line",
		}},
		{"what fits nowhere waits", []string{"1 waiting 5 -", "2 waiting 4 -"}, []string{
			"wait - waits: needs 1 CPU more; 1st in line",
			"run - runs: it is the turn of its slot",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, v := range policy.Select(moment(t, 4000, c.jobs...)) {
				again := "-"
				if !v.Again.IsZero() {
					again = v.Again.Sub(noon).String()
				}
				got = append(got, fmt.Sprintf("%s %s %s", v.Target, again, v.Reason))
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// The first minute of a vjob matters only to those that came after it began and stand before it.
func TestAgainAfterTheFirstMinute(t *testing.T) {
	for _, c := range []struct {
		first, second string
		again         time.Duration // 0 is never
	}{
		{"1 running 4 - ran 20s", "2 waiting 4 -", 0},
		{"1 waiting 4 -", "2 running 4 - ran 20s", 40 * time.Second},
	} {
		m := moment(t, 4*cluster.CPU, c.first, c.second)
		for i := range m.Jobs {
			m.Jobs[i].Submitted = noon.Add(-30 * time.Second)
		}
		for i, v := range (queue.FirstFit{Hysteresis: time.Minute}).Select(m) {
			running := m.Jobs[i].State == cluster.Running
			if running != (v.Target == queue.Run) || running && v.Again.IsZero() != (c.again == 0) || !v.Again.IsZero() && v.Again.Sub(noon) != c.again {
				t.Errorf("%s, %s: vjob %s: %+v", c.first, c.second, m.Jobs[i].ID, v)
			}
		}
	}
}

// A vjob that has waited for its walltime comes first, also while it runs. The verdicts of the
// others say when they are due.
func TestDue(t *testing.T) {
	m := moment(t, 4*cluster.CPU, "1 running 3 60m ran 20m", "2 waiting 4 60m", "3 running 1 30m ran 10m", "4 waiting 2 20m", "5 waiting 1 -")
	for i, ago := range []time.Duration{20 * time.Minute, 50 * time.Minute, 40 * time.Minute, 25 * time.Minute, 9 * time.Hour} {
		m.Jobs[i].Submitted = noon.Add(-ago)
	}
	verdicts := queue.DynamicEASY{Due: 1}.Select(m)
	for i, want := range []struct {
		wish  queue.Target
		again time.Duration // from noon on; 0 is never
	}{
		{queue.Suspend, time.Hour}, // it has run for all of 20 minutes
		{queue.Wait, 10 * time.Minute},
		{queue.Run, 0},
		{queue.Run, 0},
		{queue.Run, 0}, // in the gap: without a walltime nothing is ever due
	} {
		v := verdicts[i]
		again := time.Duration(0)
		if !v.Again.IsZero() {
			again = v.Again.Sub(noon)
		}
		if v.Target != want.wish || again != want.again {
			t.Errorf("%s: %s again in %s (%s), want %s, %s", m.Jobs[i].ID, v.Target, again, v.Reason, want.wish, want.again)
		}
	}
	for i, v := range (queue.DynamicEASY{}).Select(m) {
		if !v.Again.IsZero() || (v.Target == queue.Run) != (m.Jobs[i].ID == 1 || m.Jobs[i].ID == 3) {
			t.Errorf("%s without turns: %s", m.Jobs[i].ID, v.Reason)
		}
	}
}
