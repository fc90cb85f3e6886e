package execute_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// The energy of the nodes in an hour is that of the vjobs plus the unused rest, to the last
// millijoule, and every hour gets its own.
func TestHoursAddUp(t *testing.T) {
	two := job(2, 1, cluster.Running)
	two.Owner, two.Project, two.Queue, two.Flexible = "bob", "p", "night", cluster.Seconds(time.Hour)
	l := world(job(1, 1, cluster.Running), two)
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	lit(d)
	d.copies["a"][1].CPU = 3000
	d.settle()
	began := d.now
	d.pass(2*time.Hour + time.Second)

	nodes, vjobs := map[journal.NodeHour]journal.NodeHour{}, map[time.Time]int64{}
	drawn := map[cluster.VJobID]int64{}
	balance, unused := map[time.Time]int64{}, map[time.Time]int64{}
	for _, s := range d.steps {
		for _, h := range s.NodeHours {
			key := journal.NodeHour{Hour: h.Hour, Node: h.Node}
			sum := nodes[key]
			sum.Millijoules, sum.Unused = sum.Millijoules+h.Millijoules, sum.Unused+h.Unused
			nodes[key] = sum
			balance[h.Hour] += h.Millijoules - h.Unused
			unused[h.Hour] += h.Unused
		}
		for _, h := range s.VJobHours {
			balance[h.Hour] -= h.Millijoules
			vjobs[h.Hour] += h.Millijoules
			drawn[h.VJob] += h.Millijoules
			if h.VJob == 2 && (h.Owner != "bob" || h.Project != "p" || h.Queue != "night" || !h.Shifted) || h.VJob == 1 && h.Shifted {
				t.Errorf("%+v", h)
			}
		}
	}
	for hour, left := range balance {
		if left != 0 {
			t.Errorf("%s: nodes have drawn %d mJ more than vjobs and the unused rest", hour, left)
		}
	}
	if len(balance) < 2 || len(balance) > 4 {
		t.Errorf("%d hours in two of them", len(balance))
	}
	near(t, "vjob 1", drawn[1]/1000, 50*7200)
	near(t, "vjob 2", drawn[2]/1000, 150*7200)
	full := began.Truncate(time.Hour).Add(time.Hour)
	near(t, "a whole hour of a", nodes[journal.NodeHour{Hour: full, Node: "a"}].Millijoules/1000, 200*3600)
	near(t, "vjobs in it", vjobs[full]/1000, 200*3600)
	near(t, "without VMs", unused[full]/1000, 100*3600)
}

// What was drawn for hours is divided among them, to the millijoule, and written in order: of
// nodes, and of vjobs. Of nodes of which nothing is known nothing is written.
func TestHoursAreDivided(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	lit(d)
	d.copies["a"][0].CPU, d.copies["a"][1].CPU = 3000, 1000
	d.settle()
	d.now = d.now.Add(5*time.Hour + 30*time.Minute)
	d.exec.Tick(d.now)
	d.flush()
	var got, want []string
	for _, s := range d.steps {
		for _, h := range s.NodeHours {
			got = append(got, fmt.Sprintf("%s %s: %d, unused %d", h.Hour.Sub(start), h.Node, h.Millijoules, h.Unused))
		}
		for _, h := range s.VJobHours {
			got = append(got, fmt.Sprintf("%s %s: %d", h.Hour.Sub(start), h.VJob, h.Millijoules))
		}
	}
	const full = 3_600_000 // a watt for an hour
	part := func(hour int) int { return full / (1 + hour/5) }
	for hour := range 6 {
		of := time.Duration(hour) * time.Hour
		want = append(want, fmt.Sprintf("%s a: %d, unused 0", of, 200*part(hour)))
		want = append(want, fmt.Sprintf("%s b: %d, unused %d", of, 100*part(hour), 100*part(hour)))
	}
	for hour := range 6 {
		of := time.Duration(hour) * time.Hour
		want = append(want, fmt.Sprintf("%s 1: %d", of, 150*part(hour)), fmt.Sprintf("%s 2: %d", of, 50*part(hour)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("written is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
