package ctxswitch_test

import (
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch"
)

// Vjob 2 is to run on the only node that is large enough. So vjob 1 makes room, and
// since it does so by moving, it goes on running.
func ExampleRepacker() {
	c := cluster.NewConfiguration(
		cluster.Node{ID: "n1", Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 4 * cluster.GiB}},
		cluster.Node{ID: "n2", Capacity: cluster.Resources{CPU: 1 * cluster.CPU, Memory: 2 * cluster.GiB}},
	)
	one, two := cluster.VMID{VJob: 1}, cluster.VMID{VJob: 2}
	c.SetRunning(one, cluster.Resources{CPU: cluster.CPU, Memory: cluster.GiB}, "n1")
	c.SetSleeping(two, cluster.Resources{CPU: 4 * cluster.CPU, Memory: 2 * cluster.GiB}, "n1")

	plan, err := ctxswitch.Repacker{}.Plan(ctxswitch.Problem{
		Current: c,
		Gangs:   []ctxswitch.Goal{{VJob: 1, Want: cluster.VMRunning}, {VJob: 2, Want: cluster.VMRunning}},
		Live:    map[cluster.VMID]bool{one: true},
		Costs:   ctxswitch.ThesisCosts,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	// Output:
	// 2 actions, cost 4096 MiB, 1m42s
	// 0  migrate 1.0  n1 -> n2  0s   12s    1024 MiB  live
	// 1  resume 2.0   n1        12s  1m42s  2048 MiB  after 0
	// gang migrate 1: 0
	// gang resume 2: 1
}
