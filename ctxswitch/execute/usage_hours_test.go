package execute_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Use is recorded by the hour and the node: a vjob that runs over the end of an hour is divided, and the hours add up
// to the account.
func TestUsageHoursAddUp(t *testing.T) {
	l := world(job(1, 3, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a", "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	began := d.now
	d.pass(90 * time.Minute)
	sums := map[journal.UsageHour]journal.UsageHour{}
	var all journal.UsageHour
	account := int64(0)
	for _, s := range d.steps {
		for _, u := range s.UsageHours {
			key := journal.UsageHour{Hour: u.Hour, Node: u.Node}
			sum := sums[key]
			sum.Reserved, sum.MemoryTime, sum.Used = sum.Reserved+u.Reserved, sum.MemoryTime+u.MemoryTime, sum.Used+u.Used
			sums[key] = sum
			all.Reserved, all.MemoryTime = all.Reserved+u.Reserved, all.MemoryTime+u.MemoryTime
		}
		for _, u := range s.Usage {
			account += u.Reserved
		}
	}
	if account != all.Reserved || all.MemoryTime != d.usage().MemorySec {
		t.Errorf("hours have %d ms and %d MiB·s, the account has %d and %d", all.Reserved, all.MemoryTime, account, d.usage().MemorySec)
	}
	first := began.UTC().Truncate(time.Hour)
	for hour := first; hour.Before(d.now); hour = hour.Add(time.Hour) {
		from, to := hour, hour.Add(time.Hour)
		if began.After(from) {
			from = began
		}
		if d.now.Before(to) {
			to = d.now
		}
		for node, processors := range map[cluster.NodeID]int64{"a": 2, "b": 1} {
			got, want := sums[journal.UsageHour{Hour: hour, Node: node}].Reserved, processors*to.Sub(from).Milliseconds()
			if want-got > processors*60_000 || got > want { // at most a minute is not yet written
				t.Errorf("%s on %s: %d ms reserved, want %d", hour.Format("15:04"), node, got, want)
			}
		}
	}
	if len(sums) < 4 {
		t.Errorf("only %d hours and nodes: the run crosses no hour", len(sums))
	}
}

// A paused vjob is charged for memory, not for processors, and its hours are written as they end.
func TestUsageHoursOfAPausedVJob(t *testing.T) {
	l := world(job(1, 1, cluster.Suspended))
	l.Gangs = append(l.Gangs, at(1, gang.Paused, "a"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.pass(3 * time.Hour)
	memory := int64(0)
	for _, s := range d.steps {
		for _, u := range s.UsageHours {
			memory += u.MemoryTime
			if u.Reserved != 0 {
				t.Errorf("reserved: %+v", u)
			}
		}
	}
	if memory < 2*3600*1024 {
		t.Errorf("%d MiB·s are written after three hours", memory)
	}
}

// A run that a requeue throws away is reported, with its cause.
func TestDiscardedRuns(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	set := settings()
	set.Limits.StopGrace = 0
	d := newHarness(t, set, l)
	d.settle()
	d.pass(time.Minute)
	if err := d.exec.Clear(d.now, 1, gang.ThenWait, &cluster.Cause{Kind: cluster.CauseOrder, Text: "requeued"}); err != nil {
		t.Fatal(err)
	}
	d.settle()
	d.obey()
	var lost []journal.DiscardedRun
	for _, s := range d.steps {
		lost = append(lost, s.Discarded...)
	}
	if len(lost) != 1 || lost[0].VJob != 1 || lost[0].Cause != cluster.CauseOrder {
		t.Errorf("discarded %+v", lost)
	}
}
