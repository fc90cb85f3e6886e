package balance_test

import (
	"testing"

	"vjob/scheduler/balance"
)

// A crowded node is relieved by nodes of which all VMs together have never demanded more than there is, although the sum
// of their largest demands is larger: VMs do not reach these at once.
func TestPeaksOfManyVMsDoNotAddUp(t *testing.T) {
	c := &balance.Cluster{}
	for _, name := range []string{"n1", "n2"} {
		c.Nodes = append(c.Nodes, balance.Node{Name: name, Capacity: balance.Amounts{4000, 1 << 20, 0}})
	}
	for i := range 80 {
		now := []int64{110, 30}[i/40] // 4400 and 1200 of 4000
		v := balance.VM{Node: i / 40, Demand: balance.Amounts{now, 512, 0}, Reserved: balance.Amounts{0, 512, 0}}
		v.Entitlement, v.Least, v.Most = v.Demand, balance.Amounts{20, 512, 0}, balance.Amounts{200, 512, 0}
		c.VMs = append(c.VMs, v)
	}
	s := balance.Default
	r, err := s.Round(c)
	if err != nil {
		t.Fatal(err)
	}
	if load := r.Loads[0].After[balance.CPU]; load > 1 {
		t.Errorf("n1 stays at %.2f: %s", load, r.Why)
	}
	for i := range c.VMs { // if VMs do demand their most, the others are no refuge
		c.VMs[i].Demand[balance.CPU] = c.VMs[i].Most[balance.CPU]
		c.VMs[i].Entitlement = c.VMs[i].Demand
	}
	if r, err = s.Round(c); err != nil || len(r.Moves) > 0 {
		t.Errorf("%v moves onto a node over its capacity, %v", r.Moves, err)
	}
}
