package ordering_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/queue/ordering"
)

func TestStatus(t *testing.T) {
	r := settings(t, night(t))
	r.Projects = ordering.Projects{{Name: "chemistry", Users: []string{"each"}}}
	r.Shares.Shares["chemistry"] = 1
	d := ordering.NewOrder(r)
	d.Restore(ordering.Usage{User: "old", Hour: noon, CPUTime: 3_600_000})
	d.Put(vjob(1, "ann", "physics", "batch", 2), true)
	d.Put(vjob(2, "ann", "physics", "gone", 1), false)
	d.Put(vjob(3, "bob", "", "urgent", 1), false)
	d.Charge(1, noon, time.Hour, 0)
	s := d.Status(noon, r.Quotas.Tally(noon, d.Ledger()))
	var got strings.Builder
	for _, q := range s.Queues {
		fmt.Fprintf(&got, "%s %t %d %d\n", q.Name, q.Default, q.Running, q.Waiting)
	}
	for _, q := range s.Quotas {
		fmt.Fprintf(&got, "%s of %s\n", q.Name, q.Association.User)
	}
	for _, a := range s.Shares {
		fmt.Fprintf(&got, "%s of %q used %.0f\n", a.Path, a.User, a.Used)
	}
	want := `urgent false 0 1
batch true 1 1
idle false 0 0
cpus of ann
cpus of bob
bob of "bob" used 0
chemistry of "" used 0
old of "old" used 3600
physics of "" used 7200
physics/ann of "ann" used 7200
`
	if got.String() != want {
		t.Errorf("status:\n%swant\n%s", got.String(), want)
	}
}
