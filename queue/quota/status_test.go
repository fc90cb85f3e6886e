package quota_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster/calendar"
	"vjob/queue/quota"
)

func TestStatus(t *testing.T) {
	var night calendar.Window
	if err := night.UnmarshalText([]byte("18:00-08:00")); err != nil {
		t.Fatal(err)
	}
	limits, err := calendar.New(time.UTC, cpus(4), calendar.Entry[quota.Limits]{Name: "night", When: night, Value: cpus(40)})
	if err != nil {
		t.Fatal(err)
	}
	b := book(t,
		quota.Quota{Name: "cpus", User: quota.Each, Limits: limits},
		quota.Quota{Name: "cpus", User: "eve", Limits: always(cpus(1))},
		quota.Quota{Name: "all", Limits: always(quota.Limits{quota.VMs: 9})},
		quota.Quota{Name: "hours", Project: "p", Within: 24 * time.Hour, Limits: always(quota.Limits{quota.CPUTime: 36_000_000})},
	)
	var past quota.Ledger
	past.Charge(quota.Association{User: "ann", Project: "p", Queue: "batch"}, noon.Add(-time.Hour), 5000)
	for _, c := range []struct {
		now  time.Time
		want string
	}{
		{noon, `
cpus "" until 18:00 {ann  }: map[1:3000] of map[1:4000]
cpus "" until 18:00 {bob  }: map[1:0] of map[1:4000]
cpus "" until 00:00 {eve  }: map[1:0] of map[1:1000]
all "" until 00:00 {  }: map[0:3] of map[0:9]
hours "" until 00:00 { p }: map[3:10805000] of map[3:36000000]`},
		{noon.Add(8 * time.Hour), `
cpus "night" until 08:00 {ann  }: map[1:3000] of map[1:40000]
cpus "night" until 08:00 {bob  }: map[1:0] of map[1:40000]
cpus "" until 00:00 {eve  }: map[1:0] of map[1:1000]
all "" until 00:00 {  }: map[0:3] of map[0:9]
hours "" until 00:00 { p }: map[3:10805000] of map[3:36000000]`},
	} {
		tally := b.Tally(c.now, &past)
		tally.Count(job(t, "1 ann p batch 3 1h"))
		tally.Include(quota.Association{User: "bob", Project: "q", Queue: "batch"})
		var list strings.Builder
		for _, s := range tally.Statuses() {
			fmt.Fprintf(&list, "\n%s %q until %s %v: %v of %v", s.Name, s.Window, s.Until.Format("15:04"), s.Association, s.Used, s.Limits)
		}
		if list.String() != c.want {
			t.Errorf("%s:%s\nwant%s", c.now, list.String(), c.want)
		}
	}
}
