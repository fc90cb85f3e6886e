package cluster_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
)

func TestLate(t *testing.T) {
	nine := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		deadline time.Duration // from nine
		walltime time.Duration
		ran      time.Duration
		shapes   []time.Duration
		state    cluster.State
		want     string
	}{
		{"in time", 2 * time.Hour, 2 * time.Hour, 0, nil, cluster.Waiting, ""},
		{"by its walltime", time.Hour, 90 * time.Minute, 0, nil, cluster.Waiting, "may miss its deadline at 10:00: if it uses its walltime up it ends at 10:30, 30m0s later"},
		{"it has run", time.Hour, 90 * time.Minute, 30 * time.Minute, nil, cluster.Running, ""},
		{"it has run, but not for long", time.Hour, 90 * time.Minute, 20 * time.Minute, nil, cluster.Running, "10m0s later"},
		{"it is over", -time.Hour, time.Minute, 0, nil, cluster.Waiting, "misses its deadline at 08:00: it cannot have ended before 09:00"},
		{"it is now", 0, 0, 0, nil, cluster.Running, "misses its deadline"},
		{"no walltime", time.Minute, 0, 0, nil, cluster.Waiting, ""},
		{"the shortest shape counts", time.Hour, 2 * time.Hour, 0, []time.Duration{2 * time.Hour, time.Hour}, cluster.Waiting, ""},
		{"ended", -time.Hour, time.Hour, 0, nil, cluster.Terminated, ""},
	} {
		j := cluster.VJob{Walltime: c.walltime, State: c.state, Terms: &cluster.Terms{}}
		j.Deadline = nine.Add(c.deadline)
		for _, w := range c.shapes {
			j.Shapes = append(j.Shapes, cluster.Shape{Walltime: w})
		}
		if got := j.DeadlineWarning(nine, c.ran); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if late := (&cluster.VJob{Walltime: time.Hour, Terms: &cluster.Terms{}}).DeadlineWarning(nine, 0); late != "" {
		t.Errorf("without a deadline: %s", late)
	}
}
