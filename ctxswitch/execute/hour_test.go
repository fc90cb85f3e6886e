package execute_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/journal"
)

// What nodes draw in an hour is what vjobs draw in it and what nobody uses, to the last
// millijoule, and every hour gets its own.
func TestHoursAddUp(t *testing.T) {
	two := job(2, 1, cluster.Running)
	two.Owner, two.Project, two.Queue, two.Flexible = "bob", "p", "night", time.Hour
	l := world(job(1, 1, cluster.Running), two)
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
	d := sit(t, settings(), l)
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
			t.Errorf("%s: nodes have drawn %d mJ more than vjobs and nobody", hour, left)
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
	near(t, "nobody in it", unused[full]/1000, 100*3600)
}
