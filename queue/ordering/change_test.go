package ordering_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/queue/quota"
)

// night is a quota that is larger from 18:00 to 8:00.
func night(t *testing.T) quota.Quota {
	t.Helper()
	when, err := calendar.Parse("18:00-08:00")
	if err != nil {
		t.Fatal(err)
	}
	limits, err := calendar.New(time.UTC, quota.Limits{quota.CPU: 4000},
		calendar.Entry[quota.Limits]{Name: "night", When: when, Value: quota.Limits{quota.CPU: 16_000}})
	if err != nil {
		t.Fatal(err)
	}
	return quota.Quota{Name: "cpus", User: quota.Each, Limits: limits}
}

// A change of a quota is reported once, and Next announces it.
func TestQuotaStirs(t *testing.T) {
	r := settings(t, night(t))
	r.Rank = ordering.DefaultSettings(queue.FirstFit{}).Rank
	d := ordering.NewOrder(r)
	d.Put(vjob(1, "ann", "", "", 1), false)
	d.Decided(noon)
	evening := noon.Add(6 * time.Hour)
	if next := d.Next(); !next.Equal(evening) {
		t.Errorf("wakes at %s, want %s", next, evening)
	}
	if d.Changed(evening.Add(-1)) || !d.Changed(evening) || !d.Changed(evening.Add(time.Hour)) {
		t.Error("it stirs not just from the evening on")
	}
	d.Decided(evening)
	if next := d.Next(); d.Changed(evening) || !next.Equal(evening.Add(14*time.Hour)) {
		t.Errorf("wakes at %s after that", next)
	}
}

// Used CPU time leaves the window of a quota hour by hour.
func TestHourStirs(t *testing.T) {
	d := ordering.NewOrder(settings(t, quota.Quota{
		Name: "hours", Within: day, Limits: calendar.Always(quota.Limits{quota.CPUTime: 3_600_000}),
	}))
	at := noon.Add(20 * time.Minute)
	d.Decided(at)
	if next := d.Next(); !next.Equal(noon.Add(time.Hour)) {
		t.Errorf("wakes at %s", next)
	}
	who := quota.Association{User: "ann", Queue: "batch"}
	d.Put(vjob(1, "ann", "", "", 2), true)
	if u, ok := d.Charge(1, at, time.Minute, 100); !ok || u != (ordering.Usage{
		User: "ann", Queue: "batch", Hour: noon, CPUTime: 120_000, MemoryTime: 100,
	}) {
		t.Errorf("charged %+v", u)
	}
	if used := d.Ledger().CPUTime(who, noon); used != 120_000 {
		t.Errorf("%d ms were used", used)
	}
	d.Decided(noon.Add(26 * time.Hour)) // and forgotten, a day after that
	if used := d.Ledger().CPUTime(who, noon); used != 0 {
		t.Errorf("%d ms are not forgotten", used)
	}
}

// Without windows, ages and deadlines time changes nothing, and Next is zero.
func TestNothingStirs(t *testing.T) {
	d := ordering.NewOrder(ordering.DefaultSettings(queue.FirstFit{}))
	for id := range cluster.VJobID(5) {
		d.Put(vjob(id+1, "ann", "", "", 1), false)
	}
	d.Decided(noon)
	if _, ok := d.Charge(1, noon, time.Hour, 1); !ok || !d.Next().IsZero() || d.Changed(noon.AddDate(1, 0, 0)) {
		t.Errorf("wakes at %s", d.Next())
	}
}
