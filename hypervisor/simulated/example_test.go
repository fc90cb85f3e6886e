package simulated_test

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// A VM is booted and migrated, from event to event.
func ExampleCluster() {
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	capacity := cluster.Resources{CPU: 2 * cluster.CPU, Memory: 4 * cluster.GiB}
	c := simulated.New(simulated.Config{
		Profile: simulated.Thesis, Start: start, Nodes: []simulated.Node{{ID: "n1", Capacity: capacity}, {ID: "n2", Capacity: capacity}},
	})
	id := cluster.VMID{VJob: 1}
	c.Begin(start, hypervisor.Call{Op: 1, Verb: hypervisor.Boot, VM: id, Node: "n1", Machine: &hypervisor.Machine{
		Reserved: cluster.Resources{CPU: cluster.CPU, Memory: cluster.GiB},
	}})
	for next, ok := c.Next(); ok; next, ok = c.Next() {
		for _, h := range c.Advance(next) {
			if h.Reply == nil {
				continue
			}
			fmt.Printf("call %d took %s\n", h.Reply.Op, h.Reply.Ended.Sub(h.Reply.Began))
			if h.Reply.Op == 1 {
				c.Begin(next, hypervisor.Call{Op: 2, Verb: hypervisor.Migrate, VM: id, Node: "n1", To: "n2"})
			}
		}
	}
	view, err := c.Look(c.Now(), "n2")
	fmt.Println(view.Copies[0].VM, view.Copies[0].State, err)
	// Output:
	// call 1 took 6s
	// call 2 took 12s
	// 1.0 running <nil>
}
